package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

// paranoid restricts what acts once anything outside is in the conversation.
func paranoid(c *config.Config) { c.Policy.Profile = "paranoid" }

func names(t told) string {
	var out []string
	for _, v := range t.Tools {
		out = append(out, strings.TrimSuffix(strings.TrimPrefix(string(v), `{"name":"`), `"}`))
	}
	return strings.Join(out, " ")
}

func beforeLLM(ctx map[string]any, more string) event {
	return event{name: "before_llm_call", about: `{"tools":[{"name":"exec","description":"x"},{"name":"Read"},{"name":"message"},{"name":"web_fetch"}]` + more + `}`, context: ctx}
}

func TestRestrictedToolsAreTakenFromTheListAndRefusedAllTheSame(t *testing.T) {
	t.Parallel()
	onBoth(t, paranoid, func(t *testing.T, r *rig) {
		m := ownerIn("m")
		r.takes(census(m, `{"kind":"user_message","senderId":"1","senderIsOwner":true}`))
		if a := r.takes(beforeLLM(m, "")); a.Tools != nil || a.SystemPrompt != "" {
			t.Errorf("a clean conversation: %s", a.raw)
		}
		r.allow(sh("date", m))
		r.allow(fetch(m))
		a := r.takes(beforeLLM(m, `,"systemPrompt":"You are a helper.\n"`))
		if names(a) != "Read web_fetch" || !strings.HasPrefix(a.SystemPrompt, "You are a helper.\n\nPart of what follows comes from outside (untrusted)") {
			t.Errorf("a tainted one: %s", a.raw)
		}
		if e := r.lastEvent(); !strings.Contains(e.Note, "exec, message") {
			t.Errorf("the record says %+v", e)
		}
		if again := r.takes(beforeLLM(m, fmt.Sprintf(`,"systemPrompt":%q`, a.SystemPrompt))); again.SystemPrompt != "" {
			t.Errorf("warned twice: %s", again.raw)
		}
		r.deny(sh("date", m)) // layer two
		after := r.takes(event{name: "after_llm_call", context: m, about: `{"toolCalls":[{"id":"1","name":"exec","arguments":{"command":"date"}},{"id":"2","name":"read","arguments":{"path":"a","n":1.0}}]}`})
		if len(after.ToolCalls) != 1 || string(after.ToolCalls[0]) != `{"id":"2","name":"read","arguments":{"path":"a","n":1.0}}` {
			t.Errorf("calls: %s", after.raw)
		}
	})
}

func TestACallThatWouldBeRefusedIsTakenOutByItsArguments(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	about := fmt.Sprintf(`{"toolCalls":[{"id":"1","name":"read","arguments":{"path":%q}},{"id":"2","name":"read","arguments":{"path":"a"}}]}`, r.state.Dir())
	r.takes(census(ownerIn("m"), ""))
	if a := r.takes(event{name: "after_llm_call", context: ownerIn("m"), about: about}); len(a.ToolCalls) != 1 || strings.Contains(a.raw, r.state.Dir()) {
		t.Errorf("got %s", a.raw)
	}
}

func TestOfWhatNobodyHasSaidAnythingTheListIsThatOfAStranger(t *testing.T) {
	t.Parallel()
	r := newRig(t, paranoid)
	if a := r.takes(beforeLLM(ownerIn("unseen"), "")); names(a) != "Read web_fetch" {
		t.Errorf("got %s", a.raw)
	}
	r.allow(sh("date", ownerIn("unseen"))) // the call says who it is
}

func TestSourcesOnlyRaiseDistrust(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		for i, c := range []struct{ sources, want string }{
			{`{"kind":"system_prompt","trust":"system"}`, "owner"},
			{`{"kind":"compacted_history"}`, "owner"},
			{`{"kind":"compacted_history","trust":"shared"}`, "shared"},
			{`{"kind":"tool_result","tool":"read"}`, "local"},
			{`{"kind":"tool_result","tool":"web_fetch"}`, "untrusted"},
			{`{"kind":"tool_result","tool":"web_fetch","trust":"external"}`, "external"},
			{`{"kind":"tool_result"}`, "untrusted"},
			{`{"kind":"tool_result","tool":"nobody_knows"}`, "untrusted"},
			{`{"kind":"user_message","senderId":"9"}`, "external"},
			{`{"kind":"user_message","senderId":"1","senderIsOwner":true}`, "owner"},
			{`{"kind":"user_message","trust":"untrusted","senderId":"1","senderIsOwner":true}`, "untrusted"},
			{`{"kind":"tool_result","tool":"web_fetch"},{"kind":"tool_result","tool":"read","trust":"system"}`, "untrusted"},
		} {
			m := ownerIn(fmt.Sprint("m", i))
			r.takes(census(m, c.sources))
			r.takes(census(m, `{"kind":"system_prompt","trust":"system"},{"kind":"user_message","trust":"owner"}`)) // takes nothing back
			r.send(impatient(sh("date", m)))
			if e := r.last(); e.Level != c.want {
				t.Errorf("%s: the next call is at %s, want %s", c.sources, e.Level, c.want)
			}
		}
	})
}

