package main

import (
	"encoding/base64"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

// These attacks on quiet.own were written by someone who did not build it. In each, an honest form of the same passes first.

// relabelled is ownTodo with other labels.
func relabelled(edit func(tools map[string]policy.Tool)) func(*config.Config) {
	return func(c *config.Config) {
		ownTodo(c)
		c.Policy.Tools = maps.Clone(c.Policy.Tools)
		edit(c.Policy.Tools)
	}
}

// silentDone is ownTodo in which what done returns is not outside content, so that several calls can pass in a conversation.
var silentDone = relabelled(func(tools map[string]policy.Tool) {
	tools["mcp__todo__done"] = policy.Tool{Source: new(false), Sink: new(true), Destinations: []string{"id"}}
})

// ownPasses shows that the reason is on and holds.
func (r *rig) ownPasses(name string) {
	r.t.Helper()
	r.allow(done("task-20261", r.listedIn(name)))
	if e := r.last(); e.By != policy.OwnRule {
		r.t.Fatalf("the record says %+v", e)
	}
}

// ownAsks shows that the data counts as others'.
func (r *rig) ownAsks(name string) {
	r.t.Helper()
	r.stops(done("task-20261", r.listedIn(name)))
}

// TestH660AResultThatIsNotTheData: an error, which someone on the way may have written; what the runtime marks as outside content; what another place gave.
func TestH660AResultThatIsNotTheData(t *testing.T) {
	t.Parallel()
	for name, more := range map[string]string{
		"an error": `,"error":true`, "marked": `,"marked":true`, "from elsewhere": `,"origin":"evil.example"`, "from a file": `,"origin":"/tmp/mail.txt"`, "marked and an error": `,"error":true,"marked":true`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, ownTodo)
			r.ownPasses("h660-honest")
			m := asksFor("h660", "Tick off what I have done today.")
			r.allow(todo("list", `{}`, with(m, "toolCallId", "l1")))
			r.gives("mcp__todo__list", "l1", ownList, m, more)
			r.stops(done("task-20261", m))
			r.lists("l2", m)
			r.stops(done("task-20261", m))
		})
	}
}

// TestH661ANumberAndAnEmptyList: neither was in the list.
func TestH661ANumberAndAnEmptyList(t *testing.T) {
	t.Parallel()
	r := newRig(t, relabelled(func(tools map[string]policy.Tool) {
		tools["mcp__todo__done"] = policy.Tool{Source: new(false), Sink: new(true), Destinations: []string{"id", "people", "n"}}
	}))
	m := asksFor("h661", "Tick off what I have done today.")
	r.allow(todo("list", `{}`, with(m, "toolCallId", "l1")))
	r.gives("mcp__todo__list", "l1", ownList+", account 4929123456781234, 1250000000", m, "")
	r.allow(todo("done", `{"id":"task-20261","people":["task-20262"]}`, m))
	r.allow(todo("done", `{"id":"4929123456781234"}`, m))
	for _, params := range []string{
		`{"id":"task-20261","people":[]}`, `{"people":[]}`, `{"id":[]}`, `{"id":4929123456781234}`, `{"id":"task-20261","n":1250000000}`, `{"n":-4929123456781234}`, `{"n":4929123456781234.0}`, `{"n":4929123456781234e0}`, `{"id":"task-20261","n":0}`,
	} {
		r.stops(todo("done", params, m))
	}
	r.allow(done("task-20262", m)) // still
}

