package main

import (
	"crypto/ed25519"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/redact"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// sample is the call that is measured.
func sample(t testing.TB) ([]byte, *toolcall.Call) {
	t.Helper()
	body := call("ABCDEFGH", 1, conversations, time.Now())
	c, err := toolcall.Decode(body)
	if err != nil {
		t.Fatal(err)
	}
	c.Client = "default"
	return body, &c
}

func TestTheMeasuredCallIsTypical(t *testing.T) {
	body, c := sample(t)
	if len(body) < 900 || len(body) > 1200 {
		t.Errorf("the body has %d bytes, not about 1 KB", len(body))
	}
	rules, _, err := policy.New(policy.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if plan := rules.Plan(c); !plan.Final || plan.RunCap != 0 {
		t.Errorf("the level alone does not decide: %+v", plan)
	}
}

// usual are calls as agents make them, beside the one that is measured under load.
var usual = []struct{ name, tool, params string }{
	{"ls", "exec", `{"command":"ls -la","workdir":"/home/owner/projects/site"}`},
	{"git status", "exec", `{"command":"git status","workdir":"/home/owner/projects/site"}`},
	{"go test", "exec", `{"command":"cd /home/owner/projects/site && go test ./... 2>&1 | tail -n 40"}`},
	{"2 KB script", "exec", `{"command":` + quote(`set -eu
out=$(mktemp -d)
`+strings.Repeat(`for f in content/*.md; do
  name=$(basename "$f" .md)
  if grep -q 'draft: true' "$f"; then
    echo "draft: $name" >> "$out/drafts.txt"
  else
    sed -e 's/^title: //' "$f" | head -n 1 > "$out/$name.title"
  fi
done
wc -l "$out"/*.title | sort -n | tail -n 5
`, 8)) + `}`},
	{"10 KB write", "write", `{"path":"/home/owner/projects/site/main.go","content":` + quote(strings.Repeat(source, 50)) + `}`},
	{"10 KB edit", "edit", `{"path":"src/main.go","oldText":` + quote(strings.Repeat(source, 25)) + `,"newText":` + quote(strings.Repeat(source, 25)) + `}`},
	{"3 KB MCP", "tracker__create_issue", `{"project":"site","labels":["bug","docs"],"items":[` +
		strings.Repeat(`{"title":"The page is blank","body":"Open https://example.com/a/b?c=d and wait. See src/page.go:12.","assignee":"ann@example.com","points":3},`, 22) + `{}]}`},
}

const source = "\tif err := s.open(ctx, \"content/posts/\"+name+\".md\"); err != nil { // see docs/page.md\n\t\treturn fmt.Errorf(\"open %s: %w\", name, err)\n\t}\n\tcount[name]++\n"

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// defaults are the policy and what is hidden with nothing configured.
func defaults(b *testing.B) (*policy.Policy, *redact.Redactor) {
	rules, _, err := policy.New(policy.Config{Guard: guarded(place{dir: b.TempDir(), redis: "127.0.0.1:6379"})})
	if err != nil {
		b.Fatal(err)
	}
	redactor, err := redact.New(redact.Config{})
	if err != nil {
		b.Fatal(err)
	}
	if err := redactor.Wait(b.Context()); err != nil {
		b.Fatal(err)
	}
	return rules, redactor
}

// BenchmarkUsual says what the parts of an allow cost for the usual calls that depend on what the call says.
func BenchmarkUsual(b *testing.B) {
	rules, redactor := defaults(b)
	for _, u := range usual {
		_, c := sample(b)
		c.Tool, c.Params = u.tool, jsontext.Value(u.params)
		for name, run := range map[string]func(){"plan": func() { rules.Plan(c) }, "redact": func() { redactor.Params(c.Tool, c.Params) }} {
			b.Run(u.name+"/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					run()
				}
			})
		}
	}
}

// BenchmarkStages says what each part of an allow costs by itself, without
// network and store.
func BenchmarkStages(b *testing.B) {
	body, c := sample(b)
	rules, redactor := defaults(b)
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		b.Fatal(err)
	}
	log, err := audit.Open(filepath.Join(b.TempDir(), "record.jsonl"), audit.Options{Key: key, Patience: audit.DefaultPatience})
	if err != nil {
		b.Fatal(err)
	}
	plan := rules.Plan(c)
	view := session.View{Version: 1, Level: taint.Owner, Step: 3, Worst: session.Source{Label: plan.Initiator.Why, Level: taint.Owner, Step: 1}}
	verdict := plan.Judge(view)
	entry := audit.Entry{
		Kind: audit.KindDecision, RequestID: c.RequestID, Client: c.Client, Session: c.Context.SessionKey,
		SessionID: c.Context.SessionID, Agent: c.Agent(), Run: c.Context.RunID, Tool: c.Tool, Params: redactor.Params(c.Tool, c.Params).Params,
		Digest: c.Digest().String(), Mode: "allow", Level: "owner", Step: 3, Why: verdict.Sentences(), Decision: audit.Allow, By: verdict.Rule,
	}
	sign, server := hmac.Sign([]byte(secret), body), hmac.Key(make([]byte, 32))
	for _, stage := range []struct {
		name string
		run  func()
	}{
		{"hmac", func() { hmac.Match(sign, body, []byte(secret)) }},
		{"decode", func() { _, _ = toolcall.Decode(body) }},
		{"plan", func() { rules.Plan(c) }},
		{"digest", func() { c.Digest() }},
		{"seal", func() { server.Seal("allow", c.Client, c.Context.SessionKey, c.RequestID) }},
		{"judge", func() { plan.Judge(view) }},
		{"redact", func() { redactor.Params(c.Tool, c.Params) }},
		{"record", func() { _ = log.Append(entry) }},
		{"sign", func() { hmac.SignAnswer([]byte(secret), c.RequestID, []byte(allowBody)) }},
	} {
		b.Run(stage.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				stage.run()
			}
		})
	}
	if err := log.Close(); err != nil {
		b.Fatal(err)
	}
}