func TestWhatAToolReturnedCounts(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		for tool, want := range map[string]string{
			`read`: "local", `web_fetch`: "untrusted", `message`: "external", `unknown_tool`: "untrusted",
		} {
			m := ownerIn("after-" + tool)
			r.allow(call{tool: "read", params: `{"path":"x"}`, context: m})
			r.takes(returned(m, tool, `,"size":12,"origin":"example.com"`))
			r.send(impatient(sh("date", m)))
			if e := r.last(); e.Level != want {
				t.Errorf("%s: the next call is at %s", tool, e.Level)
			}
		}
		m := ownerIn("marked")
		r.allow(sh("date", m))
		r.takes(returned(m, "exec", `,"marked":true`))
		if e := r.lastEvent(); e.RaisedTo != "untrusted" || e.By != "after_tool_call" || e.Tool != "exec" {
			t.Errorf("the record says %+v", e)
		}
		r.mustAsk(sh("date", m))
	})
}

func TestANewSessionIDStartsAfreshAfterEventsToo(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		one, two, three := with(ownerIn("m"), "sessionId", "s1"), with(ownerIn("m"), "sessionId", "s2"), with(ownerIn("m"), "sessionId", "s3")
		r.allow(fetch(one))
		r.takes(returned(one, "web_fetch", `,"marked":true`))
		r.takes(event{name: "session_end", context: one, about: `{"reason":"reset","nextSessionId":"s2"}`})
		r.allow(sh("date", two))
		r.takes(event{name: "session_end", context: one, about: `{"reason":"compaction","nextSessionId":"s3"}`})
		r.mustAsk(sh("date", three)) // the summary of what was read is in it
		r.takes(event{name: "session_end", context: one, about: `{"nextSessionId":"s9","nextSessionKey":"agent:main:elsewhere"}`})
		r.mustAsk(sh("date", ownerIn("elsewhere")))
	})
}

func TestTheIterationCapBlocksTheTurn(t *testing.T) {
	t.Parallel()
	onBoth(t, func(c *config.Config) { c.Policy.MaxIterations = 3 }, func(t *testing.T, r *rig) {
		one, two := inRun(ownerIn("m"), "run-1"), inRun(ownerIn("m"), "run-2")
		r.allow(sh("date", one))
		for name, about := range map[string]string{
			"loop_iteration_start": `{"iteration":%d}`, "before_llm_call": `{"iteration":%d,"tools":[]}`, "after_llm_call": `{"iteration":%d,"toolCalls":[]}`,
		} {
			if a := r.takes(event{name: name, context: two, about: fmt.Sprintf(about, 2)}); a.Block {
				t.Errorf("%s at iteration 2: %s", name, a.raw)
			}
			if a := r.takes(event{name: name, context: one, about: fmt.Sprintf(about, 3)}); !a.Block || a.BlockReason != "This turn has used up its iterations." {
				t.Errorf("%s at iteration 3: %s", name, a.raw)
			}
		}
		r.deny(sh("date", one)) // the calls of that run, too
		r.allow(sh("date", two))
		if a := r.takes(event{name: "loop_iteration_end", context: two, about: `{"iteration":9,"willContinue":false}`}); a.Block {
			t.Errorf("an end blocks: %s", a.raw)
		}
	})
}

func TestATurnsGrantsEndWithIt(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		for _, name := range []string{"agent_end", "before_response_emit"} {
			m := inRun(with(ownerIn(name), "sessionId", "s1"), "run-1")
			r.allow(fetch(m))
			r.turn(sh("id -u", m))
			r.allow(sh("id", m))
			r.takes(event{name: name, context: inRun(m, "another run")})
			r.allow(sh("id", m))
			r.takes(event{name: name, context: m})
			r.mustAsk(sh("id", m))
		}
		m := with(ownerIn("ends"), "sessionId", "s1")
		r.allow(fetch(m))
		r.consented(sh("id -u", m), 30)
		r.takes(event{name: "agent_end", context: m})
		r.allow(sh("id", m)) // given for minutes, not for the turn
		r.takes(event{name: "session_end", context: with(m, "sessionId", "s2"), about: `{"reason":"new"}`})
		r.allow(sh("id", m))
		r.takes(event{name: "session_end", context: m, about: `{"reason":"new"}`})
		r.mustAsk(sh("id", m))
	})
}

func TestAResponseLosesItsSecrets(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	key := "sk-ant-" + "api03-" + strings.Repeat("Ab3dE5gH", 11) + "-AAAAAA-AA"
	a := r.takes(event{name: "before_response_emit", context: ownerIn("m"), about: `{"content":"The key is ` + key + `."}`})
	if a.Content == nil || strings.Contains(a.raw, key) || !strings.HasPrefix(*a.Content, "The key is ") {
		t.Errorf("got %s", a.raw)
	}
	for _, about := range []string{`{"content":"Nothing to hide."}`, `{"contentHash":"sha256:` + strings.Repeat("0", 64) + `"}`, `{}`} {
		if a := r.takes(event{name: "before_response_emit", context: ownerIn("m"), about: about}); a.Content != nil || a.Block {
			t.Errorf("%s: %s", about, a.raw)
		}
	}
}

