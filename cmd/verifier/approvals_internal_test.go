package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/store/redistest"
)

func TestAnAllowNeedsAsManyPeopleAsConfigured(t *testing.T) {
	t.Parallel()
	const ann, bob = "ann-token-0123456789abcdef", "bob-token-0123456789abcdef"
	edit := func(c *config.Config) {
		c.Approval.Approvals = 2
		c.Approvers = []config.Approver{{Name: "Ann", Token: config.NewSecret(ann)}, {Name: "Bob", Token: config.NewSecret(bob)}}
	}
	onBoth(t, edit, func(t *testing.T, r *rig) {
		if status := r.owner(http.MethodGet, "/owner/pending", nil, nil); status == http.StatusOK {
			t.Error("the owner token sees cards though it is not in the list")
		}
		say := func(token string, in map[string]any) (v verdict) {
			v.status = r.as(token, http.MethodPost, "/owner/answer", in, &v)
			return v
		}
		r.token = ann
		held := r.hold(call{tool: "exec", params: `{"command":"date"}`, context: unvouched("x")})
		ref := r.waits().Ref
		yes := map[string]any{"ref": ref, "allow": true, "minutes": 30}
		if v := say(ann, yes); v.State != "open" || !strings.Contains(v.Text, "1 of 2") {
			t.Errorf("the first is told %+v", v)
		}
		if v := say(ann, yes); v.Kind != "misunderstood" {
			t.Errorf("the same person again is told %+v", v)
		}
		if v := say(bob, map[string]any{"ref": ref, "allow": true}); v.State != "approved" || !strings.Contains(v.Text, "once by Ann, Bob") {
			t.Errorf("the second is told %+v", v)
		}
		if a := <-held; !a.allowed() {
			t.Errorf("got %s", a.raw)
		}
		held = r.hold(call{tool: "exec", params: `{"command":"ls"}`, context: unvouched("x")})
		say(bob, map[string]any{"ref": r.waits().Ref, "allow": false})
		if a := <-held; a.allowed() {
			t.Error("one deny of two was not enough")
		}
	})
}

func TestOneAllowOnceForTwoIdenticalCallsGoesToTheEarlier(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		c := call{tool: "exec", params: `{"command":"date"}`, context: unvouched("x")}
		first := r.hold(c)
		card := r.waits()
		second := r.hold(c)
		redistest.Eventually(t, "both stand on the card", func() bool { return r.holders(card.Ref) == 2 })
		r.approve(card.Ref, 0)
		if a := <-first; !a.allowed() {
			t.Errorf("the earlier got %s", a.raw)
		}
		if a := <-second; a.allowed() || !strings.Contains(a.Reason, "identical call") {
			t.Errorf("the later got %s", a.raw)
		}
	})
}

func TestBeyondMaxOpenTheRestSharesOneCard(t *testing.T) {
	t.Parallel()
	edit := func(c *config.Config) { c.Approval.MaxOpen = 2 }
	onBoth(t, edit, func(t *testing.T, r *rig) {
		var held []<-chan answer
		one := func(i int) {
			held = append(held, r.hold(call{tool: "exec", params: fmt.Sprintf(`{"command":"echo %d"}`, i), context: unvouched("x")}))
		}
		for i := range 2 {
			one(i)
			r.waiting(i + 1)
		}
		for i := 2; i < 6; i++ {
			one(i)
		}
		cards := r.waiting(3)
		batch := cards[2]
		if len(batch.Tools) != 4 {
			t.Fatalf("the batch card lists %v", batch.Tools)
		}
		over := r.deny(call{tool: "exec", params: `{"command":"one too many"}`, context: unvouched("x")})
		if over.Ref != "" || !strings.Contains(over.Reason, "Too many questions") {
			t.Errorf("one too many got %s", over.raw)
		}
		if v := r.reply(".approve exec " + batch.code(t)); v.Kind != "misunderstood" {
			t.Errorf("an ambiguous tool is told %+v", v)
		}
		if v := r.reply(".approve all " + batch.code(t)); v.Kind != "counted" || !strings.Contains(v.Text, "4 calls") {
			t.Errorf("told %+v", v)
		}
		for _, c := range cards[:2] {
			r.refuse(c.Ref, "")
		}
		for i, h := range held {
			if a := <-h; a.allowed() != (i >= 2) {
				t.Errorf("call %d got %s", i, a.raw)
			}
		}
	})
}

func TestACardNobodyAnswersExpires(t *testing.T) {
	edit := func(c *config.Config) {
		c.ApprovalTTLSeconds = 1
		c.Webhook.Hold = 5 * time.Second
	}
	onBoth(t, edit, func(t *testing.T, r *rig) {
		a := r.deny(call{tool: "exec", params: `{"command":"date"}`, context: unvouched("x")})
		redistest.Eventually(t, "the terminal says so", func() bool { return strings.Contains(r.screen.String(), "Expired without an answer") })
		if v := r.approve(a.Ref, 0); v.Kind != "too late" || v.State != "expired" {
			t.Errorf("a tap after expiry is told %+v", v)
		}
		if a.took > 4*time.Second {
			t.Errorf("the call was held for %s although its card had expired", a.took)
		}
	})
}

// TestH212AListAnsweredWhileItGathersIsNoFault: the reference of the first call is known a second before its card.
func TestH212AListAnsweredWhileItGathersIsNoFault(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		const open = 5 // by default
		for i := range open {
			r.mustAsk(sh(fmt.Sprintf("echo %d", i), unvouched("x")))
		}
		ref := r.mustAsk(sh("echo listed", unvouched("x"))).Ref
		v := r.approve(ref, 0)
		if v.status == http.StatusServiceUnavailable || v.Kind != "misunderstood" && v.Kind != "counted" {
			t.Errorf("while it gathers: %+v", v)
		}
		if v.Kind == "misunderstood" {
			r.mustAsk(sh("echo listed", unvouched("x")))
			r.waiting(open + 1)
			if v = r.approve(ref, 0); v.Kind != "counted" {
				t.Errorf("when it was shown: %+v", v)
			}
		}
		r.allow(sh("echo listed", unvouched("x")))
		if strings.Contains(r.log.String(), "seal") {
			t.Errorf("the log speaks of a seal:\n%s", r.log)
		}
	})
}
