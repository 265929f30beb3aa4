//go:build unix

package main

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/session"
)

// inTime is what a deny may take while the store is in trouble: 500 ms, and as
// much again for the race detector on a busy machine.
const inTime = time.Second

// denied says that a call must be denied in time, by the store's fault.
func (r *rig) denied(c call) time.Duration {
	r.t.Helper()
	a := r.deny(c)
	if a.took > inTime || a.Ref != "" || !strings.Contains(a.Reason, "store") {
		r.t.Errorf("%s got %s after %v", c.tool, a.raw, a.took)
	}
	return a.took
}

// torn is a store whose commit of an allow does its work and then seems to
// fail, as when the connection breaks before the answer comes.
type torn struct {
	backend
	on atomic.Bool
}

func (s *torn) Settle(ctx context.Context, in session.Settlement) (session.Settled, error) {
	out, err := s.backend.Settle(ctx, in)
	if s.on.Load() {
		return session.Settled{}, errors.New("connection reset")
	}
	return out, err
}

func (s *torn) Admit(ctx context.Context, in session.Admission) (session.View, error) {
	out, err := s.backend.Admit(ctx, in)
	if s.on.Load() && out.Entry == session.Passed {
		return session.View{}, errors.New("connection reset")
	}
	return out, err
}

func TestH42AnAllowWhoseCommitIsUncertainIsADenyAndTheSameRequestMayPassLater(t *testing.T) {
	t.Parallel()
	onBoth(t, nil, func(t *testing.T, r *rig) {
		store := &torn{}
		r.allow(sh("date", ownerIn("first"))) // by then the store has met the gateway
		r.restartBehind(func(b backend, l recordLog) (backend, recordLog) {
			store.backend = b
			return store, l
		})
		store.on.Store(true)
		read := call{tool: "web_fetch", params: `{"url":"https://example.com"}`, context: ownerIn("m"), id: "fetch"}
		read.at = time.Now()
		r.denied(read)
		c := sh("date", unvouched("m"))
		c.id, c.at = "held", time.Now()
		held := r.hold(c)
		r.approve(r.waits().Ref, 0)
		if a := <-held; a.status != http.StatusOK || a.allowed() {
			t.Errorf("got %d %s", a.status, a.raw)
		}
		store.on.Store(false)
		r.mustAsk(sh("date", ownerIn("m"))) // the fetch has tainted, though it was denied
		r.allow(read)
		r.allow(c)                            // the same request: its yes was used for it
		r.mustAsk(sh("date", unvouched("m"))) // and for no other
	})
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
		if v := r.relay(text); !strings.Contains(v.Text, "The store can't be reached") || strings.Contains(v.Text, card.Ref) {
			t.Errorf("%s is told %+v", text, v)
		}
	}
	r.refuse(card.Ref, "")
	if a := <-held; a.allowed() {
		t.Errorf("got %s", a.raw)
	}
	r.allow(call{tool: "exec", params: `{"command":"date"}`, context: ownerIn("clean")}) // nothing is paused
}
