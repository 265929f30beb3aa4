package storetest

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

var counter atomic.Int64

// fresh makes a request id that was not used before.
func fresh(name string) string { return fmt.Sprintf("%s-%d", name, counter.Add(1)) }

func replaySpecs() []spec {
	return []spec{
		{"the same request again finds its allow and counts nothing twice", func(b *bench) {
			c := conv("a")
			first := b.admit(fetch(c, "r1"))
			b.wantEntry(first, session.Passed)
			again := b.admit(fetch(c, "r1"))
			b.wantEntry(again, session.Passed)
			if !again.Replayed || again.PriorDecision != "A|r1" || again.Step != first.Step || again.Version != first.Version {
				b.Fatalf("the resend met %+v, first was %+v", again, first)
			}
			b.wantLevel(again.Level, taint.Untrusted)
		}},
		{"the same request again finds its refusal, whatever the policy says now", func(b *bench) {
			a := call(conv("a"), "r1")
			a.Modes = taint.Every(taint.Restrict)
			v := b.admit(a)
			b.wantEntry(v, session.Refused)
			a.Modes = taint.Every(taint.Allow)
			v = b.admit(a)
			b.wantEntry(v, session.Refused)
			if !v.Replayed || v.PriorDecision != session.MarkDenied {
				b.Fatalf("the resend met %+v", v)
			}
		}},
		{"the same request again joins the wait of one that is still asked about", func(b *bench) {
			c := conv("a")
			a := asking(c, "r1")
			b.wantEntry(b.admit(a), session.Held)
			b.place(draft(c, "one", a.Digest))
			v := b.admit(a)
			b.wantEntry(v, session.Held)
			if !v.Replayed || v.PriorDecision != "" || v.Waiting != draft(c, "one").ID {
				b.Fatalf("the resend met %+v", v)
			}
		}},
		{"a used request id with another body is a conflict and changes nothing", func(b *bench) {
			c := conv("a")
			b.admit(call(c, "r1"))
			a := fetch(c, "r1")
			a.Body = body("another")
			v := b.admit(a)
			b.wantEntry(v, session.Conflict)
			if v.PriorDecision != "" {
				b.Fatalf("a conflict tells %q", v.PriorDecision)
			}
			b.wantLevel(b.worst(c), taint.Owner)
		}},
		{"a request id belongs to its conversation", func(b *bench) {
			b.admit(call(conv("a"), "r1"))
			if v := b.admit(call(conv("b"), "r1")); v.Replayed || v.Entry != session.Passed {
				b.Fatalf("another conversation's request met %+v", v)
			}
		}},
		{"a request is forgotten when its time is over", func(b *bench) {
			a := call(conv("a"), "r1")
			a.Keep = b.short()
			b.admit(a)
			b.outlive()
			if v := b.admit(a); v.Replayed || v.Step != 2 {
				b.Fatalf("after its time the request met %+v", v)
			}
		}},
		{"a request whose conversation vanished has no standing decision", func(b *bench) {
			a := call(conv("a"), "r1")
			b.admit(a)
			b.Forget(a.Conversation)
			v := b.admit(a)
			b.wantEntry(v, session.Held)
			if !v.Replayed || !v.Lost || v.Level != taint.Untrusted || v.PriorDecision != "" {
				b.Fatalf("the resend met %+v", v)
			}
		}},
		{"64 copies of one request at once are admitted exactly once", func(b *bench) {
			a := fetch(conv("a"), "r1")
			views := b.atOnce(64, func(int) session.Admission { return a })
			admitted := 0
			for _, v := range views {
				if !v.Replayed {
					admitted++
				} else if v.PriorDecision != a.Decision {
					b.Errorf("a copy was told %q", v.PriorDecision)
				}
				if v.Entry != session.Passed {
					b.Errorf("a copy met entry %d", v.Entry)
				}
			}
			if admitted != 1 {
				b.Fatalf("%d copies were admitted", admitted)
			}
			if v := b.admit(call(a.Conversation, "r2")); v.Step != 2 {
				b.Fatalf("the copies counted as %d steps", v.Step-1)
			}
		}},
	}
}

// atOnce admits n calls in parallel.
func (b *bench) atOnce(n int, nth func(i int) session.Admission) []session.View {
	b.Helper()
	views := make([]session.View, n)
	b.parallel(n, func(i int) error {
		v, err := b.Store.Admit(b.ctx, nth(i))
		views[i] = v
		return err
	})
	return views
}

// parallel runs do n times at once, all let go together.
func (b *bench) parallel(n int, do func(i int) error) {
	b.Helper()
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			if err := do(i); err != nil {
				b.Error(err)
			}
		})
	}
	close(start)
	wg.Wait()
	if b.Failed() {
		b.FailNow()
	}
}
