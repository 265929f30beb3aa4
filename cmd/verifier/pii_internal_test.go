package main

import (
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
)

// Personal data is hidden on cards and in the record. It decides nothing.
func TestPersonalDataDecidesNothing(t *testing.T) {
	t.Parallel()
	message := func(text, session string) call {
		return call{tool: "message", params: `{"action":"send","to":"alice@example.com","message":` + quoted(text) + `}`, context: ownerIn(session)}
	}
	plain := newRig(t, nil)
	r := newRig(t, func(c *config.Config) { c.Redact.PII = []string{"mail", "phone", "card", "iban"} })
	untilReady(t, plain)
	untilReady(t, r)
	for _, text := range []string{"hello", "write to bob@example.com", "call +14155552671"} {
		want, got := plain.send(impatient(message(text, "a"))), r.send(impatient(message(text, "a")))
		if got.Decision != want.Decision || (got.Ref == "") != (want.Ref == "") {
			t.Errorf("%q: %s, without pii %s", text, got.raw, want.raw)
		}
	}
	if text := r.record(); strings.Contains(text, "@example.com") || strings.Contains(text, "4155552671") {
		t.Errorf("the record has personal data:\n%s", text)
	}
	if got := r.send(impatient(message("password=hunter2hunter2 for bob@example.com", "b"))); got.allowed() {
		t.Error("a message with a password passes")
	}
	c := message("write to bob@example.com", "c")
	c.context = unvouched("c")
	r.mustAsk(c)
	for _, k := range r.pending() {
		if !strings.Contains(k.Text, "alice@example.com") || strings.Contains(k.Text, "bob@example.com") {
			t.Errorf("the card hides where it goes, or shows what it says:\n%s", k.Text)
		}
	}
	if len(r.pending()) == 0 {
		t.Error("nothing waits")
	}
}