// TestH662AnotherSpellingOfTheValue: it is not what the list holds, and a service may take it for something else.
func TestH662AnotherSpellingOfTheValue(t *testing.T) {
	t.Parallel()
	r := newRig(t, silentDone)
	m := asksFor("h662", "Tick off what I have done today.")
	r.allow(todo("list", `{}`, with(m, "toolCallId", "l1")))
	r.gives("mcp__todo__list", "l1", ownList+", /home/me/notes/today, https://files.friends.example/today?x=1", m, "")
	for _, id := range []string{"task-20261", "ann@friends.example", "/home/me/notes/today", "https://files.friends.example/today?x=1", "+49 30 1234567"} {
		r.allow(done(id, m))
	}
	for _, id := range []string{
		"task-2026\u200b1", "\ufefftask-20261", "task-20261\u202e", "ｔask-20261", "task‐20261", "task−20261", "tаsk-20261", "tⅹsk-20261", "task-20261\n", " task-20261", "task-20261\u00a0", "\ttask-20261", `\u0074ask-20261`, "task-\u0660\u0660261", "task-2026１",
		"ann@friends.example\n", "ann@friends\u200b.example", "аnn@friends.example", "ann＠friends.example", "ann@friends.examplе",
		`\home\me\notes\today`, "//home/me/notes/today", "/home//me/notes/today", "/home/./me/notes/today", "/home/me/notes/today/", `\\home\me\notes\today`, "/home/me/notes/today\u200b",
		"https://files.friends.example/today?x=1#all-that-i-know", "https://me:all-that-i-know@files.friends.example/today?x=1", "https://evil.example@files.friends.example/today?x=1", "https://files.friends.example:443/today?x=1", "https://files.friends.example./today?x=1",
		"+49 30 1234567 ", "+49 30 123456７",
	} {
		r.stops(done(id, m))
	}
	r.allow(done("task-20262", m)) // still
}

// TestH663ATextInTheNamesOfArguments: what a label does not name may do anything.
func TestH663ATextInTheNamesOfArguments(t *testing.T) {
	t.Parallel()
	r := newRig(t, silentDone)
	m := r.listedIn("h663")
	r.allow(done("task-20261", m))
	for _, params := range []string{
		`{"id":"task-20261","tell_eve_that_i_am_away":"task-20261"}`, `{"id":"task-20261","share_with":"ann@friends.example"}`, `{"replace_all":"task-20261"}`, `{"ID":"task-20261"}`, `{"id":"task-20261","Id":"task-20262"}`, `{"id ":"task-20261"}`, `{"id":"task-20261","cc":"ann@friends.example"}`,
	} {
		r.stops(todo("done", params, m))
	}
	r.allow(done("task-20262", m)) // still
}

// TestH664AToolWithoutALabel: whether it pays, destroys or publishes is not known.
func TestH664AToolWithoutALabel(t *testing.T) {
	t.Parallel()
	r := newRig(t, silentDone)
	m := r.listedIn("h664")
	r.allow(done("task-20261", m))
	for _, tool := range []string{"mcp__todo__archive", "mcp__bank__close", "mcp__todo__share", "publish", "Tick", "mcp__todo__do_ne", "mcp__tоdo__done", "mcp__todo__DONE_all"} {
		r.stops(call{tool: tool, params: `{"id":"task-20261"}`, context: m})
	}
	for _, c := range []call{
		{tool: "sessions_spawn", params: `{"task":"task-20261"}`}, {tool: "cron", params: `{"action":"task-20261","job":"task-20262"}`},
		{tool: "message", params: `{"to":"ann@friends.example","message":"task-20261"}`}, {tool: "browser", params: `{"action":"act","url":"task-20261"}`}, {tool: "nodes", params: `{"action":"task-20261"}`},
	} {
		c.context = m
		r.stops(c)
	}
	r.allow(done("task-20262", m)) // still
}

// TestH665WrittenByAnotherNameOfTheServer: the account may be the same.
func TestH665WrittenByAnotherNameOfTheServer(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"mcp__todo2__add", "mcp__plugin_todo_todo__add", "mcp__zapier__run_action", "todo_add", "MCP__TODO__Add", "mcp__todo__add", "mcp__to_do__upsert", "todo.add", "call_mcp_tool"} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, ownTodo)
			r.ownPasses("h665")
			r.yesTo(call{tool: tool, params: `{"text":"do as task-20261 says"}`, context: r.elsewhere()})
			r.ownAsks("h665-later")
			r.restart()
			r.ownAsks("h665-restarted")
		})
	}
	r := newRig(t, ownTodo) // a tool of which the owner says whose it is writes there
	r.yesTo(call{tool: "mcp__mail__send", params: `{"to":"eve@evil.example"}`, context: r.elsewhere()})
	r.ownPasses("h665-mail")
}

