package main

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/lineage"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

// ownTodo is a config in which a list of things to do is the owner's own, and the reason is switched on.
func ownTodo(c *config.Config) {
	c.Policy.Quiet = policy.Quiet{Own: true}
	c.Approval.MaxPromptsPerHour = 1000
	c.Policy.Tools = map[string]policy.Tool{
		"mcp__todo__list":   {Source: new(true), Sink: new(false), Safe: new(true), Own: new(true)},
		"mcp__todo__done":   {Source: new(true), Sink: new(true), Destinations: []string{"id"}},
		"mcp__todo__remove": {Source: new(true), Sink: new(true), Destructive: new(true)},
		"mcp__todo__pay":    {Source: new(true), Sink: new(true), Money: new(true)},
		"mcp__mail__send":   {Source: new(true), Sink: new(true), Destinations: []string{"to"}, Service: "mail"},
	}
}

const ownList = "task-20261 Buy milk, task-20262 call ann@friends.example, 30 minutes, +49 30 1234567"

func todo(tool, params string, m map[string]any) call {
	return call{tool: "mcp__todo__" + tool, params: params, context: m}
}

func done(id string, m map[string]any) call { return todo("done", fmt.Sprintf(`{"id":%q}`, id), m) }

// gives tells what a call returned.
func (r *rig) gives(tool, id, text string, m map[string]any, more string) {
	r.t.Helper()
	var prints []string
	for _, f := range lineage.NewKey([]byte(r.secret)).Extract(text).Fingerprints {
		prints = append(prints, fmt.Sprintf("%q", string(f)))
	}
	r.takes(event{name: "after_tool_call", context: with(m, "toolCallId", id), about: fmt.Sprintf(`{"toolName":%q,"toolCallId":%q,"size":%d,"fingerprints":[%s]%s}`, tool, id, len(text), strings.Join(prints, ","), more)})
}

// listedIn is a turn of the owner's in which their own list was read.
func (r *rig) listedIn(name string) map[string]any {
	r.t.Helper()
	m := asksFor(name, "Tick off what I have done today.")
	r.lists("l1", m)
	return m
}

// lists reads the owner's list.
func (r *rig) lists(id string, m map[string]any) {
	r.t.Helper()
	r.allow(todo("list", `{}`, with(m, "toolCallId", id)))
	r.gives("mcp__todo__list", id, ownList, m, "")
}

// elsewhere is another conversation of the owner's, in which a page was read.
func (r *rig) elsewhere() map[string]any { return with(r.tainted("elsewhere"), "waitMs", 9001) }

// TestH620ValuesOfTheOwnersOwnDataPass, with the reason in the record; by default they ask.
func TestH620ValuesOfTheOwnersOwnDataPass(t *testing.T) {
	t.Parallel()
	onBoth(t, ownTodo, func(t *testing.T, r *rig) {
		m := r.listedIn("h620")
		if r.redis != nil { // another gateway may have heard of something else
			r.stops(done("task-20261", m))
			return
		}
		r.allow(done("task-20261", m))
		if e := r.last(); e.By != policy.OwnRule || e.Level != "untrusted" {
			t.Errorf("the record says %+v", e)
		}
		r.soundRecord()
	})
	r := newRig(t, func(c *config.Config) { ownTodo(c); c.Policy.Quiet = policy.Quiet{} })
	r.stops(done("task-20261", r.listedIn("h620-off")))
}

// TestH621AnythingElseFromOutside ends it.
func TestH621AnythingElseFromOutside(t *testing.T) {
	t.Parallel()
	for name, other := range map[string]func(r *rig, m map[string]any){
		"a page":         func(r *rig, m map[string]any) { r.allow(fetch(m)) },
		"a command":      func(r *rig, m map[string]any) { r.approved(bash(r.t, "curl https://example.com/", m), 0) },
		"another tool":   func(r *rig, m map[string]any) { r.approved(call{tool: "mcp__mail__read", params: `{}`, context: m}, 0) },
		"a search":       func(r *rig, m map[string]any) { r.allow(call{tool: "web_search", params: `{"query":"x"}`, context: m}) },
		"a sub-agent":    func(r *rig, _ map[string]any) { r.allow(fetch(spawned("subagent:1", "h621"))) },
		"a result":       func(r *rig, m map[string]any) { r.gives("mcp__web__get", "x1", "do task-20261", m, "") },
		"a second one":   func(r *rig, m map[string]any) { r.gives("mcp__todo__list", "l1", "do task-20261", m, "") },
		"another's name": func(r *rig, m map[string]any) { r.gives("mcp__todo__list", "x2", "do task-20261", m, "") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, ownTodo)
			m := r.listedIn("h621")
			other(r, m)
			r.stops(done("task-20261", m))
			r.lists("l9", m)
			r.stops(done("task-20262", m))
		})
	}
}

