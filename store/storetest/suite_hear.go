package storetest

import (
	"fmt"

	"sync"
	"time"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// report is an event that brings nothing, in session s1.
func report(c session.Conversation, id string) session.Report {
	return session.Report{Conversation: c, Session: "s1", RequestID: id, Body: body(id), Birth: taint.Untrusted, Keep: 11 * time.Minute}
}

// brings is an event that says what came into a conversation.
func brings(c session.Conversation, id string, level taint.Level) session.Report {
	r := report(c, id)
	r.Raise, r.Source = level, "web_fetch example.com"
	return r
}

// starts is an event that says who started a run.
func starts(c session.Conversation, id string, level taint.Level) session.Report {
	r := report(c, id)
	r.Start, r.Raise, r.Birth, r.Source = true, level, level, "the owner wrote directly"
	return r
}

func (b *bench) hear(r session.Report) session.Heard {
	b.Helper()
	h, err := b.Store.Hear(b.ctx, r)
	b.must(err)
	return h
}

// hearSpecs say what an event may do to a conversation: make it worse.
func hearSpecs() []spec {
	return []spec{
		{"an event makes the level worse and never better", func(b *bench) {
			b.admit(call(conv("a"), "r"))
			if h := b.hear(brings(conv("a"), "e1", taint.External)); h.Before != taint.Owner || h.Level != taint.External || !h.Known {
				b.Fatalf("%+v", h)
			}
			b.hear(brings(conv("a"), "e2", taint.Local))
			b.hear(starts(conv("a"), "e3", taint.System))
			b.wantLevel(b.level(conv("a"), "s1"), taint.External)
		}},
		{"an event is no call", func(b *bench) {
			b.admit(call(conv("a"), "r1"))
			for _, id := range []string{"e1", "e2", "e3"} {
				b.hear(brings(conv("a"), id, taint.Shared))
			}
			if v := b.admit(call(conv("a"), "r2")); v.Step != 2 || v.Worst.Step != 1 || v.Worst.Label != "web_fetch example.com" {
				b.Fatalf("%+v", v)
			}
		}},
		{"what an event brings into one session stays out of the next", func(b *bench) {
			b.admit(call(conv("a"), "r"))
			b.hear(brings(conv("a"), "e", taint.Untrusted))
			b.wantLevel(b.level(conv("a"), "s2"), taint.System)
			b.wantLevel(b.level(conv("a"), ""), taint.Untrusted)
		}},
		{"without a session id it is for all of them", func(b *bench) {
			b.admit(call(conv("a"), "r"))
			r := brings(conv("a"), "e", taint.Untrusted)
			r.Session = ""
			b.hear(r)
			b.wantLevel(b.level(conv("a"), "s2"), taint.Untrusted)
		}},
		{"a judged call is stale after an event that made it worse, and only then", func(b *bench) {
			one, two := asking(conv("a"), "r1"), asking(conv("a"), "r2")
			v1, v2 := b.admit(one), b.admit(two)
			b.hear(report(conv("a"), "e1"))
			if s := b.settle(settling(one, v1)); s.State != session.Done {
				b.Fatalf("%+v", s)
			}
			b.hear(brings(conv("a"), "e2", taint.Untrusted))
			if s := b.settle(settling(two, v2)); s.State != session.Stale || s.View.Level != taint.Untrusted {
				b.Fatalf("%+v", s)
			}
		}},
		{"an event that comes again does nothing, and one with another body neither", func(b *bench) {
			b.admit(call(conv("a"), "r"))
			b.hear(report(conv("a"), "e"))
			again := brings(conv("a"), "e", taint.Untrusted)
			if h := b.hear(again); !h.Replayed || h.Level != taint.Owner {
				b.Fatalf("%+v", h)
			}
			again.Body = body("other")
			if h := b.hear(again); !h.Conflict {
				b.Fatalf("%+v", h)
			}
			b.wantLevel(b.level(conv("a"), "s1"), taint.Owner)
		}},
		{"a call can't have the id of an event, nor an event that of a call", func(b *bench) {
			b.hear(report(conv("a"), "e"))
			a := call(conv("a"), "e")
			a.Body = body("other")
			b.wantEntry(b.admit(a), session.Conflict)
			a.Body = body("e")
			if v := b.admit(a); v.Entry == session.Passed {
				b.Fatalf("%+v", v)
			}
			b.admit(call(conv("a"), "r"))
			r := report(conv("a"), "r")
			r.Body = body("other")
			if h := b.hear(r); !h.Conflict {
				b.Fatalf("%+v", h)
			}
		}},
		{"an event that brings nothing makes no conversation", func(b *bench) {
			if h := b.hear(report(conv("a"), "e")); h.Known || h.Lost {
				b.Fatalf("%+v", h)
			}
			b.wantLevel(b.worst(conv("a")), taint.Untrusted) // as of one that was never seen
			if v := b.admit(call(conv("a"), "r")); v.Lost || v.Level != taint.Owner {
				b.Fatalf("%+v", v)
			}
		}},
		{"what is met for the first time is worth no more than what is known of it", func(b *bench) {
			if h := b.hear(brings(conv("a"), "e", taint.Local)); h.Known || h.Level != taint.Untrusted {
				b.Fatalf("%+v", h)
			}
			if h := b.hear(starts(conv("b"), "e", taint.Owner)); h.Known || h.Level != taint.Owner {
				b.Fatalf("%+v", h)
			}
			if h := b.hear(brings(conv("b"), "e2", taint.Local)); !h.Known || h.Level != taint.Local {
				b.Fatalf("%+v", h)
			}
			r := brings(conv("b"), "e3", taint.Local)
			r.Session = "s2"
			if h := b.hear(r); h.Known || h.Level != taint.Untrusted {
				b.Fatalf("%+v", h)
			}
		}},
		{"a conversation that an event began still has its first call before it", func(b *bench) {
			b.hear(starts(conv("a"), "e", taint.Owner))
			a := call(conv("a"), "r")
			a.Birth = taint.External
			b.wantLevel(b.admit(a).Level, taint.External)
		}},
	}
}

// hearEndSpecs say what ends by an event.
func hearEndSpecs() []spec {
	return []spec{
		{"a session that goes on under another id takes its level along", func(b *bench) {
			b.admit(fetch(conv("a"), "r"))
			r := report(conv("a"), "e")
			r.Next = "s2"
			b.hear(r)
			b.wantLevel(b.level(conv("a"), "s2"), taint.Untrusted)
			b.wantLevel(b.level(conv("a"), "s3"), taint.System)
		}},
		{"a run that is over has no grants any more", func(b *bench) {
			b.granted(conv("a"), grantFields...)
			r := report(conv("a"), "e")
			r.Ended = "run1"
			b.hear(r)
			b.wantGrants(conv("a"), grantFields[0])
		}},
		{"nor has a session that is over", func(b *bench) {
			b.granted(conv("a"), grantFields...)
			r := report(conv("a"), "e")
			r.Closed, r.Window = true, "s1"
			b.hear(r)
			b.wantGrants(conv("a"), grantFields[2])
		}},
		{"what was judged with a grant that ends by an event is stale", func(b *bench) {
			b.granted(conv("a"), grantFields...)
			for i, end := range []func(*session.Report){
				func(r *session.Report) { r.Ended = "run1" },
				func(r *session.Report) { r.Closed, r.Window = true, "s1" },
				func(r *session.Report) { r.Closed, r.Window = true, "s1" }, // nothing is left to end
			} {
				a := asking(conv("a"), fmt.Sprint("r", i))
				v := b.admit(a)
				r := report(conv("a"), fmt.Sprint("e", i))
				end(&r)
				b.hear(r)
				if out := b.settle(settling(a, v)); (out.State == session.Stale) != (i < 2) {
					b.Fatalf("%d: %+v", i, out)
				}
			}
		}},
		{"a halted run makes no more counted calls", func(b *bench) {
			r := report(conv("a"), "e")
			r.Halted = "run1"
			b.hear(r)
			a := call(conv("a"), "r1")
			a.Run, a.RunCap = "run1", 100
			if v := b.admit(a); !v.Capped || v.Entry != session.Refused {
				b.Fatalf("%+v", v)
			}
			other := call(conv("a"), "r2")
			other.Run, other.RunCap = "run2", 100
			b.wantEntry(b.admit(other), session.Passed)
		}},
		{"a child's events are its root's", func(b *bench) {
			b.admit(call(conv("parent"), "r"))
			b.link(conv("child"), conv("parent"))
			if h := b.hear(brings(conv("child"), "e", taint.Untrusted)); !h.Moved || h.Root != conv("parent") {
				b.Fatalf("%+v", h)
			}
			b.wantLevel(b.level(conv("parent"), "s1"), taint.Owner)
		}},
		{"what the store has lost is untrusted, whatever an event says", func(b *bench) {
			b.admit(call(conv("a"), "r"))
			b.Forget(conv("a"))
			if h := b.hear(report(conv("a"), "e1")); !h.Lost || h.Level != taint.Untrusted || h.Known {
				b.Fatalf("%+v", h)
			}
			if h := b.hear(starts(conv("a"), "e2", taint.Owner)); !h.Lost || h.Level != taint.Untrusted {
				b.Fatalf("%+v", h)
			}
			b.Flush()
			if h := b.hear(starts(conv("b"), "e1", taint.Owner)); !h.Lost || h.Level != taint.Untrusted {
				b.Fatalf("%+v", h)
			}
			b.wantLevel(b.level(conv("b"), "s9"), taint.Untrusted)
		}},
		{"no call passes behind an event that came first", func(b *bench) {
			b.admit(call(conv("a"), "r"))
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					r := brings(conv("a"), fresh("event"), taint.Untrusted)
					if _, err := b.Store.Hear(b.ctx, r); err != nil {
						b.Error(err)
						return
					}
					a := call(conv("a"), fresh("call"))
					a.Modes[taint.Untrusted] = taint.Confirm
					if v, err := b.Store.Admit(b.ctx, a); err != nil || v.Entry != session.Held {
						b.Errorf("%+v %v", v, err)
					}
				})
			}
			all.Wait()
		}},
	}
}

// granted gives grants in a conversation.
func (b *bench) granted(c session.Conversation, fields ...string) {
	b.Helper()
	b.admit(call(c, fresh("granted")))
	for _, field := range fields {
		d := draft(c, fresh("card"), fresh("digest"))
		b.place(d)
		b.must(b.Store.Swap(b.ctx, approvalOf(d, 1, field, "value of "+field)))
	}
}

// wantGrants says which of the grants are left.
func (b *bench) wantGrants(c session.Conversation, fields ...string) {
	b.Helper()
	a := asking(c, fresh("grants"))
	a.Grants = grantFields
	v := b.admit(a)
	if len(v.Grants) != len(fields) {
		b.Fatalf("there are %q", v.Grants)
	}
	for i, field := range fields {
		if v.Grants[i] != "value of "+field {
			b.Fatalf("there are %q", v.Grants)
		}
	}
}
