package policy_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

func TestAConfigThatIsRefusedSaysWhereAndWhat(t *testing.T) {
	twice := map[string]policy.Override{"bash": {Any: on(allow)}, "exec": {Any: on(restrict)}}
	for what, c := range map[string]struct {
		config policy.Config
		path   string
		words  string
	}{
		"a profile nobody knows":       {policy.Config{Profile: "paranoic"}, "profile", "did you mean paranoid?"},
		"a tool under two names":       {policy.Config{ToolOverrides: twice}, "toolOverrides.exec", "keep one"},
		"an agent's under two names":   {policy.Config{Agents: map[string]policy.Agent{"a": {ToolOverrides: twice}}}, "agents.a.toolOverrides.exec", "keep one"},
		"trust under two names":        {policy.Config{Trust: policy.Trust{Tools: map[string]taint.Level{"cron": local, "automations": shared}}}, "trust.tools.cron", "keep one"},
		"an agent twice":               {policy.Config{Agents: map[string]policy.Agent{"ops": {}, "Ops": {}}}, "agents.ops", "case"},
		"a negative cap":               {policy.Config{MaxIterations: -1}, "maxIterations", "negative"},
		"an agent's negative cap":      {policy.Config{Agents: map[string]policy.Agent{"a": {MaxIterations: -1}}}, "agents.a.maxIterations", "negative"},
		"a level that is none":         {policy.Config{Taint: policy.Taint{From: is(6)}}, "taint.from", "six"},
		"an unknown sender's likewise": {policy.Config{Trust: policy.Trust{UnknownSender: is(9)}}, "trust.unknownSender", "six"},
		"a tool without a name":        {policy.Config{ToolOverrides: map[string]policy.Override{" ": {}}}, "toolOverrides", "empty"},
	} {
		t.Run(what, func(t *testing.T) { refused(t, c.config, c.path, c.words) })
	}
}

func TestOneProblemIsAProblemAndSeveralAreJoined(t *testing.T) {
	_, _, err := policy.New(policy.Config{Profile: "x"})
	if p, ok := errors.AsType[*policy.Problem](err); !ok || p.Path != "profile" {
		t.Errorf("%T %v", err, err)
	}
	_, _, err = policy.New(policy.Config{Profile: "x", MaxIterations: -1})
	if n := strings.Count(err.Error(), "\n"); n != 1 {
		t.Errorf("want two lines, got %v", err)
	}
}

func TestAConfigThatIsRiskySaysSoInWords(t *testing.T) {
	levels := policy.TaintPolicy{System: on(allow), Owner: on(allow), Local: on(allow), Shared: on(allow), External: on(allow), Untrusted: on(allow)}
	warned(t, policy.Config{ToolOverrides: map[string]policy.Override{"gateway": {Any: on(allow)}}}, "toolOverrides.gateway", "passes unasked", "disable the verifier")
	warned(t, policy.Config{ToolOverrides: map[string]policy.Override{"exec": {TaintPolicy: levels}}}, "toolOverrides.exec", "tainted to untrusted")
	warned(t, policy.Config{ToolOverrides: map[string]policy.Override{"web_fecth": {Any: on(allow)}}}, "toolOverrides.web_fecth", "did you mean web_fetch?")
	warned(t, policy.Config{ToolOverrides: map[string]policy.Override{"tool_call": {Any: on(restrict)}}}, "toolOverrides.tool_call", "no effect")
	warned(t, policy.Config{Trust: policy.Trust{UnknownSender: is(owner)}}, "trust.unknownSender", "owner")
	warned(t, policy.Config{Scope: policy.Scope{Include: []string{"exec"}}}, "scope", "message", "every tool we do not know")
	warned(t, policy.Config{Agents: map[string]policy.Agent{"a": {MaxIterations: 50}}}, "agents.a.maxIterations", "global cap")
	warned(t, policy.Config{Agents: map[string]policy.Agent{"a": {ToolOverrides: map[string]policy.Override{"exec": {Any: on(allow)}}}}}, "agents.a.toolOverrides.exec", "only tighten")
	warned(t, policy.Config{Agents: map[string]policy.Agent{"a": {TaintPolicy: policy.TaintPolicy{Shared: on(allow)}}}}, "agents.a.taintPolicy", "only tighten")
}

func TestTheDefaultHasNothingToWarnAbout(t *testing.T) {
	for _, name := range policy.Profiles() {
		if _, warnings, err := policy.New(policy.Config{Profile: name, Guard: ours()}); err != nil || len(warnings) > 0 {
			t.Errorf("%s: %v, %v", name, warnings, err)
		}
	}
}

func TestStrictMakesAFetchASinkOnceTainted(t *testing.T) {
	p := must(t, policy.Config{Profile: "strict"})
	for _, tool := range []string{"web_fetch", "web_search", "vestige_promote", "vestige_demote"} {
		row(t, p, tool, "aaaacc")
		if v := p.Judge(call(tool, `{}`), at(untrusted)); v.Rule != "taint-escalation" {
			t.Errorf("%s is decided by %s, want taint-escalation", tool, v.Rule)
		}
	}
	row(t, p, "read", "aaaaaa")
	named := must(t, policy.Config{Profile: "strict", ToolOverrides: map[string]policy.Override{
		"web_fetch": {TaintPolicy: policy.TaintPolicy{External: on(allow), Untrusted: on(allow)}},
	}})
	row(t, named, "web_fetch", "aaaaaa")
	if !p.Strict() || must(t, policy.Config{}).Strict() {
		t.Error("strict is not told apart")
	}
}

