package channeltest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/store"
)

// broken is a backend that can't be read.
type broken struct{ store.Backend }

var errBroken = errors.New("the store is broken")

// Commit fails.
func (broken) Commit(context.Context, *store.Commit) (store.Result, error) {
	return store.Result{}, errBroken
}

// Close leaves it open for the others.
func (broken) Close() error { return nil }

// faultSpecs say what happens when the platform fails.
func faultSpecs() []spec {
	var out []spec
	for name, f := range map[string]Fault{
		"down": {Kind: Down}, "slow": {Kind: Hangs}, "401": {Kind: Unauthorized}, "403": {Kind: Forbidden}, "429 for long": {Kind: Limited, After: time.Hour},
		"malformed": {Kind: Malformed}, "500": {Kind: Broken},
	} {
		out = append(out,
			spec{fmt.Sprintf("H43 while it is %s other channels still ask", name), func(b *bench) { othersAsk(b, f) }},
			spec{fmt.Sprintf("H43 H54 while it is %s and nothing else is there, no one is said to be asked", name), func(b *bench) { noneAsked(b, f) }})
	}
	return append(out,
		spec{"H43 a pause that the platform asks for is kept, and then the card comes", func(b *bench) {
			r := newRig(b, b.platform, nil)
			r.p.Break(Fault{Kind: Limited, After: time.Second, Times: 1})
			v := r.ask(r.desk, call{tool: "exec", params: plainExec})
			m := r.card(0)
			r.tap(r.who.Alice, m, "Allow once")
			if got := r.get(v); !got.Yes {
				b.Errorf("got %+v", got)
			}
			r.turns(m, "Approved")
		}},
		spec{"H29 a platform that repeats the token in an error spreads it no further", func(b *bench) {
			r := newRig(b, b.platform, nil)
			r.p.Break(Fault{Kind: Refused, Says: "who is " + b.platform.Secrets()[0] + "?"})
			if got := r.get(r.ask(r.desk, call{tool: "exec", params: plainExec})); !errors.Is(got.err, approval.ErrNobody) {
				b.Errorf("%+v", got)
			}
			if text := r.log.String(); !strings.Contains(text, "who is [secret]?") {
				b.Errorf("the log says nothing of it:\n%s", text)
			}
			r.p.Break(Fault{})
		}},
		spec{"H29 a platform that sends us elsewhere is not followed: what was for it stays with it", notFollowed},
		spec{"H43 a hiccup is tried again", func(b *bench) {
			r := newRig(b, b.platform, nil)
			for i, k := range []FaultKind{Broken, Down, Malformed} {
				b.platform.Break(Fault{Kind: k, Times: 1})
				r.ask(r.desk, call{tool: "exec", params: plainExec, hold: time.Millisecond})
				r.card(i)
			}
		}})
}

func notFollowed(b *bench) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b.Errorf("someone else gets %s %s with %v", r.Method, r.URL, r.Header)
	}))
	b.Cleanup(elsewhere.Close)
	r := newRig(b, b.platform, nil)
	r.p.Break(Fault{Kind: Moved, Says: elsewhere.URL + "/elsewhere"})
	if got := r.get(r.ask(r.desk, call{tool: "exec", params: plainExec})); !errors.Is(got.err, approval.ErrNobody) {
		b.Errorf("%+v", got)
	}
	r.p.Break(Fault{})
}

func othersAsk(b *bench, f Fault) {
	other := newSink()
	r := newRig(b, b.platform, func(o *approval.Options) { o.Channels["other"] = other })
	r.p.Break(f)
	v := r.ask(r.desk, call{tool: "exec", params: plainExec})
	var c *approval.Card
	select {
	case c = <-other.sent:
	case <-time.After(5 * time.Second):
		b.Fatal("the other channel was not asked in time")
	}
	if o, err := r.desk.Answer(b.Context(), approval.Answer{ID: r.p.Name() + ":" + r.who.Alice.ID, Via: "other", Handle: c.Handle(approval.AllowOnce)}); err != nil || o.Kind != approval.Counted {
		b.Fatalf("%+v, %v", o, err)
	}
	if got := r.get(v); !got.Yes || got.Waited > 5*time.Second {
		b.Errorf("got %+v", got)
	}
	r.p.Break(Fault{})
}

func noneAsked(b *bench, f Fault) {
	r := newRig(b, b.platform, nil)
	r.p.Break(f)
	got := r.get(r.ask(r.desk, call{tool: "exec", params: plainExec, hold: 25 * time.Second}))
	if !errors.Is(got.err, approval.ErrNobody) || got.Waited > 20*time.Second {
		b.Errorf("%+v", got)
	}
	if !strings.Contains(r.log.String(), "a card could not be sent") {
		b.Errorf("the log says nothing of it:\n%s", r.log.String())
	}
	r.p.Break(Fault{})
}
