package main

import (
	"fmt"
	"testing"
)

// Attacks by a reviewer who did not write the table of quiet.local, on the day before it was to be on by default.

// TestH690SearchesForTheWholeNameOfASecret: not only for a part of a line that files with passwords have.
func TestH690SearchesForTheWholeNameOfASecret(t *testing.T) {
	notLocal(t,
		"rg access_token", "rg refresh_token", "rg secret_key", "rg SECRET_KEY_BASE", "rg auth_token", "rg DB_PASSWORD", "rg POSTGRES_PASSWORD src", "rg PGPASSWORD", "rg passphrase", "rg apikey", "rg api-key", "rg x-api-key", "rg clientSecret", "rg client_id", "rg STRIPE_SECRET_KEY", "rg encryption_key",
		"rg connectionString", "rg AccountKey", "rg mongodb", "rg jdbc", "rg mnemonic", "rg -i userPassword", "rg 'oauth_token'", `rg "privateKey" src`, "grep -n access_token main.go", "ls && rg refreshToken", "rg -l credentialStore", "rg -c SessionCookie",
	)
}

// TestH691ASearchOfHiddenFilesThatGitKeeps: git grep shows lines of .env and .npmrc, where they are committed or were staged a moment ago.
func TestH691ASearchOfHiddenFilesThatGitKeeps(t *testing.T) {
	notLocal(t, "git grep STRIPE", "git grep -n registry", "git grep -i foo", "git add -A && git grep STRIPE", "git add . && git grep -n foo", "git grep 'foo'", "ls && git grep -w foo", "git grep -c foo", "git grep -l foo")
}

// TestH692RunsThatNoOneTyped: a schedule, a webhook, a heartbeat and another run, though the runtime says that the sender is the owner.
func TestH692RunsThatNoOneTyped(t *testing.T) {
	t.Parallel()
	owners := func(key string) map[string]any { return map[string]any{"sessionKey": key, "senderIsOwner": true} }
	for i, m := range []map[string]any{
		owners("hook:gmail:1"), owners("agent:main:hook:gmail:1"), with(owners("agent:main:cron:j:run:1"), "trigger", "cron"), with(owners("agent:main:main"), "trigger", "heartbeat"), with(owners("agent:main:main"), "trigger", "system_event"),
		owners("agent:main:cron:j:run:1"), owners("cron:j"), with(owners("agent:main:main"), "inputProvenance", map[string]any{"kind": "inter_session"}), with(owners("agent:main:main"), "inputProvenance", map[string]any{"kind": "internal_system"}), with(owners("agent:main:main"), "inputProvenance", "outside_content"), with(owners("agent:main:main"), "inputProvenance", "webhook", "trigger", "user"),
		with(owners("agent:main:main"), "trigger", "resume"), with(owners("agent:main:main"), "trigger", "webhook"), with(spawned("subagent:1", "first"), "senderIsOwner", true), with(spawned("subagent:1", "first"), "senderIsOwner", true, "senderId", "1"),
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, quietLocal)
			m = with(m, "platform", "linux", "waitMs", 5001)
			r.send(fetch(m))
			r.stops(bash(t, "ls", m))
			r.stops(bash(t, "ls && git log -1", m))
		})
	}
	r := newRig(t, quietLocal)
	m := with(owners("agent:main:main"), "inputProvenance", "external_user", "trigger", "user", "platform", "linux")
	r.allow(fetch(m))
	r.allow(bash(t, "ls && git log -1", m))
}

// TestH693OthersOnASystemThatIsNamed: who speaks counts where the platform is told, as it does where it is not.
func TestH693OthersOnASystemThatIsNamed(t *testing.T) {
	t.Parallel()
	r := newRig(t, quietLocal)
	for i, m := range []map[string]any{
		{"sessionKey": "agent:main:a", "senderId": "7"}, {"sessionKey": "agent:main:a2", "senderId": "1", "senderIsOwner": false}, with(ownerIn("telegram:group:7"), "groupId", "7"), ownerIn("telegram:group:8"), ownerIn("discord:channel:9"), with(ownerIn("direct"), "groupId", "9"),
		unvouched("b"), {"sessionKey": "hook:gmail:1"}, {"sessionKey": "agent:main:cron:j:run:1", "trigger": "cron"}, ownerIn("subagent:9"), spawned("subagent:3", "a"),
	} {
		m = with(m, "platform", "linux", "waitMs", 5001)
		r.send(fetch(m))
		r.stops(bash(t, fmt.Sprintf("ls d%d", i), m))
		r.stops(bash(t, fmt.Sprintf("ls && git log -%d", i+1), m))
	}
}

