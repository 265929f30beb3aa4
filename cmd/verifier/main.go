// Verifier is the gateway that an agent's runtime asks before every tool call,
// and the commands around it.
//
// main is thin: [run] is the whole program as a function of its arguments and
// streams, so that tests start it like a shell does. Each command has a
// file of its own and is a plain struct that kong fills; the table of them is
// the type cli, and what --help says of each is the table longHelp. This package
// is the only one that imports the adapters.
//
// Every command ends with one of the exit codes below, and says what is wrong
// on standard error in two lines: what (error:) and what to do (hint:).
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/internal/record"
)

// What the program ends with.
const (
	exitOK    = 0 // done; for send: allow
	exitError = 1 // it could not be done
	exitUsage = 2 // the command line is wrong
	exitNo    = 3 // it was done, and the answer is no: denied, too late, not found
)

// app is what a command works with.
type app struct {
	chats  chats
	ctx    context.Context
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer

	saidConfig string // the config that the reader knows of
}

// printf prints what was asked for. A reader that has gone is no error.
func (a *app) printf(format string, args ...any) {
	fmt.Fprintf(a.stdout, format, args...) //nolint:errcheck // see above
}

// printJSON prints numbers for scripts.
func (a *app) printJSON(v any) error {
	out := json.NewEncoder(a.stdout)
	out.SetIndent("", "  ")
	return out.Encode(v)
}

// warnf says what else the reader should know.
func (a *app) warnf(format string, args ...any) {
	fmt.Fprintf(a.stderr, format, args...) //nolint:errcheck // nowhere left to say it
}

// cli is every command there is.
type cli struct {
	Serve   ServeCmd   `cmd:"" aliases:"run,start" help:"Run the gateway."`
	Init    InitCmd    `cmd:"" help:"Write a commented config with fresh secrets."`
	Setup   SetupCmd   `cmd:"" help:"Connect Telegram, Discord or Slack, so that you are asked there."`
	Check   CheckCmd   `cmd:"" help:"Say what is wrong with a config, and what is risky."`
	Test    TestCmd    `cmd:"" help:"Try a running server and its channels, and say what is wrong."`
	Send    SendCmd    `cmd:"" help:"Sign one tool call, send it, print the decision."`
	Hook    HookCmd    `cmd:"" help:"Answer a coding agent before and after each tool call."`
	MCP     MCPCmd     `cmd:"" name:"mcp" help:"Ask before each call that an MCP client makes to a server of tools."`
	Explain ExplainCmd `cmd:"" help:"Say what the policy does with a call, and why. Needs no server."`
	Pending PendingCmd `cmd:"" aliases:"list" help:"List the calls that wait for an answer."`
	Watch   WatchCmd   `cmd:"" help:"Show what waits, live, and answer with a key."`
	Approve ApproveCmd `cmd:"" help:"Let a waiting call pass."`
	Deny    DenyCmd    `cmd:"" help:"Refuse a waiting call."`
	Reply   ReplyCmd   `cmd:"" help:"Answer with a typed line, as in a chat."`
	Login   LoginCmd   `cmd:"" help:"Print a link that opens your page, logged in."`
	Pause   PauseCmd   `cmd:"" help:"Stop an agent, or all: only harmless tools run."`
	Resume  ResumeCmd  `cmd:"" help:"End a pause."`
	Grants  GrantsCmd  `cmd:"" help:"List what runs without asking, and until when."`
	Sources SourcesCmd `cmd:"" help:"List what came into a conversation."`
	Revoke  RevokeCmd  `cmd:"" help:"End a grant, or all of them."`
	Graph   GraphCmd   `cmd:"" help:"Draw a turn: what it was made of, and what was blocked."`
	Audit   AuditCmd   `cmd:"" help:"Verify or read the record."`
	Version VersionCmd `cmd:"" help:"Print version, commit and Go version."`

	Label    LabelCmd    `cmd:"" help:"Propose what tools do, from their catalogues."`
	Simulate SimulateCmd `cmd:"" help:"Play recorded sessions against a policy, and count what is asked and what leaks."`
	Help     HelpCmd     `cmd:"" hidden:"" help:"Say how a command is called."`

	ShowVersion versionFlag `name:"version" help:"Print the version."`
}

