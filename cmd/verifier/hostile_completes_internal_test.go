package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

const shopTools = `{"tools":[
 {"name":"checkout","description":"Buys what is in the cart.","inputSchema":{"type":"object","properties":{"cart":{"type":"string"}}}},
 {"name":"get_cart","description":"Returns the cart.","inputSchema":{"type":"object","properties":{"cart_id":{"type":"string"}}}},
 {"name":"enter_code","description":"Takes the code that the shop has sent.","inputSchema":{"type":"object","properties":{"verification_code":{"type":"string"}}}}]}`

// shops is a config with the labels that `verifier label` writes for a shop's server, and the reason switched on.
func shops(t *testing.T) func(*config.Config) {
	t.Helper()
	dir := t.TempDir()
	in, out, conf := filepath.Join(dir, "tools.json"), filepath.Join(dir, "labels.yaml"), filepath.Join(dir, "verifier.yaml")
	for name, text := range map[string]string{in: shopTools, conf: "include: [labels.yaml]\nquiet: {completes: true}\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if code := run(t.Context(), []string{"label", in, "--server", "shop", "--out", out}, t.Output(), t.Output()); code != 0 {
		t.Fatalf("label: %d", code)
	}
	labelled := loaded(t, conf)
	return func(c *config.Config) {
		store := c.Store
		labelled(c)
		c.Store = store
	}
}

func checkout(m map[string]any) call {
	return call{tool: "mcp__shop__checkout", params: `{"cart":"c1"}`, context: m}
}

func entersCode(code string, m map[string]any) call {
	return call{tool: "mcp__shop__enter_code", params: fmt.Sprintf(`{"verification_code":%q}`, code), context: m}
}

// turnIn is a turn of the owner's in a conversation that has read a page.
func (r *rig) turnIn(name string) map[string]any {
	r.t.Helper()
	m := with(ownerIn(name), "runId", "run-"+name, "sessionId", "s-"+name, "waitMs", 9001)
	r.allow(fetch(m))
	return m
}

// soon makes a call that must ask wait only a moment.
func soonAsked(c call) call {
	c.context = with(c.context, "waitMs", 5001)
	return c
}

// TestH320ACodeCompletesOnceWhatAPersonApproved: the code passes once, right after the yes. Switched off, it asks.
func TestH320ACodeCompletesOnceWhatAPersonApproved(t *testing.T) {
	t.Parallel()
	t.Run("switched off", func(t *testing.T) {
		t.Parallel()
		edit := shops(t)
		r := newRig(t, func(c *config.Config) { edit(c); c.Policy.Quiet.Completes = false })
		m := r.turnIn("off")
		r.approved(checkout(m), 0)
		r.asks(soonAsked(entersCode("481516", m)))
	})
	edit := shops(t)
	onBoth(t, edit, func(t *testing.T, r *rig) {
		m := r.turnIn("once")
		r.asks(soonAsked(entersCode("111111", m))) // nothing was begun
		r.approved(checkout(m), 0)
		r.allow(fetch(m)) // the mail with the code
		r.allow(entersCode("481516", m))
		if e := r.last(); e.By != policy.CompletesRule || !strings.Contains(strings.Join(e.Why, " "), "only enters a code for the last call of mcp__shop__checkout") {
			t.Errorf("the record says %+v", e)
		}
		r.asks(soonAsked(entersCode("481516", m)))
		r.asks(soonAsked(entersCode("234200", m)))

		clean := with(ownerIn("clean"), "runId", "run-clean", "waitMs", 9001) // the policy allowed it before the page came in
		r.allow(checkout(clean))
		r.allow(fetch(clean))
		r.allow(entersCode("481517", clean))
		r.asks(soonAsked(entersCode("481518", clean)))
		r.soundRecord()
	})
}

// TestH321OnlyAYesToThatVeryCallIsCompleted: a grant, a no, silence or a policy that lets a tainted conversation act are no such yes.
func TestH321OnlyAYesToThatVeryCallIsCompleted(t *testing.T) {
	t.Parallel()
	edit := shops(t)
	r := newRig(t, edit)
	m := r.turnIn("denied")
	r.asks(soonAsked(checkout(m)))
	r.asks(soonAsked(entersCode("500001", m)))

	m = r.turnIn("noticed") // the runtime says that it runs all the same
	r.notice(checkout(m))
	r.asks(soonAsked(entersCode("500002", m)))

	m = r.turnIn("failed")
	r.approved(checkout(m), 0)
	r.takes(event{name: "after_tool_call", about: `{"toolName":"mcp__shop__checkout","error":true}`, context: m})
	r.asks(soonAsked(entersCode("500003", m)))

	r = newRig(t, edit)      // after a call that ran unasked, nothing on its service completes for a while
	m = r.turnIn("repeated") // the same request again gives nothing new
	c := checkout(m)
	c.id = "h321-again"
	r.approved(c, 0)
	r.allow(entersCode("500004", m))
	r.send(c)
	r.asks(soonAsked(entersCode("500005", m)))

	r = newRig(t, func(c *config.Config) {
		edit(c)
		c.Policy.ToolOverrides = map[string]policy.Override{"mcp__shop__checkout": {Any: new(taint.Allow), TaintPolicy: policy.TaintPolicy{External: new(taint.Allow), Untrusted: new(taint.Allow)}}}
	})
	m = r.turnIn("overridden") // the owner lets it pass at every level: outside content may have driven it
	r.allow(checkout(m))
	r.asks(soonAsked(entersCode("500006", m)))
}

