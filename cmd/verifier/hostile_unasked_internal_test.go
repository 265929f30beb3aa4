package main

import (
	"fmt"
	"testing"
)

// The attacks of a third review on what passes unasked after a page was read: builds and commits (0033), looks of coding agents (0044) and quiet.local (0058).

// codingIn is a conversation of a coding agent's owner that has read a page.
func (r *rig) codingIn(name, workspace string) map[string]any {
	r.t.Helper()
	m := with(with(ownerIn(name), "agentId", "claude-code"), "workspace", workspace)
	m["sessionKey"] = "agent:claude-code:" + name
	r.allow(fetch(m))
	return with(m, "waitMs", 5001)
}

// allAsk says that each of these commands asks after a page was read: of OpenClaw with quiet.local, and of a coding agent.
func allAsk(t *testing.T, commands ...string) {
	t.Helper()
	t.Run("OpenClaw", func(t *testing.T) { notLocal(t, commands...) })
	t.Run("Claude Code", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, nil)
		m := r.codingIn("coding", "/home/me/app")
		r.allow(inApp("git status --short && git diff", m))
		r.allow(inApp("cat main.go", m))
		for _, command := range commands {
			r.stops(inApp(command, m))
		}
	})
}

// inApp is a command of a coding agent in its workspace.
func inApp(command string, m map[string]any) call {
	return call{tool: "exec", params: fmt.Sprintf(`{"command":%q,"workdir":"/home/me/app"}`, command), context: m}
}

// readOtherwise are commands that sh reads as one harmless command, and cmd or PowerShell in another way.
var readOtherwise = []string{
	"git commit -m 'x & calc'", "git commit -m 'x&calc'", "git commit -m 'x | calc'", "git commit -m 'x > .git/hooks/post-commit'", "git commit -m 'x %PATH% y'", "git commit -m \"x %GITHUB_TOKEN% y\"", "git add -A && git commit -m 'a' -m 'b & calc'",
	"git commit -m 'x --amend --no-verify y'", "git commit -m ' --amend '", "git commit -m 'x\" --amend \"y'", "git commit -m x; echo --no-verify", "git add . ; git status", "rg 'x --pre=calc y' src", "rg 'x .env y' src", "rg 'x /etc/passwd y' src", "rg 'x ../other/x y' src", "find src -name '*.go & calc'",
	"cat .e^nv", "cat main.go,../other/x", "ls @HOME", "ls env:", "cat 'env:GITHUB_TOKEN'", "cat %USERPROFILE%/x", "git log --grep='%PATH%'", "git log --grep=\"%PATH%\"", "rg 'a^&calc' src", "git commit -m \"x\uff02 --amend \uff02y\"", "rg 'x\\' src '; calc #'",
}

// TestH580AShellThatIsNotSh: where no hook says that the machine is none of Windows, a command passes only if every shell reads it alike.
func TestH580AShellThatIsNotSh(t *testing.T) {
	t.Run("OpenClaw", func(t *testing.T) { notLocal(t, readOtherwise...) })
	t.Run("a coding agent on Windows", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, nil)
		m := r.codingIn("h580", `C:\Users\me\app`)
		for _, params := range []string{`{"command":%q,"workdir":"C:\\Users\\me\\app"}`, `{"command":%q}`} {
			for _, command := range readOtherwise {
				r.stops(call{tool: "exec", params: fmt.Sprintf(params, command), context: m})
			}
		}
	})
	t.Run("what all shells read alike", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, quietLocal)
		m := r.tainted("h580-alike")
		for _, command := range []string{"git add -A && git commit -qm 'Greet in French'", "git commit -m 'fix: parse it (again), see #12.'", "git commit -m \"Grüße & more: it's fine\"", "rg 'foo' src | head -20", "make test 2>&1 | tail -20", "git status --short && git log --oneline -3"} {
			r.allow(bash(t, command, m))
		}
		m = r.codingIn("h580-posix", "/home/me/app")
		for _, command := range []string{"git commit -m 'a & b: 100%'", "git diff --stat; git status", "rg -n 'a|b' src"} {
			r.allow(inApp(command, m))
		}
	})
}
