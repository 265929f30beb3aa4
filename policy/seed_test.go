package policy_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

func TestSeed003Scope(t *testing.T) {
	tools := []string{"exec", "write", "edit", "apply_patch", "read", "message", "unknown_tool"}
	rows := []struct {
		name  string
		scope policy.Scope
		in    string
	}{
		{"include: only listed tools are verified", policy.Scope{Include: []string{"exec", "write", "edit", "apply-patch"}}, "exec write edit apply_patch"},
		{"exclude: all but those listed", policy.Scope{Exclude: []string{"read", "session_status"}}, "exec write edit apply_patch message unknown_tool"},
		{"no scope: all tools", policy.Scope{}, "exec write edit apply_patch read message unknown_tool"},
		{"normalised names", policy.Scope{Include: []string{" BASH "}}, "exec"},
	}
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			p := must(t, policy.Config{Profile: "paranoid", Scope: r.scope})
			for _, tool := range tools {
				plan := p.Plan(call(tool, `{}`))
				if want := slices.Contains(strings.Fields(r.in), tool); plan.InScope() != want {
					t.Errorf("%s in scope: %v, want %v", tool, plan.InScope(), want)
				}
			}
		})
	}
	t.Run("both are refused", func(t *testing.T) {
		refused(t, policy.Config{Scope: policy.Scope{Include: []string{"exec"}, Exclude: []string{"read"}}}, "scope", "both")
	})
}

// Seed 003 has a scope per agent. Here it only adds tools to the global one.
func TestSeed003AnAgentsScopeOnlyAdds(t *testing.T) {
	tools := []string{"exec", "write", "read", "message", "unknown_tool"}
	include := func(names ...string) policy.Scope { return policy.Scope{Include: names} }
	exclude := func(names ...string) policy.Scope { return policy.Scope{Exclude: names} }
	for _, r := range []struct {
		name             string
		global, own      policy.Scope
		ops, other, none string // what is judged for the agent, for another, and for a call that names none
	}{
		{"no scope of its own", include("exec"), policy.Scope{}, "exec", "exec", "exec"},
		{"include adds", include("exec"), include("message"), "exec message", "exec", "exec message"},
		{"exclude adds all but those", include("exec"), exclude("read"), "exec write message unknown_tool", "exec", "exec write message unknown_tool"},
		{"exclude takes nothing out of the global scope", include("exec"), exclude("exec", "read"), "exec write message unknown_tool", "exec", "exec write message unknown_tool"},
		{"include takes nothing out of it", policy.Scope{}, include("message"), "exec write read message unknown_tool", "exec write read message unknown_tool", "exec write read message unknown_tool"},
		{"both exclude", exclude("read", "message"), exclude("read", "write"), "exec write message unknown_tool", "exec write unknown_tool", "exec write message unknown_tool"},
		{"a name no one knows", include("exec"), include("unknown_tool"), "exec unknown_tool", "exec", "exec unknown_tool"},
	} {
		t.Run(r.name, func(t *testing.T) {
			p := must(t, policy.Config{Profile: "paranoid", Scope: r.global, Agents: map[string]policy.Agent{"Ops": {Scope: r.own}}})
			for agent, want := range map[string]string{"ops": r.ops, "OPS": r.ops, "dev": r.other, "": r.none} {
				var got []string
				for _, tool := range tools {
					c := call(tool, `{}`)
					c.Context.AgentID, c.Context.SessionKey = agent, "k"
					if plan := p.Plan(c); plan.InScope() {
						got = append(got, tool)
					}
				}
				if strings.Join(got, " ") != want {
					t.Errorf("%q: %s is judged, want %s", agent, got, want)
				}
			}
		})
	}
	own := func(s policy.Scope) policy.Config {
		return policy.Config{Agents: map[string]policy.Agent{"ops": {Scope: s}}}
	}
	refused(t, own(policy.Scope{Include: []string{"exec"}, Exclude: []string{"read"}}), "agents.ops.scope", "both")
	warned(t, own(exclude("exec")), "agents.ops", "only tighten")
}

func TestOutOfScopeIsNeverAskedButCounts(t *testing.T) {
	c := policy.Config{Profile: "paranoid", Scope: policy.Scope{Exclude: []string{"browser"}}}
	p := must(t, c)
	browse := call("browser", `{"url":"https://example.com"}`)
	ten := 10
	browse.Context.Iteration = &ten
	plan := p.Plan(browse)
	if modes(plan.Modes) != "aaaaaa" || plan.Raise != untrusted || plan.Source != "browser example.com" {
		t.Errorf("%s, raises %s by %q", modes(plan.Modes), plan.Raise, plan.Source)
	}
	if v := p.Judge(browse, at(untrusted)); v.Rule != "scope" {
		t.Errorf("decided by %s, want scope", v.Rule)
	}
	warned(t, c, "scope", "browser", "pass unasked", "still counts")
}

