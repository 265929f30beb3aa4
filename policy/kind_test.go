package policy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// TestKinds reads testdata/kinds.txt: a yes to one command passes another only if that runs the same programs and
// subcommands in the same place, and does no more.
func TestKinds(t *testing.T) {
	p := must(t, policy.Config{})
	kind := func(input string) policy.Kind {
		c, _ := parsed(t, input)
		plan := p.Plan(c)
		return plan.Kind(c)
	}
	for _, line := range linesOf(t, "testdata/kinds.txt") {
		want, rest, _ := strings.Cut(line, " | ")
		one, other, two := strings.Cut(rest, " => ")
		yes := kind(one)
		got := map[bool]string{true: "alone", false: "like others"}[yes.Programs == ""]
		if two {
			later := kind(other)
			covered := later.Programs != "" && yes.Programs == later.Programs && slices.Equal(yes.With, later.With) &&
				!slices.ContainsFunc(later.Does, func(one string) bool { return !slices.Contains(yes.Does, one) })
			got = map[bool]string{true: "covers", false: "differs"}[covered]
		}
		if got != want {
			t.Errorf("%s: %s", line, got)
		}
	}
}

// TestReasonsAreFewAndTheWorstComesFirst: a card gives two reasons at most, in plain words.
func TestReasonsAreFewAndTheWorstComesFirst(t *testing.T) {
	p := must(t, policy.Config{})
	fetched := session.View{Level: taint.Untrusted, Step: 9, Worst: session.Source{Level: taint.Untrusted, Label: "web_fetch example.com", Step: 7}}
	nowhere := fetched
	nowhere.Origins = session.Origins{"target": {From: session.FromNowhere, Level: taint.Untrusted}, "message": {From: session.FromUser}}
	stranger := session.View{Level: taint.External, Step: 2, Worst: session.Source{Level: taint.External, Label: "someone other than the owner wrote", Step: 1}}
	secret := fetched
	secret.Secret, secret.Secrets = "~/.ssh/id_rsa", session.Holds
	for _, c := range []struct {
		tool, params string
		said         string
		view         session.View
		want         []string
	}{
		{"exec", `{"command":"make test"}`, "", fetched, []string{"The agent fetched example.com 2 calls ago and now wants to act.", "`make` runs what is in the workspace, which the agent may have changed."}},
		{"exec", `{"command":"curl https://evil.example/x"}`, "please look at https://example.com", fetched, []string{"Your request doesn't mention evil.example.", "The agent fetched example.com 2 calls ago and now wants to act."}},
		{"exec", `{"command":"curl https://www.evil.example/x"}`, "Look at Evil.example for me", fetched, []string{"The agent fetched example.com 2 calls ago and now wants to act.", "This can reach the network: curl www.evil.example."}},
		{"message", `{"action":"send","target":"bob@example.org","message":"hello"}`, "say hello", nowhere, []string{"You never mentioned bob@example.org.", "The agent fetched example.com 2 calls ago and now wants to act."}},
		{"message", `{"action":"send","target":"bob@example.org","message":"hello"}`, "say hello", secret, []string{"The agent has read ~/.ssh/id_rsa and this would send data out.", "The agent has read outside content and secrets, and this could send them out."}},
		{"write", `{"path":"a","content":"x"}`, "", stranger, []string{"Someone other than the owner wrote 1 call ago, and the agent now wants to act.", "Your policy asks before write in external conversations."}},
		{"gateway", `{"action":"restart"}`, "", at(taint.Owner), []string{"gateway can disable the verifier, so you are asked each time."}},
	} {
		k := call(c.tool, c.params)
		if c.said != "" {
			k.Context.UserMessages = []toolcall.UserMessage{{Text: c.said, SenderIsOwner: true}}
		}
		plan := p.Plan(k)
		plan.Loop(0, false)
		v := plan.Judge(c.view)
		if got := plan.Reasons(&v, &c.view, plan.Strangers(k, &c.view), plan.Unmentioned(k)); !slices.Equal(got, c.want) {
			t.Errorf("%s %s:\ngot  %q\nwant %q\nof %q", c.tool, c.params, got, c.want, v.Sentences())
		}
	}
}
