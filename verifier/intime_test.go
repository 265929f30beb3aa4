package verifier_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/verifier"
)

// hung is a store that keeps a deny until it is let go, whatever the caller's
// context says.
type hung struct {
	verifier.Store
	gate chan struct{}
	came atomic.Int64 // denies
}

func (h *hung) Deny(ctx context.Context, d session.Denial) error {
	h.came.Add(1)
	<-h.gate
	return h.Store.Deny(context.WithoutCancel(ctx), d)
}

// TestH42CallsThatEndTogetherAreAnsweredInTime: where the store hangs, all are answered, and each deny is recorded once
// the store takes it.
func TestH42CallsThatEndTogetherAreAnsweredInTime(t *testing.T) {
	const calls = 100
	for name, row := range map[string]struct {
		ruling approval.Ruling
		within time.Duration
	}{
		"their holds are over": {approval.Ruling{}, 26 * time.Second},
		"a stop ends them":     {approval.Ruling{Stopped: true}, 3 * time.Second},
		"a pause ends them":    {approval.Ruling{Paused: true}, 26 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, _ := openSQLite(t)
				h := &hung{Store: store, gate: make(chan struct{})}
				r := newRig(t, store, 1, func(o *verifier.Options) {
					o.Store = h
					o.Desk = deskFunc(func(*approval.Request) (approval.Ruling, error) { return row.ruling, nil })
				})
				answered := r.verifyAll(calls)
				<-time.After(row.within)
				synctest.Wait()
				if n := answered.Load(); n != calls {
					t.Errorf("%d of %d were answered while the store hung", n, calls)
				}
				close(h.gate)
				synctest.Wait()
				if came, denies := h.came.Load(), r.record.denies(); came != calls || denies != calls {
					t.Errorf("in the end %d came to the store and %d denies are recorded, want %d", came, denies, calls)
				}
			})
		})
	}
}

// verifyAll has so many calls verified at once, and counts who was told no.
func (r *rig) verifyAll(n int) (denied *atomic.Int64) {
	denied = new(atomic.Int64)
	for range n {
		c := call(r.t, "exec", `{"command":"ls"}`, `"sessionKey":"agent:main:m"`)
		go func() {
			if !r.v.Verify(r.t.Context(), c).Allow {
				denied.Add(1)
			}
		}()
	}
	return denied
}
