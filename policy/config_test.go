package policy_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

func TestAConfigThatIsRefusedSaysWhereAndWhat(t *testing.T) {
	twice := map[string]policy.Override{"bash": {Any: on(allow)}, "exec": {Any: on(restrict)}}
	for what, c := range map[string]struct {
		config policy.Config
		path   string
		words  string
	}{
		"a profile nobody knows": {policy.Config{Profile: "paranoic"}, "profile", "did you mean paranoid?"},
		"a tool under two names": {policy.Config{ToolOverrides: twice}, "toolOverrides.exec", "keep one"},
		"an agent's under two names": {policy.Config{Agents: map[string]policy.Agent{"a": {ToolOverrides: twice}}},
			"agents.a.toolOverrides.exec", "keep one"},
		"trust under two names": {policy.Config{Trust: policy.Trust{Tools: map[string]taint.Level{"cron": local,
			"automations": shared}}}, "trust.tools.cron", "keep one"},
		"an agent twice": {policy.Config{Agents: map[string]policy.Agent{"ops": {}, "Ops": {}}},
			"agents.ops", "case"},
		"a negative cap": {policy.Config{MaxIterations: -1}, "maxIterations", "negative"},
		"an agent's negative cap": {policy.Config{Agents: map[string]policy.Agent{"a": {MaxIterations: -1}}},
			"agents.a.maxIterations", "negative"},
		"a tool without a name": {policy.Config{ToolOverrides: map[string]policy.Override{" ": {}}},
			"toolOverrides", "empty"},
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
	warned(
		t,
		policy.Config{ToolOverrides: map[string]policy.Override{"web_fecth": {Any: on(allow)}}},
		"toolOverrides.web_fecth",
		"did you mean web_fetch?",
	)
	warned(
		t,
		policy.Config{ToolOverrides: map[string]policy.Override{"tool_call": {Any: on(restrict)}}},
		"toolOverrides.tool_call",
		"no effect",
	)
	warned(t, policy.Config{Trust: policy.Trust{UnknownSender: is(owner)}}, "trust.unknownSender", "owner")
	warned(
		t,
		policy.Config{Scope: policy.Scope{Include: []string{"exec"}}},
		"scope",
		"message",
		"every tool we do not know",
	)
	warned(
		t,
		policy.Config{
			Agents: map[string]policy.Agent{"a": {ToolOverrides: map[string]policy.Override{"exec": {Any: on(allow)}}}},
		},
		"agents.a",
		"only tighten",
	)
	warned(
		t,
		policy.Config{Agents: map[string]policy.Agent{"a": {TaintPolicy: policy.TaintPolicy{Shared: on(allow)}}}},
		"agents.a",
		"only tighten",
	)
}

func TestCallingASinkHarmlessIsAWarning(t *testing.T) {
	warned(t, policy.Config{Tools: map[string]policy.Tool{"exec": {Sink: new(false)}}}, "tools.exec.sink")
}

func TestTheDefaultHasNothingToWarnAbout(t *testing.T) {
	for _, name := range policy.Profiles() {
		if _, warnings, err := policy.New(policy.Config{Profile: name, Guard: ours()}); err != nil ||
			len(warnings) > 0 {
			t.Errorf("%s: %v, %v", name, warnings, err)
		}
	}
}

// came is when something came in.
var came = time.Date(2026, 10, 3, 14, 2, 0, 0, time.Local)

func TestAVerdictExplainsItself(t *testing.T) {
	p := must(t, policy.Config{})
	exec := call("exec", `{"command":"ls"}`)
	fetched := policy.View{
		Now: came, Level: untrusted,
		Cause: policy.Cause{What: "web_fetch example.com", Level: untrusted, At: came},
	}
	for _, c := range []struct {
		what string
		v    policy.Verdict
		want []string
	}{
		{"a tainted exec", p.Judge(exec, fetched), []string{
			"The conversation is untrusted: at 14:02 the agent fetched example.com.",
			"The agent has read outside content and now wants to act on something.",
			"Your policy asks before exec in untrusted conversations.",
		}},
		{"the owner's", p.Judge(exec, at(owner)), []string{
			"The conversation is the owner's: the owner wrote directly.",
			"Your policy allows exec in owner conversations.",
		}},
		{"a stranger before", p.Judge(exec, policy.View{Now: came.Add(30 * time.Hour), Level: external,
			Cause: policy.Cause{What: "someone other than the owner wrote", Level: external, At: came}}), []string{
			"The conversation is external: on 3 October at 14:02 someone other than the owner wrote.",
			"The agent has read outside content and now wants to act on something.",
			"Your policy asks before exec in external conversations.",
		}},
		{"a lost store", p.Judge(exec, policy.View{Level: untrusted, Lost: true}), []string{
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

func TestLabelsThatContradictAreRefused(t *testing.T) {
	for what, c := range map[string]policy.Config{
		"tools.c: is destructive and no sink":                     {Tools: map[string]policy.Tool{"c": {Sink: new(false), Destructive: new(true)}}},
		"tools.exec: exec is another name for exec, which is set": {Tools: map[string]policy.Tool{"bash": {}, "exec": {}}},
	} {
		if _, _, err := policy.New(c); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("got %v, want %q", err, what)
		}
	}
}

func TestTrustRulesThatSayNothingAreRefused(t *testing.T) {
	for want, r := range map[string]policy.TrustRule{
		"names no host or path":  {Tool: "read", Level: new(local)},
		"says nothing":           {Tool: "read", Path: "/a"},
		"is no path":             {Tool: "read", Path: "/a/../b", Level: new(local)},
		"a tool's name is empty": {Path: "/a", Level: new(local)},
	} {
		_, _, err := policy.New(policy.Config{Trust: policy.Trust{Rules: []policy.TrustRule{r}}})
		if err == nil || !strings.Contains(err.Error(), "trust.rules[0]") || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", r, err, want)
		}
	}
	if _, _, err := policy.New(policy.Config{Trust: policy.Trust{Directories: []string{"work"}}}); err == nil {
		t.Error("a relative directory is taken")
	}
}

func TestWhatIsNoServerIsRefused(t *testing.T) {
	level := taint.Local
	for _, name := range []string{"", "a__b", "mcp__a__", " a", "a__"} {
		if _, _, err := policy.New(policy.Config{MCP: policy.MCP{Servers: map[string]policy.Server{name: {Trust: &level}}}}); err == nil {
			t.Errorf("%q is taken", name)
		}
	}
	if _, _, err := policy.New(policy.Config{MCP: policy.MCP{Servers: map[string]policy.Server{"a": {}}}}); err == nil {
		t.Error("a server of which nothing is said is taken")
	}
}
