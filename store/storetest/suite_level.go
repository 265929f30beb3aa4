package storetest

import (
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

func levelSpecs() []spec {
	return []spec{
		{"a call meets what the run brings in, and names it", func(b *bench) {
			a := call(conv("a"), "r1")
			a.Initial, a.Sender = taint.External, "sender 7"
			v := b.admit(a)
			if v.Level != taint.External || v.After != taint.External || v.Worst != (session.Source{Label: "sender 7", Level: taint.External, Step: 1}) {
				b.Fatalf("%+v", v)
			}
		}},
		{"what an allowed call brings in is seen by the next one and named", func(b *bench) {
			c := conv("a")
			v := b.admit(fetch(c, "r1"))
			if v.Level != taint.Owner || v.After != taint.Untrusted {
				b.Fatalf("the fetch met %+v", v)
			}
			v = b.admit(call(c, "r2"))
			if v.Level != taint.Untrusted || v.Worst != (session.Source{Label: "web_fetch example.com", Level: taint.Untrusted, Step: 1}) {
				b.Fatalf("the next call met %+v", v)
			}
		}},
		{"a refused or held call brings in nothing", func(b *bench) {
			c := conv("a")
			refused, held := fetch(c, "r1"), fetch(c, "r2")
			refused.Modes, held.Modes = taint.Every(taint.Restrict), taint.Every(taint.Confirm)
			b.admit(refused)
			b.admit(held)
			b.wantLevel(b.worst(c), taint.Owner)
		}},
		{"H21 a level never gets better by itself", func(b *bench) {
			c := conv("a")
			b.admit(fetch(c, "r1"))
			for range 5 {
				b.wantLevel(b.level(c, "s1"), taint.Untrusted)
			}
		}},
		{"the mode is that of the level the call meets", func(b *bench) {
			c := conv("a")
			a := call(c, "r1")
			a.Modes = taint.Row{taint.Allow, taint.Allow, taint.Confirm, taint.Confirm, taint.Confirm, taint.Restrict}
			if v := b.admit(a); v.Mode != taint.Allow || v.Entry != session.Passed {
				b.Fatalf("%+v", v)
			}
			a.RequestID, a.Initial = "r2", taint.Shared
			if v := b.admit(a); v.Mode != taint.Confirm || v.Entry != session.Held {
				b.Fatalf("%+v", v)
			}
			a.RequestID, a.Initial = "r3", taint.Untrusted
			if v := b.admit(a); v.Mode != taint.Restrict || v.Entry != session.Refused {
				b.Fatalf("%+v", v)
			}
		}},
		{"H18 another session id starts afresh, and its own level is kept", func(b *bench) {
			c := conv("a")
			b.admit(fetch(c, "r1"))
			b.wantLevel(b.level(c, "s2"), taint.System)
			b.wantLevel(b.level(c, "s1"), taint.Untrusted)
		}},
		{"H18 leaving the session id out meets the worst of all", func(b *bench) {
			c := conv("a")
			b.admit(fetch(c, "r1"))
			b.wantLevel(b.level(c, ""), taint.Untrusted)
		}},
		{"H18 what came without a session id holds for all of them", func(b *bench) {
			c := conv("a")
			a := fetch(c, "r1")
			a.Session = ""
			b.admit(a)
			b.wantLevel(b.level(c, "s1"), taint.Untrusted)
			b.wantLevel(b.level(c, "s2"), taint.Untrusted)
		}},
		{"the birth level counts until a call was admitted, and not after", func(b *bench) {
			c := conv("a")
			b.must(b.Store.Raise(b.ctx, c, taint.Local, "sessions_send"))
			a := call(c, "r1")
			a.Birth = taint.External
			b.wantLevel(b.admit(a).Level, taint.External)
			a = call(c, "r2")
			a.Session, a.Birth = "s2", taint.Untrusted
			b.wantLevel(b.admit(a).Level, taint.Local)
		}},
		{"the floor of a process counts, unless the owner reset since", func(b *bench) {
			c := conv("a")
			a := call(c, "r1")
			a.Floor = session.Mark{Level: taint.External}
			b.wantLevel(b.admit(a).Level, taint.External)

			_, err := b.Store.Reset(b.ctx, c.Ref())
			b.must(err)
			a.RequestID = "r2"
			v := b.admit(a)
			b.wantLevel(v.Level, taint.Owner)
			if v.Generation == 0 {
				b.Fatal("a reset left no generation")
			}
			a.RequestID, a.Floor.Generation = "r3", v.Generation
			b.wantLevel(b.admit(a).Level, taint.External)
		}},
		{"the version changes exactly when a level or the generation does", func(b *bench) {
			c := conv("a")
			first := b.admit(call(c, "r1")).Version
			if v := b.admit(call(c, "r2")); v.Version != first {
				b.Fatalf("a call that changed nothing moved the version from %d to %d", first, v.Version)
			}
			raised := b.admit(fetch(c, "r3")).Version
			if raised <= first {
				b.Fatalf("a fetch left the version at %d", raised)
			}
			_, err := b.Store.Reset(b.ctx, c.Ref())
			b.must(err)
			if v := b.admit(call(c, "r4")); v.Version <= raised {
				b.Fatalf("a reset left the version at %d", v.Version)
			}
		}},
		{"steps count the conversation's calls across session ids", func(b *bench) {
			c := conv("a")
			for i, id := range []string{"s1", "s2", ""} {
				a := call(c, fresh("r"))
				a.Session = id
				if v := b.admit(a); v.Step != int64(i+1) {
					b.Fatalf("step %d, want %d", v.Step, i+1)
				}
			}
		}},
	}
}

func lossSpecs() []spec {
	return []spec{
		{"a new conversation in a clean store is not lost", func(b *bench) {
			v := b.admit(call(conv("a"), "r1"))
			if v.Lost || v.Level != taint.Owner {
				b.Fatalf("%+v", v)
			}
		}},
		{"H20 a vanished conversation is untrusted for every session id", func(b *bench) {
			c := conv("a")
			b.admit(call(c, "r1"))
			b.Forget(c)
			first, second := call(c, "r2"), call(c, "r3")
			first.Session, second.Session = "one", "two"
			b.wantLevel(b.admit(first).Level, taint.Untrusted)
			b.wantLevel(b.admit(second).Level, taint.Untrusted)
		}},
		{"H20 a conversation that was known and vanished is untrusted", func(b *bench) {
			c := conv("a")
			b.admit(call(c, "r1"))
			b.Forget(c)
			v := b.admit(call(c, "r2"))
			if !v.Lost || v.Level != taint.Untrusted {
				b.Fatalf("%+v", v)
			}
			b.wantLevel(b.level(c, "s1"), taint.Untrusted)
		}},
		{"a vanished conversation's grants and questions do not come back", func(b *bench) {
			c := conv("a")
			a := asking(c, "r1")
			a.Grants = []string{"f1"}
			b.admit(a)
			d := draft(c, "one", a.Digest)
			b.place(d)
			b.must(b.Store.Swap(b.ctx, approvalOf(d, 1, "f1", "v1")))
			b.Forget(c)
			a.RequestID = "r2"
			if v := b.admit(a); len(v.Grants) > 0 || v.Waiting != "" {
				b.Fatalf("%+v", v)
			}
		}},
		{"H19 after a flush every conversation is untrusted, known or not", func(b *bench) {
			b.admit(call(conv("a"), "r1"))
			b.Flush()
			for _, name := range []string{"a", "b", "c", "d"} {
				v := b.admit(call(conv(name), "r2"))
				if !v.Lost || v.Level != taint.Untrusted {
					b.Fatalf("%s: %+v", name, v)
				}
			}
		}},
		{"a flush before the first call is a loss too", func(b *bench) {
			b.must(b.Store.Ready(b.ctx))
			b.Flush()
			if v := b.admit(call(conv("a"), "r1")); !v.Lost || v.Level != taint.Untrusted {
				b.Fatalf("%+v", v)
			}
		}},
		{"after a flush an agent's automations are untrusted", func(b *bench) {
			b.must(b.Store.RaiseAutomation(b.ctx, "laptop", "a", taint.Local))
			b.Flush()
			b.wantLevel(b.floor("a"), taint.Untrusted)
			b.must(b.Store.RaiseAutomation(b.ctx, "laptop", "b", taint.Local))
			b.must(b.Store.AcceptLoss(b.ctx))
			b.wantLevel(b.floor("b"), taint.Untrusted)
			b.wantLevel(b.floor("a"), taint.System)
		}},
		{"once the owner accepts the loss, new conversations are clean, and those born meanwhile are not", func(b *bench) {
			b.admit(call(conv("a"), "r1"))
			b.Flush()
			b.admit(call(conv("a"), "r2"))
			b.must(b.Store.AcceptLoss(b.ctx))
			b.wantLevel(b.level(conv("a"), "s1"), taint.Untrusted)
			if v := b.admit(call(conv("b"), "r1")); v.Lost || v.Level != taint.Owner {
				b.Fatalf("%+v", v)
			}
			b.Flush()
			if v := b.admit(call(conv("c"), "r1")); !v.Lost {
				b.Fatalf("a second flush: %+v", v)
			}
		}},
		{"accepting when nothing was lost changes nothing", func(b *bench) {
			b.admit(fetch(conv("a"), "r1"))
			b.must(b.Store.AcceptLoss(b.ctx))
			if v := b.admit(call(conv("a"), "r2")); v.Lost || v.Level != taint.Untrusted || v.Step != 2 {
				b.Fatalf("%+v", v)
			}
			if v := b.admit(call(conv("b"), "r1")); v.Lost || v.Level != taint.Owner {
				b.Fatalf("%+v", v)
			}
		}},
	}
}

func (b *bench) floor(agent string) taint.Level {
	b.Helper()
	l, err := b.Store.AutomationFloor(b.ctx, "laptop", agent)
	b.must(err)
	return l
}
