package verifier_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/policy"
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