// TestH694ATerminalForGit: there it shows its output in a pager, which waits for keys and runs what they say.
func TestH694ATerminalForGit(t *testing.T) {
	t.Parallel()
	r := newRig(t, quietLocal)
	m := r.tainted("h694")
	r.allow(execWith("git log && ls", `"timeout":20,"background":true`, m))
	for _, command := range []string{"git log", "git diff", "git status && git log", "git diff --cached && ls"} {
		for _, more := range []string{`"pty":true`, `"pty":true,"background":true`, `"pty":"true"`, `"PTY":true`, `"pty":1,"timeout":5`, `"tty":true`, `"interactive":true`} {
			r.stops(execWith(command, more, m))
		}
	}
	r.stops(call{tool: "process", params: `{"action":"send-keys","sessionId":"x","keys":["!","l","s"]}`, context: m})
}

// TestH695MoreInAParamThanItHolds: a list or an object where a number or a text belongs, a name twice, and two commands.
func TestH695MoreInAParamThanItHolds(t *testing.T) {
	t.Parallel()
	r := newRig(t, quietLocal)
	m := r.tainted("h695")
	r.allow(execWith("ls", `"timeout":20,"description":"List files"`, m))
	for _, more := range []string{
		`"timeout":{"command":"./x"}`, `"timeout":["5",";","./x"]`, `"description":{"cmd":"./x"}`, `"title":["./x"]`, `"yieldMs":{"env":{"GIT_DIR":"x"}}`, `"background":[true]`, `"max_output_tokens":{"workdir":"/"}`,
		`"cmd":"ls"`, `"cmd":"./x"`, `"COMMAND":"ls"`, `"command_line":"./x"`, `"argv":["./x"]`, `"args":"x"`, `"arguments":["x"]`, `"script":"x"`, `"stdin":"x"`, `"env":{}`, `"host":"gateway"`, `"host":"node"`, `"node":"x"`, `"elevated":false`, `"security":"full"`, `"login":true`,
	} {
		r.stops(execWith("ls", more, m))
	}
	for _, params := range []string{`{"command":["ls"]}`, `{"command":[]}`, `{"command":null}`, `{"command":{"0":"ls"}}`, `{"input":"ls"}`, `["ls"]`, `{"command":"ls","workdir":["."]}`, `{"command":"ls","workdir":{}}`, `{"command":"ls","workdir":".","cwd":"."}`} {
		if a := r.send(soonAsked(call{tool: "exec", params: params, context: m})); a.allowed() {
			t.Errorf("%s passes", params)
		}
	}
	if a := r.send(soonAsked(call{tool: "exec", params: `{"command":"ls","command":"./x"}`, context: m})); a.allowed() {
		t.Error("a name twice passes")
	}
}

// TestH696FilesWithSecretsUnderPlainNames: each form that takes a path, beside a look that would pass.
func TestH696FilesWithSecretsUnderPlainNames(t *testing.T) {
	var commands []string
	for _, file := range []string{"id_rsa", "secrets.yaml", "key.pem", "credentials.json", "terraform.tfstate", "prod.env", "config/master.key", "service-account.json", "config/database.yml", "wallet.dat", "kubeconfig", "cookies.txt", "key.p8", "deploy/id_ed25519"} {
		commands = append(commands, "git add main.go "+file+" && ls", "rg -l foo src "+file, "grep foo "+file)
	}
	notLocal(t, commands...)
}

