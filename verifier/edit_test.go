package verifier_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/store/redistest"
	"github.com/openclaw-verifier/verifier/verifier"
)

// deploys is a call that waits, whose runtime can run other arguments or not.
func (r *rig) deploys(id, key string, edits bool) <-chan verifier.Decision {
	r.t.Helper()
	members := fmt.Sprintf(`"sessionKey":"agent:main:%s","senderId":"9","waitMs":60000,"edits":%t`, key, edits)
	c := named(r.t, id, "exec", `{"command":"make deploy"}`, members)
	decided := make(chan verifier.Decision, 1)
	go func() { decided <- r.verify(c) }()
	return decided
}

// held waits until so many requests wait for the one card that is open, and gives it.
func (r *rig) held(requests int) (ref string) {
	r.t.Helper()
	redistest.Eventually(r.t, fmt.Sprintf("%d requests wait", requests), func() bool {
		cards, _, err := r.desk.Waiting(r.t.Context())
		if err != nil || len(cards) != 1 {
			return false
		}
		ref = cards[0].Ref()
		return len(cards[0].Questions[0].Holders) == requests
	})
	return ref
}

// edit is the owner's answer with other arguments.
func (r *rig) edit(ref string) approval.Outcome {
	r.t.Helper()
	a := approval.Answer{ID: ownerID, Via: "terminal", Ref: ref, Allow: true, Params: `{"command":"make test"}`}
	o, err := r.desk.Answer(r.t.Context(), a)
	if err != nil {
		r.t.Fatal(err)
	}
	return o
}

// editTwice is edit, confirmed.
func (r *rig) editTwice(ref string) {
	r.t.Helper()
	if o := r.edit(ref); o.Kind != approval.WantsConfirm {
		r.t.Fatalf("the change is told %+v", o)
	}
	if o := r.edit(ref); o.Kind != approval.Counted {
		r.t.Fatalf("the change again is told %+v", o)
	}
}

// Two identical calls wait, and only the second one's runtime can run other arguments; then both can.
func TestH514AnEditGoesToTheOneRequestThatWaitsFirst(t *testing.T) {
	store, _ := openSQLite(t)
	r := newRig(t, store, 1, nil)
	one := r.deploys("1", "m", false)
	r.held(1)
	two := r.deploys("2", "m", true)
	ref := r.held(2)
	if o := r.edit(ref); o.Kind == approval.Counted || o.Kind == approval.WantsConfirm {
		t.Errorf("the first can't: %+v", o)
	}
	if _, err := r.desk.Answer(t.Context(), approval.Answer{ID: ownerID, Via: "terminal", Ref: ref}); err != nil {
		t.Fatal(err)
	}
	<-one
	<-two
	one = r.deploys("3", "n", true)
	r.held(1)
	two = r.deploys("4", "n", true)
	r.editTwice(r.held(2))
	if d := <-one; !d.Allow || !strings.Contains(d.Params, "make test") {
		t.Errorf("the first: %+v", d)
	}
	if d := <-two; d.Allow {
		t.Errorf("the second: %+v", d)
	}
}

// A process that does not hold the call can't hand out other arguments, and where the same request waits there it is
// denied: it can't be told what runs.
func TestH505H513AnEditIsOfTheProcessThatHoldsTheCall(t *testing.T) {
	store, _ := openSQLite(t)
	here, there := newRig(t, store, 1, nil), newRig(t, store, 1, nil)
	held := here.deploys("1", "m", true)
	ref := here.held(1)
	if o := there.edit(ref); o.Kind == approval.Counted || o.Kind == approval.WantsConfirm {
		t.Errorf("a process that does not hold it: %+v", o)
	}
	joined := there.deploys("1", "m", true)
	here.held(2)
	here.editTwice(ref)
	if d := <-held; !d.Allow || !strings.Contains(d.Params, "make test") {
		t.Errorf("the call: %+v", d)
	}
	if d := <-joined; d.Allow {
		t.Errorf("the same request in another process: %+v", d)
	}
	if d := <-there.deploys("1", "m", true); d.Allow {
		t.Errorf("again in another process: %+v", d)
	}
	if d := <-here.deploys("1", "m", true); !d.Allow || !strings.Contains(d.Params, "make test") {
		t.Errorf("again here: %+v", d)
	}
}
