package main

import (
	"crypto/ed25519"
	"path/filepath"
	"testing"
	"time"

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

// BenchmarkStages says what each part of an allow costs by itself, without
// network and store.
func BenchmarkStages(b *testing.B) {
	body, c := sample(b)
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
