package main

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/store/redistest"
)

// phone is a chat that a test can look at and switch off.
type phone struct {
	mu     sync.Mutex
	off    bool
	cards  []string // refs, in the order they came
	notes  []string
	shows  map[string]approval.Outcome // by ref
	answer func(context.Context, approval.Answer) (approval.Outcome, error)
}

var errOff = errors.New("nobody takes the call")

func (p *phone) Send(_ context.Context, c *approval.Card) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.off:
		return "", errOff
	case c.Notice() != "":
		p.notes = append(p.notes, c.Notice())
		return "", nil
	}
	p.cards = append(p.cards, c.Ref())
	return c.Ref(), nil
}

func (p *phone) Settle(_ context.Context, ref string, _ *approval.Card, o approval.Outcome) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shows == nil {
		p.shows = map[string]approval.Outcome{}
	}
	p.shows[ref] = o
	return nil
}

func (p *phone) Listen(ctx context.Context, answer func(context.Context, approval.Answer) (approval.Outcome, error)) error {
	p.mu.Lock()
	p.answer = answer
	p.mu.Unlock()
	<-ctx.Done()
	return nil
}

func (p *phone) switchOff(off bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.off = off
}

// has reports whether a card came.
func (p *phone) has(ref string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.cards {
		if c == ref {
			return true
		}
	}
	return false
}

func (p *phone) outcome(ref string) approval.Outcome {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.shows[ref]
}

// type types a line into the phone.
func (p *phone) types(t *testing.T, who, line string) approval.Outcome {
	t.Helper()
	p.mu.Lock()
	answer := p.answer
	p.mu.Unlock()
	if answer == nil {
		t.Fatal("nobody listens to the phone")
	}
	o, err := answer(context.Background(), approval.Answer{ID: who, Via: "telegram", Text: line})
	if err != nil {
		t.Error(err)
	}
	return o
}

// withPhones gives a rig a Telegram and a Slack of its own.
func (r *rig) withPhones() (telegram, slack *phone) {
	r.t.Helper()
	r.quit()
	telegram, slack = &phone{}, &phone{}
	r.channels = map[string]approval.Channel{"telegram": telegram, "slack": slack}
	r.start()
	redistest.Eventually(r.t, "the phones are listened to", func() bool {
		telegram.mu.Lock()
		defer telegram.mu.Unlock()
		return telegram.answer != nil
	})
	return telegram, slack
}

// asks says of the agent main who answers and where they are asked.
func asks(a approval.Agent) map[string]config.Agent {
	return map[string]config.Agent{"main": {Asks: a}}
}

func TestAnAgentSaysWhoIsAskedAndWhere(t *testing.T) {
	t.Parallel()
	edit := func(c *config.Config) {
		three(c)
		c.Approval.Approvals = 2
		c.Agents = asks(approval.Agent{Channels: []string{"telegram"}, Approvers: []string{"Ann", "Bob"}})
	}
	onBoth(t, edit, func(t *testing.T, r *rig) {
		r.token = annToken
		telegram, slack := r.withPhones()
		r.token = annToken
		held := r.hold(sh("date", unvouched("x")))
		card := r.waits()
		redistest.Eventually(t, "the card is on Telegram", func() bool { return telegram.has(card.Ref) })
		yes := map[string]any{"ref": card.Ref, "allow": true}
		if v := r.say(coraToken, yes); v.Kind != "unauthorised" || !strings.Contains(v.Text, "It goes to Ann, Bob") {
			t.Errorf("Cora is told %+v", v)
		}
		if o := telegram.types(t, "telegram:7", ".approve exec "+card.code(t)); o.Kind != approval.Counted || !strings.Contains(o.Text, "1 of 2") {
			t.Errorf("Ann is told %+v", o)
		}
		if v := r.say(annToken, yes); v.Kind != "misunderstood" {
			t.Errorf("Ann, by her token, is told %+v", v)
		}
		if v := r.say(bobToken, yes); v.State != "approved" {
			t.Errorf("Bob is told %+v", v)
		}
		if a := <-held; !a.allowed() {
			t.Errorf("got %s", a.raw)
		}
		redistest.Eventually(t, "Telegram shows who", func() bool { return telegram.outcome(card.Ref).By == "Ann, Bob" })
		other := r.mustAsk(sh("date", with(unvouched("x"), "sessionKey", "agent:helper:x")))
		redistest.Eventually(t, "other agents' go everywhere", func() bool { return slack.has(other.Ref) && telegram.has(other.Ref) })
		if slack.has(card.Ref) {
			t.Error("what goes to Telegram alone came to Slack")
		}
		if v := r.say(coraToken, map[string]any{"ref": other.Ref, "allow": true}); v.Kind != "counted" {
			t.Errorf("Cora is told %+v", v)
		}
	})
}

