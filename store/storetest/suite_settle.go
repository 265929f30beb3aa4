package storetest

import (
	"sync/atomic"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

func settleSpecs() []spec {
	return []spec{
		{"an allow settles once, brings in its content and is kept", func(b *bench) {
			a, v := b.held("r1")
			s := settling(a, v)
			s.Raise, s.Source = taint.External, "message"
			out := b.settle(s)
			if out.State != session.Done || out.View.Level != taint.Owner || out.View.After != taint.External {
				b.Fatalf("%+v", out)
			}
			if out.View.Worst.Label != "message" || out.View.Version <= v.Version {
				b.Fatalf("%+v", out.View)
			}
			again := b.admit(a)
			b.wantEntry(again, session.Passed)
			b.wantLevel(again.Level, taint.External)
			out = b.settle(s)
			if out.State != session.Decided || out.View.PriorDecision != a.Decision {
				b.Fatalf("the second time: %+v", out)
			}
		}},
		{"an allow for a conversation that moved is stale, and the view is fresh", func(b *bench) {
			a, v := b.held("r1")
			b.admit(fetch(a.Conversation, "r2"))
			out := b.settle(settling(a, v))
			if out.State != session.Stale || out.View.Level != taint.Untrusted || out.View.Version <= v.Version {
				b.Fatalf("%+v", out)
			}
			if out = b.settle(settling(a, out.View)); out.State != session.Done {
				b.Fatalf("judged again: %+v", out)
			}
		}},
		{"a reset makes what was judged before it stale", func(b *bench) {
			a, v := b.held("r1")
			_, err := b.Store.Reset(b.ctx, a.Conversation.Ref())
			b.must(err)
			if out := b.settle(settling(a, v)); out.State != session.Stale {
				b.Fatalf("%+v", out)
			}
		}},
		{"another body under the request's id is decided: denied", func(b *bench) {
			a, v := b.held("r1")
			s := settling(a, v)
			s.Body = body("another")
			out := b.settle(s)
			if out.State != session.Decided || out.View.PriorDecision != session.MarkDenied {
				b.Fatalf("%+v", out)
			}
			if out = b.settle(settling(a, v)); out.State != session.Done {
				b.Fatalf("the right body after it: %+v", out)
			}
		}},
		{"H20 an allow for a conversation that vanished is stale and lost", func(b *bench) {
			a, v := b.held("r1")
			b.Forget(a.Conversation)
			out := b.settle(settling(a, v))
			if out.State != session.Stale || !out.View.Lost || out.View.Level != taint.Untrusted {
				b.Fatalf("%+v", out)
			}
		}},
		{"a settled request is remembered from the settling on", func(b *bench) {
			a := asking(conv("a"), "r1")
			a.Keep = b.short()
			v := b.admit(a)
			s := settling(a, v)
			b.outlive()
			s.Keep = 11 * 60e9
			if out := b.settle(s); out.State != session.Done {
				b.Fatalf("%+v", out)
			}
			if v := b.admit(a); !v.Replayed || v.PriorDecision != a.Decision {
				b.Fatalf("%+v", v)
			}
		}},
		{"an allow uses up the claimed yes in the same step", func(b *bench) {
			a, v := b.held("r1")
			d := draft(a.Conversation, "one", a.Digest)
			b.place(d)
			s := settling(a, v)
			s.Claim = &session.Claim{Card: d.ID, Version: 1, Blob: []byte("used")}
			if out := b.settle(s); out.State != session.Done {
				b.Fatalf("%+v", out)
			}
			k := b.card(d.ID)
			if k.Version != 2 || string(k.Blob) != "used" {
				b.Fatalf("%+v", k)
			}
		}},
		{"a yes that changed since, or is gone, is taken, and nothing is allowed", func(b *bench) {
			a, v := b.held("r1")
			d := draft(a.Conversation, "one", a.Digest)
			b.place(d)
			s := settling(a, v)
			s.Raise = taint.Untrusted
			for _, claim := range []session.Claim{{Card: d.ID, Version: 7}, {Card: draft(a.Conversation, "none").ID, Version: 1}} {
				s.Claim = &claim
				if out := b.settle(s); out.State != session.Taken {
					b.Fatalf("%+v", out)
				}
			}
			b.wantLevel(b.worst(a.Conversation), taint.Owner)
			if v := b.admit(a); v.Entry != session.Held {
				b.Fatalf("%+v", v)
			}
			if k := b.card(d.ID); k.Version != 1 {
				b.Fatalf("%+v", k)
			}
		}},
		{"a yes on a card that is no longer kept is taken", func(b *bench) {
			a, v := b.held("r1")
			d := draft(a.Conversation, "one", a.Digest)
			b.place(d)
			if b.Real {
				return
			}
			b.Advance(d.Live + approval.Retention)
			s := settling(a, v)
			s.Claim = &session.Claim{Card: d.ID, Version: 1, Blob: []byte("used")}
			if out := b.settle(s); out.State != session.Taken {
				b.Fatalf("%+v", out)
			}
		}},
		{"a stale allow claims nothing", func(b *bench) {
			a, v := b.held("r1")
			d := draft(a.Conversation, "one", a.Digest)
			b.place(d)
			s := settling(a, v)
			s.Version--
			s.Claim = &session.Claim{Card: d.ID, Version: 1, Blob: []byte("used")}
			if out := b.settle(s); out.State != session.Stale {
				b.Fatalf("%+v", out)
			}
			if k := b.card(d.ID); k.Version != 1 {
				b.Fatalf("%+v", k)
			}
		}},
		{"one yes claimed by 100 requests at once lets exactly one through", func(b *bench) {
			const n = 100
			c := conv("a")
			b.admit(call(c, "r0"))
			d := draft(c, "one", "digest")
			b.place(d)
			var done, taken atomic.Int64
			b.parallel(n, func(int) error {
				a := asking(c, fresh("claim"))
				v, err := b.Store.Admit(b.ctx, a)
				if err != nil {
					return err
				}
				s := settling(a, v)
				s.Claim = &session.Claim{Card: d.ID, Version: 1, Blob: []byte("used by " + a.RequestID)}
				out, err := b.Store.Settle(b.ctx, s)
				switch out.State {
				case session.Done:
					done.Add(1)
				case session.Taken:
					taken.Add(1)
				case session.Stale, session.Decided:
					b.Errorf("%+v", out)
				}
				return err
			})
			if done.Load() != 1 || taken.Load() != n-1 {
				b.Fatalf("%d done, %d taken", done.Load(), taken.Load())
			}
		}},
	}
}

// held admits a call that a person must confirm.
func (b *bench) held(id string) (session.Admission, session.View) {
	b.Helper()
	a := asking(conv("a"), id)
	v := b.admit(a)
	b.wantEntry(v, session.Held)
	return a, v
}
