package verifier_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/verifier"
)

// What people say, and whatever else ends the wait, decides a call that is held.
func TestAHeldCallIsDecidedByWhatHappensMeanwhile(t *testing.T) {
	type inHand struct {
		*rig
		store *broken
		ref   string
		leave context.CancelFunc
	}
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
		"yes, a panic": {func(h inHand) { h.store.method = "Settle"; h.approve(h.ref, 0) }, false, "could not decide", "panic"},
	} {
		t.Run(name, func(t *testing.T) {
			store, _ := openSQLite(t)
			h := inHand{store: &broken{Store: store}}
			h.rig = newRig(t, store, 1, func(o *verifier.Options) { o.Store = h.store })
			var ctx context.Context
			ctx, h.leave = context.WithCancel(t.Context())
			defer h.leave()
			decided := make(chan verifier.Decision, 1)
			go func() {
				decided <- h.v.Verify(ctx, call(t, "exec", `{"command":"ls"}`, `"sessionKey":"agent:main:m","senderId":"9","waitMs":60000`))
			}()
			for tick := time.Tick(time.Millisecond); h.ref == ""; <-tick {
				cards, _, err := h.desk.Waiting(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if len(cards) > 0 {
					h.ref = cards[0].Ref()
				}
			}
			c.happens(h)
			d, e := <-decided, h.record.decided()
			ref := d.Ref == h.ref || c.kind == "gone" // it may leave before the question has been put everywhere
			if d.Allow != c.allow || !strings.Contains(d.Reason, c.says) || !ref {
				t.Errorf("got %+v", d)
			}
			if want := map[bool]string{true: record.Allow, false: record.Deny}[c.allow]; e.Decision != want || e.Error != c.kind {
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
	time.Sleep(s.takes) //nolint:forbidigo // it is the slowness that the test is about
	return s.backend.Admit(ctx, a)
}

// witness is the desk, and tells how long calls are held there.
type witness struct {
	*approval.Desk
	held chan time.Duration
}

func (w *witness) Ask(ctx context.Context, r *approval.Request) (approval.Ruling, error) {
	w.held <- r.Hold
	return w.Desk.Ask(ctx, r)
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
