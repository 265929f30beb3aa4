package verifier_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/verifier"
)

// hung is a store that keeps a settlement until it is let go, whatever the
// caller's context says.
type hung struct {
	verifier.Store
	gate chan struct{}
	came atomic.Int64 // settlements
}

func (h *hung) Settle(ctx context.Context, s session.Settlement) (session.Settled, error) {
	h.came.Add(1)
	<-h.gate
	return h.Store.Settle(context.WithoutCancel(ctx), s)
}

// A caller whose hold is over hears of it, though the store does not take the
// deny; the deny is recorded when it does.
func TestH42ADenyAfterTheHoldIsHeardInTimeThoughTheStoreHangs(t *testing.T) {
	store, _ := openSQLite(t)
	h := &hung{Store: store, gate: make(chan struct{})}
	const hold = 50 * time.Millisecond
	r := newRig(t, store, 1, func(o *verifier.Options) {
		o.Store = h
		o.Settings = func() verifier.Settings { return verifier.Settings{Hold: hold, MaxHold: hold} }
		o.Desk = deskFunc(func(*approval.Request) (approval.Ruling, error) {
			return approval.Ruling{Ref: "TEST", Card: "card"}, nil
		})
	})
	began := time.Now()
	d := r.deny("held", call(t, "exec", `{"command":"ls"}`, `"sessionKey":"agent:main:m"`))
	if took := time.Since(began); d.Ref != "TEST" || took > hold+500*time.Millisecond {
		t.Errorf("%+v after %v", d, took)
	}
	if e := r.record.last(); e.Decision != "" {
		t.Errorf("the record has %+v before the store took it", e)
	}
	close(h.gate)
	for tick := time.Tick(time.Millisecond); r.record.last().Decision != audit.Deny; {
		<-tick
	}
}

// Calls that a stop ends together come to the store a few at a time, each as
// another is done; where the store hangs, all are answered before the gateway is
// gone, and each deny is recorded once the store takes it.
func TestCallsThatEndTogetherEndInTurnAndInTime(t *testing.T) {
	const calls, atOnce = 100, 64
	synctest.Test(t, func(t *testing.T) {
		store, _ := openSQLite(t)
		h := &hung{Store: store, gate: make(chan struct{})}
		r := newRig(t, store, 1, func(o *verifier.Options) {
			o.Store = h
			o.Desk = deskFunc(func(*approval.Request) (approval.Ruling, error) { return approval.Ruling{Stopped: true}, nil })
		})
		var answered atomic.Int64
		for range calls {
			c := call(t, "exec", `{"command":"ls"}`, `"sessionKey":"agent:main:m"`)
			go func() {
				if !r.v.Verify(t.Context(), c).Allow {
					answered.Add(1)
				}
			}()
		}
		came := func(want int64, when string) {
			t.Helper()
			synctest.Wait()
			if n := h.came.Load(); n != want {
				t.Errorf("%s %d came to the store, want %d", when, n, want)
			}
		}
		came(atOnce, "at first")
		h.gate <- struct{}{}
		came(atOnce+1, "when one was done")
		<-time.After(3 * time.Second)
		synctest.Wait()
		if n := answered.Load(); n != calls {
			t.Errorf("%d of %d were answered while the store hung", n, calls)
		}
		close(h.gate)
		came(calls, "in the end")
		if n := r.record.denies(); n != calls {
			t.Errorf("%d denies are recorded, want %d", n, calls)
		}
	})
}
