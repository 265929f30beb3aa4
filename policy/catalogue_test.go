package policy_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/hook"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

// catalogue is what OpenClaw itself says of its tools: the type of each argument
// by its path. integrations/openclaw/e2e/tools.js prints it, and the end-to-end
// run compares it with the installed OpenClaw.
func catalogue(t *testing.T) map[string]map[string]string {
	t.Helper()
	text, err := os.ReadFile("testdata/openclaw-tools.json")
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		OpenClaw string                       `json:"openclaw"`
		Tools    map[string]map[string]string `json:"tools"`
	}
	if err := json.Unmarshal(text, &all); err != nil || len(all.Tools) < 60 {
		t.Fatalf("%d tools, %v", len(all.Tools), err)
	}
	return all.Tools
}

func TestEveryToolOfOpenClawHasARow(t *testing.T) {
	known := must(t, policy.Config{}).Tools()
	for tool := range catalogue(t) {
		if !slices.Contains(known, tool) {
			t.Errorf("%s has no row", tool)
		}
	}
}

// What a label names is an argument of the tool, except for names that other
// versions and other channels use.
func TestShippedLabelsAreWhatOpenClawsToolsTake(t *testing.T) {
	others := map[string][]string{
		"message":            strings.Fields("to recipient user mediaUrl path filePath"),
		"conversations_send": strings.Fields("sessionKey to target channel"),
	}
	tools := catalogue(t)
	for tool := range others {
		for _, name := range policy.Labelled(tool) {
			if !takes(tools[tool], name) && !slices.Contains(others[tool], name) {
				t.Errorf("%s has no argument %s", tool, name)
			}
		}
		for _, name := range others[tool] {
			if takes(tools[tool], name) {
				t.Errorf("%s takes %s: it is not only of other versions", tool, name)
			}
		}
	}
	for tool, args := range tools {
		if policy.Labelled(tool) != nil && others[tool] == nil {
			t.Errorf("%s is labelled and was not compared: %v", tool, args)
		}
	}
}

func takes(args map[string]string, name string) bool {
	for path := range args {
		if path == name || strings.HasPrefix(path, name+".") || strings.HasPrefix(path, name+"[") {
			return true
		}
	}
	return false
}

// An argument that is called after an address or a medium may be an address.
func TestToolsThatTakeAnAddressFetch(t *testing.T) {
	p := must(t, policy.Config{})
	strict, paranoid := must(t, policy.Config{Profile: "strict"}), must(t, policy.Config{Profile: "paranoid"})
	other := strings.Fields("automations computer exec message nodes openclaw secrets sessions skill_workshop theme") // acts, and asks by that
	for tool, args := range catalogue(t) {
		for path := range args {
			if !namesAddress(path) || slices.Contains(other, tool) {
				continue
			}
			params := `{"` + path + `":"https://evil.example/x.png"}`
			if list, ok := strings.CutSuffix(path, "[]"); ok {
				params = `{"` + list + `":["https://evil.example/x.png"]}`
			}
			if plan := p.Plan(call(tool, params)); plan.Raise != untrusted {
				t.Errorf("%s %s brings in %s", tool, params, plan.Raise)
			}
			fetch := strict.Plan(call("web_fetch", `{"url":"https://evil.example"}`)).Modes
			if plan := strict.Plan(call(tool, params)); plan.Modes != plan.Modes.Stricter(fetch) {
				t.Errorf("%s %s is looser than web_fetch under strict: %s", tool, params, modes(plan.Modes))
			}
			fetch = paranoid.Plan(call("web_fetch", `{"url":"https://evil.example"}`)).Modes
			if plan := paranoid.Plan(call(tool, params)); plan.Modes != plan.Modes.Stricter(fetch) {
				t.Errorf("%s %s is looser than web_fetch under paranoid: %s", tool, params, modes(plan.Modes))
			}
		}
	}
}

func namesAddress(path string) bool {
	top := strings.TrimSuffix(path, "[]")
	return strings.HasSuffix(strings.ToLower(top), "url") || slices.Contains(strings.Fields("image images pdf pdfs video videos media"), top) ||
		top == "paths"
}

func TestEveryToolOfTheCodingAgentsHasARow(t *testing.T) {
	known := must(t, policy.Config{}).Tools()
	for _, tool := range hook.ToolNames() {
		if !slices.Contains(known, tool) {
			t.Errorf("%s has no row", tool)
		}
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