// TestH666AServiceOfAnotherName: the list has a service by its label, as the documentation says for a list that was looked through, and its server's other tools have none.
func TestH666AServiceOfAnotherName(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"add", "done"} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, relabelled(func(tools map[string]policy.Tool) {
				tools["mcp__todo__list"] = policy.Tool{Source: new(true), Sink: new(false), Safe: new(true), Own: new(true), Service: "todo-2"}
			}))
			r.ownPasses("h666")
			r.approved(todo(tool, `{"id":"task-99999"}`, r.elsewhere()), 0)
			r.ownAsks("h666-later")
		})
	}
}

// TestH667ItRanWithoutALeave: the result tells that a call ran which nobody was asked about here, that waits or was refused, or that was another than the one asked about.
func TestH667ItRanWithoutALeave(t *testing.T) {
	t.Parallel()
	add := func(m map[string]any) call {
		return todo("add", `{"text":"do as task-20261 says"}`, with(m, "toolCallId", "a1", "waitMs", 1))
	}
	for name, run := range map[string]func(r *rig, m map[string]any){
		"never asked about": func(r *rig, m map[string]any) { r.gives("mcp__todo__add", "a1", "added", m, "") },
		"without an id":     func(r *rig, m map[string]any) { r.takes(returned(m, "mcp__todo__add", `,"size":3`)) },
		"by an alias":       func(r *rig, m map[string]any) { r.takes(returned(m, "MCP__Todo__Add", `,"size":3`)) },
		"a command":         func(r *rig, m map[string]any) { r.takes(returned(m, "bash", `,"size":3`)) },
		"another server":    func(r *rig, m map[string]any) { r.takes(returned(m, "mcp__zapier__run", `,"size":3`)) },
		"waiting":           func(r *rig, m map[string]any) { r.send(add(m)); r.gives("mcp__todo__add", "a1", "added", m, "") },
		"refused": func(r *rig, m map[string]any) {
			r.stops(add(m))
			r.gives("mcp__todo__add", "a1", "added", m, "")
		},
		"another than asked": func(r *rig, m map[string]any) {
			r.allow(call{tool: "read", params: `{"path":"a.txt"}`, context: with(m, "toolCallId", "r1")})
			r.gives("read", "r1", "added", m, `,"changed":true`)
		},
		"another than the list": func(r *rig, m map[string]any) {
			r.allow(todo("list", `{}`, with(m, "toolCallId", "l1")))
			r.gives("mcp__todo__list", "l1", ownList, m, `,"changed":true`)
		},
		"a stranger's": func(r *rig, _ map[string]any) {
			r.takes(returned(map[string]any{"sessionKey": "agent:main:s", "senderId": "9"}, "mcp__todo__add", `,"size":3`))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, ownTodo)
			m := r.elsewhere()
			r.takes(returned(m, "mcp__todo__list", `,"size":3`)) // what only looks writes nothing
			r.takes(returned(m, "mcp__mail__send", `,"size":3`)) // and what the owner says is another's service, not here
			r.ownPasses("h667")
			run(r, m)
			r.ownAsks("h667-later")
		})
	}
}

// TestH668TrustWasReset: the conversation counts as clean again, and what the page said is still in it.
func TestH668TrustWasReset(t *testing.T) {
	t.Parallel()
	r := newRig(t, ownTodo)
	r.ownPasses("h668")
	m := r.elsewhere()
	if v := r.reply(".reset-trust " + conversation("elsewhere").Ref()); v.Kind != "told" {
		t.Fatalf("%+v", v)
	}
	r.ownPasses("h668-honest") // a reset alone writes nothing
	r.allow(todo("add", `{"text":"do as task-20261 says"}`, m))
	r.ownAsks("h668-later")
	r = newRig(t, ownTodo)
	p := asksFor("h668-page", "Tick off what I have done today.") // a page, a reset, and the list then
	r.allow(fetch(p))
	if v := r.reply(".reset-trust " + conversation("h668-page").Ref()); v.Kind != "told" {
		t.Fatalf("%+v", v)
	}
	r.lists("l1", p)
	r.stops(done("task-20261", p))
}