// TestH322NothingElseActedInBetween: another act on the service, allowed or not, from any conversation, or one that may be anywhere.
func TestH322NothingElseActedInBetween(t *testing.T) {
	t.Parallel()
	r := newRig(t, shops(t))
	for name, between := range map[string]func(m map[string]any){
		"another act that was denied": func(m map[string]any) {
			r.asks(soonAsked(call{tool: "mcp__shop__change_address", params: `{"to":"eve"}`, context: m}))
		},
		"another act that was approved": func(m map[string]any) {
			r.approved(call{tool: "mcp__shop__set_limit", params: `{"to":"9"}`, context: with(m, "runId", "other")}, 0)
		},
		"a command that may reach it": func(m map[string]any) { r.asks(soonAsked(sh("curl -d x https://shop.example/pay", m))) },
		"a page that is clicked": func(m map[string]any) {
			r.asks(soonAsked(call{tool: "browser", params: `{"action":"act","kind":"click","ref":"e1"}`, context: m}))
		},
		"a tool of which nobody says anything": func(m map[string]any) { r.asks(soonAsked(call{tool: "do_it", params: `{}`, context: m})) },
		"a code that was no code":              func(m map[string]any) { r.asks(soonAsked(entersCode("4815 16", m))) },
		"an act in another conversation": func(map[string]any) {
			r.allow(call{tool: "mcp__shop__reserve", params: `{"x":"y"}`, context: with(ownerIn("elsewhere"), "runId", "r")})
		},
		"an act of a subagent": func(m map[string]any) {
			child := spawned("subagent:"+fmt.Sprint(m["runId"]), strings.TrimPrefix(fmt.Sprint(m["sessionKey"]), "agent:main:"))
			r.asks(soonAsked(call{tool: "do_it", params: `{}`, context: child}))
		},
	} {
		m := r.turnIn(strings.ReplaceAll(name, " ", "-"))
		r.approved(checkout(m), 0)
		between(m)
		t.Log(name)
		r.asks(soonAsked(entersCode("481516", m)))
	}
	m := r.turnIn("h322-looked")
	r.approved(checkout(m), 0)
	r.allow(call{tool: "mcp__shop__get_cart", params: `{"cart_id":"c1"}`, context: m})
	r.approved(call{tool: "mcp__mail__send", params: `{"to":"ann"}`, context: m}, 0) // another service
	r.allow(entersCode("481516", m))
}

// TestH323OnlyACodePasses: nothing beside it, nothing that is no code.
func TestH323OnlyACodePasses(t *testing.T) {
	t.Parallel()
	r := newRig(t, shops(t))
	for i, params := range []string{
		`{"verification_code":"481516","to":"eve"}`, `{"verification_code":["481516"]}`, `{"verification_code":{"x":"481516"}}`, `{"verification_code":"481"}`, `{"verification_code":"481516234"}`,
		`{"verification_code":"48151a"}`, `{"verification_code":"DELETE"}`, `{"verification_code":-48151}`, `{"verification_code":4.8151}`, `{"verification_code":48e15}`, `{"verification_code":"４８１５１６"}`,
		`{"verification_code":" 481516"}`, `{"verification_code":"481516\n"}`, `{"verification_code":null}`, `{"verification_code":true}`, `{}`, `{"verification_code":"481516","verification_code ":"1"}`,
	} {
		m := r.turnIn(fmt.Sprint("h323-", i))
		r.approved(checkout(m), 0)
		r.asks(soonAsked(call{tool: "mcp__shop__enter_code", params: params, context: m}))
	}
	m := r.turnIn("h323-destroys") // the server says that it can't be undone
	r.approved(checkout(m), 0)
	body := bytes.Replace(soonAsked(entersCode("481516", m)).body(), []byte(`"params":`), []byte(`"annotations":{"destructiveHint":true},"params":`), 1)
	if a := r.post(body, hmac.Sign([]byte(r.secret), body)); a.allowed() || a.Ref == "" {
		t.Errorf("what the server calls destructive: %s", a.raw)
	}
	r.refuse(r.waits().Ref, "")
	m = r.turnIn("h323-number")
	r.approved(checkout(m), 0)
	r.allow(call{tool: "mcp__shop__enter_code", params: `{"verification_code":481516}`, context: m})
}

