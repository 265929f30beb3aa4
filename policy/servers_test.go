package policy_test

import (
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

func TestWhatServersReturn(t *testing.T) {
	local, untrusted := taint.Local, taint.Untrusted
	p := must(t, policy.Config{
		MCP:   policy.MCP{Servers: map[string]policy.Server{"GitHub": {Trust: new(taint.External)}, "notes": {Trust: &local}, "filesystem": {Trust: &local}}},
		Trust: policy.Trust{Tools: map[string]taint.Level{"mcp__notes__inbox": untrusted}},
		Tools: map[string]policy.Tool{"mcp__notes__find": {Sink: new(bool)}},
	})
	for tool, want := range map[string]taint.Level{
		"mcp__github__create_issue": taint.External, "mcp__github__get_issue": taint.External, "mcp__github__resources/read": taint.External,
		"mcp__notes__read": local, "mcp__notes__inbox": untrusted, "mcp__notes__find": local, "mcp__filesystem__read_text_file": local, "mcp__filesystem__write_file": local,
		"mcp__notes2__read": untrusted, "mcp__fetch__fetch": untrusted, "mcp__": untrusted, "mcp__notes": untrusted, "notes__read": untrusted, "read": local,
	} {
		if got := p.Response(tool); got != want {
			t.Errorf("%s returns %s, want %s", tool, got, want)
		}
	}
	if row := p.Row("", "mcp__notes__delete"); row != must(t, policy.Config{}).Row("", "nothing_known") {
		t.Errorf("a trusted server's tool is called as %v", row)
	}
}

// A server may call itself what it likes.
func TestNoShippedServerIsBetterThanExternal(t *testing.T) {
	p := must(t, policy.Config{})
	for _, tool := range policy.Served() {
		if p.Response(tool) < taint.External {
			t.Errorf("%s returns %s", tool, p.Response(tool))
		}
		if got, want := p.Row("", tool), p.Row("", "nothing_known"); got != want {
			t.Errorf("%s is called as %v, and what we don't know as %v", tool, got, want)
		}
		if !strings.HasPrefix(tool, "mcp__") || strings.Count(tool, "__") != 2 {
			t.Errorf("%s is no tool of a server's", tool)
		}
	}
}

func TestTheShippedTableCountsForServersThatTheOwnerNames(t *testing.T) {
	untrusted := taint.Untrusted
	for _, profile := range []string{"default", "strict", "paranoid"} {
		p := must(t, policy.Config{Profile: profile, MCP: policy.MCP{Servers: map[string]policy.Server{"time": {Trust: &untrusted}}}})
		for tool, like := range map[string]string{
			"mcp__time__get_current_time": "ls", "mcp__memory__search_nodes": "nothing_known", "mcp__time__set_clock": "nothing_known", "mcp__github__delete_file": "nothing_known",
		} {
			if got, want := p.Row("", tool), p.Row("", like); got != want {
				t.Errorf("%s: %s is called as %v, and %s as %v", profile, tool, got, like, want)
			}
		}
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

// The gate asks about requests for resources and prompts by their own names. Where the server has listed what they are about, it says so.
func TestRequestsOfMCPAreJudgedAsToolsAre(t *testing.T) {
	for _, profile := range []string{"default", "strict", "paranoid"} {
		p := must(t, policy.Config{
			Profile: profile,
			MCP:     policy.MCP{Servers: map[string]policy.Server{"notes": {Trust: new(taint.Local)}}},
			Tools:   map[string]policy.Tool{"mcp__mail__resources/read": {Sink: new(false), Leaves: new(false), Safe: new(true)}},
			ToolOverrides: map[string]policy.Override{
				"mcp__crm__resources/read": {Any: new(taint.Restrict)}, "mcp__crm__prompts/get_listed": {Any: new(taint.Confirm)},
			},
		})
		for tool, like := range map[string]string{
			"mcp__x__resources/read": "nothing_known", "mcp__x__prompts/get": "nothing_known", "mcp__x__completion/complete": "nothing_known", "mcp__notes__resources/read": "nothing_known",
			"mcp__x__resources/read_listed": "ls", "mcp__x__resources/subscribe_listed": "ls", "mcp__x__prompts/get_listed": "ls", "mcp__notes__prompts/get_listed": "ls",
			"mcp__x__completion/complete_listed": "nothing_known", "mcp__x__files_listed": "nothing_known", "mcp__x__tools/call_listed": "nothing_known", "resources/read_listed": "nothing_known",
			"mcp____resources/read_listed": "nothing_known", "mcp__mail__resources/read_listed": "ls", "mcp__crm__resources/read_listed": "mcp__crm__resources/read",
		} {
			if got, want := p.Row("", tool), p.Row("", like); got != want {
				t.Errorf("%s: %s is called as %v, and %s as %v", profile, tool, got, like, want)
			}
		}
		if row := p.Row("", "mcp__crm__prompts/get_listed"); row != taint.Every(taint.Confirm) {
			t.Errorf("%s: what the owner says of a listed prompt is %v", profile, row)
		}
		for tool, want := range map[string]taint.Level{"mcp__x__resources/read_listed": taint.Untrusted, "mcp__notes__resources/read_listed": taint.Local, "mcp__notes__prompts/get": taint.Local} {
			if got := p.Response(tool); got != want {
				t.Errorf("%s: %s returns %s, want %s", profile, tool, got, want)
			}
		}
	}
}
