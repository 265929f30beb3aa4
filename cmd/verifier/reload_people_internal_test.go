package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/policy"
)

const (
	annToken  = "ann-token-0123456789abcdef"
	bobToken  = "bob-token-0123456789abcdef"
	coraToken = "cora-token-0123456789abcdef"
)

// three is a config in which Ann, who can also answer by phone, Bob and Cora
// may approve.
func three(c *config.Config) {
	c.Approvers = []config.Approver{
		{Name: "Ann", Token: config.NewSecret(annToken), IDs: []string{"telegram:7"}},
		{Name: "Bob", Token: config.NewSecret(bobToken)},
		{Name: "Cora", Token: config.NewSecret(coraToken)},
	}
}

func withoutAnn(c *config.Config) { c.Approvers = c.Approvers[1:] }

// reload puts an edited copy of the rig's config in force.
func (r *rig) reload(edit func(*config.Config)) {
	r.t.Helper()
	next := *r.cfg
	edit(&next)
	if err := r.g.reload(&next, policy.Guard{}); err != nil {
		r.t.Fatal(err)
	}
}

// say is an answer with somebody's token.
func (r *rig) say(token string, in map[string]any) (v verdict) {
	r.t.Helper()
	v.status = r.as(token, http.MethodPost, "/owner/answer", in, &v)
	return v
}

func TestAnApproverRemovedByAReloadNoLongerCounts(t *testing.T) {
	t.Parallel()
	edit := func(c *config.Config) {
		three(c)
		c.Approval.Approvals = 2
	}
	onBoth(t, edit, func(t *testing.T, r *rig) {
		r.token = bobToken
		held := r.hold(call{tool: "exec", params: `{"command":"date"}`, context: unvouched("x")})
		yes := map[string]any{"ref": r.waits().Ref, "allow": true}
		if v := r.say(annToken, yes); !strings.Contains(v.Text, "1 of 2") {
			t.Fatalf("Ann is told %+v", v)
		}
		r.reload(withoutAnn)
		if v := r.say(annToken, yes); v.status != http.StatusUnauthorized {
			t.Errorf("Ann's token got %+v", v)
		}
		o, err := r.desk.Answer(t.Context(), approval.Answer{ID: "telegram:7", Via: "telegram", Ref: r.waits().Ref, Allow: true})
		if err != nil || o.Kind != approval.Unauthorised {
			t.Errorf("Ann's phone is told %+v, %v", o, err)
		}
		if v := r.say(bobToken, yes); v.State != "open" || !strings.Contains(v.Text, "1 of 2") {
			t.Errorf("with Ann's yes void, Bob is told %+v", v)
		}
		if v := r.say(coraToken, yes); v.State != "approved" || !strings.Contains(v.Text, "by Bob, Cora") {
			t.Errorf("Cora is told %+v", v)
		}
		if a := <-held; !a.allowed() {
			t.Errorf("the call got %s", a.raw)
		}
	})
}

func TestAnUnusedYesEndsWithItsGiversRight(t *testing.T) {
	t.Parallel()
	edit := func(c *config.Config) {
		three(c)
		c.Webhook.Hold = time.Millisecond
	}
	onBoth(t, edit, func(t *testing.T, r *rig) {
		c := call{tool: "exec", params: `{"command":"date"}`, context: unvouched("x")}
		first := r.deny(c)
		if v := r.say(annToken, map[string]any{"ref": first.Ref, "allow": true}); v.State != "approved" {
			t.Fatalf("Ann is told %+v", v)
		}
		r.reload(withoutAnn)
		if a := r.deny(c); !strings.Contains(a.Reason, "no longer counts") {
			t.Errorf("the retry got %s", a.raw)
		}
		if v := r.say(bobToken, map[string]any{"ref": first.Ref, "allow": true}); v.Kind != "too late" {
			t.Errorf("a late yes is told %+v", v)
		}
	})
}

