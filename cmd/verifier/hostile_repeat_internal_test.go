package main

import (
	"testing"

	shellcommand "github.com/openclaw-verifier/verifier/command"
	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/policy"
)

func quietRepeat(c *config.Config) {
	c.Policy.Quiet = policy.Quiet{Repeat: true}
	c.Approval.MaxPromptsPerHour = 1000
}

// TestH535TheVeryCommandIsRepeated: what only reads passes again after a page, if it was allowed before the page or a person said yes to it.
func TestH535TheVeryCommandIsRepeated(t *testing.T) {
	t.Parallel()
	onBoth(t, quietRepeat, func(t *testing.T, r *rig) {
		m := with(ownerIn("h535"), "waitMs", 9001)
		r.allow(bash(t, "date", m))
		r.allow(fetch(m))
		if r.redis != nil { // another gateway may have heard of a write
			r.stops(bash(t, "date", m))
			return
		}
		r.allow(bash(t, "date", m))
		if e := r.last(); e.By != policy.RepeatRule || e.Level != "untrusted" {
			t.Errorf("the record says %+v", e)
		}
		r.approved(bash(t, "uname -a", m), 0)
		r.allow(bash(t, "uname -a", m))
		r.approved(bash(t, "git show HEAD", m), 0)
		r.allow(bash(t, "git show HEAD", m))
		r.stops(bash(t, "date -u", m))
		r.soundRecord()
	})
	r := newRig(t, nil)
	m := with(ownerIn("h535-off"), "waitMs", 9001)
	r.allow(bash(t, "date", m))
	r.allow(fetch(m))
	r.stops(bash(t, "date", m))
}

// TestH536WhatDoesMoreThanReadIsNotRepeated, whoever allowed it before.
func TestH536WhatDoesMoreThanReadIsNotRepeated(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"git tag x", "git branch x", "git remote -v && git tag y", "cat /etc/hosts", "cat ../x", "ls $HOME", "git show origin/main", "date && cat ../x", "echo x | xargs ls"} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, quietRepeat)
			m := with(ownerIn("h536"), "waitMs", 9001)
			r.allow(bash(t, "date", m))
			r.allow(bash(t, command, m))
			r.allow(fetch(m))
			r.allow(bash(t, "date", m)) // nothing else keeps it from being repeated
			r.stops(bash(t, command, m))
		})
	}
	for _, command := range []string{
		"git commit -m x", "git push", "git checkout .", "git stash", "git fetch", "git add -A", "git config x.y z", "touch x", "rm x", "ls > x", "make deploy", "make", "npm install", "go generate ./...", "go get example.com/x", "curl https://example.com/", "./run.sh", "python3 x.py", "env", "date; ./x",
		"date && git push", "sed -i s/a/b/ x", "git log --output=x", "git -c core.pager=./x log", "git add -A && git commit -m x", "go test ./... && git commit -m x", "tee x", "eval date", "$x", "",
	} {
		if c := shellcommand.Parse(command); c.Repeatable() {
			t.Errorf("%s may be repeated", command)
		}
	}
}

// TestH537AnUnseenWriteEndsRepeats in every conversation.
func TestH537AnUnseenWriteEndsRepeats(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(r *rig, m map[string]any){
		"a grant": func(r *rig, m map[string]any) {
			r.approved(writes("notes.md", "x", m), 10)
			r.allow(writes("date", "#!/bin/sh\ncurl evil.example", m))
		},
		"a copy":   func(r *rig, m map[string]any) { r.approved(sh("cp page.html date", m), 0) },
		"a script": func(r *rig, m map[string]any) { r.approved(sh("python3 gen.py", m), 0) },
		"a tool of a server": func(r *rig, m map[string]any) {
			r.approved(call{tool: "mcp__fs__put", params: `{"path":"x"}`, context: m}, 0)
		},
		"another conversation": func(r *rig, _ map[string]any) {
			r.approved(sh("mv page.html Makefile", with(r.tainted("other"), "waitMs", 9001)), 0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, quietRepeat)
			m := with(ownerIn("h537"), "waitMs", 9001)
			r.allow(bash(t, "date", m))
			r.allow(bash(t, "git show HEAD", m))
			r.allow(fetch(m))
			r.allow(bash(t, "date", m))
			write(r, m)
			r.stops(bash(t, "date", m))
			r.stops(bash(t, "git show HEAD", m))
		})
	}
}

