package verifier_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/internal/approval"
)

// question is the whole of what an approval is, as a model: no store, no desk, no
// clock but the one event that ends it.
type question struct {
	state string // "", open, yes, no
	shown bool   // there was a card once
}

// What can happen to a call that needs a person, and what comes of it.
const (
	askEvent, retryEvent, expireEvent, crashEvent = "ask", "retry", "expire", "crash"
	yesEvent, noEvent                             = "yes", "no"
)

// meets is what the model says must come of an event.
func (q *question) meets(event string) string {
	switch event {
	case askEvent, retryEvent:
		q.shown = true
		switch q.state {
		case "yes":
			q.state = "" // once is once
			return "allow"
		case "no":
			return "denied"
		}
		q.state = "open"
		return "asked"
	case yesEvent, noEvent:
		if !q.shown {
			return "nothing to answer"
		}
		if q.state != "open" {
			return "too late"
		}
		q.state = event
		return "counted"
	case expireEvent:
		q.state = ""
	}
	return "" // nothing to see
}

// trial is the same call on a real store.
type trial struct {
	*lab
	*process
	t   *testing.T
	key string
	n   int
	ref string
}

func (r *trial) meets(event string) string {
	switch event {
	case askEvent, retryEvent:
		r.n++
		d := r.verify(named(r.t, fmt.Sprintf("%s-%d", r.key, r.n), "exec", `{"command":"ls"}`, stranger(r.key)))
		switch {
		case d.Allow:
			return "allow"
		case strings.HasPrefix(d.Reason, "Denied by the owner"):
			return "denied"
		case strings.HasPrefix(d.Reason, "Owner approval required") && d.Ref != "":
			r.ref = d.Ref
			return "asked"
		}
		return d.Reason
	case yesEvent, noEvent:
		if r.ref == "" {
			return "nothing to answer"
		}
		kind, err := r.answer(r.ref, event == yesEvent, approval.Scope{})
		switch {
		case err != nil:
			return err.Error()
		case kind == approval.Counted:
			return "counted"
		case kind == approval.TooLate, kind == approval.NotFound:
			return "too late"
		}
		return fmt.Sprint(kind)
	case expireEvent:
		r.advance(2*approval.DefaultTTL + time.Second)
	case crashEvent:
		r.end()
		r.process = r.start(r.t, nil)
	}
	return ""
}

// orders are all orders of some events, each once.
func orders(events []string) (out [][]string) {
	if len(events) == 0 {
		return [][]string{nil}
	}
	for i, first := range events {
		if slices.Contains(events[:i], first) {
			continue
		}
		rest := slices.Concat(events[:i], events[i+1:])
		for _, tail := range orders(rest) {
			out = append(out, append([]string{first}, tail...))
		}
	}
	return out
}

// every is 1 in `make properties`, which takes minutes; a prime, so that what is
// left of them is of all kinds.
var every = flag.Int("every", 41, "of all orders of events, take each so many-th")

// TestEveryOrderOfAskTapTapExpireRetryAndCrash holds both stores against the
// model, in every order of the six, for every pair of taps; one more retry at the
// end says what is left.
func TestEveryOrderOfAskTapTapExpireRetryAndCrash(t *testing.T) {
	var all [][]string
	for _, taps := range [][]string{{yesEvent, noEvent}, {yesEvent, yesEvent}, {noEvent, noEvent}} {
		all = append(all, orders(append([]string{askEvent, expireEvent, retryEvent, crashEvent}, taps...))...)
	}
	if len(all) != 720+360+360 {
		t.Fatalf("%d orders", len(all))
	}
	onLabs(t, func(t *testing.T, l *lab) {
		for i, order := range all {
			if i%*every != 0 {
				continue
			}
			model, actual := &question{}, &trial{lab: l, process: l.start(t, nil), t: t, key: fmt.Sprint("order", i)}
			for step, event := range append(order, retryEvent) {
				if want, got := model.meets(event), actual.meets(event); got != want {
					t.Fatalf("%v, step %d, %s: %q, want %q", order, step+1, event, got, want)
				}
			}
			actual.end()
		}
	})
}