func TestH69AYesFromAnIDThatWasTakenOutIsVoid(t *testing.T) {
	t.Parallel()
	edit := func(c *config.Config) {
		three(c)
		c.Webhook.Hold = time.Millisecond
	}
	onBoth(t, edit, func(t *testing.T, r *rig) {
		c := call{tool: "exec", params: `{"command":"date"}`, context: unvouched("x")}
		ref := r.deny(c).Ref
		o, err := r.desk.Answer(t.Context(), approval.Answer{ID: "telegram:7", Via: "telegram", Ref: ref, Allow: true})
		if err != nil || o.State != approval.Allowed {
			t.Fatalf("Ann's phone is told %+v, %v", o, err)
		}
		r.reload(func(c *config.Config) {
			c.Approvers = append([]config.Approver{{Name: "Ann", Token: config.NewSecret(annToken)}}, c.Approvers[1:]...)
		})
		r.deny(c)
	})
}

func TestH69ALastingGrantEndsWithItsGiversRight(t *testing.T) {
	t.Parallel()
	edit := func(c *config.Config) {
		three(c)
		c.Approval.Approvals = 2
	}
	onBoth(t, edit, func(t *testing.T, r *rig) {
		run := func(command string) call {
			return call{tool: "exec", params: `{"command":"` + command + `"}`, context: unvouched("x")}
		}
		r.token = bobToken
		held := r.hold(run("ls -l"))
		yes := map[string]any{"ref": r.waits().Ref, "allow": true, "minutes": 30}
		r.say(annToken, yes)
		r.say(bobToken, yes)
		if a := <-held; !a.allowed() {
			t.Fatalf("the call got %s", a.raw)
		}
		r.allow(run("ls"))
		r.reload(func(c *config.Config) {
			withoutAnn(c)
			c.Webhook.Hold = time.Millisecond
		})
		if a := r.deny(run("ls -a")); a.Ref == "" {
			t.Errorf("nobody was asked: %s", a.raw)
		}
		r.reload(func(*config.Config) {})
		r.allow(run("ls -t"))
	})
}

func TestAReloadChangesLimitsAndTimes(t *testing.T) {
	edit := func(c *config.Config) { c.Webhook.Hold, c.Webhook.MaxHold = 10*time.Second, 10*time.Second }
	onBoth(t, edit, func(t *testing.T, r *rig) {
		c := call{tool: "exec", params: `{"command":"date"}`, context: unvouched("x")}
		old := c
		old.at = time.Now().Add(-time.Minute)
		old.tool, old.context = "read", ownerIn("m")
		r.allow(old)
		r.reload(func(c *config.Config) {
			c.Webhook.Hold, c.Webhook.Tolerance = time.Second, 2*time.Second
			c.ApprovalTTLSeconds, c.Approval.MaxMinutes = 60, 7
		})
		a := r.deny(c)
		if a.took > 5*time.Second {
			t.Errorf("the call was held for %s, want 1 s", a.took)
		}
		if a := r.deny(old); !strings.Contains(a.Reason, "more than 2s off") {
			t.Errorf("an old call got %s", a.raw)
		}
		cards, err := r.desk.Pending(t.Context(), config.TokenID(config.Owner))
		if err != nil || len(cards) != 1 {
			t.Fatalf("%d cards wait, %v", len(cards), err)
		}
		if ask := cards[0].Questions[0].Ask; ask.Until.Sub(ask.Created) != time.Minute {
			t.Errorf("the card lives for %s", ask.Until.Sub(ask.Created))
		}
		if v := r.approve(a.Ref, 99999); !strings.Contains(v.Text, "7 minutes is the most") {
			t.Errorf("the owner is told %+v", v)
		}
	})
}

func TestTermsThatAreRefusedChangeNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, three)
	next := *r.cfg
	next.Approvers = []config.Approver{{Name: "Mal", IDs: []string{"telegram:7"}}, {Name: "Ann", IDs: []string{"telegram:7"}}}
	next.Webhook.Secret = config.NewSecret(secondSecret)
	if err := r.g.reload(&next, policy.Guard{}); err == nil {
		t.Fatal("two people with one id were taken")
	}
	r.allow(call{tool: "read", params: `{"path":"a"}`, context: ownerIn("m")})
	if status := r.as(bobToken, http.MethodGet, "/owner/pending", nil, nil); status != http.StatusOK {
		t.Errorf("Bob got %d", status)
	}
}
