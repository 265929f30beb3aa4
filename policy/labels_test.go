package policy_test

import (
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// onlySinks lets everything pass but what acts in a tainted conversation.
func onlySinks(tools map[string]policy.Tool) policy.Config {
	return policy.Config{Tools: tools, TaintPolicy: policy.TaintPolicy{Shared: on(allow), External: on(allow), Untrusted: on(allow)}}
}

func TestLabelsSayWhatAToolDoes(t *testing.T) {
	p := must(t, onlySinks(map[string]policy.Tool{
		"get_balance":   {Source: new(false), Sink: new(false)},
		"search_mail":   {Source: new(true), Sink: new(false)},
		"send_money":    {Source: new(false), Sink: new(true), Destinations: []string{"recipient"}},
		"close_account": {Source: new(false), Destructive: new(true)},
		"show_card":     {Source: new(false), Sink: new(false), Secret: new(true)},
	}))
	for _, c := range []struct {
		tool   string
		modes  string
		raise  taint.Level
		grant  bool
		secret bool
	}{
		{"get_balance", "aaaaaa", local, true, false},
		{"search_mail", "aaaaaa", untrusted, true, false},
		{"send_money", "aaaacc", local, true, false},
		{"close_account", "aaaacc", local, false, false},
		{"show_card", "aaaaaa", local, false, true},
		{"nobody_said", "aaaacc", untrusted, true, false},
	} {
		plan := p.Plan(call(c.tool, `{}`))
		if got := modes(plan.Modes); got != c.modes || plan.Raise != c.raise || plan.Grantable != c.grant || (plan.Secret != "") != c.secret {
			t.Errorf("%s: %s, raises to %s, grantable %t, secret %t; want %+v", c.tool, got, plan.Raise, plan.Grantable, plan.Secret != "", c)
		}
	}
}

// Removing any label leaves a tool that nobody has said anything of: it brings
// outside content in, and it asks once some came in.
func TestWithoutItsLabelAToolIsSourceAndSink(t *testing.T) {
	labelled := must(t, onlySinks(map[string]policy.Tool{"send_money": {Destinations: []string{"to"}}}))
	bare := must(t, onlySinks(nil))
	for name, p := range map[string]*policy.Policy{"with half a label": labelled, "without": bare} {
		plan := p.Plan(call("send_money", `{}`))
		if plan.Raise != untrusted || plan.Modes[untrusted] != confirm || plan.Modes[external] != confirm {
			t.Errorf("%s: raises to %s, modes %s", name, plan.Raise, modes(plan.Modes))
		}
	}
}

func TestLabelsThatContradictAreRefused(t *testing.T) {
	for what, c := range map[string]policy.Config{
		"tools.a.source: says the opposite of trust.tools.a, which is untrusted": {
			Tools: map[string]policy.Tool{"a": {Source: new(false)}}, Trust: policy.Trust{Tools: map[string]taint.Level{"a": untrusted}}},
		"tools.b.source: says the opposite of trust.tools.b, which is local": {
			Tools: map[string]policy.Tool{"b": {Source: new(true)}}, Trust: policy.Trust{Tools: map[string]taint.Level{"b": local}}},
		"tools.c: is destructive and no sink":                           {Tools: map[string]policy.Tool{"c": {Sink: new(false), Destructive: new(true)}}},
		"tools.d.destinations: has an empty entry":                      {Tools: map[string]policy.Tool{"d": {Destinations: []string{" "}}}},
		"tools.exec: exec is another name for exec, which is set":       {Tools: map[string]policy.Tool{"bash": {}, "exec": {}}},
		"trust.secrets: has an entry that is too short to mean a place": {Trust: policy.Trust{Secrets: []string{"/"}}},
	} {
		if _, _, err := policy.New(c); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("got %v, want %q", err, what)
		}
	}
}

func TestCallingASinkHarmlessIsAWarning(t *testing.T) {
	_, warnings, err := policy.New(policy.Config{Tools: map[string]policy.Tool{"exec": {Sink: new(false)}}})
	if err != nil || len(warnings) == 0 || warnings[0].Path != "tools.exec.sink" {
		t.Errorf("%v, %v: want a warning about tools.exec.sink", warnings, err)
	}
}

func TestSensitivePlacesMakeAReadSecret(t *testing.T) {
	p := must(t, policy.Config{Trust: policy.Trust{Secrets: []string{"wallets/main"}}})
	for path, want := range map[string]bool{
		"~/.ssh/config": true, "/srv/app/.env": true, "C:/Users/a/.aws/credentials": true, "/data/wallets/main": true,
		"/home/a/notes.md": false, "/home/a/environment.md": false, "/data/wallets/mainly": false,
	} {
		if got := p.Plan(call("read", `{"path":"`+path+`"}`)).Secret != ""; got != want {
			t.Errorf("reading %s bears secrets: %t, want %t", path, got, want)
		}
	}
}

func TestThePatternIsNamed(t *testing.T) {
	p := must(t, onlySinks(nil))
	post := call("slack_post", `{"channel":"code-review","text":"Summary"}`)
	for _, c := range []struct {
		what    string
		view    session.View
		rule    string
		tainted bool
	}{
		{"a clean conversation", session.View{Level: owner, Secrets: session.Holds}, "", false},
		{"outside content", session.View{Level: untrusted, Secrets: session.HoldsNone}, "injection-rogue-action", true},
		{"outside content, and nobody knows what else", session.View{Level: untrusted}, "injection-rogue-action", true},
		{"outside content and secrets", session.View{Level: external, Secrets: session.Holds}, "lethal-trifecta", true},
	} {
		v := p.Judge(post, c.view)
		named := ""
		if len(v.Why) > 1 && v.Tainted {
			named = v.Why[1].Rule
		}
		if named != c.rule || v.Tainted != c.tainted {
			t.Errorf("%s: %q (tainted %t), want %q (%t)", c.what, named, v.Tainted, c.rule, c.tainted)
		}
		if c.tainted && v.Rule != "taint-escalation" {
			t.Errorf("%s: decided by %s, want taint-escalation", c.what, v.Rule)
		}
	}
	if v := p.Judge(call("read", `{"path":"a"}`), session.View{Level: untrusted}); v.Tainted {
		t.Error("a read is called a sink")
	}
}