// TestH697WorkOfOthersFromACleanConversation: it was brought in before a page was read, by a call that nothing asked about.
func TestH697WorkOfOthersFromACleanConversation(t *testing.T) {
	t.Parallel()
	for i, command := range []string{
		"tar xf /tmp/x.tgz", "cp -r ../other vendor", "mv /tmp/pr-42 vendor", "git fetch origin pull/42/head:pr42", "git checkout pr42", "git checkout origin/evil", "git merge origin/evil", "git merge FETCH_HEAD", "git rebase origin/main", "git submodule update --init", "gh pr checkout 42", "git switch evil",
		"rsync -a host:x .", "npx degit evil/x", "npm install", "pip install x", "ln -s ../other notes", "git clone /tmp/x y", "hg clone x",
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, quietLocal)
			r.allow(bash(t, command, with(ownerIn("clean"), "platform", "linux")))
			m := r.tainted("then")
			for _, look := range []string{"ls && git status", "rg foo", "git add -A && ls"} {
				r.stops(bash(t, look, m))
			}
		})
	}
}

// TestH698TheSameWordsForOtherTools: shells of other names, servers, a node, a schedule, another session, and a program that runs already.
func TestH698TheSameWordsForOtherTools(t *testing.T) {
	t.Parallel()
	r := newRig(t, quietLocal)
	m := r.tainted("h698")
	for _, c := range []call{
		{tool: "shell", params: `{"command":"ls"}`}, {tool: "local_shell", params: `{"command":"ls"}`}, {tool: "exec_command", params: `{"cmd":"ls"}`}, {tool: "run_shell_command", params: `{"command":"ls"}`}, {tool: "mcp__shell__exec", params: `{"command":"ls"}`}, {tool: "mcp__ssh__run", params: `{"command":"git status"}`},
		{tool: "nodes", params: `{"action":"run","node":"mac","command":["ls"]}`}, {tool: "nodes", params: `{"action":"invoke","node":"mac","invokeCommand":"system.run","invokeParamsJson":"{\"command\":[\"ls\"]}"}`}, {tool: "cron", params: `{"action":"add","job":{"schedule":{"kind":"every","everyMs":60000},"payload":{"kind":"systemEvent","text":"ls"}}}`},
		{tool: "process", params: `{"action":"write","sessionId":"x","data":"ls\n"}`}, {tool: "process", params: `{"action":"submit","sessionId":"x"}`}, {tool: "process", params: `{"action":"paste","sessionId":"x","text":"git status"}`},
	} {
		c.context = m
		if a := r.send(soonAsked(c)); a.allowed() {
			t.Errorf("%s %s passes", c.tool, c.params)
		}
	}
}

// TestH699WhereAShellLastWent: a coding agent keeps its directory, and its hook says which it is.
func TestH699WhereAShellLastWent(t *testing.T) {
	t.Parallel()
	r := newRig(t, quietLocal)
	m := r.codingIn("h699", "/home/me/app")
	for _, dir := range []string{"/home/me/app/vendor/x", "/home/me/app/testdata/evil.git", "/home/me/app2", "/home/me/app/../x", "/tmp"} {
		for _, command := range []string{"git status", "git log -1", "git add -A && git status", "git diff"} {
			r.stops(execWith(command, fmt.Sprintf(`"workdir":%q`, dir), m))
		}
	}
	for _, command := range []string{"cd vendor/x && git status", "cd vendor/x && git log -1 && ls", "cd testdata/evil.git && git add -A"} {
		r.stops(execWith(command, `"workdir":"/home/me/app"`, m))
	}
}

// TestH700WordsAtTheEdgeOfTheTable: joined, swapped, missing and half-quoted ones.
func TestH700WordsAtTheEdgeOfTheTable(t *testing.T) {
	notLocal(t,
		"gitlog && ls", "ls-l", "ls -l-a", "ls -lala", "ls --", "ls -", "git log -0 && ls", "git log -n 0 && ls", "git log -n 100", "git log -n -1", "git log -1 -n", "git log --", "git log -n5x", "git log 5", "rg foo -n", "rg foo --pre", "rg foo -f", "rg -- foo", "rg -nfoo src", "rg -n", "rg -i -n", "grep -nfoo main.go", "grep foo", "grep foo -r", "grep -n foo main.go -r", "rg 'foo\"", "rg \"foo'", "rg 'foo'bar", "rg 'foo''bar'",
		"rg fo'o'bar", "rg foo 'src'", "git commit -mq 'x' && ls", "git commit -m'x' && ls", "git commit -m x && ls", "git commit -q && ls", "git commit && ls", "git commit -q -q -m 'x' -a && ls", "git commit -m 'x' -m 'y' . && ls", "git add && ls", "git add -Af && ls", "git add -A -f x && ls", "git add -- x && ls", "pwd && pwd -L", "pwd PATTERN", "ls (PLACE)", "ls .|ls",
	)
}

