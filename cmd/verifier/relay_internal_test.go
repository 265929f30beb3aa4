package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/store/redistest"
)

// relaying takes what Ann types on Telegram into the chats of the client default.
func relaying(c *config.Config) {
	c.Approvers = []config.Approver{
		{Name: "Ann", Users: map[string]config.UserID{"telegram": "111"}, IDs: []string{"token:owner"}},
		{Name: "Bob", Users: map[string]config.UserID{"slack": "333"}},
	}
	c.Webhook.RelayApprovals = map[string][]string{config.DefaultClient: {"telegram"}}
}

// typed is what someone typed into the chat of an agent's runtime.
type typed struct {
	text    string
	id      string // request id; empty means a fresh one
	at      time.Time
	context map[string]any // nil: Ann, in the session m
}

// annIn is the context of a line that Ann types into a session.
func annIn(session string) map[string]any {
	return map[string]any{"messageProvider": "telegram", "senderId": "111", "channelId": "111", "sessionKey": "agent:main:" + session}
}

func (l typed) body() []byte {
	if l.id == "" {
		l.id = fmt.Sprintf("line-%d", requests.Add(1))
	}
	if l.at.IsZero() {
		l.at = time.Now()
	}
	if l.context == nil {
		l.context = annIn("m")
	}
	text, _ := json.Marshal(l.text)
	ctx, _ := json.Marshal(l.context, json.Deterministic(true))
	return fmt.Appendf(nil, `{"version":1,"timestamp":%q,"requestId":%q,"text":%s,"context":%s}`, l.at.UTC().Format(time.RFC3339Nano), l.id, text, ctx)
}

// relay passes a line on as a runtime does. Whatever becomes of it, the answer is
// signed and holds no code of an open question and no syntax.
func (r *rig) relay(l typed) (v verdict) {
	r.t.Helper()
	return r.relayRaw(l.body())
}

func (r *rig) relayRaw(body []byte) (v verdict) {
	r.t.Helper()
	open := r.pending()
	var signed bool
	raw := r.exchange("/approve", body, &v.status, &signed)
	if v.status != http.StatusOK || !signed || json.Unmarshal(raw, &v) != nil || v.Text == "" {
		r.t.Errorf("a relayed line: got %d %s (signed %v)", v.status, raw, signed)
	}
	for _, card := range open {
		if strings.Contains(strings.ToLower(string(raw)), card.code(r.t)) {
			r.t.Errorf("the answer holds the code: %s", raw)
		}
	}
	if strings.Contains(string(raw), "<code>") || strings.Contains(string(raw), ".approve") {
		r.t.Errorf("the answer says how one approves: %s", raw)
	}
	return v
}

// refusesLine says that a line must change nothing.
func (r *rig) refusesLine(l typed, kind string) {
	r.t.Helper()
	if v := r.relay(l); v.Kind != kind {
		r.t.Errorf("%q in %v is told %+v, want %s", l.text, l.context, v, kind)
	}
}

func TestAnApprovalTypedIntoTheRuntimesChatLetsTheCallPass(t *testing.T) {
	t.Parallel()
	onBoth(t, relaying, func(t *testing.T, r *rig) {
		held := r.hold(call{tool: "exec", params: `{"command":"date"}`, context: unvouched("m")})
		card := r.waits()
		if v := r.relay(typed{text: ".pending"}); v.Kind != "told" || !strings.Contains(v.Text, card.Ref) || !strings.Contains(v.Text, `"exec"`) {
			t.Errorf("pending is told %+v", v)
		}
		if v := r.relay(typed{text: ".approve exec " + card.code(t)}); v.Kind != "counted" || v.Text != `"exec" approved once by Ann (telegram through default).` {
			t.Errorf("told %+v", v)
		}
		if a := <-held; !a.allowed() {
			t.Errorf("got %s", a.raw)
		}
		if !strings.Contains(r.record(), `"via":"telegram through default"`) {
			t.Error("the record does not say how it came")
		}
		held = r.hold(call{tool: "exec", params: `{"command":"ls"}`, context: unvouched("m")})
		r.relay(typed{text: ".deny " + r.waits().code(t) + " not now"})
		if a := <-held; a.allowed() || !strings.Contains(a.Reason, "not now") {
			t.Errorf("got %s", a.raw)
		}
		if v := r.relay(typed{text: ".pending"}); v.Text != "Nothing is waiting." {
			t.Errorf("told %+v", v)
		}
	})
}

