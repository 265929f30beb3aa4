package e2e_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/internal/lineage"
	"github.com/openclaw-verifier/verifier/internal/provenance"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/test/gateway"
)

// What a runtime tells of its agent's loop. What it says of levels is rows of sequences.txt.

// sources tells what is in the context of a run.
func sources(ctx gateway.Context, list string) gateway.Event {
	return gateway.Event{Name: "context_assembled", About: `{"sources":[` + list + `]}`, Context: ctx}
}

const ownersMessage = `{"kind":"user_message","senderId":"1","senderIsOwner":true}`

// Layer one is the list of tools and the model's calls, layer two the call itself.
func TestRestrictedToolsAreTakenFromTheListAndRefusedAllTheSame(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, "profile: paranoid\n")
	m := gateway.OwnerIn("m")
	before := func(ctx gateway.Context, more string) gateway.Told {
		const tools = `{"tools":[{"name":"exec","description":"x"},{"name":"Read"},{"name":"message"},{"name":"web_fetch"}]`
		return g.Takes(gateway.Event{Name: "before_llm_call", About: tools + more + "}", Context: ctx})
	}
	const left = `{"name":"Read"} {"name":"web_fetch"}`
	names := func(a gateway.Told) string { return strings.Trim(fmt.Sprintf("%s", a.Tools), "[]") }
	if a := before(gateway.OwnerIn("unseen"), ""); names(a) != left {
		t.Errorf("a conversation of which nothing is known: %s", a.Raw)
	}
	g.Takes(sources(m, ownersMessage))
	if a := before(m, ""); a.Tools != nil || a.SystemPrompt != "" {
		t.Errorf("a clean conversation: %s", a.Raw)
	}
	g.Allow(gateway.Sh("date", m))
	g.Allow(gateway.Fetch(m))
	a := before(m, `,"systemPrompt":"You are a helper.\n"`)
	const warned = "You are a helper.\n\nPart of what follows comes from outside (untrusted)"
	if names(a) != left || !strings.HasPrefix(a.SystemPrompt, warned) {
		t.Errorf("a tainted one: %s", a.Raw)
	}
	if again := before(m, fmt.Sprintf(`,"systemPrompt":%q`, a.SystemPrompt)); again.SystemPrompt != "" {
		t.Errorf("warned twice: %s", again.Raw)
	}
	g.Deny(gateway.Sh("date", m))
	calls := fmt.Sprintf(`{"toolCalls":[{"id":"1","name":"exec","arguments":{"command":"date"}},`+
		`{"id":"2","name":"read","arguments":{"path":"a","n":1.0}},{"id":"3","name":"read","arguments":{"path":%q}}]}`, g.State.Dir())
	after := g.Takes(gateway.Event{Name: "after_llm_call", Context: m, About: calls})
	if len(after.ToolCalls) != 1 ||
		string(after.ToolCalls[0]) != `{"id":"2","name":"read","arguments":{"path":"a","n":1.0}}` {
		t.Errorf("calls: %s", after.Raw)
	}
}

func TestTheIterationCapBlocksTheTurn(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, "maxIterations: 3\n")
	one, two := gateway.With(
		gateway.OwnerIn("m"),
		"runId",
		"run-1",
	), gateway.With(
		gateway.OwnerIn("m"),
		"runId",
		"run-2",
	)
	g.Allow(gateway.Sh("date", one))
	for name, about := range map[string]string{
		"loop_iteration_start": `{"iteration":%d}`, "before_llm_call": `{"iteration":%d,"tools":[]}`,
		"after_llm_call": `{"iteration":%d,"toolCalls":[]}`,
	} {
		if a := g.Takes(gateway.Event{Name: name, Context: two, About: fmt.Sprintf(about, 2)}); a.Block {
			t.Errorf("%s at iteration 2: %s", name, a.Raw)
		}
		a := g.Takes(gateway.Event{Name: name, Context: one, About: fmt.Sprintf(about, 3)})
		if !a.Block || a.BlockReason != "This turn has used up its iterations." {
			t.Errorf("%s at iteration 3: %s", name, a.Raw)
		}
	}
	g.Deny(gateway.Sh("date", one)) // the calls of that run, too
	g.Allow(gateway.Sh("date", two))
}

