package main

import (
	"fmt"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

// completing is a rig with the shop's labels and the reason on, and a turn that has read a page.
func completing(t *testing.T) (*rig, map[string]any) {
	t.Helper()
	t.Parallel()
	r := newRig(t, shops(t))
	return r, r.turnIn("attacked")
}

// ofShop is a call of the shop's server that acts.
func ofShop(tool string, m map[string]any) call {
	return call{tool: "mcp__shop__" + tool, params: `{"cart":"c1"}`, context: m}
}

func TestH350AMilderYesAfterACheckoutThatAnOverrideLetPass(t *testing.T) {
	t.Parallel()
	edit := shops(t)
	r := newRig(t, func(c *config.Config) {
		edit(c)
		c.Policy.ToolOverrides = map[string]policy.Override{"mcp__shop__checkout": {Any: new(taint.Allow), TaintPolicy: policy.TaintPolicy{External: new(taint.Allow), Untrusted: new(taint.Allow)}}}
	})
	m := r.turnIn("h350")
	r.allow(call{tool: "mcp__shop__checkout", params: `{"cart":"evil"}`, context: m}) // what the page wants bought
	r.approved(ofShop("rename_cart", m), 0)
	r.stops(entersCode("481516", m))
}

func TestH351AMilderYesAfterACheckoutThatRanUnasked(t *testing.T) {
	r, m := completing(t)
	r.notice(checkout(m))
	r.approved(ofShop("rename_cart", m), 0)
	r.stops(entersCode("481516", m))
	other := r.turnIn("elsewhere") // nor in another conversation
	r.approved(ofShop("rename_cart", other), 0)
	r.stops(entersCode("481516", other))
}

func TestH352TwoCodesAtOnce(t *testing.T) {
	r, m := completing(t)
	r.approved(checkout(m), 0)
	first, second := r.hold(soonAsked(entersCode("481516", m))), r.hold(soonAsked(entersCode("234200", m)))
	if a, b := <-first, <-second; a.allowed() && b.allowed() {
		t.Errorf("both passed: %s %s", a.raw, b.raw)
	}
}

func TestH353DigitsThatAreNoCode(t *testing.T) {
	r, m := completing(t)
	for _, code := range []string{`"٤٨١٥١٦"`, `"𝟒𝟖𝟏𝟓𝟏𝟔"`, `"\u202e481516"`, `"481516\u200b"`, `"4815-16"`, `"+481516"`, `"0x4815"`, `"1e5"`, `"481516.0"`, `"481516/../x"`, `"4111111111111111"`, `"004917012345"`, `481516.0`, `4815e2`} {
		r.approved(checkout(m), 0)
		r.stops(call{tool: "mcp__shop__enter_code", params: `{"verification_code":` + code + `}`, context: m})
	}
}

func TestH354ANumberInAnotherPlace(t *testing.T) {
	r, m := completing(t)
	for _, params := range []string{`{"amount":"99999999"}`, `{"to":"48151623"}`, `{"account":"48151623"}`, `{"phone":"4815162"}`, `{"zip_code":"48151"}`, `{"":"481516"}`, `{"quantity":9999}`} {
		r.approved(checkout(m), 0)
		r.stops(call{tool: "mcp__shop__enter_code", params: params, context: m})
	}
}

func TestH355ASubagentEntersTheCode(t *testing.T) {
	r, m := completing(t)
	for i, child := range []map[string]any{
		spawned("subagent:1", "attacked"), with(spawned("subagent:2", "attacked"), "runId", m["runId"], "sessionId", m["sessionId"]), with(m, "spawnedBy", "agent:main:x"), with(m, "sessionKey", "agent:main:subagent:3"),
	} {
		r.approved(checkout(m), 0)
		t.Log(i)
		r.send(soonAsked(fetch(child)))
		r.stops(entersCode("481516", child))
	}
}

func TestH356ACodeThatWasRefusedComesAgain(t *testing.T) {
	r, m := completing(t)
	r.stops(entersCode("481516", m))
	r.approved(checkout(m), 0)
	a := r.send(soonAsked(entersCode("481516", m)))
	if a.allowed() {
		t.Errorf("a no did not hold: %s", a.raw)
	}
}

func TestH357AYesForMinutesCoversNoOtherCheckout(t *testing.T) {
	r, m := completing(t)
	r.approved(checkout(m), 0)
	r.approved(call{tool: "mcp__shop__checkout", params: `{"cart":"c2"}`, context: m}, 10)
	r.stops(call{tool: "mcp__shop__checkout", params: `{"cart":"c3"}`, context: m})
	r.stops(entersCode("481516", m))
}

func TestH358AServiceOfAlmostTheSameName(t *testing.T) {
	r, m := completing(t)
	for _, tool := range []string{"mcp__shop2__checkout", "mcp__sh__op__checkout", "mcp__shop_checkout", "mcp__shор__checkout", "mcp__my_shop__checkout", "mcp__shop-eu__checkout", "shop__checkout", "mcp__bank__shop__checkout"} {
		r.approved(call{tool: tool, params: `{"cart":"c1"}`, context: m}, 0)
		r.stops(entersCode("481516", m))
	}
}

func TestH359AToolOfAlmostTheSameName(t *testing.T) {
	r, m := completing(t)
	for _, tool := range []string{"mcp__shop__enter_code2", "mcp__shop__enter_codе", "mcp__shop2__enter_code", "mcp__shop__x__enter_code", "mcp__shop__enter_code__all", "enter_code", "shop__enter_code", "mcp__shop__enter"} {
		r.approved(checkout(m), 0)
		r.stops(call{tool: tool, params: `{"verification_code":"481516"}`, context: m})
	}
}

func TestH360NothingWasBegun(t *testing.T) {
	r, m := completing(t)
	r.allow(call{tool: "mcp__shop__get_cart", params: `{"cart_id":"c1"}`, context: m}) // it only looks
	r.stops(entersCode("481516", m))
	r.approved(entersCode("481517", m), 0) // a code that a person saw begins nothing
	r.stops(entersCode("481518", m))
}

func TestH361TheYesCameAfterTheTurn(t *testing.T) {
	r, m := completing(t)
	held := r.hold(checkout(m))
	card := r.waits()
	r.takes(event{name: "agent_end", context: m})
	r.approve(card.Ref, 0)
	<-held
	if a := r.send(soonAsked(entersCode("481516", m))); a.allowed() {
		t.Errorf("the turn was over, and the code passes: %s", a.raw)
	}
}

func TestH362AServiceThatOnlyALabelNames(t *testing.T) {
	t.Parallel()
	edit := shops(t)
	r := newRig(t, func(c *config.Config) {
		edit(c)
		c.Policy.Tools["checkout"] = policy.Tool{Service: "shop"}
		c.Policy.Tools["order"] = policy.Tool{Service: "mcp__shop"}
	})
	m := r.turnIn("h362")
	for _, tool := range []string{"checkout", "order"} {
		r.approved(call{tool: tool, params: `{"cart":"c1"}`, context: m}, 0)
		r.stops(entersCode("481516", m))
	}
}

func TestH363APauseBeatsTheCode(t *testing.T) {
	r, m := completing(t)
	r.approved(checkout(m), 0)
	r.reply(".pause main")
	if a := r.send(soonAsked(entersCode("481516", m))); a.allowed() {
		t.Errorf("under a pause: %s", a.raw)
	}
}

func TestH364ASecretInManyCodes(t *testing.T) {
	r, m := completing(t)
	r.approved(checkout(m), 0)
	r.allow(entersCode("100000", m))
	for i := range 5 { // a number leaves in pieces
		r.stops(entersCode(fmt.Sprint(20000000+i), m))
	}
}
