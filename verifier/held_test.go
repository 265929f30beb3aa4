package verifier_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/session"
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

// slow is a store that takes its time to admit a call.
type slow struct {
	backend
	takes time.Duration
}

func (s slow) Admit(ctx context.Context, a session.Admission) (session.View, error) {
	time.Sleep(s.takes)
	return s.backend.Admit(ctx, a)
}

// witness is the desk, and tells how long calls are held there.
type witness struct {
	*approval.Desk
	held chan time.Duration
}

func (w *witness) Put(ctx context.Context, r *approval.Request) (approval.Ruling, *approval.Waiting, error) {
	w.held <- r.Hold
	return w.Desk.Put(ctx, r)
}

// A caller waits once for all: what the store took is no longer there for people.
func TestWhatTheStoreTakesIsNotThereForPeople(t *testing.T) {
	store, _ := openSQLite(t)
	const takes, wait = 30 * time.Millisecond, 6 * time.Second
	w := &witness{held: make(chan time.Duration, 1)}
	r := newRig(t, slow{store, takes}, 1, func(o *verifier.Options) {
		w.Desk = o.Desk.(*approval.Desk) //nolint:errcheck // that is what the rig has
		o.Desk = w
	})
	owners := `"sessionKey":"agent:main:main","senderId":"1","senderIsOwner":true,"waitMs":6000`
	r.v.Verify(t.Context(), call(t, "gateway", `{"action":"restart"}`, owners))
	select {
	case held := <-w.held:
		if held > wait-5*time.Second-takes {
			t.Errorf("people were given %s", held)
		}
	default:
		t.Error("nobody was asked")
	}
}