func TestAResetIsTakenOnlyInTheConversationItself(t *testing.T) {
	t.Parallel()
	onBoth(t, relaying, func(t *testing.T, r *rig) {
		owners := func(session string) call {
			return call{tool: "exec", params: `{"command":"date"}`, context: ownerIn(session)}
		}
		refs := map[string]string{}
		for _, session := range []string{"m", "n"} {
			r.allow(call{tool: "web_fetch", params: `{"url":"https://example.com/"}`, context: ownerIn(session)})
			held := r.hold(owners(session))
			card := r.waits()
			refs[session] = card.Session
			r.refuse(card.Ref, "")
			<-held
		}
		r.refusesLine(typed{text: ".reset-trust " + refs["n"]}, "not found")
		r.refusesLine(typed{text: ".reset-trust " + refs["m"][:4]}, "not found")
		if v := r.relay(typed{text: ".reset-trust " + refs["m"]}); v.Kind != "told" {
			t.Errorf("told %+v", v)
		}
		r.allow(call{tool: "exec", params: `{"command":"id"}`, context: ownerIn("m")})
		held := r.hold(call{tool: "exec", params: `{"command":"id"}`, context: ownerIn("n")})
		r.refuse(r.waits().Ref, "")
		<-held
	})
}

func TestARelayedResumeAndHelpAreRefusedAndAPauseIsTaken(t *testing.T) {
	t.Parallel()
	r := newRig(t, relaying)
	if v := r.relay(typed{text: ".pause"}); v.Kind != "told" {
		t.Errorf("told %+v", v)
	}
	r.deny(call{tool: "exec", params: `{"command":"date"}`, context: ownerIn("m")})
	if v := r.relay(typed{text: ".pending"}); v.Text != "Agents are paused. That is lifted where verifier asks you.\nNothing is waiting." {
		t.Errorf("pending tells more, or less, than that agents are paused: %+v", v)
	}
	r.refusesLine(typed{text: ".resume"}, "misunderstood")
	r.refusesLine(typed{text: ".help"}, "misunderstood")
	r.refusesLine(typed{text: ".approve exec"}, "misunderstood")
	r.refusesLine(typed{text: "hello"}, "misunderstood")
	r.deny(call{tool: "exec", params: `{"command":"date"}`, context: ownerIn("m")})
}

func TestH24GuessesThroughARelayLockThePerson(t *testing.T) {
	t.Parallel()
	onBoth(t, relaying, func(t *testing.T, r *rig) {
		held := r.hold(call{tool: "exec", params: `{"command":"date"}`, context: unvouched("m")})
		card := r.waits()
		// What a stranger guesses is not even looked at.
		for i := range 10 {
			r.refusesLine(typed{text: fmt.Sprintf(".approve exec 1000000%d", i), context: with(annIn("m"), "senderId", "222")}, "unauthorised")
		}
		for i := 1; i <= 5; i++ {
			r.refusesLine(typed{text: fmt.Sprintf(".approve exec 0000000%d", i)}, map[bool]string{true: "locked", false: "not found"}[i == 5])
		}
		r.refusesLine(typed{text: ".approve exec " + card.code(t)}, "locked")
		redistest.Eventually(t, "the owner sees the lock", func() bool { return strings.Contains(r.screen.String(), "5 wrong codes on telegram through default") })
		r.refuse(card.Ref, "")
		<-held
	})
}

