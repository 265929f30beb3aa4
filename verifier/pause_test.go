package verifier_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/verifier"
)

// lateDesk is a desk where something happens at the very moment of the yes.
type lateDesk struct {
	*approval.Desk
	then func()
}

func (d *lateDesk) Ask(context.Context, *approval.Request) (approval.Ruling, error) {
	d.then()
	return approval.Ruling{Yes: true}, nil
}

// A replica pauses between a person's yes and the allow, and this process has
// heard nothing of it.
func TestAPauseBetweenTheYesAndTheAllowIsADeny(t *testing.T) {
	store, _ := openSQLite(t)
	at := time.Now()
	say := func(scope string, on bool) func() {
		return func() {
			at = at.Add(time.Second)
			word := session.Pause{Scope: scope, On: on, By: "owner", At: at}
			if err := store.Pause(context.Background(), scope, word.Value(serverKey)); err != nil {
				t.Error(err)
			}
		}
	}
	desk := &lateDesk{}
	r := newRig(t, store, 1, func(o *verifier.Options) {
		desk.Desk, _ = o.Desk.(*approval.Desk)
		o.Desk = desk
	})
	for _, scope := range []string{session.AllAgents, "main"} {
		desk.then = say(scope, true)
		if d := r.deny(scope, call(t, "exec", `{"command":"ls"}`, stranger("m"))); !strings.Contains(d.Reason, "paused") {
			t.Errorf("%s: %+v", scope, d)
		}
		say(scope, false)()
		desk.then = func() {}
		r.allow(call(t, "exec", `{"command":"ls"}`, stranger("m")))
	}
	desk.then = say("another agent", true)
	r.allow(call(t, "exec", `{"command":"pwd"}`, stranger("m")))
}