// TestH324ACodePassesOnlyInTheSameTurnOnTheSameService, and only where this process has seen all of it.
func TestH324ACodePassesOnlyInTheSameTurnOnTheSameService(t *testing.T) {
	t.Parallel()
	edit := shops(t)
	both := func(c *config.Config) {
		edit(c)
		c.Policy.Tools["enter_code"] = policy.Tool{Completes: new(true)} // of no service
		c.Policy.Tools["checkout"] = policy.Tool{}
		c.Policy.Tools["mcp__bank__enter_code"] = policy.Tool{Completes: new(true)}
	}
	r := newRig(t, both)
	for name, later := range map[string]func(m map[string]any) call{
		"another turn": func(m map[string]any) call { return entersCode("481516", with(m, "runId", "next")) },
		"no turn":      func(m map[string]any) call { return entersCode("481516", with(m, "runId", nil)) },
		"another session id": func(m map[string]any) call {
			other := with(m, "sessionId", "s2")
			r.allow(fetch(other))
			return entersCode("481516", other)
		},
		"another conversation": func(m map[string]any) call {
			other := with(m, "sessionKey", "agent:ops:x")
			r.allow(fetch(other))
			return entersCode("481516", other)
		},
		"a stranger": func(m map[string]any) call {
			return entersCode("481516", with(m, "senderId", "7", "senderIsOwner", nil))
		},
		"a group": func(m map[string]any) call { return entersCode("481516", with(m, "groupId", "g")) },
		"another service": func(m map[string]any) call {
			return call{tool: "mcp__bank__enter_code", params: `{"code":"481516"}`, context: m}
		},
		"a tool of no service": func(m map[string]any) call { return call{tool: "enter_code", params: `{"code":"481516"}`, context: m} },
		"a turn that is over": func(m map[string]any) call {
			r.takes(event{name: "agent_end", context: m})
			return entersCode("481516", m)
		},
		"a conversation with a key": func(m map[string]any) call {
			r.allow(call{tool: "read", params: `{"path":".env"}`, context: m})
			return entersCode("481516", m)
		},
		"a conversation begun anew": func(m map[string]any) call {
			r.takes(event{name: "session_end", context: m, about: `{"reason":"new","nextSessionId":"` + fmt.Sprint(m["sessionId"]) + `"}`})
			r.allow(fetch(m))
			return entersCode("481516", m)
		},
		"a server that was restarted": func(m map[string]any) call {
			r.quit()
			r.start()
			return entersCode("481516", m)
		},
	} {
		m := r.turnIn(strings.ReplaceAll(name, " ", "-"))
		r.approved(checkout(m), 0)
		t.Log(name)
		r.asks(soonAsked(later(m)))
	}
	m := r.turnIn("flat") // neither name says what it is a tool of
	r.approved(call{tool: "checkout", params: `{"cart":"c1"}`, context: m}, 0)
	r.asks(soonAsked(call{tool: "enter_code", params: `{"code":"481516"}`, context: m}))

	t.Run("another process", func(t *testing.T) {
		t.Parallel()
		r := newRedisRig(t, edit)
		other := r.replica()
		m := r.turnIn("replicas")
		r.approved(checkout(m), 0)
		if a := other.send(soonAsked(call{tool: "mcp__shop__change_address", params: `{"to":"eve"}`, context: m})); a.allowed() {
			t.Error("the other process lets it pass")
		}
		if a := r.send(soonAsked(entersCode("481516", m))); a.allowed() {
			t.Error("a call that this process did not see came in between, and the code passes")
		}
	})
	t.Run("a long time after", func(t *testing.T) {
		t.Parallel()
		r, clock := cold(t, edit), &handClock{}
		r.time = storeTime{now: clock.now, elapsed: clock.elapsed}
		r.start()
		t.Cleanup(func() { r.quit() })
		untilReady(t, r)
		m := r.turnIn("late")
		r.approved(checkout(m), 0)
		clock.pass(16 * time.Minute)
		r.asks(soonAsked(entersCode("481516", m)))
	})
}

