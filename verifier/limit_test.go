package verifier_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/verifier"
)

func ruledRig(t *testing.T, c policy.Config, edit func(*verifier.Options)) *rig {
	t.Helper()
	store, _ := openSQLite(t)
	rules, _, err := policy.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return newRig(t, store, 1, func(o *verifier.Options) {
		o.Policy = func() *policy.Policy { return rules }
		if edit != nil {
			edit(o)
		}
	})
}

func TestLimitsEndWhatTheyCount(t *testing.T) {
	r := ruledRig(t, policy.Config{Limits: []policy.Limit{
		{Tool: []string{"tts"}, Calls: 2},
		{Tool: []string{"image_generate"}, Calls: 1, Per: policy.PerAgent, Then: new(taint.Confirm)},
		{Tool: []string{"pay"}, Per: policy.PerAll, Param: "amount", Most: 100},
	}}, nil)
	one, two := owner("limit-one"), owner("limit-two")
	r.allow(call(t, "tts", `{"text":"a"}`, one))
	r.allow(call(t, "tts", `{"text":"b"}`, one))
	r.deny("the third in a conversation", call(t, "tts", `{"text":"c"}`, one))
	if e := r.record.last(); e.Error != "limit" || !strings.Contains(strings.Join(e.Why, " "), "The limit limits[0] is reached (2 calls in a conversation within 1h): it is blocked.") {
		t.Errorf("recorded %q: %q", e.Error, e.Why)
	}
	r.allow(call(t, "tts", `{"text":"d"}`, two))

	r.allow(call(t, "image_generate", `{}`, one))
	r.asked("the agent's second, elsewhere", call(t, "image_generate", `{}`, two))

	r.allow(call(t, "pay", `{"amount":60}`, owner("pay-one")))
	r.deny("beyond the sum", call(t, "pay", `{"amount":"60"}`, owner("pay-two")))
	r.allow(call(t, "pay", `{"amount":40}`, owner("pay-three")))
	r.deny("less than nothing", call(t, "pay", `{"amount":-500}`, owner("pay-four")))
	r.deny("no number", call(t, "pay", `{"amount":{"value":1}}`, owner("pay-five")))
}

func TestAPolicyTellsTheAgentOnlyItsReason(t *testing.T) {
	r := ruledRig(t, policy.Config{Policies: []policy.Declared{
		{Name: "secret-name", Action: policy.Action{BlockTools: []string{"tts"}, Reason: "No speech here."}},
		{Name: "silent-name", Action: policy.Action{RemoveTools: []string{"pdf"}, Reason: "Never told."}},
	}}, nil)
	context := owner("policies")
	if d := r.deny("blocked", call(t, "tts", `{}`, context)); !strings.HasSuffix(d.Reason, "): No speech here.") || strings.Contains(d.Reason, "secret-name") {
		t.Errorf("the agent reads %q", d.Reason)
	}
	if d := r.deny("removed", call(t, "pdf", `{}`, context)); strings.Contains(d.Reason, "told") || strings.Contains(d.Reason, "silent") {
		t.Errorf("the agent reads %q", d.Reason)
	}
}

// The log gets what the owner wants to have there, without secrets.
func TestLogFullContextHoldsNoSecret(t *testing.T) {
	var log strings.Builder
	r := ruledRig(t, policy.Config{Policies: []policy.Declared{{Name: "audit", Action: policy.Action{LogFullContext: true}}}}, func(o *verifier.Options) {
		o.Log = logTo(&log)
		o.Desk = deskFunc(func(*approval.Request) (approval.Ruling, error) { return approval.Ruling{Yes: true, Ref: "TEST"}, nil })
	})
	r.allow(call(t, "exec", `{"command":"deploy --token ghp_0123456789abcdefghijABCDEFGHIJ012345"}`, saying("log", "Deploy with ghp_0123456789abcdefghijABCDEFGHIJ012345")))
	if text := log.String(); !strings.Contains(text, "the full context of a call") || !strings.Contains(text, "Deploy with") || strings.Contains(text, "ghp_0123456789") {
		t.Errorf("the log says %s", text)
	}
}

func logTo(to *strings.Builder) *slog.Logger { return slog.New(slog.NewTextHandler(to, nil)) }