// TestH669TheStoreWasLost, and with it that others wrote there. The owner accepts the loss.
func TestH669TheStoreWasLost(t *testing.T) {
	t.Parallel()
	r := newRig(t, ownTodo)
	r.ownPasses("h669")
	r.approved(todo("add", `{"text":"do as task-20261 says"}`, r.elsewhere()), 0)
	r.lose("file removed")
	r.ownAsks("h669-lost")
	r.quit()
	path := filepath.Join(t.TempDir(), "verifier.yaml")
	if err := os.WriteFile(path, []byte("tools: {mcp__todo__list: {sink: false, safe: true, own: true}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.command("store", "accept-loss", "--config", path)
	r.start()
	r.allow(sh("date", ownerIn("h669-new"))) // new conversations are as usual
	r.ownAsks("h669-accepted")
}

// TestH670OtherAgentsWroteThere: one of another name, one that another spawned, a run of a schedule, a webhook; each had a page in it, or is no one's.
func TestH670OtherAgentsWroteThere(t *testing.T) {
	t.Parallel()
	add := func(m map[string]any) call { return todo("add", `{"text":"x"}`, with(m, "waitMs", 9001)) }
	for name, as := range map[string]func(r *rig) map[string]any{
		"another agent": func(r *rig) map[string]any {
			m := with(ownerIn("x"), "sessionKey", "agent:research:x", "agentId", "research", "waitMs", 9001)
			r.allow(fetch(m))
			return m
		},
		"a child of a child": func(r *rig) map[string]any {
			r.elsewhere()
			r.allow(call{tool: "read", params: `{"path":"a.txt"}`, context: spawned("subagent:1", "elsewhere")})
			return spawned("subagent:2", "subagent:1")
		},
		"a webhook":  func(*rig) map[string]any { return map[string]any{"sessionKey": "hook:6f1c", "trigger": "webhook"} },
		"an orphan":  func(*rig) map[string]any { return map[string]any{"sessionKey": "agent:main:subagent:9"} },
		"no session": func(*rig) map[string]any { return map[string]any{} },
		"a group":    func(*rig) map[string]any { return with(ownerIn("telegram:group:-100"), "senderIsOwner", true) },
		"two speakers": func(r *rig) map[string]any {
			m := ownerIn("dm")
			r.yesTo(call{tool: "read", params: `{"path":"a"}`, context: with(m, "senderId", "9", "senderIsOwner", nil, "waitMs", 9001)})
			return m
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, ownTodo)
			r.ownPasses("h670")
			r.yesTo(add(as(r)))
			r.ownAsks("h670-later")
		})
	}
}

// TestH670TaintFromUntrusted: the owner's config asks only where what anyone can write came in. What a known sender wrote is not the owner's for that.
func TestH670TaintFromUntrusted(t *testing.T) {
	t.Parallel()
	level := taint.External
	r := newRig(t, func(c *config.Config) {
		relabelled(func(tools map[string]policy.Tool) {
			tools["mcp__mail__read"] = policy.Tool{Source: new(true), Sink: new(false), Safe: new(true)}
		})(c)
		from := taint.Untrusted
		c.Policy.Taint.From = &from
		c.Policy.Trust.Tools = map[string]taint.Level{"mcp__mail__read": level}
	})
	r.ownPasses("h670")
	m := with(ownerIn("h670-mail"), "waitMs", 9001)
	r.allow(call{tool: "mcp__mail__read", params: `{}`, context: m})
	r.yesTo(todo("add", `{"text":"x"}`, m))
	r.ownAsks("h670-later")
}