// TestH701AMessageThatHoldsASecret is kept for the next push.
func TestH701AMessageThatHoldsASecret(t *testing.T) {
	notLocal(t,
		"git commit -m 'ghp_16C7e42F292c6912E7710c838347Ae178B4a' && ls", "git commit -m 'see AKIAIOSFODNN7EXAMPLQ and more' && ls", "git add -A && git commit -m 'x sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGhIjKl-AbCdEfAA' && ls",
		"ls && git commit -qm 'glpat-AbCdEfGhIjKlMnOpQrSt'",
	)
}

// TestH702PathsOfWindowsThatBeginWithASlash: a shell of Unix on Windows writes drives and shares so, and the agent may still use cmd.
func TestH702PathsOfWindowsThatBeginWithASlash(t *testing.T) {
	t.Parallel()
	r := newRig(t, quietLocal)
	for i, dir := range []string{"/c/Users/me/app", "/C/work/app", "/d/app/x", "/cygdrive/c/work/app", "//server/share/app", "//wsl$/x/app", "/"} {
		m := with(r.tainted(fmt.Sprint("h702-", i)), "platform", "", "workspace", dir)
		for _, command := range []string{"ls", "ls && git log -1"} {
			r.stops(bash(t, command, m))
		}
	}
}

// TestH703ASecretThatWasReadBeforeThePage, or by a run that the conversation started.
func TestH703ASecretThatWasReadBeforeThePage(t *testing.T) {
	t.Parallel()
	for name, read := range map[string]map[string]any{"before": ownerIn("h703"), "by a sub-agent": spawned("subagent:703", "h703")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, quietLocal)
			r.allow(call{tool: "read", params: `{"path":"README.md"}`, context: ownerIn("h703")})
			r.allow(call{tool: "read", params: `{"path":".env"}`, context: read})
			m := with(ownerIn("h703"), "platform", "linux", "waitMs", 9001)
			r.approved(fetch(m), 0)
			for _, command := range []string{"ls", "git log -1", "ls && git commit -m 'x'", "rg foo"} {
				r.stops(bash(t, command, m))
			}
		})
	}
}

// TestH704WhatIsWrittenWhileALookIsAllowed: one conversation looks again and again, and another gets a yes to unpack an archive.
func TestH704WhatIsWrittenWhileALookIsAllowed(t *testing.T) {
	t.Parallel()
	r := newRig(t, quietLocal)
	first, second := r.tainted("h704"), with(r.tainted("h704-b"), "waitMs", 9001)
	r.allow(bash(t, "ls && git status", first))
	r.approved(sh("unzip page.zip", second), 0)
	r.stops(bash(t, "ls && git status", first))
	r.stops(bash(t, "git add -A && ls", first))
	r.stops(bash(t, "ls && git status", r.tainted("h704-c")))
	ops := with(ownerIn("x"), "sessionKey", "agent:ops:x", "platform", "linux")
	r.allow(fetch(ops))
	r.stops(bash(t, "ls && git status", ops))
}

// TestH705AParamIsNoContext: the platform, the workspace and the owner are what the runtime says, not what the agent writes into the call.
func TestH705AParamIsNoContext(t *testing.T) {
	t.Parallel()
	r := newRig(t, quietLocal)
	m := with(r.tainted("h705"), "platform", "")
	for _, more := range []string{`"platform":"linux"`, `"context":{"platform":"linux"}`, `"senderIsOwner":true`, `"workspace":"/home/me/app"`, `"workdir":"/home/me/app"`, `"description":"platform: linux"`} {
		r.stops(execWith("ls && git log -1", more, m))
	}
	r.allow(bash(t, "ls && git log -1", with(m, "platform", "linux")))
}
