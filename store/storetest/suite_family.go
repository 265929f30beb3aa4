package storetest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

func familySpecs() []spec {
	return []spec{
		{"H21 a linked child's calls belong to its root", func(b *bench) {
			parent, child := conv("parent"), conv("child")
			b.admit(fetch(parent, "r1"))
			root, before := b.link(child, parent)
			if root != parent || before != taint.System {
				b.Fatalf("root %v, before %v", root, before)
			}
			v := b.admit(call(child, "r2"))
			if v.Entry != session.Moved || v.Root != parent {
				b.Fatalf("%+v", v)
			}
			b.wantLevel(b.worst(child), taint.Untrusted)
		}},
		{"linking tells what the child had been seen at", func(b *bench) {
			parent, child := conv("parent"), conv("child")
			b.admit(call(parent, "r1"))
			b.admit(fetch(child, "r1"))
			if _, before := b.link(child, parent); before != taint.Untrusted {
				b.Fatalf("before %v", before)
			}
		}},
		{"H20 linking a child that vanished tells the worst", func(b *bench) {
			parent, child := conv("parent"), conv("child")
			b.admit(call(parent, "r1"))
			b.admit(call(child, "r1"))
			b.Forget(child)
			if _, before := b.link(child, parent); before != taint.Untrusted {
				b.Fatalf("before %v", before)
			}
		}},
		{"H21 a call that was judged in a child before it was linked is not settled there", func(b *bench) {
			parent, child := conv("parent"), conv("child")
			b.admit(call(parent, "r1"))
			a := asking(child, "r2")
			v := b.admit(a)
			b.link(child, parent)
			s := b.settle(settling(a, v))
			if s.State != session.Stale || !s.View.Lost {
				b.Fatalf("%+v", s)
			}
		}},
		{"H21 a parent that is linked later takes its children along", func(b *bench) {
			b.admit(call(conv("c"), "r1"))
			b.link(conv("a"), conv("b"))
			b.link(conv("b"), conv("c"))
			b.must(b.Store.Raise(b.ctx, conv("a"), taint.External, "a message"))
			b.wantLevel(b.worst(conv("c")), taint.External)
			b.wantLevel(b.worst(conv("a")), taint.External)
		}},
		{"links make no circle", func(b *bench) {
			b.admit(call(conv("a"), "r1"))
			b.link(conv("a"), conv("b"))
			b.link(conv("b"), conv("c"))
			if root, _ := b.link(conv("c"), conv("a")); root != conv("c") {
				b.Fatalf("root %v", root)
			}
			b.wantLevel(b.worst(conv("a")), b.worst(conv("c")))
		}},
		{"a grandchild shares the root", func(b *bench) {
			b.admit(call(conv("a"), "r1"))
			b.link(conv("b"), conv("a"))
			if root, _ := b.link(conv("c"), conv("b")); root != conv("a") {
				b.Fatalf("root %v", root)
			}
			if v := b.admit(call(conv("c"), "r1")); v.Root != conv("a") {
				b.Fatalf("%+v", v)
			}
		}},
		{"a child that is linked stays where it is", func(b *bench) {
			b.link(conv("c"), conv("a"))
			if root, before := b.link(conv("c"), conv("b")); root != conv("a") || before != taint.System {
				b.Fatalf("root %v, before %v", root, before)
			}
		}},
		{"a conversation is not its own child, nor its child's", func(b *bench) {
			if root, _ := b.link(conv("a"), conv("a")); root != conv("a") {
				b.Fatalf("root %v", root)
			}
			b.link(conv("b"), conv("a"))
			if root, _ := b.link(conv("a"), conv("b")); root != conv("a") {
				b.Fatalf("root %v", root)
			}
			if v := b.admit(call(conv("a"), "r1")); v.Entry != session.Passed {
				b.Fatalf("%+v", v)
			}
		}},
		{"H21 raising either of a family raises both", func(b *bench) {
			parent, child := conv("parent"), conv("child")
			b.admit(call(parent, "r1"))
			b.link(child, parent)
			b.must(b.Store.Raise(b.ctx, child, taint.External, "sessions_send"))
			b.wantLevel(b.level(parent, "s1"), taint.External)
			b.must(b.Store.Raise(b.ctx, parent, taint.Untrusted, "sessions_send"))
			b.wantLevel(b.worst(child), taint.Untrusted)
		}},
		{"H21 a raise holds for every session id, also those not yet known, and is named", func(b *bench) {
			c := conv("a")
			b.admit(call(c, "r1"))
			b.must(b.Store.Raise(b.ctx, c, taint.External, "sessions_send from b"))
			b.wantLevel(b.level(c, "s1"), taint.External)
			b.wantLevel(b.level(c, "s2"), taint.External)
			b.wantLevel(b.level(c, ""), taint.External)
			if v := b.admit(call(c, "r2")); v.Worst.Label != "sessions_send from b" {
				b.Fatalf("%+v", v.Worst)
			}
		}},
		{"a raise never makes a level better", func(b *bench) {
			c := conv("a")
			b.admit(fetch(c, "r1"))
			b.must(b.Store.Raise(b.ctx, c, taint.Local, "x"))
			b.wantLevel(b.level(c, "s1"), taint.Untrusted)
		}},
		{"a conversation may be raised before its first call", func(b *bench) {
			c := conv("a")
			b.must(b.Store.Raise(b.ctx, c, taint.External, "x"))
			v := b.admit(call(c, "r1"))
			if v.Lost || v.Level != taint.External || v.Step != 1 {
				b.Fatalf("%+v", v)
			}
		}},
		{"H20 raising a conversation that vanished makes it untrusted", func(b *bench) {
			c := conv("a")
			b.admit(call(c, "r1"))
			b.Forget(c)
			b.must(b.Store.Raise(b.ctx, c, taint.Local, "x"))
			b.wantLevel(b.level(c, "s1"), taint.Untrusted)
		}},
		{"the worst of a conversation is over all its session ids", func(b *bench) {
			c := conv("a")
			b.admit(call(c, "r1"))
			b.wantLevel(b.worst(c), taint.Owner)
			a := fetch(c, "r2")
			a.Session = "s2"
			b.admit(a)
			b.wantLevel(b.worst(c), taint.Untrusted)
		}},
		{"H20 a conversation that was never seen, or vanished, is untrusted", func(b *bench) {
			b.wantLevel(b.worst(conv("a")), taint.Untrusted)
			b.admit(call(conv("a"), "r1"))
			b.Forget(conv("a"))
			b.wantLevel(b.worst(conv("a")), taint.Untrusted)
			b.link(conv("child"), conv("a"))
			b.wantLevel(b.worst(conv("child")), taint.Untrusted)
		}},
		{"only a reset makes a level better, for the whole family", func(b *bench) {
			parent, child := conv("parent"), conv("child")
			b.admit(fetch(parent, "r1"))
			b.link(child, parent)
			got, err := b.Store.Reset(b.ctx, strings.ToLower(child.Ref()))
			b.must(err)
			if got != parent {
				b.Fatalf("reset %v", got)
			}
			b.wantLevel(b.worst(child), taint.System)
			v := b.admit(call(parent, "r2"))
			if v.Level != taint.Owner || v.Step != 2 || v.Worst.Label != "owner" {
				b.Fatalf("%+v", v)
			}
		}},
		{"a reset needs a reference that names one conversation", func(b *bench) {
			seen := map[string]session.Conversation{}
			var shared string
			for i := 0; shared == ""; i++ {
				c := conv(fmt.Sprint(i))
				b.admit(call(c, "r1"))
				if _, twice := seen[c.Hash()[:2]]; twice {
					shared = c.Hash()[:2]
				}
				seen[c.Hash()[:2]] = c
			}
			if _, err := b.Store.Reset(b.ctx, shared); !errors.Is(err, approval.ErrAmbiguous) {
				b.Fatalf("%v", err)
			}
			for _, ref := range []string{conv("unseen").Ref(), "*", "[0-9a-f]*", "?", conv("0").Ref() + "*", conv("0").Hash() + "0", "zz"} {
				if _, err := b.Store.Reset(b.ctx, ref); !errors.Is(err, approval.ErrUnknown) {
					b.Fatalf("%q: %v", ref, err)
				}
			}
			if got, err := b.Store.Reset(b.ctx, conv("0").Hash()); err != nil || got != conv("0") {
				b.Fatalf("%v, %v", got, err)
			}
		}},
		{"a conversation that vanished can't be reset", func(b *bench) {
			c := conv("a")
			b.admit(call(c, "r1"))
			b.Forget(c)
			if _, err := b.Store.Reset(b.ctx, c.Ref()); !errors.Is(err, approval.ErrUnknown) {
				b.Fatalf("%v", err)
			}
		}},
		{"an agent's automation floor only gets worse, and is its own", func(b *bench) {
			b.wantLevel(b.floor("a"), taint.System)
			b.must(b.Store.RaiseAutomation(b.ctx, "laptop", "a", taint.External))
			b.must(b.Store.RaiseAutomation(b.ctx, "laptop", "a", taint.Local))
			b.wantLevel(b.floor("a"), taint.External)
			b.wantLevel(b.floor("b"), taint.System)
			if l, err := b.Store.AutomationFloor(b.ctx, "phone", "a"); err != nil || l != taint.System {
				b.Fatalf("%v, %v", l, err)
			}
		}},
	}
}
