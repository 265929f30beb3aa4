package storetest

import (
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

func denySpecs() []spec {
	return []spec{
		{"a deny holds whatever moved, brings in nothing and is kept", func(b *bench) {
			a, v := b.held("r1")
			b.admit(fetch(a.Conversation, "r2"))
			b.deny(denying(a))
			b.wantDenied(a)
			s := settling(a, v)
			s.Version = b.admit(asking(a.Conversation, "r3")).Version
			if out := b.settle(s); out.State != session.Decided || out.View.PriorDecision != session.MarkDenied {
				b.Fatalf("an allow after the deny: %+v", out)
			}
		}},
		{"a deny after the allow changes nothing", func(b *bench) {
			a, v := b.held("r1")
			if out := b.settle(settling(a, v)); out.State != session.Done {
				b.Fatalf("%+v", out)
			}
			b.deny(denying(a))
			if v := b.admit(a); v.Entry != session.Passed || v.PriorDecision != a.Decision {
				b.Fatalf("%+v", v)
			}
		}},
		{"another body under the request's id denies nothing", func(b *bench) {
			a, v := b.held("r1")
			d := denying(a)
			d.Body = body("another")
			b.deny(d)
			if out := b.settle(settling(a, v)); out.State != session.Done {
				b.Fatalf("the right body after it: %+v", out)
			}
		}},
		{"a deny in a conversation that vanished is not kept", func(b *bench) {
			a, _ := b.held("r1")
			b.Forget(a.Conversation)
			b.deny(denying(a))
			again := asking(a.Conversation, "r2")
			again.Keep = a.Keep
			b.wantEntry(b.admit(again), session.Held)
			b.wantEntry(b.admit(a), session.Held)
		}},
		{"a denied request is remembered from the deny on", func(b *bench) {
			a := asking(conv("a"), "r1")
			a.Keep = b.short()
			b.admit(a)
			b.outlive()
			d := denying(a)
			d.Keep = 11 * 60e9
			b.deny(d)
			b.wantDenied(a)
		}},
	}
}

// wantDenied is that a request which comes again is refused, and for good.
func (b *bench) wantDenied(a session.Admission) {
	b.Helper()
	a.Modes = taint.Every(taint.Allow)
	if v := b.admit(a); v.Entry != session.Refused || v.PriorDecision != session.MarkDenied {
		b.Fatalf("%+v", v)
	}
}
