package policy_test

import (
	"testing"

	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

// The tables of seed 000, openclaw-provenance.

func TestSeed000ResponseTrustAndCallPermission(t *testing.T) {
	p := must(t, policy.Config{})
	rows := []struct {
		tool     string
		response taint.Level
		modes    string // call permission, from system to untrusted
	}{
		{"web_fetch", untrusted, "aaaaaa"},     // always allowed
		{"web_search", untrusted, "aaaaaa"},    // always allowed
		{"read", local, "aaaaaa"},              // always allowed
		{"browser", untrusted, "aaaccc"},       // blocked when tainted
		{"exec", local, "aaaccc"},              // blocked when tainted
		{"message", external, "aaaccc"},        // blocked when tainted
		{"vestige_search", shared, "aaaaaa"},   // always allowed
		{"gateway", system, "cccccc"},          // always requires approval
		{"image", external, "aaaaaa"},          // safe tools: external image content
		{"memory_search", local, "aaaaaa"},     // safe tools
		{"memory_get", local, "aaaaaa"},        // safe tools
		{"session_status", local, "aaaaaa"},    // safe tools
		{"sessions_list", local, "aaaaaa"},     // safe tools; there its answers are shared: TestH161
		{"agents_list", local, "aaaaaa"},       // safe tools
		{"vestige_promote", shared, "aaaaaa"},  // safe tools
		{"vestige_demote", shared, "aaaaaa"},   // safe tools
		{"sessions_spawn", system, "aaaccc"},   // threat model: persistence; there its answers are shared: TestH161
		{"cron", local, "aaaccc"},              // threat model: persistence; now automations
		{"some_new_tool", untrusted, "aaaccc"}, // unknown tools: the level's default
	}
	for _, r := range rows {
		t.Run(r.tool, func(t *testing.T) {
			row(t, p, r.tool, r.modes)
			if got := p.Plan(call(r.tool, `{}`)).Raise; got != r.response {
				t.Errorf("brings in %s, want %s", got, r.response)
			}
		})
	}
	t.Run("sessions_history", func(t *testing.T) {
		row(t, p, "sessions_history", "aaaaaa") // safe tools
		if got := p.Plan(call("sessions_history", `{"sessionKey":"agent:main:cron:x"}`)).Raise; got != shared {
			t.Errorf("brings in %s, want shared", got)
		}
	})
}

func TestSeed000TaintPolicyDefault(t *testing.T) {
	p := must(t, policy.Config{})
	for level, want := range map[taint.Level]taint.Mode{system: allow, owner: allow, local: allow, shared: confirm, external: confirm, untrusted: confirm} {
		if got := p.Judge(call("exec", `{"command":"ls"}`), at(level)); got.Mode != want || got.Rule != "taintPolicy" {
			t.Errorf("taintPolicy.%s is %s by %s, want %s", level, got.Mode, got.Rule, want)
		}
	}
}

func TestSeed000TaintPolicyIsCorrectedWithAWarning(t *testing.T) {
	loose := policy.Config{TaintPolicy: policy.TaintPolicy{Local: on(restrict), External: on(allow)}}
	row(t, must(t, loose), "write", "aarrrr")
	warned(t, loose, "taintPolicy", "shared, external, untrusted")
	loose.Profile = "strict"
	refused(t, loose, "taintPolicy", "strict")
}

func TestSeed000ToolOverrides(t *testing.T) {
	p := must(t, policy.Config{
		Profile: "paranoid",
		ToolOverrides: map[string]policy.Override{
			"gateway": {Any: on(confirm)},
			"read":    {Any: on(allow)},
			"exec":    {TaintPolicy: policy.TaintPolicy{External: on(restrict), Untrusted: on(restrict)}},
		},
	})
	row(t, p, "gateway", "cccccc")
	row(t, p, "exec", "aaarrr")
	row(t, p, "write", "aaarrr")
	// An override replaces: read's "*" turns the policy's restrict back to allow.
	row(t, p, "read", "aaaaaa")
	v := p.Judge(call("read", `{"path":"a"}`), at(untrusted))
	if v.Mode != allow || v.Rule != "override" {
		t.Errorf("read is %s by %s, want allow by override", v.Mode, v.Rule)
	}

	byDefault := must(t, policy.Config{ToolOverrides: map[string]policy.Override{
		"bash": {TaintPolicy: policy.TaintPolicy{External: on(restrict), Untrusted: on(restrict)}},
	}})
	row(t, byDefault, "exec", "aaacrr")
}

func TestSeed000BrowserSpecialCase(t *testing.T) {
	p := must(t, policy.Config{ToolOverrides: map[string]policy.Override{"browser": {TaintPolicy: policy.TaintPolicy{
		Owner: on(allow), Local: on(allow), Shared: on(confirm), External: on(confirm), Untrusted: on(confirm),
	}}}})
	visit := call("browser", `{"action":"open","url":"https://example.com/a?b=c"}`)
	// Iteration 1: the owner's override lets it pass, and the page is untrusted.
	plan := p.Plan(visit)
	if v := p.Judge(visit, at(owner)); v.Mode != allow || plan.Raise != untrusted || plan.Source != "browser example.com" {
		t.Errorf("iteration 1: %s, raises %s by %q", v.Mode, plan.Raise, plan.Source)
	}
	// Iteration 2: it is asked for, and so are exec and message.
	for _, tool := range []string{"browser", "exec", "message"} {
		if v := p.Judge(call(tool, `{}`), at(untrusted)); v.Mode != confirm {
			t.Errorf("iteration 2: %s is %s, want confirm", tool, v.Mode)
		}
	}
}

func TestSeed000DangerousTools(t *testing.T) {
	p := must(t, policy.Config{Profile: "permissive"})
	// The seed begins at local; design.md asks at every level.
	for _, tool := range []string{"gateway", "plugins", "openclaw", "secrets", "skill_workshop"} {
		row(t, p, tool, "cccccc")
		plan := p.Plan(call(tool, `{}`))
		if plan.Grantable {
			t.Errorf("a lasting grant covers %s", tool)
		}
	}
}

func TestOverridesMergeIntoTheShippedOnesLevelByLevel(t *testing.T) {
	c := policy.Config{ToolOverrides: map[string]policy.Override{
		"gateway": {TaintPolicy: policy.TaintPolicy{System: on(allow), Owner: on(allow)}},
	}}
	row(t, must(t, c), "gateway", "aacccc")
	// Alone, owner would get more than system: closed upward, and said.
	c.ToolOverrides["gateway"] = policy.Override{TaintPolicy: policy.TaintPolicy{Owner: on(allow)}}
	row(t, must(t, c), "gateway", "cccccc")
	warned(t, c, "toolOverrides.gateway", "gateway", "owner")
	c.Profile = "strict"
	refused(t, c, "toolOverrides.gateway", "owner")
}

func TestSeed000ExampleConfigurations(t *testing.T) {
	rows := []struct{ profile, exec, message string }{
		{"", "aaaccc", "aaaccc"},
		{"default", "aaaccc", "aaaccc"},
		{"paranoid", "aaarrr", "aaarrr"},
		{"permissive", "aaaaac", "aaaaac"},
		{"interactive", "aaaccr", "aaaccr"},
		{"strict", "aaaccc", "aaaccc"},
	}
	for _, r := range rows {
		p := must(t, policy.Config{Profile: r.profile})
		row(t, p, "exec", r.exec)
		row(t, p, "message", r.message)
		row(t, p, "read", "aaaaaa")
	}
}

// docs/decisions.md, 13: the example's modes on the default profile, and its literal meaning.
func TestSeed000PermissiveAsksBeforeSinks(t *testing.T) {
	example := policy.Config{TaintPolicy: policy.TaintPolicy{Shared: on(allow), External: on(allow), Untrusted: on(confirm)}}
	p := must(t, example)
	row(t, p, "message", "aaaacc")
	row(t, p, "exec", "aaaacc")
	row(t, p, "file_fetch", "aaaaac") // no sink
	example.Profile = "permissive"
	row(t, must(t, example), "message", "aaaaac")
}

func TestSeed000IterationExample(t *testing.T) {
	p := must(t, policy.Config{})
	level := owner // system prompt, then the owner's history
	step := func(tool, params string, want taint.Mode, after taint.Level) {
		t.Helper()
		c := call(tool, params)
		v := p.Judge(c, at(level))
		if v.Mode == allow {
			level = taint.Worse(level, p.Plan(c).Raise)
		}
		if v.Mode != want || level != after {
			t.Errorf("%s is %s and leaves %s, want %s and %s", tool, v.Mode, level, want, after)
		}
	}
	step("read", `{"path":"file.txt"}`, allow, local)
	step("web_fetch", `{"url":"https://example.com"}`, allow, untrusted)
	step("exec", `{"command":"cmd"}`, confirm, untrusted) // blocked: waits for the owner
}

func TestSeed000UnknownTools(t *testing.T) {
	v := must(t, policy.Config{}).Judge(call("acme_send", `{}`), policy.View{
		Now: came, Level: untrusted, Cause: policy.Cause{What: "web_fetch example.com", Level: untrusted, At: came},
	})
	if v.Mode != confirm || v.Rule != "taintPolicy" {
		t.Errorf("%s by %s, want confirm by taintPolicy", v.Mode, v.Rule)
	}
	says(t, v, "We don't know this tool. Your policy asks before such tools in untrusted conversations.")
	says(t, v, "The conversation is untrusted: at 14:02 the agent fetched example.com.")
}

func TestSeed000IterationCap(t *testing.T) {
	p := must(t, policy.Config{Agents: map[string]policy.Agent{"ops": {MaxIterations: 3}}})
	for _, r := range []struct {
		agent     string
		iteration int
		want      taint.Mode
	}{{"main", 9, allow}, {"main", 10, confirm}, {"ops", 2, allow}, {"ops", 3, confirm}, {"", 3, confirm}} {
		c := call("read", `{"path":"a"}`)
		c.Context.AgentID, c.Context.SessionKey, c.Context.Iteration = r.agent, "", &r.iteration
		v := p.Judge(c, at(system))
		if v.Mode != r.want || r.want == confirm && (v.Rule != "iterations" || !v.AtCap || v.Grantable) {
			t.Errorf("agent %q, iteration %d: %s by %s, want %s", r.agent, r.iteration, v.Mode, v.Rule, r.want)
		}
	}
}
