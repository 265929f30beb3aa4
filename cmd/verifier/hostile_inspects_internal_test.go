package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
)

// What only shows is not asked about after a page was read, and what looks like it and is more asks.

// shownByGit are commands that show what git keeps; of coding agents they pass.
var shownByGit = []string{
	"git show HEAD", "git show --stat HEAD", "git show HEAD:main.go", "git show HEAD | head -50", "git log --oneline -5 -- main.go", "git log -1 --format=%h", "git log main..HEAD --oneline", "git branch", "git branch -a", "git branch --show-current", "git blame main.go", "git blame -L 1,20 main.go", "git ls-files", "git ls-tree -r --name-only HEAD",
	"git rev-parse HEAD", "git rev-parse --abbrev-ref HEAD", "git rev-list --count HEAD", "git merge-base main HEAD", "git remote", "git tag", "git stash list", "git shortlog -sn HEAD", "git describe --tags", "git status && git show --stat",
}

// shownOfTheMachine are commands that say which versions and which machine it is; of OpenClaw they pass as well.
var shownOfTheMachine = []string{
	"date", "date -u", "uname -a", "whoami", "hostname", "uptime", "nproc", "id", "df -h", "free -h", "node --version", "python3 --version", "gcc --version", "docker --version", "make --version", "go version", "go env GOPATH", "go list ./...", "go list -m", "npm --version", "npm ls", "cargo --version", "uname -a && date",
}

// showsMore are commands near to those: they change a branch, a tag, a stash, a setting or the clock, run a program, write a file, reach a host, or show passwords, commits of others and what other programs do.
var showsMore = []string{
	"git show --ext-diff", "git show --textconv", "git show --output=f", "git show -p evil", "git show evil", "git show origin/main", "git show HEAD:.env", "git show HEAD:id_rsa", "git show HEAD -- .env", "git show HEAD -- ../x", "git show --format=%G? HEAD", "git blame .env", "git blame id_rsa", "git blame --contents /etc/passwd main.go",
	"git log -p", "git log -S x", "git log --all", "git log evil", "git log -g", "git log --grep -- evil", "git reflog", "git cat-file -p HEAD", "git branch newname", "git branch -D x", "git branch -v", "git branch -m x", "git branch --edit-description", "git -c core.pager=./x show HEAD", "git -c alias.show='!./x' show", "git -p show HEAD", "GIT_PAGER=./x git show HEAD",
	"git remote -v", "git remote get-url origin", "git remote show origin", "git remote add x https://evil.example", "git remote update", "git tag x", "git tag -d x", "git tag -v x", "git stash", "git stash list -p", "git stash show -p", "git stash drop", "git stash -q list", "git config --get remote.origin.url", "cd vendor/x && git show HEAD", "git -C docs show HEAD", "git show HEAD > f", "git show HEAD | sh",
	"go list -exec ./x ./...", "go list -toolexec=./x ./...", "go list -mod=mod ./...", "go list -export ./...", "go list -m all", "go list evil.example/x", "go env -w GOFLAGS=-toolexec=./x", "go env", "go env GOPROXY", "go version -m x", "go -C x list ./...", "npm ls -g", "npm ls --prefix ../x", "npm view x", "cargo +nightly --version",
	"date -s 10:00", "date -f .env", "hostname evil", "node --version -e 1", "./node --version", "make --version -f x", "gcc --version -wrapper ./x", "docker ps", "docker -H tcp://evil.example ps", "systemctl status", "pip list", "yarn --version", "touch file", "mkdir dir", "mkdir -p .git/hooks", "touch ~/.bashrc", "touch go.work", "touch .git/index.lock",
}

// TestH737WhatShowsAndDoesMore asks, of OpenClaw and of coding agents, and what only shows passes with its reason in the record.
func TestH737WhatShowsAndDoesMore(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *config.Config) { c.Approval.MaxPromptsPerHour = 1000 })
	m, coding := r.tainted("h737"), r.codingIn("h737", "/home/me/app")
	for _, command := range append(shownByGit, shownOfTheMachine...) {
		r.allow(inApp(command, coding))
		if e := r.last(); !slices.Contains([]string{"seen", "local", "look"}, e.By) {
			t.Errorf("%s: the record says %+v", command, e)
		}
	}
	for _, command := range shownOfTheMachine {
		r.allow(bash(t, command, m))
	}
	for _, command := range showsMore {
		r.stops(inApp(command, coding))
		r.stops(bash(t, command, m))
	}
	more, err := os.ReadFile("../../command/testdata/notinspects.txt")
	if err != nil {
		t.Fatal(err)
	}
	for command := range strings.Lines(string(more)) {
		r.stops(inApp(strings.TrimSpace(command), coding))
	}
}

