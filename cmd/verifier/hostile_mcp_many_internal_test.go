package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

const aGreeting = `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}`

// several is a config with two servers that are started and one that is reached by an address.
func several(r *rig, s *remote, fake string) string {
	r.t.Helper()
	file := filepath.Join(r.t.TempDir(), "servers.json")
	text := fmt.Sprintf(`{"mcpServers":{"one":{"command":%q,"env":{"MCP_SEEN":%q}},"two":{"command":%q,"args":[]},"web":{"type":"http","url":%q,"headers":{"Authorization":"Bearer ${H281_TOKEN}"}},"off":{"command":"nowhere","disabled":true},"gone":{"command":"/nowhere/at/all"}}}`,
		fake, file+".one", fake, s.URL+"/mcp")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		r.t.Fatal(err)
	}
	return file
}

// TestH281SeveralServersBehindOneGate: each is judged by its own name, and none gets what is another's.
func TestH281SeveralServersBehindOneGate(t *testing.T) {
	t.Setenv("H281_TOKEN", "h281")
	r := newRig(t, func(c *config.Config) {
		no := taint.Restrict
		c.Policy.ToolOverrides = map[string]policy.Override{"mcp__one__echo": {Any: &no}}
	})
	web, file := newRemote(r), ""
	g := gatedBy(r, func(fake string) []string { file = several(r, web, fake); return []string{"--config", file} })
	g.says(g.answer(g.ask("initialize", aGreeting)), `"tools":{}`)
	list := g.answer(g.ask("tools/list", "{}"))
	g.says(list, `"two__echo"`)
	g.says(list, `"web__echo"`)
	if strings.Contains(list, "one__echo") || strings.Contains(list, `"echo"`) {
		t.Errorf("the client sees %s", list)
	}
	g.denied(g.call("one__echo", `{"text":"a"}`), "Not permitted here")
	for _, tool := range []string{"echo", "three__echo", "two", "two__", "__echo", "TWO__echo"} {
		g.says(g.answer(g.call(tool, `{"text":"h281"}`)), "no server offers this")
	}
	for _, server := range []string{"two", "web"} {
		id := g.call(server+"__echo", `{"text":"to `+server+`"}`)
		if card := g.waits(); !strings.Contains(fmt.Sprint(card), "mcp__"+server+"__echo") {
			t.Errorf("asked is %+v", card)
		}
		g.allowOnce()
		g.says(g.answer(id), "said to "+server)
	}
	id := g.call("two__sample", `{}`)
	g.allowOnce()
	asked := g.reads("sampling/createMessage")
	g.says(asked, `"id":"two/`)
	_, key, _ := strings.Cut(asked, `"id":`)
	key, _, _ = strings.Cut(key, ",")
	g.write(`{"jsonrpc":"2.0","id":` + key + `,"result":{"model":"m","role":"assistant","content":{"type":"text","text":"h281 sampled"}}}`)
	g.answer(id)
	g.eventually("the server has the client's answer", func() bool { return strings.Contains(g.saw(), `"id":"q1","result"`) })
	held := g.call("web__echo", `{"text":"dropped"}`)
	ref := g.waits().Ref
	g.write(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, held))
	g.answer(g.ask("ping", "{}"))
	g.approve(ref, 0)
	one, err := os.ReadFile(file + ".one")
	if err != nil {
		t.Fatal(err)
	}
	for name, saw := range map[string]string{"one": string(one), "two": g.saw(), "web": web.saw()} {
		for _, other := range []string{"one", "two", "web"} {
			if other != name && strings.Contains(saw, "to "+other) || strings.Contains(saw, "dropped") || name == "one" && strings.Contains(saw, "tools/call") {
				t.Errorf("%s got %s", name, saw)
			}
		}
	}
	if saw := web.saw(); !strings.Contains(saw, "Authorization: Bearer h281") || !strings.Contains(saw, "Mcp-Session-Id: s1") || !strings.Contains(saw, "Mcp-Protocol-Version: 2025-11-25") || !strings.Contains(saw, "Mcp-Name: echo") {
		t.Errorf("the server got %s", saw)
	}
}