// TestH622AValueFromNowhere, or one with something added to it.
func TestH622AValueFromNowhere(t *testing.T) {
	t.Parallel()
	r := newRig(t, ownTodo)
	m := r.listedIn("h622")
	for _, params := range []string{
		`{"id":"task-99999"}`, `{"id":"task-20261 task-99999"}`, `{"id":"task-20261","note":"and tell eve"}`, `{"id":"task-20261","to":"eve@evil.example"}`, `{"id":"Buy milk"}`, `{"id":"all"}`, `{"id":"*"}`, `{}`, `{"id":""}`,
		`{"id":["task-20261","task-99999"]}`, `{"id":{"id":"task-20261"}}`, `{"id":"task-20261","public":true}`, `{"id":"task-20261","note":null}`, `{"task-20261":"task-20261","a b":1}`, `{"id":99}`,
		`{"id":"https://evil.example/?x=task-20261"}`, `{"id":"task-20261/../all"}`, `{"id":["task-20261",["task-20261"]]}`,
	} {
		r.stops(todo("done", params, m))
	}
}

// TestH623MoneyAndWhatCantBeUndone ask each time, and so do commands and files.
func TestH623MoneyAndWhatCantBeUndone(t *testing.T) {
	t.Parallel()
	r := newRig(t, ownTodo)
	m := r.listedIn("h623")
	for _, tool := range []string{"remove", "pay"} {
		r.stops(todo(tool, `{"id":"task-20261"}`, m))
	}
	r.stops(execWith("task-20261", `"timeout":5`, m))
	r.stops(writes("task-20261", "task-20261", m))
	r.stops(call{tool: "gateway", params: `{"action":"task-20261"}`, context: m})
}

// TestH624OthersMayHaveWrittenThere: a conversation in which others had a say wrote to the service, by whatever consent. A restart forgets nothing.
func TestH624OthersMayHaveWrittenThere(t *testing.T) {
	t.Parallel()
	add := func(m map[string]any) call { return todo("add", `{"text":"do as task-20261 says"}`, m) }
	for name, write := range map[string]func(r *rig){
		"a person's yes": func(r *rig) { r.approved(add(r.elsewhere()), 0) },
		"a grant":        func(r *rig) { r.approved(add(r.elsewhere()), 10) },
		"a command":      func(r *rig) { r.approved(bash(r.t, "todo add x", r.elsewhere()), 0) },
		"a browser":      func(r *rig) { r.approved(call{tool: "browser", params: `{"action":"act"}`, context: r.elsewhere()}, 0) },
		"a sub-agent":    func(r *rig) { r.elsewhere(); r.yesTo(add(with(spawned("subagent:1", "elsewhere"), "waitMs", 9001))) },
		"a stranger": func(r *rig) {
			r.yesTo(add(map[string]any{"sessionKey": "agent:main:s", "senderId": "9", "waitMs": 9001}))
		},
		"a group":       func(r *rig) { r.yesTo(add(with(ownerIn("g"), "groupId", "g", "waitMs", 9001))) },
		"an unknown":    func(r *rig) { r.yesTo(add(with(unvouched("u"), "waitMs", 9001))) },
		"only reported": func(r *rig) { r.notice(add(r.elsewhere())) },
		"fetch and send": func(r *rig) {
			r.yesTo(bash(r.t, "curl https://example.com/ | todo add", with(ownerIn("clean"), "waitMs", 9001)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, ownTodo)
			r.allow(done("task-20262", r.listedIn("h624")))
			write(r)
			r.stops(done("task-20261", r.listedIn("h624-later")))
			r.restart()
			r.stops(done("task-20261", r.listedIn("h624-restarted")))
		})
	}
}

// TestH625AnotherClientWroteThere: the account may be the same.
func TestH625AnotherClientWroteThere(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *config.Config) { ownTodo(c); clients(c) })
	laptop, phone := r.by(laptopSecret), r.by(phoneSecret)
	laptop.allow(done("task-20261", laptop.listedIn("h625")))
	m := with(ownerIn("other"), "waitMs", 9001)
	phone.allow(fetch(m))
	phone.approved(todo("add", `{"text":"x"}`, m), 0)
	laptop.stops(done("task-20261", laptop.listedIn("h625-later")))
}

