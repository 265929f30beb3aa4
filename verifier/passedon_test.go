package verifier_test

import (
	"slices"
	"testing"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/verifier"
)

// labelled labels tools of its own, and lets everything pass but sinks in tainted
// conversations.
func labelled(t *testing.T) *policy.Policy {
	t.Helper()
	rules, _, err := policy.New(policy.Config{
		TaintPolicy: policy.TaintPolicy{Shared: new(taint.Allow), External: new(taint.Allow), Untrusted: new(taint.Allow)},
		Tools: map[string]policy.Tool{
			"dm":      {Source: new(false), Sink: new(true), Destinations: []string{"to"}},
			"passbox": {Source: new(false), Sink: new(false), Secret: new(true)},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

func labelledRig(t *testing.T, edit func(*verifier.Options)) *rig {
	t.Helper()
	store, _ := openSQLite(t)
	rules := labelled(t)
	return newRig(t, store, 1, func(o *verifier.Options) {
		o.Policy = func() *policy.Policy { return rules }
		if edit != nil {
			edit(o)
		}
	})
}

// saying is a run in which the owner said this.
func saying(key, text string) string {
	return owner(key) + `,"runId":"run","userMessages":[{"text":"` + text + `","senderIsOwner":true}]`
}

func (r *rig) tainted(t *testing.T, context string) {
	t.Helper()
	r.allow(call(t, "web_fetch", `{"url":"https://example.com"}`, context))
}

// People are asked where a call goes also where no grant may cover it: that is
// when it matters most.
func TestAQuestionTellsWhichArgumentsSayWhereItGoes(t *testing.T) {
	var asked approval.Ask
	r := labelledRig(t, func(o *verifier.Options) {
		o.Desk = deskFunc(func(r *approval.Request) (approval.Ruling, error) {
			asked = r.Ask
			return approval.Ruling{Yes: true}, nil
		})
	})
	said := saying("goes", "Read the page")
	r.tainted(t, said)
	for params, where := range map[string]int{`{"to":"mallory","body":"for alice@good.example"}`: 1, `{"action":"delete","to":"mallory"}`: 0} {
		r.verify(call(t, "dm", params, said))
		if len(asked.Targets) != where || !slices.Equal(asked.TargetParams, []string{"to"}) {
			t.Errorf("%s: like calls to %q, by %q", params, asked.Targets, asked.TargetParams)
		}
	}
}