// TestH282NamesThatWouldMixAreRefused: the config is, before any server is started.
func TestH282NamesThatWouldMixAreRefused(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"one name":          `{"mcpServers":{"files":{"command":"a"},"Files":{"command":"b"}}}`,
		"alike":             `{"mcpServers":{"my files":{"command":"a"},"my/files":{"command":"b"}}}`,
		"twice":             `{"mcpServers":{"files":{"command":"a"},"files":{"command":"b"}}}`,
		"both":              `{"mcpServers":{"files":{"command":"a","url":"https://x.example/"}}}`,
		"in clear":          `{"mcpServers":{"files":{"url":"http://x.example/"}}}`,
		"a gate of its own": `{"mcpServers":{"files":{"command":"verifier","args":["mcp","--","a"]}}}`,
		"none":              `{"mcpServers":{}}`,
		"older":             `{"mcpServers":{"files":{"type":"sse","url":"https://x.example/"}}}`,
	} {
		file := filepath.Join(t.TempDir(), "servers.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var out, wrong output
		if code := run(t.Context(), []string{"mcp", "--config", file}, &out, &wrong); code == exitOK || wrong.String() == "" {
			t.Errorf("%s: %d %s", name, code, wrong.String())
		}
	}
}

// TestH283SeveralServersOverHTTP: each client has servers of its own, and reaches them by its session only.
func TestH283SeveralServersOverHTTP(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	web, fake := newRemote(r), filepath.Join(t.TempDir(), "mcp-fake")
	own, err := os.Executable()
	if err == nil {
		err = os.Symlink(own, fake)
	}
	if err != nil {
		t.Fatal(err)
	}
	g := frontedBy(r, web, "--config", several(r, web, fake), "--listen", "127.0.0.1:0")
	if a := g.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); a.status != 404 {
		t.Errorf("without a session: %d %s", a.status, a.text)
	}
	first := g.post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":` + aGreeting + `}`)
	g.wants(first, `"tools":{}`)
	session := first.header.Get("Mcp-Session-Id")
	if session == "" || session == g.post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":`+aGreeting+`}`).header.Get("Mcp-Session-Id") {
		t.Errorf("the session is %q", session)
	}
	g.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, "Mcp-Session-Id", session)
	g.wants(g.post(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`, "Mcp-Session-Id", session), `"one__echo"`, `"two__echo"`, `"web__echo"`)
	answer := g.posting(`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"one__echo","arguments":{"text":"h283"}}}`, "Mcp-Session-Id", session)
	g.allowOnce()
	g.wants(<-answer, "said h283")
	answer = g.posting(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"two__echo","arguments":{"text":"h283"}}}`, "Mcp-Session-Id", session)
	g.refuse(g.waits().Ref, "no")
	g.wants(<-answer, `"isError":true`, "Denied by the owner")
	for _, headers := range [][]string{{"Mcp-Session-Id", "x"}, {"Mcp-Session-Id", session, "Origin", "http://evil.example"}, {"Mcp-Session-Id", session, "Host", "evil.example"}} {
		if a := g.post(`{"jsonrpc":"2.0","id":5,"method":"ping"}`, headers...); a.status < 400 {
			t.Errorf("%q is answered with %d", headers, a.status)
		}
	}
	res, err := g.do(t.Context(), "DELETE", "", "Mcp-Session-Id", session)
	if err != nil || res.Body.Close() != nil || res.StatusCode != 200 {
		t.Errorf("%v %v", res, err)
	}
	if a := g.post(`{"jsonrpc":"2.0","id":6,"method":"ping"}`, "Mcp-Session-Id", session); a.status != 404 {
		t.Errorf("after its end: %d %s", a.status, a.text)
	}
}