// TestH538OnlyThisConversationOfTheOwners knows what was allowed there: no other conversation, session, agent, group, stranger, subagent or process.
func TestH538OnlyThisConversationOfTheOwners(t *testing.T) {
	t.Parallel()
	for name, other := range map[string]func(r *rig, m map[string]any) map[string]any{
		"another conversation": func(r *rig, _ map[string]any) map[string]any { return with(r.tainted("other"), "waitMs", 9001) },
		"another session": func(r *rig, m map[string]any) map[string]any {
			other := with(m, "sessionId", "s2")
			r.allow(fetch(other))
			return other
		},
		"another directory": func(_ *rig, m map[string]any) map[string]any { return with(m, "directory", "/tmp/pr-42") },
		"a group":           func(_ *rig, m map[string]any) map[string]any { return with(m, "groupId", "g") },
		"a stranger":        func(_ *rig, m map[string]any) map[string]any { return with(m, "senderId", "7", "senderIsOwner", nil) },
		"a subagent":        func(*rig, map[string]any) map[string]any { return with(spawned("subagent:1", "h538"), "waitMs", 9001) },
		"after a restart":   func(r *rig, m map[string]any) map[string]any { r.quit(); r.start(); return m },
		"after a secret": func(r *rig, m map[string]any) map[string]any {
			r.allow(call{tool: "read", params: `{"path":".env"}`, context: m})
			return m
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, quietRepeat)
			m := with(ownerIn("h538"), "sessionId", "s1", "agentId", "main", "waitMs", 9001)
			r.allow(bash(t, "date", m))
			r.allow(fetch(m))
			r.allow(bash(t, "date", m))
			r.stops(bash(t, "date", other(r, m)))
		})
	}
}

// TestH539AnotherSpellingIsAnotherCall: params and bytes that differ, however little.
func TestH539AnotherSpellingIsAnotherCall(t *testing.T) {
	t.Parallel()
	r := newRig(t, quietRepeat)
	m := with(ownerIn("h539"), "waitMs", 9001)
	r.allow(bash(t, "date", m))
	r.allow(fetch(m))
	for _, command := range []string{"date ", " date", "date;", "Date", "DATE", "/bin/date", "./date", "date -f x", "date -s 2020-01-01", "date\n", "date #", "date && date", "\"date\"", "dat\u0435"} {
		r.stops(bash(t, command, m))
	}
	for _, more := range []string{`"workdir":"/tmp"`, `"env":{"PATH":"."}`, `"timeout":5`, `"host":"gateway"`, `"elevated":true`} {
		r.stops(execWith("date", more, m))
	}
	r.allow(bash(t, "date", m))
}

// TestH540AYesThatIsNotForTheCallAloneIsNoReason: a grant, the owner's no, a call that was refused.
func TestH540AYesThatIsNotForTheCallAloneIsNoReason(t *testing.T) {
	t.Parallel()
	r := newRig(t, quietRepeat)
	m := with(r.tainted("h540"), "waitMs", 9001)
	r.stops(bash(t, "date", m)) // refused
	if a := r.deny(bash(t, "date", m)); a.Ref != "" && len(r.pending()) > 0 {
		t.Errorf("a refused call is put again: %s", a.raw)
	}
	paused := with(ownerIn("h540-paused"), "waitMs", 9001)
	r.allow(bash(t, "date", paused))
	r.allow(fetch(paused))
	r.allow(bash(t, "date", paused))
	r.reply(".pause main")
	r.deny(bash(t, "date", paused))
}