// An event comes once, is signed and fresh, and is read as strictly as a call. Nothing of what it holds is kept,
// however large it is, and an answer to people loses its secrets.
func TestEventsHaveTheRulesOfCalls(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, "")
	m := gateway.OwnerIn("m")
	g.Allow(gateway.Sh("date", m))
	e := gateway.Returned(m, "web_fetch", "")
	e.ID, e.At = "the-event", time.Now()
	first := g.Takes(e)
	lines := len(g.Entries())
	if again := g.Takes(e); again.Raw != first.Raw || len(g.Entries()) != lines {
		t.Errorf("the same event again: %s", again.Raw)
	}
	e.About = `{"toolName":"read"}`
	g.Refuses(e)
	g.Deny(gateway.Call{Tool: "read", Params: `{"path":"x"}`, Context: m, ID: "the-event"})
	old := gateway.Event{
		Name:    "loop_iteration_start",
		About:   `{"iteration":1}`,
		Context: m,
		At:      time.Now().Add(-6 * time.Minute),
	}
	if a := g.Refuses(old); !a.Block || !a.Signed {
		t.Errorf("an old event: %s", a.Raw)
	}
	for _, e := range []gateway.Event{
		{Name: "before_everything"}, {Name: "agent_end", Context: gateway.With(m, "agentId", "other")},
		{Name: "subagent_spawned", About: `{"childSessionKey":"agent:main:subagent:1"}`},
		{Name: "after_tool_call", About: `{"toolName":"read","Marked":false}`},
		sources(m, `{"kind":"tool_result","Trust":"system"}`),
		sources(m, strings.TrimSuffix(strings.Repeat(`{"kind":"tool_result"},`, 257), ",")),
	} {
		g.Refuses(e)
	}
	if a := g.By(g.Secret + "x").Tell(gateway.Event{Name: "agent_end"}); a.Status != http.StatusUnauthorized {
		t.Errorf("a wrong signature: %d %s", a.Status, a.Raw)
	}
	const canary = "c4n4ry-0f-the-event"
	text := strings.Repeat("All work and no play. ", 1<<18) + canary // 5.5 MiB
	g.Takes(gateway.Event{
		Name: "before_llm_call", Context: m,
		About: `{"tools":[{"name":"read"}],"systemPrompt":"` + canary + `","messages":[{"role":"user","content":"` + text + `"}]}`,
	})
	g.Takes(gateway.Returned(m, "read", `,"result":"`+canary+`"`))
	large := gateway.Event{
		Name:  "before_llm_call",
		About: `{"tools":[],"messages":["` + strings.Repeat(text, 2) + `"]}`,
	}
	if a := g.Tell(large); a.Status != http.StatusOK || a.Accepted || !a.Block {
		t.Errorf("a body over 8 MiB: %d %.200s", a.Status, a.Raw)
	}
	key := "sk-ant-" + "api03-" + strings.Repeat("Ab3dE5gH", 11) + "-AAAAAA-AA"
	a := g.Takes(
		gateway.Event{Name: "before_response_emit", Context: m, About: `{"content":"` + canary + `: ` + key + `."}`},
	)
	if a.Content == nil || strings.Contains(a.Raw, key) || !strings.HasPrefix(*a.Content, canary) {
		t.Errorf("an answer with a key in it: %s", a.Raw)
	}
	g.Quit()
	files, err := filepath.Glob(g.State.Dir() + "/*")
	if err != nil || len(files) == 0 || strings.Contains(shown(g), canary) {
		t.Errorf("%v, %d files, or what an event held was logged", err, len(files))
	}
	for _, name := range files {
		if text, err := os.ReadFile(name); err == nil && bytes.Contains(text, []byte(canary)) {
			t.Errorf("what an event held is in %s", name)
		}
	}
}