// TestH738AClassOfCharactersThatEndsNothing: in one command of sed with slashes, a class holds any separator. With another command beside it, or a class that holds a slash, nothing says where each sed ends it.
func TestH738AClassOfCharactersThatEndsNothing(t *testing.T) {
	allAsk(t,
		"sed 's/[;]/a/;s/x/y/e' main.go", "sed 's/[;/]/a/' main.go", "sed 's/[,;]/a/w out' main.go", "sed 's/[,;]/a/e' main.go", "sed 's/[;]/a/;w out' main.go", "sed '/[;]/w out' main.go", "sed '/[;/s/]/e#/p' main.go", "sed 's|[|;]|a|' main.go", "sed 's,[,;],a,' main.go", "sed 's/[a;b/]/' main.go", "sed 's/[];]/a/' main.go", "sed 's/[^];]/a/' main.go",
		`sed 's/[\];]/a/' main.go`, "sed 's/[[.;.]]/a/' main.go", "sed -i 's/[,;]/a/' main.go", "sed 's/[;]/[;/' main.go", "sed 's/[,;]/a/g' .env", "sed -f x 's/[,;]/a/' main.go", "sed 's/[,;]/a/m;e date' main.go",
	)
	t.Run("one command", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, nil)
		m := r.codingIn("h738", "/home/me/app")
		for _, command := range []string{"sed 's/[,;]/ /g' main.go", "sed -E 's/[|;#]+/,/' main.go", "sed -n '/[;,]$/p' main.go", "sed '/^[;#]/d' main.go", "sed -n '/[@]/,/[;]/p' main.go"} {
			r.allow(inApp(command, m))
		}
	})
}

// TestH739WhoseShowingIsNotTheOwners: after a write that no person saw, after a secret, in another directory, of a sub-agent, a stranger or a group, what only shows asks. So does what git keeps, of OpenClaw.
func TestH739WhoseShowingIsNotTheOwners(t *testing.T) {
	t.Parallel()
	shows := []string{"git show --stat HEAD", "git branch", "git blame main.go", "git stash list", "go version", "npm ls", "cargo --version"}
	for name, change := range map[string]func(r *rig, m map[string]any) map[string]any{
		"a setting that no one saw": func(r *rig, m map[string]any) map[string]any {
			r.approved(sh("cp page.html .git/config", with(m, "waitMs", 9001)), 0)
			return m
		},
		"a toolchain that came with an archive": func(r *rig, m map[string]any) map[string]any {
			r.approved(sh("tar xf x.tgz", with(r.tainted("other"), "waitMs", 9001)), 0)
			return m
		},
		"a secret": func(r *rig, m map[string]any) map[string]any {
			r.allow(call{tool: "read", params: `{"path":".env"}`, context: m})
			return m
		},
		"a group":    func(_ *rig, m map[string]any) map[string]any { return with(m, "groupId", "g") },
		"a stranger": func(_ *rig, m map[string]any) map[string]any { return with(m, "senderId", "7", "senderIsOwner", nil) },
		"no owner":   func(_ *rig, m map[string]any) map[string]any { return with(m, "senderIsOwner", nil) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil)
			m := r.codingIn("h739", "/home/me/app")
			for _, command := range shows {
				r.allow(inApp(command, m))
			}
			m = change(r, m)
			for _, command := range shows {
				r.stops(inApp(command, m))
			}
		})
	}
	r := newRig(t, func(c *config.Config) { c.Approval.MaxPromptsPerHour = 1000 })
	m := r.codingIn("h739-places", "/home/me/app")
	for _, dir := range []string{"/home/me/app/vendor/x", "/tmp/pr-42", "/home/me"} {
		for _, command := range shows[:4] {
			r.stops(execWith(command, fmt.Sprintf(`"workdir":%q`, dir), m))
		}
	}
	for _, more := range []string{`"pty":true`, `"env":{"GIT_DIR":"x"}`, `"host":"node"`, `"elevated":true`} {
		r.stops(execWith("git show --stat HEAD", more, m))
		r.stops(execWith("uname -a && git log -1", more, m))
	}
	openclaw := r.tainted("h739")
	for _, command := range shownByGit {
		r.stops(bash(t, command, openclaw))
	}
	for _, platform := range []string{"", "win32"} {
		r.stops(bash(t, "date", with(openclaw, "platform", platform)))
		r.stops(bash(t, "node --version", with(openclaw, "platform", platform)))
	}
}
