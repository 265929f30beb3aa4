package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/store/redistest"
)

// togetherRig is a gateway that gathers the calls of a turn for so long that a busy machine can't part them.
func togetherRig(t *testing.T) *rig {
	t.Helper()
	r := cold(t, func(c *config.Config) { c.Webhook.Hold, c.Webhook.MaxHold = 60*time.Second, 60*time.Second })
	r.together = 2 * time.Second
	r.start()
	t.Cleanup(func() { r.quit() })
	untilReady(t, r)
	return r
}

// listed are a card's calls one by one.
func (r *rig) listed() (card waitingCard) {
	r.t.Helper()
	var out waiting
	if status := r.owner("GET", pendingPath, nil, &out); status != 200 || len(out.Cards) == 0 {
		r.t.Fatalf("%d, %d cards", status, len(out.Cards))
	}
	return out.Cards[0]
}

// TestH380ACallIsSlippedIntoAListThatIsRead: the agent sends several calls at once and one more while the owner reads their card.
func TestH380ACallIsSlippedIntoAListThatIsRead(t *testing.T) {
	t.Parallel()
	r := togetherRig(t)
	m := with(unvouched("x"), "runId", "r1")
	var held []<-chan answer
	for i := range 3 {
		held = append(held, r.hold(sh(fmt.Sprint("make one-", i), m)))
	}
	r.waits()
	list := r.listed()
	if len(list.Tools) != 3 || len(list.Entries) != 3 || strings.Contains(list.Short, "evil") {
		t.Fatalf("the card lists %q", list.Tools)
	}
	slipped := r.hold(sh("make evil", m))
	r.waiting(2)
	if again := r.listed(); again.Ref != list.Ref || len(again.Tools) != 3 || again.Short[:20] != list.Short[:20] {
		t.Errorf("the card changed while it was read: %q", again.Tools)
	}
	if v := r.answerTo(map[string]any{"ref": list.Ref, "allow": true}); v.Kind != "counted" || !strings.Contains(v.Text, "Your yes is for 3 calls") || !strings.Contains(v.Text, "Still waiting, not answered by this:") {
		t.Errorf("told %+v", v)
	}
	for _, h := range held {
		if a := <-h; !a.allowed() {
			t.Errorf("a listed call: %s", a.raw)
		}
	}
	last := r.waits()
	if !strings.Contains(last.Text, "make evil") {
		t.Fatalf("waits: %s", last.Text)
	}
	r.refuse(last.Ref, "")
	if a := <-slipped; a.allowed() {
		t.Errorf("the call that was slipped in passed: %s", a.raw)
	}
	r.soundRecord()
}

// TestH382AFloodOfEqualQuestions: forty equal calls at once are one question, and one yes lets one of them pass.
func TestH382AFloodOfEqualQuestions(t *testing.T) {
	t.Parallel()
	r := togetherRig(t)
	m := with(unvouched("x"), "runId", "r1")
	const flood = 40
	out := make(chan answer, flood)
	for range flood {
		h := r.hold(sh("make deploy", m))
		go func() { out <- <-h }()
	}
	r.waits()
	list := r.listed()
	if len(list.Tools) != 1 || len(list.Entries) != 0 {
		t.Fatalf("the card lists %q", list.Tools)
	}
	redistest.Eventually(t, "all wait on that card", func() bool { return r.holders(list.Ref) == flood }) // a call that comes after the yes would ask again
	r.answerTo(map[string]any{"ref": list.Ref, "allow": true})
	passed := 0
	for range flood {
		if a := <-out; a.allowed() {
			passed++
		}
	}
	if passed != 1 {
		t.Errorf("%d calls passed by one yes", passed)
	}
	if n := len(r.pending()); n > 1 {
		t.Errorf("%d cards wait", n)
	}
	r.soundRecord()
}

// TestH383TheButtonOfOneCallIsForThatCall: a button for one call of a list allows no other, not on another card either.
func TestH383TheButtonOfOneCallIsForThatCall(t *testing.T) {
	t.Parallel()
	r := togetherRig(t)
	m := with(unvouched("x"), "runId", "r1")
	held := map[string]<-chan answer{}
	for _, name := range []string{"one", "two", "three"} {
		held[name] = r.hold(sh("git log "+name, m))
	}
	r.waits()
	list := r.listed()
	if len(list.Entries) != 3 {
		t.Fatalf("the card lists %q", list.Tools)
	}
	which := func(e *waitingCard) string {
		for name := range held {
			if strings.Contains(e.Short, "git log "+name) {
				return name
			}
		}
		return ""
	}
	for i, bad := range []string{list.Entries[0].Once + "AA", strings.Repeat("A", len(list.Entries[0].Once)), list.Entries[1].Once[:8] + list.Entries[0].Once[8:] + "A"} {
		if v := r.answerTo(map[string]any{"handle": bad}); v.Kind != "not found" {
			t.Errorf("forged handle %d: %+v", i, v)
		}
	}
	yes, no := &list.Entries[1], &list.Entries[2]
	if v := r.answerTo(map[string]any{"handle": yes.Once}); v.Kind != "counted" {
		t.Fatalf("the tap is told %+v", v)
	}
	if a := <-held[which(yes)]; !a.allowed() {
		t.Errorf("the call whose button was tapped: %s", a.raw)
	}
	if v := r.answerTo(map[string]any{"handle": yes.Once}); v.Kind != "too late" {
		t.Errorf("a second tap is told %+v", v)
	}
	if left := r.listed(); len(left.Entries) != 2 || strings.Contains(left.Entries[0].Short+left.Entries[1].Short, "git log "+which(yes)) {
		t.Errorf("%d calls are left", len(left.Entries))
	}
	if v := r.answerTo(map[string]any{"handle": no.Deny}); v.Kind != "counted" {
		t.Errorf("the deny is told %+v", v)
	}
	if a := <-held[which(no)]; a.allowed() {
		t.Errorf("the denied call: %s", a.raw)
	}
	r.answerTo(map[string]any{"ref": list.Ref, "allow": true}) // the rest
	if a := <-held[which(&list.Entries[0])]; !a.allowed() {
		t.Errorf("the rest: %s", a.raw)
	}
	r.soundRecord()
}
