package storetest

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

func pauseSpecs() []spec {
	return []spec{
		{"a call with another pause than the store's does nothing and gets the store's", func(b *bench) {
			b.admit(call(conv("a"), "before"))
			b.must(b.Store.Pause(b.ctx, session.AllAgents, "stop"))
			b.must(b.Store.Pause(b.ctx, "main", "stop main"))
			a := fetch(conv("a"), "r1")
			a.Pauses.Agent = "main"
			v := b.admit(a)
			if v.Entry != session.PauseChanged || v.Paused != [2]string{"stop", "stop main"} {
				b.Fatalf("%+v", v)
			}
			a.Pauses.All, a.Pauses.Own = "stop", "stop main"
			v = b.admit(a)
			b.wantEntry(v, session.Passed)
			if v.Replayed || v.Step != 2 {
				b.Fatalf("the braked call was counted: %+v", v)
			}
		}},
		{"what one agent's pause says is nothing to another agent", func(b *bench) {
			b.must(b.Store.Pause(b.ctx, "other", "stop"))
			a := call(conv("a"), "r1")
			a.Pauses.Agent = "main"
			b.wantEntry(b.admit(a), session.Passed)
		}},
		{"where the brake is on the call is refused, and what started the run still counts", func(b *bench) {
			b.admit(call(conv("a"), "before"))
			a := fetch(conv("a"), "r1")
			a.Pauses.On, a.Initial = true, taint.External
			v := b.admit(a)
			b.wantEntry(v, session.Refused)
			if v.Mode != taint.Restrict || v.Level != taint.External || v.After != taint.External {
				b.Fatalf("%+v", v)
			}
			a.Pauses.On = false
			if v := b.admit(a); v.Entry != session.Refused || !v.Replayed {
				b.Fatalf("the same request later: %+v", v)
			}
		}},
		{"a pause between a yes and its settlement stops it, and a deny holds all the same", func(b *bench) {
			a := asking(conv("a"), "r1")
			v := b.admit(a)
			b.must(b.Store.Pause(b.ctx, session.AllAgents, "stop"))
			s := settling(a, v)
			if out := b.settle(s); out.State != session.PausedMeanwhile || out.View.Paused != [2]string{"stop", ""} {
				b.Fatalf("%+v", out)
			}
			b.deny(denying(a))
			a.Pauses.All = "stop"
			b.wantDenied(a)
		}},
		{"a settlement that was halted can be settled once its brake is right", func(b *bench) {
			a := asking(conv("a"), "r1")
			v := b.admit(a)
			b.must(b.Store.Pause(b.ctx, session.AllAgents, "lifted"))
			s := settling(a, v)
			b.settle(s)
			s.Pauses.All = "lifted"
			if out := b.settle(s); out.State != session.Done {
				b.Fatalf("%+v", out)
			}
		}},
		{"the last word under a scope counts, and all can be read", func(b *bench) {
			b.must(b.Store.Pause(b.ctx, "main", "one"))
			b.must(b.Store.Pause(b.ctx, "main", "two|with\nanything \"in\" it"))
			b.must(b.Store.Pause(b.ctx, session.AllAgents, "three"))
			words, err := b.Store.Pauses(b.ctx)
			b.must(err)
			if len(words) != 2 || words["main"] != "two|with\nanything \"in\" it" || words[session.AllAgents] != "three" {
				b.Fatalf("%q", words)
			}
		}},
		{"a word is restored only where the text that was found still is", func(b *bench) {
			b.must(b.Store.RestorePause(b.ctx, "main", "", "one"))
			b.must(b.Store.Pause(b.ctx, "main", "two"))
			b.must(b.Store.RestorePause(b.ctx, "main", "", "one"))
			b.must(b.Store.RestorePause(b.ctx, "main", "one", "three"))
			words, err := b.Store.Pauses(b.ctx)
			b.must(err)
			if len(words) != 1 || words["main"] != "two" {
				b.Fatalf("%q", words)
			}
		}},
		{"a pause wakes every process", func(b *bench) {
			ctx, stop := context.WithCancel(b.ctx)
			woken, ended := make(chan string, 100), make(chan error, 1)
			go func() { ended <- b.Store.Wakes(ctx, func(id string) { woken <- id }) }()
			b.hears(woken, approval.PauseWake, func() { b.must(b.Store.Pause(b.ctx, "main", "stop")) })
			stop()
			if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
				b.Fatal(err)
			}
		}},
		{"an agent may ask so often within a window, and others are not counted", func(b *bench) {
			for range 3 {
				b.spend("main", 3, time.Hour, true)
			}
			away := b.spend("main", 3, time.Hour, false)
			_, now, err := b.Store.Load(b.ctx)
			b.must(err)
			if left := away.Room.Sub(now); left <= 59*time.Minute || left > time.Hour {
				b.Fatalf("room in %v", left)
			}
			b.spend("other", 3, time.Hour, true)
			b.spend("main", 4, time.Hour, true)
			b.spend("main", 0, time.Hour, false)
		}},
		{"there is room again once the oldest question has left the window", func(b *bench) {
			b.spend("main", 1, b.short(), true)
			b.outlive()
			b.spend("main", 1, b.short(), true)
		}},
		{"the first refusal in a window says so, and the first after forgiving again", func(b *bench) {
			if first := b.spend("main", 0, time.Hour, false).First; !first {
				b.Fatal("the first time is not the first")
			}
			if b.spend("main", 0, time.Hour, false).First {
				b.Fatal("the second time is the first")
			}
			if !b.spend("other", 0, b.short(), false).First {
				b.Fatal("another agent was not told")
			}
			b.outlive()
			if !b.spend("other", 0, b.short(), false).First {
				b.Fatal("it was not told anew after the window")
			}
			b.must(b.Store.Forgive(b.ctx, "main"))
			if !b.spend("main", 0, time.Hour, false).First {
				b.Fatal("it was not told anew after it was forgiven")
			}
		}},
		{"a question that was turned away is not counted", func(b *bench) {
			if b.Real {
				return
			}
			b.spend("main", 1, time.Minute, true)
			b.Advance(59 * time.Second)
			b.spend("main", 1, time.Minute, false)
			b.Advance(time.Second)
			b.spend("main", 1, time.Minute, true)
		}},
		{"what an agent asked can be forgiven, one agent's or all", func(b *bench) {
			b.spend("main", 1, time.Hour, true)
			b.spend("other", 1, time.Hour, true)
			b.must(b.Store.Forgive(b.ctx, "main", "nobody"))
			b.spend("main", 1, time.Hour, true)
			b.spend("other", 1, time.Hour, false)
			b.must(b.Store.Forgive(b.ctx))
			b.spend("main", 1, time.Hour, true)
			b.spend("other", 1, time.Hour, true)
		}},
		{"a question that reached no one can be taken back, one at a time", func(b *bench) {
			b.must(b.Store.Refund(b.ctx, "main"))
			for range 3 {
				b.spend("main", 3, time.Hour, true)
			}
			b.must(b.Store.Refund(b.ctx, "main"))
			b.must(b.Store.Refund(b.ctx, "other"))
			b.spend("main", 3, time.Hour, true)
			b.spend("main", 3, time.Hour, false)
			b.must(b.Store.Refund(b.ctx, "main"))
			b.spend("main", 3, time.Hour, true)
		}},
		{"of 50 questions at once just so many are counted", func(b *bench) {
			var taken atomic.Int64
			b.parallel(50, func(int) error {
				s, err := b.Store.Spend(b.ctx, "main", 10, time.Hour)
				if s.OK {
					taken.Add(1)
				}
				return err
			})
			if n := taken.Load(); n != 10 {
				b.Fatalf("%d", n)
			}
		}},
	}
}

func (b *bench) spend(agent string, most int, window time.Duration, want bool) approval.Spending {
	b.Helper()
	s, err := b.Store.Spend(b.ctx, agent, most, window)
	b.must(err)
	if s.OK != want {
		b.Fatalf("%s may ask: %v, want %v", agent, s.OK, want)
	}
	return s
}
