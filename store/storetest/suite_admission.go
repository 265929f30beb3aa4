package storetest

import (
	"slices"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

func admissionSpecs() []spec {
	return []spec{
		{"an allow that needs more than the level is held, with the mode it met", func(b *bench) {
			a := fetch(conv("a"), "r1")
			a.Final = false
			v := b.admit(a)
			b.wantEntry(v, session.Held)
			if v.Mode != taint.Allow || v.After != taint.Owner {
				b.Fatalf("%+v", v)
			}
		}},
		{"a run may make as many calls as its cap, and no more unasked", func(b *bench) {
			c := conv("a")
			for i := range 4 {
				a := call(c, fresh("r"))
				a.Run, a.RunCap = "run-1", 3
				v := b.admit(a)
				if want := i == 3; v.Capped != want || (v.Entry == session.Held && v.Mode == taint.Confirm) != want {
					b.Fatalf("call %d: %+v", i+1, v)
				}
				if i < 3 {
					continue
				}
				if v := b.admit(a); !v.Capped || !v.Replayed || v.Entry != session.Held || v.Mode != taint.Confirm {
					b.Fatalf("the same again: %+v", v)
				}
			}
			a := call(c, fresh("r"))
			a.Run, a.RunCap = "run-2", 3
			if v := b.admit(a); v.Capped || v.Entry != session.Passed {
				b.Fatalf("another run: %+v", v)
			}
			a = call(conv("b"), "r1")
			a.Run, a.RunCap = "run-1", 3
			if v := b.admit(a); v.Capped {
				b.Fatalf("another conversation: %+v", v)
			}
		}},
		{"a resend does not use up a run", func(b *bench) {
			a := call(conv("a"), "r1")
			a.Run, a.RunCap = "run-1", 2
			for range 5 {
				b.admit(a)
			}
			a.RequestID = "r2"
			if v := b.admit(a); v.Capped {
				b.Fatalf("%+v", v)
			}
		}},
		{"without a cap or without a run nothing is counted", func(b *bench) {
			for range 3 {
				nocap, norun := call(conv("a"), fresh("r")), call(conv("a"), fresh("r"))
				nocap.Run, norun.RunCap = "run-1", 1
				if b.admit(nocap).Capped || b.admit(norun).Capped {
					b.Fatal("capped")
				}
			}
			a := call(conv("a"), fresh("r"))
			a.Run, a.RunCap = "run-1", 1
			if b.admit(a).Capped {
				b.Fatal("calls without a cap were counted")
			}
		}},
		{"a held call finds the grants under its fields, in its order", func(b *bench) {
			c := conv("a")
			b.admit(call(c, "r1"))
			d := draft(c, "one", "digest")
			b.place(d)
			ch := approvalOf(d, 1, "f1", "v1")
			ch.Grants["f3"] = "v3 | with, \"anything\"\n"
			b.must(b.Store.Swap(b.ctx, ch))

			a := asking(c, "r2")
			a.Grants = []string{"f3", "f2", "f1"}
			if v := b.admit(a); !slices.Equal(v.Grants, []string{"v3 | with, \"anything\"\n", "v1"}) {
				b.Fatalf("grants %q", v.Grants)
			}
			if v := b.admit(a); len(v.Grants) != 2 {
				b.Fatalf("the resend finds grants %q", v.Grants)
			}
			a.Conversation, a.RequestID = conv("b"), "r3"
			if v := b.admit(a); len(v.Grants) != 0 {
				b.Fatalf("another conversation finds grants %q", v.Grants)
			}
		}},
		{"H18 a reset ends the grants", func(b *bench) {
			c := conv("a")
			b.admit(call(c, "r1"))
			d := draft(c, "one", "digest")
			b.place(d)
			b.must(b.Store.Swap(b.ctx, approvalOf(d, 1, "f1", "v1")))
			_, err := b.Store.Reset(b.ctx, c.Ref())
			b.must(err)
			a := asking(c, "r2")
			a.Grants = []string{"f1"}
			if v := b.admit(a); len(v.Grants) != 0 {
				b.Fatalf("grants %q", v.Grants)
			}
		}},
		{"a held call finds the card that asks about it, as long as it does", func(b *bench) {
			c := conv("a")
			a := asking(c, "r1")
			a.Digest = "digest"
			if v := b.admit(a); v.Waiting != "" {
				b.Fatalf("no call asked, and %q waits", v.Waiting)
			}
			d := draft(c, "one", "digest")
			b.place(d)
			a.RequestID = "r2"
			if v := b.admit(a); v.Waiting != d.ID {
				b.Fatalf("waits for %q, want %q", v.Waiting, d.ID)
			}
			other := asking(c, "r3")
			if v := b.admit(other); v.Waiting != "" {
				b.Fatalf("another digest waits for %q", v.Waiting)
			}
		}},
		{"a card that expired asks about nothing", func(b *bench) {
			c := conv("a")
			b.admit(call(c, "r1"))
			d := draft(c, "one", "digest")
			d.Live = b.short()
			b.place(d)
			b.outlive()
			a := asking(c, "r2")
			a.Digest = "digest"
			if v := b.admit(a); v.Waiting != "" {
				b.Fatalf("waits for %q", v.Waiting)
			}
		}},
		{"odd bytes in names are kept apart and given back", func(b *bench) {
			c := session.Conversation{Client: "a b", Key: "k:{00}\x00\n%s|"}
			a := call(c, "id with\nnewline|{ff}\x00é")
			a.Session, a.Initial, a.Sender = "s:|\x00", taint.Shared, "who|\n\x00 is 1 2 3"
			a.Decision = "A|\x00\xff\n|"
			b.admit(a)
			v := b.admit(a)
			if v.PriorDecision != a.Decision || v.Worst.Label != a.Sender {
				b.Fatalf("%+v", v)
			}
			child := session.Conversation{Client: "a", Key: " b|\n\x00é"}
			if root, _ := b.link(child, c); root != c {
				b.Fatalf("root %q", root)
			}
			a.Conversation = child
			if v := b.admit(a); v.Entry != session.Moved || v.Root != c {
				b.Fatalf("%+v", v)
			}
			if got, err := b.Store.Reset(b.ctx, c.Ref()); err != nil || got != c {
				b.Fatalf("reset %q, %v", got, err)
			}
		}},
	}
}