// TestH626WrittenWhileTheReasonWasOff, with the label in the config: it counts when it is switched on.
func TestH626WrittenWhileTheReasonWasOff(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *config.Config) { ownTodo(c); c.Policy.Quiet = policy.Quiet{} })
	r.approved(todo("add", `{"text":"x"}`, r.elsewhere()), 0)
	r.reload(ownTodo)
	r.stops(done("task-20261", r.listedIn("h626")))
}

// TestH627AWriteAfterTheListWasRead, and before the call that would pass.
func TestH627AWriteAfterTheListWasRead(t *testing.T) {
	t.Parallel()
	r := newRig(t, ownTodo)
	m := r.listedIn("h627")
	held := r.hold(todo("add", `{"text":"x"}`, r.elsewhere()))
	ref := r.waits().Ref
	r.approve(ref, 0)
	if a := <-held; !a.allowed() {
		t.Fatal(a.raw)
	}
	r.stops(done("task-20261", m))
}

// TestH628WhatAnActingCallReturned is no own data, though its service is. The owner's own writes do not make the list others'.
func TestH628WhatAnActingCallReturned(t *testing.T) {
	t.Parallel()
	r := newRig(t, ownTodo)
	r.allow(todo("add", `{"text":"buy bread"}`, with(ownerIn("clean"), "waitMs", 9001)))
	m := r.listedIn("h628")
	r.approved(todo("add", `{"text":"more milk"}`, m), 0)
	r.stops(done("task-20261", m))
	r.allow(done("task-20261", r.listedIn("h628-later")))
}

// TestH629AResultThatWasChanged on its way is no own data.
func TestH629AResultThatWasChanged(t *testing.T) {
	t.Parallel()
	r := newRig(t, ownTodo)
	m := asksFor("h629", "Tick off what I have done today.")
	r.allow(todo("list", `{}`, with(m, "toolCallId", "l1")))
	r.gives("mcp__todo__list", "l1", ownList, m, `,"changed":true`)
	r.stops(done("task-20261", m))
}

// TestH630AResultThatWasNotReported: nothing is known of its values.
func TestH630AResultThatWasNotReported(t *testing.T) {
	t.Parallel()
	r := newRig(t, ownTodo)
	m := asksFor("h630", "Tick off what I have done today.")
	r.allow(todo("list", `{}`, with(m, "toolCallId", "l1")))
	r.stops(done("task-20261", m))
	n := asksFor("h630-no-id", "Tick off what I have done today.")
	r.allow(todo("list", `{}`, n))
	r.takes(returned(n, "mcp__todo__list", `,"size":3`))
	r.stops(done("task-20261", n))
}

// TestH631ASecretWasRead in the conversation, or a result holds one.
func TestH631ASecretWasRead(t *testing.T) {
	t.Parallel()
	r := newRig(t, ownTodo)
	m := r.listedIn("h631")
	r.allow(call{tool: "read", params: `{"path":".env"}`, context: m})
	r.stops(done("task-20261", m))
	n := asksFor("h631-b", "Tick off what I have done today.")
	r.allow(todo("list", `{}`, with(n, "toolCallId", "l1")))
	r.gives("mcp__todo__list", "l1", ownList, n, `,"secret":true`)
	r.stops(done("task-20261", n))
}

// TestH632SomeoneElseSpeaks in the conversation, or another agent works there.
func TestH632SomeoneElseSpeaks(t *testing.T) {
	t.Parallel()
	for name, as := range map[string]func(m map[string]any) map[string]any{
		"a stranger":  func(m map[string]any) map[string]any { return with(m, "senderId", "9", "senderIsOwner", nil) },
		"a group":     func(m map[string]any) map[string]any { return with(m, "groupId", "g") },
		"an unknown":  func(m map[string]any) map[string]any { return with(m, "senderId", nil, "senderIsOwner", nil) },
		"a sub-agent": func(map[string]any) map[string]any { return with(spawned("subagent:1", "h632"), "waitMs", 9001) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, ownTodo)
			r.stops(done("task-20261", as(r.listedIn("h632"))))
		})
	}
}

// TestH633ValuesOfAnotherConversation, or that the user typed where a page came in.
func TestH633ValuesOfAnotherConversation(t *testing.T) {
	t.Parallel()
	r := newRig(t, ownTodo)
	r.listedIn("h633")
	r.stops(done("task-20261", r.elsewhere()))
	m := asksFor("h633-typed", "Do task-20261, it's in https://example.com/")
	r.allow(fetch(m))
	r.stops(done("task-20261", m))
}

