package verifier_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/verifier"
)

// meanwhile is a store where something happens once, right before a call is settled.
type meanwhile struct {
	backend
	happens func()
}

func (m *meanwhile) Settle(ctx context.Context, s session.Settlement) (session.Settled, error) {
	if now := m.happens; now != nil {
		m.happens = nil
		now()
	}
	return m.backend.Settle(ctx, s)
}

// TestH90AGrantThatEndsWhileACallIsDecidedIsOver: the call has found the grant, and
// the owner ends it before anything is settled.
func TestH90AGrantThatEndsWhileACallIsDecidedIsOver(t *testing.T) {
	for name, end := range map[string]func(r *rig) error{
		"revoked": func(r *rig) error {
			_, err := r.desk.Grants.Revoke(t.Context(), approval.Answer{ID: ownerID, Via: "terminal"}, approval.AllGrants)
			return err
		},
		"over with its session, as another process heard": func(r *rig) error {
			_, err := r.store.Hear(t.Context(), session.Report{Conversation: conv(strings.ToLower(r.t.Name())), RequestID: "end", Closed: true, Keep: time.Minute})
			return err
		},
		"reset": func(r *rig) error {
			_, err := r.store.Reset(t.Context(), conv(strings.ToLower(r.t.Name())).Ref())
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			opened, _ := openSQLite(t)
			store := &meanwhile{backend: opened}
			r := newRig(t, store, 1, nil)
			key := strings.ToLower(t.Name())
			ref := r.asked("the first", call(t, "exec", `{"command":"git log"}`, stranger(key)))
			r.approve(ref, 30)
			r.allow(call(t, "exec", `{"command":"git log -3"}`, stranger(key)))
			store.happens = func() {
				if err := end(r); err != nil {
					t.Error(err)
				}
			}
			r.asked("what it covered", call(t, "exec", `{"command":"git log --oneline"}`, stranger(key)))
			if e := r.record.last(); len(e.People) > 0 {
				t.Errorf("the record names who granted what is over: %+v", e.People)
			}
		})
	}
}

// TestAGrantOutlivesWhatDoesNotConcernIt: another session of the conversation
// moves it while a call is decided, and the grant still covers the call.
func TestAGrantOutlivesWhatDoesNotConcernIt(t *testing.T) {
	opened, _ := openSQLite(t)
	store := &meanwhile{backend: opened}
	r := newRig(t, store, 1, nil)
	members := stranger("moved") + `,"sessionId":"one"`
	r.approve(r.asked("the first", call(t, "exec", `{"command":"git log"}`, members)), 30)
	store.happens = func() {
		_, err := store.Admit(t.Context(), session.Admission{
			Conversation: conv("moved"), Session: "another", RequestID: "other", Initial: taint.Shared, Keep: time.Minute,
		})
		if err != nil {
			t.Error(err)
		}
	}
	r.allow(call(t, "exec", `{"command":"git log -3"}`, members))
	if e := r.record.last(); e.By != verifier.ByGrant {
		t.Errorf("allowed by %q", e.By)
	}
}
