package main

import "github.com/alecthomas/kong"

// longHelp is what --help says of each command below its first line.
var longHelp = map[string]string{
	"verifier serve": `Answers signed tool calls until you stop it (Ctrl-C or SIGTERM). Calls that still wait are denied then. On a terminal it shows each question it asks, so that the first run needs no chat.

Secret, owner token and server key are made on the first start and kept in the state directory, readable by you alone. Run the agent under another user: a program that can read that directory can approve.

    $ verifier serve
    $ verifier serve --config other.yaml

Without a config it listens on 127.0.0.1:8787, with SQLite and fresh secrets in the state directory.

A store that was flushed, restored or replaced does not know what it was asked to remember. Every new conversation then starts as untrusted, since it may be an old, tainted one. Restart the agents' sessions, and then the gateway, once, with --accept-loss: from then on new conversations start as usual.

    $ verifier serve --accept-loss`,
	"verifier init": `The file holds every setting with its default as a comment, a fresh secret for the agent's runtime and a fresh token for you. Only you can read it (mode 0600). It is not needed: "serve" without a config keeps its secrets in its state directory.

    $ verifier init
    $ verifier check
    $ verifier serve

With --openclaw the secret is in a file of its own, openclaw.secret, beside it the plugin, openclaw-plugin, and init prints the commands that make OpenClaw use both. You can paste them as they are.

    $ verifier init --openclaw

With --claude-code, --codex, --gemini or --opencode it writes no config. It writes the agent's own settings, so that the agent runs "verifier hook" before and after each tool call: those of the machine, which no project can switch off, where the agent has such. Run it as an administrator. It says what it wrote and what stays open; --remove takes it out again.

    $ sudo verifier init --claude-code

With --mcp it prints what to write into the config of an MCP client, so that verifier is asked before each call of a server's tools: Claude Code, Codex, Claude Desktop, Cursor, Gemini CLI, VS Code, opencode.

    $ verifier init --mcp`,
	"verifier setup": `Asks for the bot's token, checks it, and shows a code. You write the code to the bot, so that verifier knows that the account is yours. Then it writes the config and sends a test card.

    $ verifier setup telegram
    $ verifier setup slack --token-file bot.txt --token-file app.txt

The token goes into a file of its own beside the config, which only you can read. The config keeps its comments; if there is none, setup writes ~/.config/verifier/verifier.yaml. The code is good for ten minutes, and after five wrong ones setup stops.

docs/channels.md says how to make a bot.`,
	"verifier check": `Errors are what "serve" would refuse to start with: unknown keys with the nearest known one, wrong types, values out of bounds, secrets that are missing or could be guessed. Each comes with file:line:col and a hint. Warnings and notes are valid, and perhaps not what you meant.

If a coding agent's settings run the hook, the agent is asked for its version (it is started with --version): one that was never tried with verifier is a warning. Nothing else is started and nothing is changed. Environment variables that the config names must be set, as for "serve".

    $ verifier check --config verifier.yaml
    warning: verifier.yaml:31:1: approvers: no person can approve: every call that needs confirmation will be denied
    ok: verifier.yaml: policy default, 1 client, 0 approvers, SQLite in the state directory; 1 warning

Exit codes: 0 no errors (there may be warnings), 1 errors.`,
	"verifier test": `Asks a running server, as an agent's runtime and as the owner would: does it answer, is it ready, do the clocks agree, is a signed call taken and the answer signed, is a wrong signature refused, is the owner token known, and does every channel work. What is wrong comes with what to do about it.

    $ verifier test
    ok      server     http://127.0.0.1:8787 answers
    ok      clock      agrees within a second or so
    ok      ready      store, record, approvals
    ok      owner      the token is known; nothing waits
    ok      signature  the call was taken, and the answer is signed
    ok      refusal    a wrong signature is refused
    ok      OpenClaw   client default, heard 4s ago: version 0.1.0, asks about every tool, failMode deny
    FAILED  telegram   the bot can't write to chat 123
            hint: …

It is harmless: the call that it sends is one that no policy lets pass, in a conversation of its own, so that no person is asked and nothing is tainted. It leaves a deny in the record for each client, and one call that could not be authenticated in the metrics. With --send-card people see a card that says that it is a test.` + ownerHelp + `

Exit codes: 0 all is well, 1 something is not, 2 wrong command line.`,
	"verifier send": `The call is signed with the secret, and the answer's signature is checked: an answer from anyone else counts as an error. Address and secret come from the flags, else from VERIFIER_URL and VERIFIER_SECRET, else from --config, else from the state directory of a server on this machine.

    $ verifier send --tool exec --params '{"command":"date"}' --session agent:main:main \
        --context '{"senderId":"7","senderIsOwner":true}'
    allow

If you name no sender, we don't know who started the call, and most tools have to wait for a person. The command then says for whom it waits, and waits as long as the question is open. Answer it from another terminal, with "verifier watch".

verifier-hook send, beside this program, does the same and starts faster; use it where many calls are sent.

Exit codes: 0 allow, 3 deny, 1 error, 2 wrong command line.`,
	"verifier hook": `Coding agents run it before and after each tool call. It reads the agent's event from standard input, asks the gateway, and answers in the agent's form. Exit code 0 says that the gateway has answered; 2, with words on standard error, stops the call in every other case. There is no other exit code.

    $ verifier hook claude-code --state ~/.local/state/verifier --timeout 600s

The gateway is the one that --config, --state or --url with --secret-file name, else the one that VERIFIER_URL with VERIFIER_SECRET_FILE, VERIFIER_CONFIG or VERIFIER_STATE name, else the one of ~/.config/verifier/verifier.yaml or of the usual state directory. Name it by flags in the agent's settings: a command that the agent runs can set variables for another agent that it starts.

verifier-hook, beside this program, does the same and starts faster.`,
	"verifier mcp run": `It runs between a client of the Model Context Protocol and a server: in the client's config, put it before the server's command. Every call of a tool is asked about; everything else passes as it is. A call that is not allowed ends in a result that says why.

    $ verifier mcp --name files -- npx -y @modelcontextprotocol/server-filesystem ~/notes
    $ verifier mcp --name crm --url https://mcp.example.com/mcp --header 'Authorization: Bearer ${CRM_TOKEN}'

With --url it is the gate before a server that is reached by an address.

The gateway is found as by "verifier hook". Where it can't be reached, calls are refused, and the rest works.`,
	"verifier mcp tools": `Servers say what their tools do, and a model believes them. What a server says of a tool is kept when it is first seen. If it says something else later, the tool can't be called until you have accepted the change.

    $ verifier mcp tools
    $ verifier mcp tools --accept files/read_file:1f0a9c3e`,
	"verifier explain": `Says which rules apply to the call, in their order, and what the call would bring into the conversation. Grants and people are left out: they come after the policy.

    $ verifier explain --tool exec --params '{"command":"curl example.com"}' --level external
    exec at external: confirm
      …

The verdict is allow (it passes), confirm (a person is asked) or restrict (it is refused). Its exit code is 0 whatever the verdict.`,
	"verifier pending": `Each card shows what the agent wants to do, the literal call and why you are asked. If something on it is shortened or hidden, the card says so.

    $ verifier pending
    $ verifier pending 7Q4K      # all there is of one card
    $ verifier approve 7Q4K` + ownerHelp,
	"verifier watch": `Shows each question as it comes, one after the other. Answer it with a key:

    y  allow this call once
    n  deny it
    m  allow such calls for --minutes
    s  skip it: it stays open for other places
    q  quit

    $ verifier watch

A key counts for the question that was on the screen when you pressed it, and only after the question has been there for a moment. A list of calls is shown call by call, and a key is for the one on the screen. Some questions can only be denied or skipped here: those that show a call only in part, and those that are longer than your screen. The screen says where to allow them.` + ownerHelp,
	"verifier approve": `Without --minutes or --turn the yes is for this call alone: the very arguments on the card. A call that has given up waiting may be asked once more and then passes.

    $ verifier approve 7Q4K
    $ verifier approve 7Q4K --minutes 30
    $ verifier approve 7Q4K --exactly --minutes 30
    $ verifier approve 7Q4K --like --minutes 15
    $ verifier approve 7Q4K --with '{"command":"git push --dry-run"}'

With --with, name all arguments, not only those that you change. Values that the card hides can be left as the card shows them. Your policy judges the changed call again. It works while the agent waits, and only with agents whose software can run other arguments.

With --minutes, a yes to git log covers git log with other options and files of the workspace. It does not cover git push, a command that also writes a file, or one that runs in another directory. A command that could do anything, such as a script or one that reaches the network, can only be allowed exactly.

A lasting yes ends when the conversation gets less trusted than it is now, and never covers calls that are dangerous or not fully visible.` + ownerHelp + answerCodes,
	"verifier deny": `A no is final for everything on the card, even if others have said yes. The agent reads your reason, if you give one: write nothing there that it should not know.

    $ verifier deny 7Q4K --reason 'Use the staging database.'` + ownerHelp + answerCodes,
	"verifier reply": `The same words as in a chat, with the code from the card:

    $ verifier reply '.approve exec bf619df9'       # this call
    $ verifier reply '.approve exec bf619df9 30'    # commands that do the same, here, for 30 minutes
    $ verifier reply '.approve exec bf619df9 exactly 30'   # exactly this command, here, for 30 minutes
    $ verifier reply '.approve exec bf619df9 with {"command":"date"}'   # once, with these arguments instead
    $ verifier reply '.approve all bf619df9 turn'   # the card's tools, until the run ends
    $ verifier reply '.deny bf619df9 not today'
    $ verifier reply '.pending'
    $ verifier reply '.pause'
    $ verifier reply '.resume'
    $ verifier reply '.sources 1A2B3C4D'
    $ verifier reply '.grants'
    $ verifier reply '.revoke 7Q4K'
    $ verifier reply '.reset-trust 1A2B3C4D'
    $ verifier reply '.help'

After five wrong codes this way is locked for a while.` + ownerHelp + answerCodes,
	"verifier login": `The link works once, within ten minutes, for the first person who opens it: treat it like the token. It opens your page on any device that reaches the server.

    $ verifier login
    http://127.0.0.1:8787/page/login#link=…
    $ verifier login --viewer
    $ verifier login --passkey            # add a passkey, also when you have lost yours
    $ verifier login --passkey --for Ann  # invite an approver who has passkeys: true` + ownerHelp,
	"verifier pause": `From the moment this returns, every call is denied but those of harmless tools, on every instance that shares the store, whatever the policy says and even if someone has approved it. Calls that wait are denied, too. It lasts until "verifier resume", across restarts.

    $ verifier pause
    $ verifier pause --agent main

In a chat: .pause, .pause main` + ownerHelp + answerCodes,
	"verifier resume": `Ends what "verifier pause" began. An agent that may not ask because it has asked too often this hour may ask again.

    $ verifier resume
    $ verifier resume --agent main

In a chat: .resume, .resume main` + ownerHelp + answerCodes,
	"verifier grants": `A yes for minutes or for a run is a grant: that tool passes in that conversation without a question until then. This lists what is open, by whom it was given and until when. It also ends by itself when the conversation gets less trusted than it was. Standing consents, which you give on the page and which hold for days, are listed first.

    $ verifier grants
    $ verifier revoke 7Q4K

In a chat: .grants` + ownerHelp,
	"verifier sources": `A conversation is trusted as little as the worst of what came into it: a page that the agent fetched, a mail that it read, a person who wrote. This lists what made it worse, to which level and when.

    $ verifier sources 1A2B3C4D

A job that your agent schedules, or changes, in a conversation with outside content in it makes all of its jobs as untrusted as that conversation. Cards name the jobs by a reference of their own; ".reset-trust" with it lets them start as before.

In a chat: .sources 1A2B3C4D` + ownerHelp + answerCodes,
	"verifier revoke": `From the moment this returns no call passes by the grant any more, on any instance that shares the store; the next such call asks. Each one that ends is in the record.

    $ verifier revoke 7Q4K
    $ verifier revoke --all

In a chat: .revoke 7Q4K, .revoke all` + ownerHelp + answerCodes,
	"verifier graph": `Shows what a turn of the agent was made of: what was in its context, the calls of the model, the tools they called, what those brought in, and what was blocked. Texts are shown as hashes. It is drawn from the record of the server, or from the records that you name: where several gateways share a store, each has its part. A turn's id begins with its time, and finds it in all of the record; other names find what is among the latest 50,000 lines.

    $ verifier graph 7Q4K
    $ verifier graph 1A2B3C4D --format json
    $ verifier graph 68dfd7239e0dac8c /backup/verifier-1 /backup/verifier-2` + ownerHelp + `

Exit codes: 0 drawn, 3 there is no such turn, 1 error, 2 wrong command line.`,
	"verifier audit verify": `Every line carries a MAC over it and the line before, which only the server can make. An edited, removed, added or moved line is named by its number, and so is a file that is missing between two others or was cut, replaced or swapped. Lines cut off the end show against the last head, which the store and record.head keep each second.

    $ verifier audit verify
    ok: 214 lines in 3 files, 207 entries, 2026-10-01 08:00:11Z to 2026-10-03 14:02:11Z
    $ verifier audit verify /backup/verifier-1 /backup/verifier-2
    error: /backup/verifier-2/record-000001.jsonl: line 17: is not as the server wrote it, or the line before it is not: the MAC is wrong

It takes the server's key: that of the state directory, or store.key in the config.

If entries that the store had seen were gone when the server started, the record says so itself. This command fails then, until you accept the loss with --accept-losses.

Exit codes: 0 intact, 1 not intact, not complete or not readable.`,
	"verifier audit show": `One line for each entry, below it why it was decided so, who answered, and the arguments as far as they are kept. It prints no characters that could move the cursor or hide text.

    $ verifier audit show --decision deny --since 24h
    $ verifier audit show --ref 7Q4K
    $ verifier audit show --person Ann --json

With --auditor it counts, by tool, the calls that the auditor objected to and those that a person allowed all the same. Where that is often, it is too strict there, or you are too quick. The same call counts once, however often the agent tried.

    $ verifier audit show --auditor --since 7d
    objected overruled  tool
           3         1  exec
           6         1  message

It checks nothing: "verifier audit verify" does.`,
	"verifier version": `All of it comes from the build itself, so that it can't be forgotten. A commit with "modified" was built from a tree with changes.

    $ verifier version
    verifier v0.1.0
    commit 3f9c2a71d0e4
    go1.26.8 linux/amd64`,
	"verifier label": `Shows the tools of a catalogue, one screen each, with their description and what their server
claims. One key says what a tool does: r only reads, a acts, d destroys or pays, s shows secrets.
Each answer is written at once: leave with q or Ctrl-C, and run the same command again to go on. A
tool is shown again only when its definition changes.

A tool without a label both reads and acts. Tools that this program has in its own table are left out.

    $ verifier label tools.json
    $ verifier label --seen --ask-model

Then add to the config: include: [labels.yaml]`,
	"verifier simulate": `Plays every session through the decision that the server uses, with a store of its own. It says how often the owner would have been asked, and which calls would have passed without them. A session is a line of JSON: user (their messages), attack, utility (the task was done), calls (tool, params, iteration, injected). The simulated owner allows what is not marked as injected and denies what is.

    $ verifier simulate --config policy.yaml --trace sessions.jsonl.gz

Exit code 3 says that an injected call passed without a person.`,
}

// addLongHelp gives a command, and those below it, what longHelp says of them.
func addLongHelp(n *kong.Node, path string) {
	n.Detail = longHelp[path]
	for _, child := range n.Children {
		addLongHelp(child, path+" "+child.Name)
	}
}
