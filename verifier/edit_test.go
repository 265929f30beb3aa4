package verifier_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/store/redistest"
	"github.com/openclaw-verifier/verifier/verifier"
)

func logTo(to *strings.Builder) *slog.Logger { return slog.New(slog.NewTextHandler(to, nil)) }

// deploys is a call that waits, whose runtime can run other arguments or not.
func (r *rig) deploys(id, key string, edits bool) <-chan verifier.Decision {
	r.t.Helper()
	members := fmt.Sprintf(`"sessionKey":"agent:main:%s","senderId":"9","waitMs":60000,"edits":%t`, key, edits)
	c := named(r.t, id, "exec", `{"command":"make deploy"}`, members)
	decided := make(chan verifier.Decision, 1)
	go func() { decided <- r.verify(c) }()
	return decided
}

// waits gives the one card that waits, as soon as there is one.
func (r *rig) waits() (ref string) {
	r.t.Helper()
	redistest.Eventually(r.t, "a call waits", func() bool {
		cards, _, err := r.desk.Waiting(r.t.Context())
		if err == nil && len(cards) == 1 {
			ref = cards[0].Ref()
		}
		return ref != ""
	})
	return ref
}

// edit is the owner's answer with other arguments, confirmed.
func (r *rig) edit(ref string) approval.Outcome {
	r.t.Helper()
	a := approval.Answer{ID: ownerID, Via: "terminal", Ref: ref, Allow: true, Params: `{"command":"make test"}`}
	o, err := r.desk.Answer(r.t.Context(), a)
	if err == nil && o.Kind == approval.WantsConfirm {
		a.Confirm = o.Edit.Ask.Digest
		o, err = r.desk.Answer(r.t.Context(), a)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return o
}

// A person allows a call with other arguments: these run, in the process that holds it, and no other request gets them.
func TestH505H514AnEditIsForTheRequestThatWaits(t *testing.T) {
	l := labs["sqlite"](t)
	here, there := &rig{l, l.start(t, nil), t}, &rig{l, l.start(t, nil), t}
	held := here.deploys("1", "m", false)
	if o := here.edit(here.waits()); o.Kind == approval.Counted {
		t.Errorf("one whose runtime can't run it: %+v", o)
	}
	if _, err := here.answer(here.waits(), false, approval.Scope{}); err != nil {
		t.Fatal(err)
	}
	if d := <-held; d.Allow {
		t.Errorf("%+v", d)
	}
	held = here.deploys("2", "n", true)
	if o := there.edit(here.waits()); o.Kind == approval.Counted {
		t.Errorf("in a process that does not hold it: %+v", o)
	}
	if o := here.edit(here.waits()); o.Kind != approval.Counted {
		t.Fatalf("%+v", o)
	}
	if d := <-held; !d.Allow || !strings.Contains(d.Params, "make test") {
		t.Errorf("the call: %+v", d)
	}
	for _, p := range []*rig{here, there} { // what a person made of it is kept nowhere
		if d := <-p.deploys("2", "n", true); d.Allow {
			t.Errorf("the same request again: %+v", d)
		}
	}
}