func TestRelayedLinesAreNotTakenUnlessTheConfigSaysSo(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*config.Config){
		"by default":       func(c *config.Config) { c.Webhook.RelayApprovals = nil },
		"for another":      func(c *config.Config) { c.Webhook.RelayApprovals = map[string][]string{"laptop": {"telegram"}} },
		"on another place": func(c *config.Config) { c.Webhook.RelayApprovals = map[string][]string{"default": {"slack"}} },
	} {
		r := newRig(t, func(c *config.Config) {
			relaying(c)
			edit(c)
		})
		held := r.hold(call{tool: "exec", params: `{"command":"date"}`, context: unvouched("m")})
		card := r.waits()
		for _, text := range []string{".approve exec " + card.code(t), ".deny " + card.code(t), ".pending", ".pause", ".reset-trust " + card.Session} {
			if v := r.relay(typed{text: text}); v.Kind != "unauthorised" || strings.Contains(v.Text, card.Ref) {
				t.Errorf("%s: %s is told %+v", name, text, v)
			}
		}
		r.refuse(card.Ref, "")
		<-held
	}
}

func TestH26AClientCarriesNoAnswerToAnothersQuestion(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(c *config.Config) {
		relaying(c)
		c.Webhook.Clients = map[string][]config.Secret{"laptop": {config.NewSecret(firstSecret)}, "server": {config.NewSecret(secondSecret)}}
		c.Webhook.RelayApprovals = map[string][]string{"laptop": {"telegram"}, "server": {"telegram"}}
	})
	r.secret = firstSecret
	held := r.hold(call{tool: "exec", params: `{"command":"date"}`, context: unvouched("m")})
	card := r.waits()
	r.secret = secondSecret
	r.refusesLine(typed{text: ".approve exec " + card.code(t)}, "not found")
	r.refusesLine(typed{text: ".deny " + card.code(t)}, "not found")
	r.refusesLine(typed{text: ".reset-trust " + card.Session}, "not found")
	if v := r.relay(typed{text: ".pending"}); strings.Contains(v.Text, card.Ref) {
		t.Errorf("another client's question is listed: %+v", v)
	}
	r.refusesLine(typed{text: ".pending", id: "same"}, "told")
	r.secret = firstSecret
	if v := r.relay(typed{text: ".approve exec " + card.code(t), id: "same"}); v.Kind != "counted" { // an id is one client's own
		t.Errorf("told %+v", v)
	}
	if a := <-held; !a.allowed() {
		t.Errorf("got %s", a.raw)
	}
}

func TestARelayThatAReloadTakesAwayIsDead(t *testing.T) {
	t.Parallel()
	const people = "approvers: [{name: Ann, telegram: 111, ids: ['token:owner']}]\nwebhook:\n  secret: " + firstSecret + "\n"
	r, write := reloading(t, people+"  relayApprovals: {default: [telegram]}\n")
	r.secret = firstSecret
	if v := r.relay(typed{text: ".pending"}); v.Kind != "told" {
		t.Errorf("told %+v", v)
	}
	write(people)
	r.refusesLine(typed{text: ".pending"}, "unauthorised")
}

// amnesiac is a store that can't say which lines have come before.
type amnesiac struct{ backend }

func (amnesiac) Count(context.Context, string, time.Duration, bool) (int, error) {
	return 0, errors.New("store: out of order")
}

func TestARelayedLineIsNotTakenWhereNobodyKnowsWhetherItCameBefore(t *testing.T) {
	t.Parallel()
	r := newRig(t, relaying)
	r.restartBehind(func(b backend, l recordLog) (backend, recordLog) { return amnesiac{b}, l })
	held := r.hold(call{tool: "exec", params: `{"command":"date"}`, context: unvouched("m")})
	card := r.waits()
	for _, text := range []string{".approve exec " + card.code(t), ".pause", ".pending", ".reset-trust " + card.Session} {
		if v := r.relay(typed{text: text}); !strings.Contains(v.Text, "The store can't be reached") || strings.Contains(v.Text, card.Ref) {
			t.Errorf("%s is told %+v", text, v)
		}
	}
	r.refuse(card.Ref, "")
	if a := <-held; a.allowed() {
		t.Errorf("got %s", a.raw)
	}
	r.allow(call{tool: "exec", params: `{"command":"date"}`, context: ownerIn("clean")}) // nothing is paused
}