const description = `Ask before every tool call of an AI agent: by trust, by policy, and by a person where the policy says so.

Start with "verifier serve"; it needs no config.` + " Exit codes: " + exitCodes + "."

// exitCodes is what help says of the constants above.
const exitCodes = "0 done or allowed, 1 error, 2 wrong command line, 3 denied"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// ended is how kong's help leaves: it would go on parsing otherwise.
type ended int

// run is the program, with the chats that it has.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return (&app{chats: builtin, ctx: ctx, stdin: os.Stdin, stdout: stdout, stderr: stderr}).run(args)
}

func (a *app) run(args []string) (code int) {
	defer func() {
		if p := recover(); p != nil {
			end, ok := p.(ended)
			if !ok {
				panic(p)
			}
			code = int(end)
		}
	}()
	parser, err := a.parser()
	if err != nil {
		report(a.stderr, err)
		return exitError
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	command, err := parser.Parse(args)
	if err != nil {
		report(a.stderr, &failure{text: noEmpty.Replace(err.Error()), hint: usageHint(err)})
		return exitUsage
	}
	return a.end(command.Run())
}

// parser is the command line.
func (a *app) parser() (*kong.Kong, error) {
	k, err := kong.New(&cli{},
		kong.Name("verifier"),
		kong.Description(description),
		kong.Writers(a.stdout, a.stderr),
		kong.Exit(func(code int) { panic(ended(code)) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.Bind(a),
	)
	if err != nil {
		return nil, err
	}
	addLongHelp(k.Model.Node, k.Model.Name)
	return k, nil
}

// end turns a command's error into words and a code.
func (a *app) end(err error) int {
	if err == nil {
		return exitOK
	}
	if no, ok := errors.AsType[exit](err); ok {
		return int(no)
	}
	report(a.stderr, err)
	return exitError
}

// noEmpty leaves out of the list of a flag's values the one that means that the flag was not given.
var noEmpty = strings.NewReplacer(`"",`, "", `,""`, "")

// aliases are other names of a command, as kong writes them.
var aliases = regexp.MustCompile(` \([^)]*\)`)

func usageHint(err error) string {
	command := "verifier"
	if p, ok := errors.AsType[*kong.ParseError](err); ok && p.Context != nil && p.Context.Selected() != nil {
		command = aliases.ReplaceAllString(p.Context.Selected().FullPath(), "")
	}
	return "`" + command + " --help` says how it is called"
}

// failure is an error with what to do about it.
type failure struct {
	text string
	hint string
}

func (f *failure) Error() string { return f.text }

// exit ends the program with a code and no further word: what there is to say
// was printed.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// report prints an error as people read it. A config may have several.
func report(w io.Writer, err error) {
	if all, ok := errors.AsType[config.Errors](err); ok {
		for _, e := range all {
			line(w, e.Error(), e.Hint)
		}
		return
	}
	line(w, err.Error(), hintOf(err))
}

func line(w io.Writer, text, hint string) {
	if hint != "" {
		text += "\nhint: " + hint
	}
	fmt.Fprintf(w, "error: %s\n", text) //nolint:errcheck // nowhere left to say it
}

// hintOf finds the hint of whichever package refused.
func hintOf(err error) string {
	if f, ok := errors.AsType[*failure](err); ok {
		return f.hint
	}
	if s, ok := errors.AsType[*config.StateError](err); ok {
		return s.Hint
	}
	if o, ok := errors.AsType[*record.Refusal](err); ok {
		return o.Hint
	}
	return ""
}
