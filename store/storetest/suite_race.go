package storetest

import (
	"math"
	"sync"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

func raceSpecs() []spec {
	return []spec{
		{"H17 of 64 fetches and execs at once, no exec passes after a fetch passed", func(b *bench) {
			c := conv("a")
			views := b.atOnce(64, func(i int) session.Admission {
				if i%2 == 0 {
					return fetch(c, fresh("fetch"))
				}
				return exec(c, fresh("exec"))
			})
			first := int64(math.MaxInt64) // the step of the first fetch that passed
			for i, v := range views {
				if i%2 == 0 && v.Entry == session.Passed {
					first = min(first, v.Step)
				}
			}
			seen := map[int64]bool{}
			for i, v := range views {
				if seen[v.Step] {
					b.Errorf("step %d was counted twice", v.Step)
				}
				seen[v.Step] = true
				if i%2 == 1 && (v.Entry == session.Passed) != (v.Step < first) {
					b.Errorf("an exec at step %d met entry %d; the first fetch passed at step %d", v.Step, v.Entry, first)
				}
			}
		}},
		{"H17 of 64 fetches and judged execs at once, no exec settles after a fetch passed", func(b *bench) {
			c := conv("a")
			b.admit(call(c, "r0")) // the session is known: from here on the version tells of fetches only
			var mu sync.Mutex
			fetched, settled := int64(math.MaxInt64), int64(0) // the version a fetch made; the last one an exec settled at
			b.parallel(64, func(i int) error {
				if i%8 == 0 {
					v, err := b.Store.Admit(b.ctx, fetch(c, fresh("fetch")))
					mu.Lock()
					defer mu.Unlock()
					fetched = min(fetched, v.Version)
					return err
				}
				out, err := b.judged(exec(c, fresh("exec")))
				mu.Lock()
				defer mu.Unlock()
				if out.State == session.Done {
					settled = max(settled, out.View.Version)
				}
				return err
			})
			if settled >= fetched {
				b.Fatalf("an exec settled at version %d, a fetch made version %d", settled, fetched)
			}
		}},
		{"calls of many conversations at once do not meet", func(b *bench) {
			views := b.atOnce(64, func(i int) session.Admission {
				c := conv(string(rune('a' + i%16)))
				if i%16 == 0 {
					return fetch(c, fresh("r"))
				}
				return call(c, fresh("r"))
			})
			for i, v := range views {
				if i%16 != 0 && v.Level != taint.Owner {
					b.Errorf("a clean conversation met %v", v.Level)
				}
				if v.Step > 4 {
					b.Errorf("step %d of 4", v.Step)
				}
			}
		}},
	}
}

// exec is refused once the web came in.
func exec(c session.Conversation, id string) session.Admission {
	a := call(c, id)
	a.Modes = taint.Row{taint.Untrusted: taint.Restrict}
	return a
}

// judged admits a call that needs more than the level, and settles it at once.
func (b *bench) judged(a session.Admission) (session.Settled, error) {
	a.Final = false
	v, err := b.Store.Admit(b.ctx, a)
	if err != nil || v.Entry != session.Held {
		return session.Settled{}, err
	}
	return b.Store.Settle(b.ctx, settling(a, v))
}