func TestAnEventComesOnce(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		m := ownerIn("m")
		r.allow(sh("date", m))
		e := returned(m, "web_fetch", "")
		e.id, e.at = "the-event", time.Now()
		first := r.takes(e)
		lines := len(r.entries())
		if again := r.takes(e); again.raw != first.raw {
			t.Errorf("the same event again: %s", again.raw)
		}
		if n := len(r.entries()); n != lines {
			t.Errorf("%d lines were added to the record", n-lines)
		}
		e.about = `{"toolName":"read"}`
		r.refuses(e)
		c := call{tool: "read", params: `{"path":"x"}`, context: m, id: "the-event"}
		r.deny(c)
	})
}

func TestEventsHaveTheRulesOfCalls(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	old := event{name: "loop_iteration_start", about: `{"iteration":1}`, context: ownerIn("m"), at: time.Now().Add(-6 * time.Minute)}
	if a := r.refuses(old); !a.Block || !a.signed {
		t.Errorf("an old event: %s", a.raw)
	}
	for name, e := range map[string]event{
		"an event nobody knows":          {name: "before_everything"},
		"a contradiction":                {name: "agent_end", context: with(ownerIn("m"), "agentId", "other")},
		"no parent":                      {name: "subagent_spawned", about: `{"childSessionKey":"agent:main:subagent:1"}`},
		"a member in other case":         {name: "after_tool_call", about: `{"toolName":"read","Marked":false}`},
		"a member in other case, deeper": {name: "context_assembled", about: `{"sources":[{"kind":"tool_result","Trust":"system"}]}`},
		"too many sources":               {name: "context_assembled", about: `{"sources":[` + strings.TrimSuffix(strings.Repeat(`{"kind":"tool_result"},`, 257), ",") + `]}`},
	} {
		t.Run(name, func(t *testing.T) { r.refuses(e) })
	}
	body := event{name: "agent_end"}.body()
	if a := r.tellRaw("agent_end", append(body, ' ')); a.status != 200 || !a.Accepted {
		t.Errorf("signed as it is: %s", a.raw)
	}
	secret := r.secret
	r.secret += "x"
	if a := r.tell(event{name: "agent_end"}); a.status != 401 {
		t.Errorf("a wrong signature: %d %s", a.status, a.raw)
	}
	r.secret = secret
	if a := r.post([]byte(strings.Replace(string(call{tool: "read"}.body()), `"version"`, `"notice":true,"version"`, 1))); a.status == 200 && a.Decision == "allow" {
		t.Errorf("a notice at the calls' door: %s", a.raw)
	}
}

func TestAnEventMayBeLargeAndNothingOfItStays(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	canary := "c4n4ry-0f-the-event"
	text := strings.Repeat("All work and no play. ", 1<<18) + canary // 5.5 MiB
	about := `{"tools":[{"name":"read"}],"systemPrompt":"` + canary + `","messages":[{"role":"user","content":"` + text + `"}]}`
	r.takes(event{name: "before_llm_call", about: about, context: ownerIn("m")})
	r.takes(returned(ownerIn("m"), "read", `,"result":"`+canary+`"`))
	r.takes(event{name: "before_response_emit", about: `{"content":"` + canary + `"}`, context: ownerIn("m")})
	if a := r.tell(event{name: "before_llm_call", about: `{"tools":[],"messages":["` + strings.Repeat(text, 2) + `"]}`}); a.status != 200 || a.Accepted || !a.Block {
		t.Errorf("a body over 8 MiB: %d %.200s", a.status, a.raw)
	}
	r.quit()
	if found := r.search(canary); len(found) > 0 {
		t.Errorf("the text stands in %q", found)
	}
}

func TestANoticeRatchetsAndIsRecordedAndDeniesNothing(t *testing.T) {
	t.Parallel()
	restricted := func(c *config.Config) {
		no := taint.Restrict
		c.Policy.ToolOverrides = map[string]policy.Override{"web_fetch": {Any: &no}}
	}
	onBoth(t, restricted, func(t *testing.T, r *rig) {
		m := ownerIn("m")
		r.allow(sh("date", m))
		r.notice(fetch(m))
		if e := r.last(); e.Tool != "web_fetch" || e.By != "notice" || e.RaisedTo != "untrusted" {
			t.Errorf("the record says %+v", e)
		}
		r.mustAsk(sh("date", m))
		r.reply(".pause")
		r.notice(fetch(m))
		r.reply(".resume")
		t.Run("and taint follows what it reaches", func(t *testing.T) {
			r.allow(sh("date", ownerIn("target")))
			r.notice(call{tool: "sessions_send", params: `{"sessionKey":"agent:main:target","message":"hi"}`, context: m})
			r.mustAsk(sh("date", ownerIn("target")))
		})
	})
}
