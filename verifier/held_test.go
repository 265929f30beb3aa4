package verifier_test

import (
	"context"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/verifier"
)

// inHand is a call that is held: people are asked about it, and nobody waits for
// them yet.
type inHand struct {
	*rig
	store *broken
	ref   string
	leave context.CancelFunc
}

func holdOne(t *testing.T) (h inHand, hold func() verifier.Decision) {
	t.Helper()
	store, _ := openSQLite(t)
	h.store = &broken{Store: store}
	h.rig = newRig(t, store, 1, func(o *verifier.Options) { o.Store = h.store })
	ctx, leave := context.WithCancel(t.Context())
	t.Cleanup(leave)
	d, wait := h.v.VerifyOrHold(ctx, call(t, "exec", `{"command":"ls"}`, `"sessionKey":"agent:main:m","senderId":"9","waitMs":60000`))
	if wait == nil || d.Allow || h.record.last().Kind != audit.KindAsked {
		t.Fatalf("not held: %+v, the record has %+v", d, h.record.last())
	}
	cards, _, err := h.desk.Waiting(t.Context())
	if err != nil || len(cards) != 1 {
		t.Fatalf("waiting: %v, %v", cards, err)
	}
	h.ref, h.leave = cards[0].Ref(), leave
	return h, func() verifier.Decision { return wait(ctx) }
}

// What happens while nobody waits yet is known to whoever waits then.
func TestAHeldCallIsDecidedWhereItIsWaitedFor(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(h inHand)
		allow   bool
		says    string
		kind    string // of the deny in the record
	}{
		"yes": {func(h inHand) { h.approve(h.ref, 0) }, true, "", ""},
		"no": {func(h inHand) {
			_, _ = h.desk.Answer(h.t.Context(), approval.Answer{ID: ownerID, Via: "terminal", Ref: h.ref, Reason: "not today"})
		}, false, "not today", "denied"},
		"pause": {func(h inHand) {
			_, _ = h.desk.Answer(h.t.Context(), approval.Answer{ID: ownerID, Via: "terminal", Text: ".pause"})
		}, false, "paused", "paused"},
		"stop":         {func(h inHand) { h.desk.Stop() }, false, "Ask again after", "unanswered"},
		"caller gone":  {func(h inHand) { h.leave() }, false, "Ask again after", "gone"},
		"yes, a panic": {func(h inHand) { h.approve(h.ref, 0); h.store.method = "Settle" }, false, "could not decide", "panic"},
	} {
		t.Run(name, func(t *testing.T) {
			h, hold := holdOne(t)
			c.happens(h)
			d, e := hold(), h.record.last()
			if d.Allow != c.allow || !strings.Contains(d.Reason, c.says) || d.Ref != h.ref {
				t.Errorf("got %+v", d)
			}
			if want := map[bool]string{true: audit.Allow, false: audit.Deny}[c.allow]; e.Decision != want || e.Error != c.kind {
				t.Errorf("the record says %+v", e)
			}
		})
	}
}
