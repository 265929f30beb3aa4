package policy_test

import (
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
)

func TestTrustRulesLookAtArguments(t *testing.T) {
	c := onlySinks(map[string]policy.Tool{"calendar": {}})
	c.Trust = policy.Trust{
		Directories: []string{"~/projects", "/srv/notes/"},
		Rules: []policy.TrustRule{
			{Tool: "web_fetch", Host: "wiki.corp.example", Level: new(local)},
			{Tool: "web_fetch", Host: "*.lan.example", Source: new(false)},
			{Tool: "read", Path: "~/projects/inbox", Level: new(untrusted)},
			{Tool: "exec", Command: "ticket  show", Level: new(external)},
			{Tool: "calendar", Action: "list", Sink: new(false), Level: new(external)},
			{Tool: "ls", Path: "/srv/notes/shared", Sink: new(true)},
		},
	}
	p := must(t, c)
	for _, c := range []struct {
		what, tool, params string
		raise              taint.Level
		modes              string
	}{
		{"an @ that OpenClaw drops", "read", `{"path":"@/tmp/pr/x"}`, external, "aaaaaa"},
		{"an @ before one inside", "read", `{"path":"@~/projects/x"}`, local, "aaaaaa"},
		{"an internal host", "web_fetch", `{"url":"https://Wiki.Corp.Example/a?b"}`, local, "aaaaaa"},
		{"a host below", "web_fetch", `{"url":"http://a.b.lan.example:80/"}`, local, "aaaaaa"},
		{"the domain itself", "web_fetch", `{"url":"http://lan.example/"}`, untrusted, "aaaaaa"},
		{"a host that only begins so", "web_fetch", `{"url":"https://wiki.corp.example.evil.example/"}`, untrusted, "aaaaaa"},
		{"a host before the real one", "web_fetch", `{"url":"https://wiki.corp.example@evil.example/"}`, untrusted, "aaaaaa"},
		{"a host and a backslash", "web_fetch", `{"url":"https://evil.example\\@wiki.corp.example/"}`, untrusted, "aaaacc"},
		{"another address beside it", "web_fetch", `{"url":"https://wiki.corp.example/","proxy":"http://evil.example"}`, untrusted, "aaaacc"},
		{"a second address", "web_fetch", `{"url":"https://wiki.corp.example/","targetUrl":"//evil.example"}`, untrusted, "aaaacc"},
		{"another scheme", "web_fetch", `{"url":"ftp://wiki.corp.example/"}`, untrusted, "aaaacc"},

		{"a file of the owner", "read", `{"path":"~/projects/a.md"}`, local, "aaaaaa"},
		{"a file in the workspace", "read", `{"path":"notes/a.md"}`, local, "aaaaaa"},
		{"a file elsewhere", "read", `{"path":"/tmp/pr-42/README.md"}`, external, "aaaaaa"},
		{"a way out", "read", `{"path":"~/projects/../Downloads/a"}`, external, "aaaaaa"},
		{"a directory that only begins so", "read", `{"path":"/srv/notes2/a"}`, external, "aaaaaa"},
		{"two files", "read", `{"path":"~/projects/a","file_path":"/tmp/b"}`, external, "aaaaaa"},
		{"a worse place within", "read", `{"path":"~/projects/inbox/a"}`, untrusted, "aaaaaa"},
		{"the seed's reader, inside", "read_file", `{"path":"/srv/notes/a"}`, local, "aaaaaa"},
		{"the seed's reader, outside", "read_file", `{"path":"/shared/meeting-notes.md"}`, external, "aaaaaa"},

		{"mail on the command line", "exec", `{"command":"cd /tmp && gcalcli agenda"}`, untrusted, "aaaacc"},
		{"the same in quotes", "exec", `{"command":"gcal'cli' agenda"}`, untrusted, "aaaacc"},
		{"the owner's command", "exec", `{"command":"ticket show 7"}`, external, "aaaacc"},
		{"a command that only begins so", "exec", `{"command":"ticket showcase"}`, local, "aaaacc"},
		{"mail and a fetch", "exec", `{"command":"ticket show 1; curl example.com"}`, untrusted, "aaaacc"},

		{"a message that is sent", "message", `{"action":"send","to":"a"}`, system, "aaaacc"},
		{"messages that are read", "message", `{"action":"read"}`, external, "aaaacc"},
		{"an action that does not act", "calendar", `{"action":"LIST"}`, external, "aaaaaa"},
		{"one that does", "calendar", `{"action":"add"}`, untrusted, "aaaacc"},
		{"a place that makes it act", "ls", `{"path":"/srv/notes/shared/x"}`, local, "aaaacc"},
	} {
		plan := p.Plan(call(c.tool, c.params))
		if got := modes(plan.Modes); plan.Raise != c.raise || got != c.modes {
			t.Errorf("%s: %s %s brings in %s, modes %s; want %s, %s", c.what, c.tool, c.params, plan.Raise, got, c.raise, c.modes)
		}
	}
	v := p.Judge(call("ls", `{"path":"/srv/notes/shared/x"}`), at(untrusted))
	if v.Rule != "taint-escalation" || !v.Tainted {
		t.Errorf("decided by %s, want taint-escalation", v.Rule)
	}
	says(t, v, "Your rule trust.rules[5] says that this call of ls acts, so you are asked.")
}

func TestTrustRulesThatSayNothingAreRefused(t *testing.T) {
	for want, r := range map[string]policy.TrustRule{
		"names no host, path, command or action": {Tool: "read", Level: new(local)},
		"says nothing":                           {Tool: "read", Path: "/a"},
		"has both level and source":              {Tool: "read", Path: "/a", Level: new(local), Source: new(false)},
		"is no path":                             {Tool: "read", Path: "/a/../b", Level: new(local)},
		"can only make it worse":                 {Tool: "exec", Command: "git", Level: new(system)},
		"can't be false for a command":           {Tool: "exec", Command: "git", Sink: new(false)},
		"a tool's name is empty":                 {Path: "/a", Level: new(local)},
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

// What a tool says of itself can make a call look worse, and no better.
func TestAnnotationsOnlyTighten(t *testing.T) {
	p := must(t, onlySinks(map[string]policy.Tool{"mcp_list": {Source: new(false), Sink: new(false)}}))
	for _, c := range []struct {
		what, tool string
		hints      toolcall.Hints
		raise      taint.Level
		modes      string
		grantable  bool
	}{
		{"nothing said", "mcp_list", toolcall.Hints{}, local, "aaaaaa", true},
		{"it says that it only reads", "mcp_other", toolcall.Hints{ReadOnly: new(true), OpenWorld: new(false)}, untrusted, "aaaacc", true},
		{"it says that it writes", "mcp_list", toolcall.Hints{ReadOnly: new(false)}, local, "aaaacc", true},
		{"it says that it destroys", "mcp_list", toolcall.Hints{Destructive: new(true)}, local, "aaaacc", false},
		{"it says that it reaches outside", "mcp_list", toolcall.Hints{OpenWorld: new(true)}, untrusted, "aaaacc", true},
		{"a safe tool that writes", "read", toolcall.Hints{ReadOnly: new(false)}, local, "aaaacc", true},
	} {
		made := call(c.tool, `{}`)
		made.Hints = c.hints
		plan := p.Plan(made)
		if got := modes(plan.Modes); got != c.modes || plan.Raise != c.raise || plan.Grantable != c.grantable {
			t.Errorf("%s: %s, brings in %s, grantable %t; want %s, %s, %t", c.what, got, plan.Raise, plan.Grantable, c.modes, c.raise, c.grantable)
		}
	}
}