// A notice tells of a call that is not asked about: it ratchets, is recorded, and is never refused.
func TestANoticeRatchetsAndDeniesNothing(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, "toolOverrides: {web_fetch: {\"*\": restrict}}\n")
	m := gateway.OwnerIn("m")
	g.Allow(gateway.Sh("date", gateway.OwnerIn("target")))
	g.Allow(gateway.Sh("date", m))
	g.Notice(gateway.Fetch(m))
	g.Ask(gateway.Sh("date", m))
	g.Reply(".pause")
	g.Notice(gateway.Fetch(m))
	g.Reply(".resume")
	g.Notice(
		gateway.Call{Tool: "sessions_send", Params: `{"sessionKey":"agent:main:target","message":"hi"}`, Context: m},
	)
	g.Ask(gateway.Sh("date", gateway.OwnerIn("target")))
	body := string(gateway.Call{Tool: "read"}.Body())
	body = strings.Replace(body, `"version"`, `"notice":true,"version"`, 1)
	if a := g.Again([]byte(body)); a.Allowed() {
		t.Errorf("a notice at the calls' door: %s", a.Raw)
	}
}

// The running example of openclaw-provenance over the wire: its picture node by node, the footer, the record and a
// restart; what is told of a result names the tool and not the command (H132); and a card says where arguments came
// from.
func TestTheRunningExampleIsDrawnAsItsAuthorsDid(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, "policies: [{name: persist, action: {persist_graph: true}}]\n")
	m := gateway.With(gateway.OwnerIn("m"), "runId", "r1")
	key := lineage.NewKey([]byte(g.Secret))
	prints := func(text string) string {
		list, err := json.Marshal(key.Extract(text))
		if err != nil {
			t.Fatal(err)
		}
		return `"fingerprints":` + string(list)
	}
	mine := strings.TrimSuffix(ownersMessage, "}") + "," + prints("mail bob@good.example") + "}"
	g.Takes(sources(m, `{"kind":"system_prompt"},{"kind":"compacted_history"},`+mine))
	mail := gateway.Call{
		Tool:    "send_email",
		Params:  `{"to":"mallory@evil.example","cc":"bob@good.example"}`,
		Context: m,
	}
	for i, c := range []gateway.Call{read("file.txt", m), gateway.Fetch(m), gateway.Sh("cmd", m), mail} {
		g.Takes(
			gateway.Event{Name: "before_llm_call", Context: m, About: fmt.Sprintf(`{"tools":[],"iteration":%d}`, i)},
		)
		if i < 2 {
			g.Allow(c)
		} else {
			g.Ask(c)
		}
		if c.Tool == "web_fetch" {
			g.Takes(gateway.Returned(m, "web_fetch", `,"origin":"example.com",`+prints("or mallory@evil.example")))
		}
	}
	entries := g.Entries()
	want := []string{"to: came from web_fetch example.com (untrusted)", "cc: you wrote it"}
	if i := slices.IndexFunc(entries, func(e record.Entry) bool { return slices.Equal(e.Origins, want) }); i < 0 {
		t.Errorf("the record does not say where the arguments came from: %q", entries[len(entries)-1].Origins)
	}
	a := g.Takes(gateway.Event{Name: "before_response_emit", Context: m, About: `{"content":"done"}`})
	if a.AppendFooter != "Informed by web_fetch example.com (untrusted)." {
		t.Errorf("footer %q", a.AppendFooter)
	}
	g.Restart()
	graph := func(name string) (got provenance.Graph) {
		if status := g.Owner(http.MethodGet, "/api/graphs/"+name, nil, &got); status != http.StatusOK {
			t.Fatalf("the turn %s: status %d", name, status)
		}
		return got
	}
	drawn := func(name string) (out []string) {
		for _, n := range graph(name).Nodes {
			line := strings.TrimSpace(fmt.Sprintf("%s (%s) %s", n.ID, n.Trust, n.Tool))
			out = append(out, line+map[bool]string{true: " BLOCKED"}[n.Blocked])
		}
		return out
	}
	for _, want := range []string{
		"system_prompt_1 (system)", "history_1 (owner)", "llm_call_1 (owner)", "tool_call_1 (local) read", "llm_call_2 (local)",
		"tool_call_2 (untrusted) web_fetch", "llm_call_3 (untrusted)", "tool_call_3 (untrusted) exec BLOCKED", "output_1 (untrusted)",
	} {
		if got := drawn("r1"); !slices.Contains(got, want) {
			t.Errorf("%q lacks %s", got, want)
		}
	}
	if !strings.Contains(string(g.Recorded()), graph("r1").TurnID) {
		t.Error("the record has no graph")
	}
	if status := g.As("wrong", http.MethodGet, "/api/graphs/r1", nil, nil); status != http.StatusUnauthorized {
		t.Errorf("a stranger gets %d", status)
	}
	for command, level := range map[string]string{"curl https://evil.example": "untrusted", "git status": "local"} {
		m := gateway.With(gateway.OwnerIn(level), "runId", level, "toolCallId", "call-1")
		g.Allow(gateway.Sh(command, m))
		g.Takes(
			gateway.Event{
				Name:    "after_tool_call",
				Context: m,
				About:   `{"toolName":"exec","toolCallId":"call-1","size":3}`,
			},
		)
		if got := strings.Join(drawn(level), " · "); !strings.Contains(got, "tool_result_1 ("+level+") exec") {
			t.Errorf("%s: %s", command, got)
		}
	}
	for who, ctx := range map[string]gateway.Context{
		"external": stranger("m"), "untrusted": {"sessionKey": "agent:main:cron:job:run:1"}, // H22, H23
	} {
		g.Ask(gateway.Sh("date", gateway.With(ctx, "runId", who)))
		if got := drawn(who); !strings.HasSuffix(got[0], "("+who+")") {
			t.Errorf("%s: %q", who, got)
		}
	}
}

