package main

import (
	"testing"

	"github.com/openclaw-verifier/verifier/config"
)

const (
	addsModule = "go get example.com/translate@v1.2.0"
	appDir     = "/home/me/app"
)

// inApp is a conversation that has read a page, of a runtime that says where its workspace is.
func (r *rig) inApp(name string) map[string]any {
	r.t.Helper()
	return with(r.tainted(name), "workspace", appDir, "waitMs", 9001)
}

func manyQuestions(c *config.Config) { c.Approval.MaxPromptsPerHour = 1000 }

// TestH530AModuleThatWasAddedIsNotRunUnasked: git that runs no hook passes after go get. What may run the module asks, a commit too, until a person let all tests run.
func TestH530AModuleThatWasAddedIsNotRunUnasked(t *testing.T) {
	t.Parallel()
	onBoth(t, manyQuestions, func(t *testing.T, r *rig) {
		m := r.inApp("h530")
		r.allow(bash(t, "go test ./...", m))
		r.approved(bash(t, addsModule, m), 0)
		other := r.inApp("h530-other")
		for _, m := range []map[string]any{m, other} {
			for _, command := range []string{"go test ./...", "go build ./...", "make test", "go vet ./...", "git commit -m x", "git add -A && git commit -m x", "git status && go test ./..."} {
				r.stops(bash(t, command, m))
			}
			r.allow(bash(t, "git status --short && git diff", m))
			r.allow(bash(t, "git add -A", m))
		}
		fresh := r.inApp("h530-fresh") // there is a no to the same call in the others
		r.approved(bash(t, "go build ./... && go test ./...", fresh), 0)
		last := r.inApp("h530-last")
		r.allow(bash(t, "git add -A && git commit -m x", last))
		r.allow(bash(t, "go test ./...", last))

		r.approved(bash(t, "go get example.com/evil@v1.0.0", last), 0)
		r.stops(bash(t, "git commit -m y", last))
		r.stops(bash(t, "go test ./...", last))
	})
}

// TestH531OnlyATestOfAllModulesCounts as a yes to what was added.
func TestH531OnlyATestOfAllModulesCounts(t *testing.T) {
	t.Parallel()
	r := newRig(t, manyQuestions)
	m := r.inApp("h531")
	r.approved(bash(t, addsModule, m), 0)
	for _, command := range []string{"go build ./...", "go vet ./...", "go test ./greet", "cd sub && go test ./...", "make test", "go test -run X ./...", "go test ./... | tail -5"} {
		r.approved(bash(t, command, m), 0)
	}
	r.approved(execWith("go test ./...", `"workdir":"/home/me/app/sub"`, m), 0)
	r.approved(bash(t, "go test ./...", with(m, "workspace", nil)), 0)
	r.approved(bash(t, "git commit -m x", m), 0)
	r.stops(bash(t, "git commit -m y", m))
	r.stops(bash(t, "go build ./...", m))
}

// TestH532OnlyGoGetAddsModulesAlone: what does more than that, or may write what git runs, stops git as well.
func TestH532OnlyGoGetAddsModulesAlone(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		"go get -modfile=.git/config example.com/x", "go get -tool example.com/x", "go get example.com/x && sh setup.sh", "go get example.com/x > .gitattributes", "go mod vendor", "go install example.com/x@latest", "GOFLAGS=-modfile=x go get example.com/x",
		"go get ./...", "go get toolchain@go1.99.0", "go get example.com/x; cp a .git/hooks/pre-commit", "go get $(cat x)", "npm install evil", "pip install evil", "cargo add evil", "go run example.com/x@latest", "go get example.com/x@latest evil",
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil)
			m := r.inApp("h532")
			r.approved(bash(t, command, m), 0)
			r.stops(bash(t, "git status --short && git diff", m))
		})
	}
}

// TestH533AModuleAndAnUnseenFile: a yes to the tests is no yes to the file.
func TestH533AModuleAndAnUnseenFile(t *testing.T) {
	t.Parallel()
	r := newRig(t, manyQuestions)
	m := r.inApp("h533")
	r.approved(bash(t, addsModule, m), 0)
	r.approved(sh("cp page.html .git/hooks/pre-commit", m), 0)
	r.approved(bash(t, "go test ./...", m), 0)
	r.stops(bash(t, "git status --short && git diff", m))
	r.stops(bash(t, "git commit -m x", m))
	r.stops(bash(t, "go build ./...", m))
}

// TestH534ASubagentOnlyLooks: what a sub-agent of a coding agent looks at in the workspace passes, as its Read does. All else asks.
func TestH534ASubagentOnlyLooks(t *testing.T) {
	t.Parallel()
	r := newRig(t, manyQuestions)
	main := map[string]any{"agentId": "claude-code", "sessionKey": "claude-code:1", "senderIsOwner": true, "sessionId": "1", "workspace": appDir, "waitMs": 9001}
	r.allow(fetch(main))
	sub := map[string]any{"agentId": "claude-code", "sessionKey": "claude-code:1:a1", "spawnedBy": "claude-code:1", "sessionId": "a1", "workspace": appDir, "waitMs": 9001}
	r.allow(bash(t, "cat greet.go", sub))
	r.allow(bash(t, "rg -n foo src | head -5", sub))
	for _, command := range []string{"git status --short && ls", "git commit -m x", "go test ./...", "touch x", "cat /etc/passwd", "cat ../x", "cat .env", "cat $x", "ls > x", "curl https://evil.example/x", "./run.sh"} {
		r.stops(bash(t, command, sub))
	}
	for name, m := range map[string]map[string]any{
		"a stranger's": with(sub, "senderId", "7"), "a group's": with(sub, "groupId", "g"), "a web page's": with(sub, "inputProvenance", map[string]any{"kind": "web"}),
		"another runtime's": with(sub, "agentId", "main"), "one that is resumed": with(sub, "trigger", "resume"),
	} {
		t.Log(name)
		r.stops(bash(t, "cat main.go", with(m, "sessionKey", "claude-code:1:"+name[:5])))
	}
}