func TestSeed001CautionedToolsBringInContent(t *testing.T) {
	p := must(t, policy.Config{})
	rows := []struct {
		tool     string
		response taint.Level
		seed     string
	}{
		{"web_fetch", untrusted, "ON: arbitrary untrusted web content"},
		{"web_search", untrusted, "OFF there; seed 000 says untrusted"},
		{"email", external, "ON: a classic injection vector"},
		{"webhook", untrusted, "ON: arbitrary external payloads"},
		{"browser", untrusted, "ON: highest risk"},
		{"read", local, "OFF: local files"},
		{"write", local, "OFF: not an input source"},
		{"exec", local, "OFF: local command output"},
		{"nodes", local, "OFF: trusted local devices"},
		{"message", external, "OFF there; seed 000 says external"},
	}
	for _, r := range rows {
		if got := p.Plan(call(r.tool, `{}`)).Raise; got != r.response {
			t.Errorf("%s (%s) brings in %s, want %s", r.tool, r.seed, got, r.response)
		}
	}
}

func TestSeed004ToolTrust(t *testing.T) {
	p := must(t, policy.Config{})
	rows := []struct {
		row, tool, params string
		response          taint.Level
	}{
		{"read (local files)", "read", `{"path":"notes.md"}`, local},
		{"exec", "exec", `{"command":"git status"}`, local},
		{"web_fetch", "web_fetch", `{"url":"https://example.com"}`, untrusted},
		{"web_search", "web_search", `{"query":"x"}`, untrusted},
		{"vestige_search", "vestige_search", `{"query":"x"}`, shared},
		{"message read (email)", "message", `{"action":"read","channel":"email"}`, external},
		{"message read (slack)", "message", `{"action":"read","channel":"slack"}`, external},
		{"exec (gog gmail): external there, untrusted as every fetcher", "exec", `{"command":"gog gmail search 'in:inbox'"}`, untrusted},
	}
	for _, r := range rows {
		if got := p.Plan(call(r.tool, r.params)).Raise; got != r.response {
			t.Errorf("%s brings in %s, want %s", r.row, got, r.response)
		}
	}
}

func TestSeed002SourcesAndSinks(t *testing.T) {
	// permissive with from: external shows taint-escalation alone, since the
	// policy itself would allow.
	p := must(t, policy.Config{Profile: "permissive", Taint: policy.Taint{From: is(external)}})
	for _, sink := range []string{"send_email", "slack_post", "calendar_create", "calendar_delete", "message", "write", "some_mcp_tool"} {
		row(t, p, sink, "aaaacc")
		v := p.Judge(call(sink, `{}`), at(external))
		if v.Rule != "taint-escalation" {
			t.Errorf("%s is decided by %s, want taint-escalation", sink, v.Rule)
		}
		says(t, v, "Outside content could make the agent use")
	}
	for _, other := range []string{"read_file", "contacts_lookup", "calendar_list"} {
		row(t, p, other, "aaaaac")
	}
	for tool, level := range map[string]taint.Level{"read_file": external, "contacts_lookup": external, "calendar_list": external} {
		if got := p.Plan(call(tool, `{}`)).Raise; got != level {
			t.Errorf("%s brings in %s, want %s", tool, got, level)
		}
	}
}

func TestEveryToolTheDesignNamesIsInTheTable(t *testing.T) {
	named := `read write edit apply_patch ls exec process terminal secrets web_fetch web_search browser canvas portal
		message conversations_send conversations_turn conversations_list sessions_spawn sessions_send sessions sessions_list sessions_history
		sessions_search session_status subagents agents_list agents_wait automations gateway plugins openclaw nodes file_fetch
		file_write dir_list dir_fetch memory_search memory_get image view_image image_generate pdf tts code_execution x_search ask_user
		skill_workshop transcripts tool_call vestige_search vestige_promote vestige_demote email webhook send_email contacts_lookup
		read_file calendar_list calendar_create calendar_delete slack_post`
	known := must(t, policy.Config{}).Tools()
	for tool := range strings.FieldsSeq(named) {
		if !slices.Contains(known, tool) {
			t.Errorf("%s has no row", tool)
		}
	}
}

func TestTheSafeListIsSeed000sAndAFewMore(t *testing.T) {
	want := strings.Fields(`read memory_search memory_get web_fetch web_search image session_status sessions_list sessions_history
		agents_list vestige_search vestige_promote vestige_demote view_image ls dir_list conversations_list sessions_search agents_wait ask_user
		pdf progress_card get_goal github_identity_status structured_output tool_search tool_describe
		glob grep command_output todo plan_mode`)
	p := must(t, policy.Config{Profile: "paranoid"})
	for _, tool := range p.Tools() {
		free := p.Row("", tool) == taint.Every(allow) && tool != "tool_call" && tool != "tool_search_code"
		if free != slices.Contains(want, tool) {
			t.Errorf("%s passes at every level: %v", tool, free)
		}
	}
}