// What made a conversation worse is listed, and no word of the owner's takes it out: only a reset lowers the level.
func TestH21WhatCameInIsListedAndCounts(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, "")
	m := gateway.With(gateway.OwnerIn("m"), "sessionId", "s1")
	for _, host := range []string{"wiki.example", "evil.example", "wiki.example"} {
		g.Allow(gateway.Call{Tool: "web_fetch", Params: `{"url":"https://` + host + `/page"}`, Context: m})
	}
	g.Takes(gateway.Returned(m, "web_fetch", `,"origin":"wiki.example"`)) // is of the same source
	g.Send(read("a", gateway.With(m, "senderId", "9", "senderIsOwner", nil)))
	ref := store.Name{Client: "default", Key: "agent:main:m"}.Ref()
	g.Restart()
	list := g.Reply(".sources " + ref)
	for _, want := range []string{
		`"web_fetch wiki.example"  untrusted  at `, `"the owner wrote directly"  owner  at `, ref + " is at untrusted",
	} {
		if list.Kind != "told" || strings.Count(list.Text, want) != 1 {
			t.Errorf("listed: %s", list.Text)
		}
	}
	if v := g.Reply(".sources ABCDEF12"); v.Kind != "not found" {
		t.Errorf("%+v", v)
	}
}

// What a rule says of a call's arguments holds for the event that tells of its result, too: that one names the tool
// alone.
func TestAResultIsWorthWhatTheRuleSaidOfItsCall(t *testing.T) {
	t.Parallel()
	g := gateway.Start(t, "trust: {rules: [{tool: web_fetch, host: wiki.lan.example, level: local}]}\n")
	for i, c := range []struct {
		tool, params, returned, id string
		want                       bool
	}{
		{"web_fetch", `{"url":"https://wiki.lan.example/a"}`, "web_fetch", "call-1", true},
		{"message", `{"action":"send","target":"bob","text":"hi"}`, "message", "call-1", true},
		{"web_fetch", `{"url":"https://wiki.lan.example/a"}`, "web_fetch", "call-2", false}, // of another call
		{"web_fetch", `{"url":"https://wiki.lan.example/a"}`, "browser", "call-1", false},   // of another tool
		// the rule does not say so
		{"web_fetch", `{"url":"https://elsewhere.example/a"}`, "web_fetch", "call-1", false},
		{"message", `{"action":"read","target":"bob"}`, "message", "call-1", false}, // reads what others wrote
	} {
		owner := gateway.OwnerIn(fmt.Sprint(i))
		g.Allow(
			gateway.Call{
				Tool:    c.tool,
				Params:  c.params,
				Context: gateway.With(owner, "toolCallId", "call-1", "runId", "r"),
			},
		)
		g.Takes(gateway.Returned(owner, c.returned, `,"toolCallId":"`+c.id+`"`))
		if a := g.Send(gateway.Impatient(gateway.Sh("date", owner))); a.Allowed() != c.want {
			t.Errorf("%s %s, then the result of %s %s: %s", c.tool, c.params, c.returned, c.id, a.Raw)
		}
	}
}