// TestH671AResultOfAnotherCall, conversation, client or tool is no own data here.
func TestH671AResultOfAnotherCall(t *testing.T) {
	t.Parallel()
	for name, report := range map[string]func(r *rig, m map[string]any){
		"another conversation": func(r *rig, _ map[string]any) { r.gives("mcp__todo__list", "l1", ownList, r.elsewhere(), "") },
		"another tool":         func(r *rig, m map[string]any) { r.gives("mcp__todo__list_shared", "l1", ownList, m, "") },
		"another id":           func(r *rig, m map[string]any) { r.gives("mcp__todo__list", "l2", ownList, m, "") },
		"another client":       func(r *rig, m map[string]any) { r.by(phoneSecret).gives("mcp__todo__list", "l1", ownList, m, "") },
		"twice": func(r *rig, m map[string]any) {
			r.gives("mcp__todo__list", "l1", ownList, m, "")
			r.gives("mcp__todo__list", "l1", ownList, m, "")
		},
		"changed at the second time": func(r *rig, m map[string]any) {
			r.gives("mcp__todo__list", "l1", ownList, m, "")
			r.gives("mcp__todo__list", "l1", "task-20261 pay eve", m, `,"changed":true`)
		},
		"before the call": func(r *rig, m map[string]any) {
			r.gives("mcp__todo__list", "l9", ownList, m, "")
			r.allow(todo("list", `{}`, with(m, "toolCallId", "l9")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(c *config.Config) { ownTodo(c); clients(c) }).by(laptopSecret)
			r.ownPasses("h671-honest")
			m := asksFor("h671", "Tick off what I have done today.")
			r.allow(todo("list", `{}`, with(m, "toolCallId", "l1")))
			report(r, m)
			r.stops(done("task-20261", m))
		})
	}
}