func TestH43OtherChannelsStillAskAndH54NobodyIsADenyAtOnce(t *testing.T) {
	edit := func(c *config.Config) {
		three(c)
		c.Approval.MaxPromptsPerHour = 2
	}
	onBoth(t, edit, func(t *testing.T, r *rig) {
		telegram, slack := r.withPhones()
		telegram.switchOff(true)
		a := r.mustAsk(sh("date", unvouched("x")))
		if !slack.has(a.Ref) {
			t.Error("Slack was not asked")
		}
		slack.switchOff(true)
		for range 4 { // what reached nobody is not counted as asked
			a = r.deny(sh("ls", unvouched("x")))
			if a.Ref != "" || !strings.Contains(a.Reason, "can't be asked now") || a.took > 3*time.Second {
				t.Errorf("got %s after %s", a.raw, a.took)
			}
		}
		slack.switchOff(false)
		r.mustAsk(sh("ls", unvouched("x")))
	})
}

func TestTheQuorumIsReloaded(t *testing.T) {
	t.Parallel()
	r := newRig(t, three)
	r.token = annToken
	grant := r.consented(sh("ls -l", unvouched("x")), 30)
	if !grant.allowed() {
		t.Fatal(grant.raw)
	}
	r.allow(sh("ls", unvouched("x")))
	r.reload(func(c *config.Config) { c.Approval.Approvals = 2 })
	held := r.hold(sh("ls -a", unvouched("x")))
	ref := r.waits().Ref
	r.say(annToken, map[string]any{"ref": ref, "allow": true})
	r.say(bobToken, map[string]any{"ref": ref, "allow": true})
	if a := <-held; !a.allowed() {
		t.Errorf("got %s", a.raw)
	}
}

func TestH32AGroupMemberWhoIsNoApproverIsToldSo(t *testing.T) {
	t.Parallel()
	onBoth(t, three, func(t *testing.T, r *rig) {
		r.token = annToken
		telegram, _ := r.withPhones()
		r.token = annToken
		held := r.hold(sh("date", unvouched("x")))
		card := r.waits()
		for _, line := range []string{".approve exec " + card.code(t), ".deny " + card.code(t), ".pending", ".pause", ".reset-trust " + card.Session} {
			if o := telegram.types(t, "telegram:666", line); o.Kind != approval.Unauthorised || o.Text != approval.NotAuthorised {
				t.Errorf("%s: told %+v", line, o)
			}
		}
		// H34: what they call themselves is nothing to us.
		for _, id := range []string{"telegram:Ann", "Ann", "telegram:7 ", "slack:7", ""} {
			if o := telegram.types(t, id, ".approve exec "+card.code(t)); o.Kind != approval.Unauthorised {
				t.Errorf("%q: told %+v", id, o)
			}
		}
		if o := telegram.types(t, "telegram:7", ".approve exec "+card.code(t)); o.Kind != approval.Counted {
			t.Errorf("the question did not stay open: %+v", o)
		}
		if a := <-held; !a.allowed() {
			t.Errorf("got %s", a.raw)
		}
	})
}

func TestADigestIsAllowedOrDeniedAsAWhole(t *testing.T) {
	t.Parallel()
	onBoth(t, func(c *config.Config) { c.Approval.MaxOpen = 1 }, func(t *testing.T, r *rig) {
		for _, allow := range []bool{true, false} {
			session := map[bool]string{true: "allow", false: "deny"}[allow]
			first := r.mustAsk(sh("first", unvouched(session)))
			var held []<-chan answer
			for _, command := range []string{"one", "two", "three"} {
				held = append(held, r.hold(sh(command, unvouched(session))))
			}
			list := r.waiting(2)[1]
			if len(list.Tools) != 3 {
				t.Fatalf("the list has %v", list.Tools)
			}
			r.answerTo(map[string]any{"ref": list.Ref, "allow": allow, "reason": "not now"})
			for _, h := range held {
				if a := <-h; a.allowed() != allow || !allow && !strings.Contains(a.Reason, "not now") {
					t.Errorf("%s: got %s", session, a.raw)
				}
			}
			r.refuse(first.Ref, "")
		}
	})
}