func TestAnOverrideExemptsASinkOnlyAtTheLevelItNames(t *testing.T) {
	row(t, must(t, policy.Config{ToolOverrides: map[string]policy.Override{"message": {Any: on(allow)}}}), "message", "aaaacc")
	row(t, must(t, policy.Config{ToolOverrides: map[string]policy.Override{
		"message": {Any: on(allow), TaintPolicy: policy.TaintPolicy{External: on(allow)}},
	}}), "message", "aaaaac")
	// Named at untrusted only, it would permit more there than at external.
	lonely := policy.Config{Profile: "permissive", Taint: policy.Taint{From: is(external)}, ToolOverrides: map[string]policy.Override{
		"message": {TaintPolicy: policy.TaintPolicy{Untrusted: on(allow)}},
	}}
	row(t, must(t, lonely), "message", "aaaacc")
	warned(t, lonely, "toolOverrides.message", "untrusted")
}

func TestAnAgentsOwnRules(t *testing.T) {
	p := must(t, policy.Config{Agents: map[string]policy.Agent{
		"ops":  {ToolOverrides: map[string]policy.Override{"exec": {Any: on(confirm)}, "message": {Any: on(allow)}}},
		"kids": {TaintPolicy: policy.TaintPolicy{Shared: on(restrict)}},
	}})
	for _, c := range []struct{ agent, tool, want string }{
		{"main", "exec", "aaaccc"}, {"ops", "exec", "cccccc"}, {"OPS", "exec", "cccccc"}, {"ops", "message", "aaaccc"},
		{"kids", "exec", "aaarrr"}, {"kids", "read", "aaaaaa"}, {"kids", "never_named", "aaarrr"}, {"", "exec", "cccrrr"}, {"", "never_named", "aaarrr"},
	} {
		if got := modes(p.Row(c.agent, c.tool)); got != c.want {
			t.Errorf("%s for %q is %s, want %s", c.tool, c.agent, got, c.want)
		}
	}
	made := call("exec", `{"command":"ls"}`)
	made.Context.AgentID, made.Context.SessionKey = "ops", "agent:ops:main"
	v := p.Judge(made, at(owner))
	if v.Rule != "agent" || v.Mode != confirm {
		t.Errorf("%s by %s, want confirm by agent", v.Mode, v.Rule)
	}
	says(t, v, "Your rules for the agent ops are stricter: you are asked.")
	made.Context.AgentID, made.Context.SessionKey = "", ""
	says(t, p.Judge(made, at(owner)), "The call names no agent, so the strictest agent's rules hold: you are asked.")
}

func TestAVerdictExplainsItself(t *testing.T) {
	p := must(t, policy.Config{})
	exec := call("exec", `{"command":"ls"}`)
	fetched := session.View{Level: untrusted, Step: 5, Worst: session.Source{Label: "web_fetch example.com", Level: untrusted, Step: 3}}
	for _, c := range []struct {
		what string
		v    policy.Verdict
		want []string
	}{
		{"a tainted exec", p.Judge(exec, fetched), []string{
			"The conversation is untrusted: the agent fetched example.com 2 calls ago.",
			"The agent has read outside content and now wants to act on something.",
			"Your policy asks before exec in untrusted conversations.",
		}},
		{"the owner's", p.Judge(exec, at(owner)), []string{
			"The conversation is the owner's: the owner wrote directly.",
			"Your policy allows exec in owner conversations.",
		}},
		{"a stranger before", p.Judge(exec, session.View{Level: external, Step: 2, Worst: session.Source{Label: "someone other than the owner wrote", Level: external, Step: 1}}), []string{
			"The conversation is external: someone other than the owner wrote 1 call ago.",
			"The agent has read outside content and now wants to act on something.",
			"Your policy asks before exec in external conversations.",
		}},
		{"a lost store", p.Judge(exec, session.View{Level: untrusted, Lost: true}), []string{
			"The store has lost what it knew, so the conversation counts as untrusted.",
			"Your policy asks before exec in untrusted conversations.",
		}},
		{"a safe tool", p.Judge(call("read", `{"path":"a"}`), at(local)), []string{
			"The conversation is local.",
			"read is on the safe list: it reads a file.",
		}},
		{"a dangerous tool", p.Judge(call("gateway", `{}`), at(owner)), []string{
			"The conversation is the owner's: the owner wrote directly.",
			"gateway is on the dangerous list (it can disable the verifier), so you are asked at every level.",
		}},
	} {
		if got := strings.Join(c.v.Sentences(), "\n"); got != strings.Join(c.want, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", c.what, got, strings.Join(c.want, "\n"))
		}
	}
}
