package policy_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

const (
	allow    = taint.Allow
	confirm  = taint.Confirm
	restrict = taint.Restrict

	system    = taint.System
	owner     = taint.Owner
	local     = taint.Local
	shared    = taint.Shared
	external  = taint.External
	untrusted = taint.Untrusted
)

// must builds a policy that has no errors.
func must(t testing.TB, c policy.Config) *policy.Policy {
	t.Helper()
	p, _, err := policy.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// call is a tool call from the agent main in its main session.
func call(tool, params string) *protocol.Call {
	return &protocol.Call{
		Client: "default", RequestID: "r", Tool: protocol.Canonical(tool), Sent: tool, Params: jsontext.Value(params),
		Context: protocol.Context{AgentID: "main", SessionKey: "agent:main:main", SenderID: "1", SenderIsOwner: true},
	}
}

// at is a conversation at a level.
func at(l taint.Level) policy.View { return policy.View{Level: l} }

// modes writes a row the short way: one letter for each level.
func modes(r taint.Row) string {
	var b strings.Builder
	for _, m := range r {
		b.WriteByte(m.String()[0])
	}
	return b.String()
}

func on(m taint.Mode) *taint.Mode   { return &m }
func is(l taint.Level) *taint.Level { return &l }

// row asserts a tool's modes from system to untrusted: a(llow), c(onfirm), r(estrict).
func row(t *testing.T, p *policy.Policy, tool, want string) {
	t.Helper()
	plan := p.Plan(call(tool, `{}`))
	if got := modes(plan.Modes); got != want {
		t.Errorf("%s is %s, want %s", tool, got, want)
	}
}

// says asserts that one of the sentences of a verdict holds the words.
func says(t *testing.T, v policy.Verdict, words string) {
	t.Helper()
	if !strings.Contains(strings.Join(v.Sentences(), "\n"), words) {
		t.Errorf("the verdict does not say %q but:\n%s", words, strings.Join(v.Sentences(), "\n"))
	}
}

// warned asserts that a warning stands at a path and holds the words.
func warned(t *testing.T, c policy.Config, path string, words ...string) {
	t.Helper()
	_, warnings, err := policy.New(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range warnings {
		if w.Path == path && holdsAll(w.Text, words) {
			return
		}
	}
	t.Errorf("no warning at %s with %q, only %v", path, words, warnings)
}

// refused asserts that the config has an error at a path that holds the words.
func refused(t *testing.T, c policy.Config, path string, words ...string) {
	t.Helper()
	p, _, err := policy.New(c)
	if err == nil || p != nil {
		t.Fatalf("taken: %v", c)
	}
	for line := range strings.Lines(err.Error()) {
		if strings.HasPrefix(line, path+": ") && holdsAll(line, words) {
			return
		}
	}
	t.Errorf("no error at %s with %q, only %v", path, words, err)
}

func holdsAll(s string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(s, w) {
			return false
		}
	}
	return true
}

// ours is what the program guards in a usual installation.
func ours() policy.Guard {
	return policy.Guard{
		Paths: []string{
			"/home/ann/.local/state/verifier",
			"/home/ann/.local/state/verifier/owner.token",
			"/home/ann/.local/state/verifier/server.key",
			"/home/ann/.config/verifier/verifier.yaml",
		},
		Addresses: []string{"127.0.0.1:8787", "redis://localhost:6379/0"},
		Commands:  []string{"verifier"},
		Names:     []string{"VERIFIER_OWNER_TOKEN", "VERIFIER_*", "X-Verifier-Signature"},
	}
}

// quoted is JSON for an object with one string.
func quoted(key, value string) string {
	k, _ := jsontext.AppendQuote(nil, key)
	v, _ := jsontext.AppendQuote(nil, value)
	return "{" + string(k) + ":" + string(v) + "}"
}