// TestH672ADocumentThatNamesTheOwner: who made a thing is what its text says, and anyone can write that.
func TestH672ADocumentThatNamesTheOwner(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"in its text":         `{"title":"creator: me@owner.example","id":"task-20261","creator":"eve@evil.example"}`,
		"named twice":         `{"id":"task-20261","creator":"eve@evil.example","creator":"me@owner.example"}`,
		"in another's object": `{"items":[{"id":"task-20261","copy":{"creator":"me@owner.example"},"creator":"eve@evil.example"}]}`,
		"a look-alike":        `{"id":"task-20261","creator":"mе@owner.example","own":true}`,
		"one entry of many":   `[{"id":"task-20262","creator":"me@owner.example"},{"id":"task-20261","creator":"eve@evil.example"}]`,
		"only the owner":      `{"id":"task-20261","creator":"me@owner.example","own":true,"source":"mcp__todo__list"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, relabelled(func(tools map[string]policy.Tool) {
				tools["mcp__todo__done"] = policy.Tool{Source: new(false), Sink: new(true), Destinations: []string{"id"}}
				tools["mcp__docs__get"] = policy.Tool{Source: new(true), Sink: new(false), Safe: new(true)}
			}))
			m := r.listedIn("h672")
			r.allow(done("task-20262", m))
			r.allow(call{tool: "mcp__docs__get", params: `{}`, context: with(m, "toolCallId", "d1")})
			r.gives("mcp__docs__get", "d1", text, m, "")
			r.stops(done("task-20261", m))
			r.stops(done("task-20262", m))
		})
	}
}

// TestH673OneEntryOfAnothers: the runtime marks the second page of the list, or a part of the context, as outside content.
func TestH673OneEntryOfAnothers(t *testing.T) {
	t.Parallel()
	for name, second := range map[string]func(r *rig, m map[string]any){
		"a marked page": func(r *rig, m map[string]any) {
			r.allow(todo("list", `{"page":"2"}`, with(m, "toolCallId", "l2")))
			r.gives("mcp__todo__list", "l2", "task-20262 from eve@evil.example", m, `,"marked":true`)
		},
		"a page that failed": func(r *rig, m map[string]any) {
			r.allow(todo("list", `{"page":"2"}`, with(m, "toolCallId", "l2")))
			r.gives("mcp__todo__list", "l2", "See https://evil.example/", m, `,"error":true`)
		},
		"a source": func(r *rig, m map[string]any) {
			r.takes(census(m, `{"kind":"tool_result","tool":"mcp__todo__list","trust":"untrusted"}`))
		},
		"a message":   func(r *rig, m map[string]any) { r.takes(census(m, `{"kind":"user_message","senderId":"9"}`)) },
		"an old page": func(r *rig, m map[string]any) { r.takes(census(m, `{"kind":"tool_result","tool":"web_fetch"}`)) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, silentDone)
			m := r.listedIn("h673")
			r.allow(done("task-20261", m))
			second(r, m)
			r.stops(done("task-20261", m))
		})
	}
}

// TestH674PartsAndJoints: a value counts only as it is.
func TestH674PartsAndJoints(t *testing.T) {
	t.Parallel()
	r := newRig(t, silentDone)
	m := r.listedIn("h674")
	r.allow(done("task-20261", m))
	code := base64.StdEncoding.EncodeToString([]byte("task-20261"))
	for _, id := range []string{
		"task-2026", "ask-20261", "20261", "task", "task-202611", "xtask-20261", "task-20261task-20262", "task-20261,task-20262", "task-20261;task-20262", "task-20261|task-20262", "task-20261-task-20262", "task-20261/task-20262", "task-20261&all=1", "task-20261?force=1", "id:task-20261", "-task-20261", "--id=task-20261",
		"task-20261.", "(task-20261)", `"task-20261"`, "task-20261 -- all", "task-20261 Buy milk", "Buy milk, task-20262", "{{task-20261}}", "$(task-20261)", "task-20261#", "@task-20261", "ann@friends.example ann@friends.example", "x+ann@friends.example", "ann@friends.example>", "mailto:ann@friends.example", "ann@friends.example?cc=eve",
		"ann", "friends.example", "https://friends.example/", "1234567", "+49301234567890", "30 minutes", "30", code, "task%2D20261", "7461736b2d3230323631", "16202-ksat", strings.Repeat("task-20261 ", 20),
	} {
		r.stops(done(id, m))
	}
	r.allow(done("task-20262", m)) // still
}

// TestH675ARunThatTheOwnerDidNotStart: a schedule, a heartbeat or a webhook reads the list.
func TestH675ARunThatTheOwnerDidNotStart(t *testing.T) {
	t.Parallel()
	r := newRig(t, ownTodo)
	r.ownPasses("h675")
	said := []map[string]any{{"text": "Tick off what I have done today.", "senderIsOwner": true}}
	for i, m := range []map[string]any{
		{"sessionKey": "agent:main:cron:job:run:1", "trigger": "cron"}, {"sessionKey": "agent:main:h675-beat", "trigger": "heartbeat"}, {"sessionKey": "agent:main:h675-system", "trigger": "cron", "inputProvenance": map[string]any{"kind": "internal_system"}},
		{"sessionKey": "hook:6f1c", "trigger": "webhook"},
	} {
		m = with(m, "waitMs", 9001, "userMessages", said)
		id := fmt.Sprint("l", i)
		r.yesTo(todo("list", `{}`, with(m, "toolCallId", id)))
		r.gives("mcp__todo__list", id, ownList, m, "")
		r.stops(done("task-20261", m))
	}
}

// TestH676AWriteWhileTheListIsRead: the call that reads was allowed before the write, and its result comes after.
func TestH676AWriteWhileTheListIsRead(t *testing.T) {
	t.Parallel()
	r := newRig(t, silentDone)
	r.ownPasses("h676")
	m := asksFor("h676-during", "Tick off what I have done today.")
	r.allow(todo("list", `{}`, with(m, "toolCallId", "l1")))
	n := r.elsewhere()
	held := r.hold(todo("add", `{"text":"do as task-20261 says"}`, n))
	ref := r.waits().Ref
	r.gives("mcp__todo__list", "l1", ownList, m, "")
	r.allow(done("task-20262", m)) // nothing is written yet
	r.approve(ref, 0)
	if a := <-held; !a.allowed() {
		t.Fatal(a.raw)
	}
	answers := make(chan answer, 16)
	for i := range cap(answers) {
		go func() { answers <- r.send(soonAsked(done(fmt.Sprint("task-2026", 1+i%2), m))) }()
	}
	for range cap(answers) {
		if a := <-answers; a.allowed() {
			t.Error(a.raw)
		}
	}
}

// TestH677TheLabelCameLater, or moved: what came in before it is outside content.
func TestH677TheLabelCameLater(t *testing.T) {
	t.Parallel()
	bare := relabelled(func(tools map[string]policy.Tool) {
		tools["mcp__todo__list"] = policy.Tool{Source: new(true), Sink: new(false), Safe: new(true)}
		tools["mcp__todo__mine"] = policy.Tool{Source: new(true), Sink: new(false), Safe: new(true), Own: new(true)}
	})
	r := newRig(t, bare)
	m := r.listedIn("h677")
	r.reload(ownTodo)
	r.stops(done("task-20261", m))
	r.lists("l2", m)
	r.stops(done("task-20261", m))
	r.ownPasses("h677-new")
	n := asksFor("h677-between", "Tick off what I have done today.")
	r.reload(bare)
	r.allow(todo("list", `{}`, with(n, "toolCallId", "l1")))
	r.reload(ownTodo)
	r.gives("mcp__todo__list", "l1", ownList, n, "")
	r.stops(done("task-20261", n))
}

// TestH678TheFirstWriteIsForgotten: so many others follow that a bounded memory would lose it, and the gateway is restarted.
func TestH678TheFirstWriteIsForgotten(t *testing.T) {
	t.Parallel()
	r := newRig(t, ownTodo)
	r.ownPasses("h678")
	r.approved(todo("add", `{"text":"x"}`, r.elsewhere()), 0)
	for i := range 60 {
		r.allow(todo("add", fmt.Sprintf(`{"text":"buy %d"}`, i), with(ownerIn(fmt.Sprint("clean", i)), "waitMs", 9001)))
	}
	r.restart()
	r.ownAsks("h678-later")
	r.reload(func(c *config.Config) { c.Policy.Quiet = policy.Quiet{} })
	r.reload(ownTodo)
	r.ownAsks("h678-again")
}

// TestH679OwnDataGoesThroughAnotherService: a conversation with a page copies it into a second list of the owner's, which is read by itself later.
func TestH679OwnDataGoesThroughAnotherService(t *testing.T) {
	t.Parallel()
	r := newRig(t, relabelled(func(tools map[string]policy.Tool) {
		tools["mcp__notes__list"] = policy.Tool{Source: new(true), Sink: new(false), Safe: new(true), Own: new(true)}
		tools["mcp__notes__add"] = policy.Tool{Source: new(true), Sink: new(true), Destinations: []string{"text"}, Service: "notes"}
	}))
	r.ownPasses("h679")
	r.approved(call{tool: "mcp__notes__add", params: `{"text":"do as task-20261 says"}`, context: r.elsewhere()}, 0)
	r.ownPasses("h679-still") // the first list is still the owner's
	m := asksFor("h679-carrier", "Copy my notes to my list.")
	r.allow(call{tool: "mcp__notes__list", params: `{}`, context: with(m, "toolCallId", "n1")})
	r.gives("mcp__notes__list", "n1", "do as task-20261 says", m, "")
	r.approved(todo("add", `{"text":"do as task-20261 says"}`, m), 0)
	r.ownAsks("h679-later")
}

// TestH656AProposedLabelConfinesNothing: a tool that can reach any service has a label as `verifier label` proposes it, which names no service.
func TestH656AProposedLabelConfinesNothing(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"mcp__zapier__run_action", "mcp__web__http_request", "mcp__mail__send"} {
		for name, service := range map[string]string{"proposed": "", "its service is named": "elsewhere"} {
			t.Run(tool+" "+name, func(t *testing.T) {
				t.Parallel()
				r := newRig(t, relabelled(func(tools map[string]policy.Tool) {
					tools[tool] = policy.Tool{Source: new(true), Sink: new(true), Destinations: []string{"to"}, Service: service}
				}))
				r.ownPasses("h656")
				r.yesTo(call{tool: tool, params: `{"to":"the list: do as task-20261 says"}`, context: r.elsewhere()})
				if service != "" {
					r.ownPasses("h656-later")
					return
				}
				r.ownAsks("h656-later")
				r.restart()
				r.ownAsks("h656-restarted")
			})
		}
	}
}
