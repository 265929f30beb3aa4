package verifier_test

import (
	"context"
	"testing"
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
}

func (h *hung) Settle(ctx context.Context, s session.Settlement) (session.Settled, error) {
	<-h.gate
	return h.Store.Settle(context.WithoutCancel(ctx), s)
}

// A caller whose hold is over hears of it, though the store does not take the
// deny; the deny is recorded when it does.
func TestH42ADenyAfterTheHoldIsHeardInTimeThoughTheStoreHangs(t *testing.T) {
	store, _ := openSQLite(t)
	h := &hung{store, make(chan struct{})}
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