// TestH325NoLabelMakesMoreOfACode: what pays, destroys, bears secrets or lets others in is not proposed, and the config refuses what contradicts itself.
func TestH325NoLabelMakesMoreOfACode(t *testing.T) {
	t.Parallel()
	param := func(name, more string) string {
		return `{"type":"object","properties":{"` + name + `":{"type":"string"}}` + more + `}`
	}
	for name, tool := range map[string]string{
		"it lets others in":        `{"name":"link_device","description":"Takes a code.","inputSchema":` + param("code", "") + `}`,
		"its text says so":         `{"name":"enter","description":"Takes a code to pair your phone.","inputSchema":` + param("code", "") + `}`,
		"it pays":                  `{"name":"confirm_payment","description":"Takes a code.","inputSchema":` + param("code", "") + `}`,
		"it destroys":              `{"name":"confirm_delete","description":"Takes a code.","inputSchema":` + param("code", "") + `}`,
		"it runs code":             `{"name":"run","description":"Runs it.","inputSchema":` + param("code", "") + `}`,
		"a gift":                   `{"name":"redeem","description":"Takes a code.","inputSchema":` + param("code", "") + `}`,
		"no code":                  `{"name":"enter","description":"Takes it.","inputSchema":` + param("zip_code", "") + `}`,
		"more than a code":         `{"name":"enter","description":"Takes it.","inputSchema":{"type":"object","properties":{"code":{"type":"string"},"to":{"type":"string"}}}}`,
		"more than it names":       `{"name":"enter","description":"Takes it.","inputSchema":` + param("code", `,"additionalProperties":true`) + `}`,
		"nothing":                  `{"name":"enter","description":"Takes a code."}`,
		"it only says that it may": `{"name":"enter","description":"completes: true","inputSchema":` + param("text", "") + `}`,
		"another alphabet":         `{"name":"enter","description":"Tаkes it.","inputSchema":` + param("code", "") + `}`,
	} {
		_, file := including(t, `{"tools":[`+tool+`]}`)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, line, _ := strings.Cut(string(text), "{"); strings.Contains(line, "completes: true") {
			t.Errorf("%s: %s", name, text)
		}
	}
	for _, also := range []string{"money: true", "destructive: true", "secret: true", "sink: false", "sink: false, safe: true"} {
		conf := filepath.Join(t.TempDir(), "v.yaml")
		if err := os.WriteFile(conf, []byte("tools:\n  mcp__shop__enter_code: {completes: true, "+also+"}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if code := run(t.Context(), []string{"check", "--config", conf}, t.Output(), t.Output()); code == 0 {
			t.Errorf("%s is taken", also)
		}
	}
	edit := shops(t)
	for name, stricter := range map[string]func(c *config.Config){
		"strict": func(c *config.Config) { c.Policy.Profile = "strict" },
		"an override": func(c *config.Config) {
			c.Policy.ToolOverrides = map[string]policy.Override{"mcp__shop__enter_code": always(taint.Confirm)}
		},
		"a policy": func(c *config.Config) {
			c.Policy.Policies = []policy.Declared{{Name: "codes", When: policy.When{Tool: []string{"mcp__shop__enter_code"}}, Action: policy.Action{ConfirmTools: []string{"mcp__shop__enter_code"}}}}
		},
	} {
		r := newRig(t, func(c *config.Config) { edit(c); stricter(c) })
		t.Log(name)
		m := r.turnIn("h325")
		r.approved(checkout(m), 0)
		r.asks(soonAsked(entersCode("481516", m)))
	}
}

// TestH349ACodeDoesNotCompleteWhatAGrantLetPass: a person allowed the tool for a while, so that no person saw this very call.
func TestH349ACodeDoesNotCompleteWhatAGrantLetPass(t *testing.T) {
	t.Parallel()
	edit := shops(t)
	for name, answer := range map[string]map[string]any{"minutes": {"minutes": 30}, "turn": {"turn": true}} {
		r := newRig(t, func(c *config.Config) {
			edit(c)
			label := c.Policy.Tools["mcp__shop__checkout"]
			label.Money, label.Destinations = new(false), []string{"cart"}
			c.Policy.Tools["mcp__shop__checkout"] = label
		})
		m := with(r.turnIn("h349-"+name), "waitMs", 20_000)
		held := r.hold(checkout(m))
		answer["ref"], answer["allow"] = r.waits().Ref, true
		if v := r.answerTo(answer); v.Kind != "counted" {
			t.Fatalf("%s: %+v", name, v)
		}
		if a := <-held; !a.allowed() {
			t.Fatalf("%s: %s", name, a.raw)
		}
		r.allow(checkout(m)) // by the grant
		if e := r.last(); len(e.People) != 1 || !strings.HasPrefix(e.People[0].Says, "grant") {
			t.Errorf("%s: the record says %+v", name, e)
		}
		r.asks(soonAsked(entersCode("481516", m)))
	}
}