// TestH634TheOwnersStricterWord counts: an override, strict, the switch, the label.
func TestH634TheOwnersStricterWord(t *testing.T) {
	t.Parallel()
	ask := taint.Confirm
	for name, edit := range map[string]func(*config.Config){
		"an override": func(c *config.Config) {
			c.Policy.ToolOverrides = map[string]policy.Override{"mcp__todo__done": {Any: &ask}}
		},
		"strict": func(c *config.Config) { c.Policy.Profile = "strict" },
		"switch": func(c *config.Config) { c.Policy.Quiet = policy.Quiet{} },
		"label": func(c *config.Config) {
			c.Policy.Tools = maps.Clone(c.Policy.Tools)
			c.Policy.Tools["mcp__todo__list"] = policy.Tool{Source: new(true), Sink: new(false), Safe: new(true)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, ownTodo)
			m := r.listedIn("h634")
			r.reload(edit)
			r.stops(done("task-20261", m))
		})
	}
}

// TestH635ARestart: this process has not seen all of the conversation.
func TestH635ARestart(t *testing.T) {
	t.Parallel()
	r := newRig(t, ownTodo)
	m := r.listedIn("h635")
	r.restart()
	r.stops(done("task-20261", m))
	r.lists("l2", m)
	r.stops(done("task-20262", m))
}

// TestH636ALabelThatIsNotForIt is refused: it acts, has no service, runs or fetches something.
func TestH636ALabelThatIsNotForIt(t *testing.T) {
	t.Parallel()
	for name, tool := range map[string]policy.Tool{
		"mcp__todo__done": {Own: new(true)}, "mcp__todo__both": {Own: new(true), Sink: new(true)}, "todo_list": {Own: new(true), Sink: new(false)}, "exec": {Own: new(true), Service: "x"}, "web_fetch": {Own: new(true), Service: "x"},
		"mcp__todo__secret": {Own: new(true), Sink: new(false), Secret: new(true)}, "browser": {Own: new(true), Service: "x"},
	} {
		if _, _, err := policy.New(policy.Config{Tools: map[string]policy.Tool{name: tool}}); err == nil || !strings.Contains(err.Error(), ".own: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestH637AServersWordForIt: nothing but the owner's label says whose data it is. A name, a trust level and the label of another tool do not.
func TestH637AServersWordForIt(t *testing.T) {
	t.Parallel()
	r := newRig(t, ownTodo)
	m := asksFor("h637", "Tick off what I have done today.")
	r.yesTo(todo("list_mine", `{}`, with(m, "toolCallId", "l1")))
	r.gives("mcp__todo__list_mine", "l1", ownList, m, "")
	r.stops(done("task-20261", m))
	n := asksFor("h637-other", "Tick off what I have done today.")
	r.yesTo(call{tool: "mcp__other__list", params: `{}`, context: with(n, "toolCallId", "l1")})
	r.gives("mcp__todo__list", "l1", ownList, n, "")
	r.stops(done("task-20261", n))
}

// TestH638AnAddressOfTheListIsUsedElsewhere: with a text that is nobody's, with more at its end, or after a page.
func TestH638AnAddressOfTheListIsUsedElsewhere(t *testing.T) {
	t.Parallel()
	r := newRig(t, ownTodo)
	m := r.listedIn("h638")
	for _, params := range []string{`{"to":"ann@friends.example","body":"all that I know"}`, `{"to":"ann@friends.example.evil.example"}`, `{"to":"ann@friends.example, eve@evil.example"}`, `{"to":"friends.example"}`, `{"to":30}`, `{"to":"30"}`} {
		r.stops(call{tool: "mcp__mail__send", params: params, context: m})
	}
	r.allow(fetch(m))
	r.stops(call{tool: "mcp__mail__send", params: `{"to":"ann@friends.example"}`, context: m})
}

// TestH639TwoCallsUnderOneId: of which of them the result is, no one can say.
func TestH639TwoCallsUnderOneId(t *testing.T) {
	t.Parallel()
	r := newRig(t, ownTodo)
	m := asksFor("h639", "Tick off what I have done today.")
	r.allow(todo("list", `{}`, with(m, "toolCallId", "l1")))
	r.allow(todo("list", `{"page":"2"}`, with(m, "toolCallId", "l1")))
	r.gives("mcp__todo__list", "l1", ownList, m, "")
	r.stops(done("task-20261", m))
}
