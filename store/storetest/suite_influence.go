package storetest

import (
	"errors"
	"fmt"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// reads is a call that is allowed and brings this in.
func reads(c session.Conversation, id, source string, level taint.Level) session.Admission {
	a := call(c, id)
	a.Raise, a.Source, a.Final, a.Note = level, source, true, true
	a.Modes = taint.Row{}
	return a
}

// vouch says the owner's word about the source with this label.
func (b *bench) vouch(c session.Conversation, label string, is bool) session.Endorsement {
	b.Helper()
	i := b.source(c, label)
	e, err := b.Store.Endorse(b.ctx, c.Ref(), i.Number, is, i.Last)
	b.must(err)
	return e
}

func (b *bench) source(c session.Conversation, label string) session.Influence {
	b.Helper()
	account, err := b.Store.Influences(b.ctx, c.Ref())
	b.must(err)
	for _, i := range account.Influences {
		if i.Label == label {
			return i
		}
	}
	b.Fatalf("%q is not among %+v", label, account.Influences)
	return session.Influence{}
}

func influenceSpecs() []spec {
	return []spec{
		{"H21 taking out one source leaves the level of the others", func(b *bench) {
			c := conv("a")
			b.admit(reads(c, "r1", "web_fetch wiki.example", taint.Untrusted))
			b.admit(reads(c, "r2", "web_fetch evil.example", taint.Untrusted))
			b.admit(reads(c, "r3", "message", taint.External))
			if e := b.vouch(c, "web_fetch wiki.example", true); e.Before != taint.Untrusted || e.After != taint.Untrusted {
				b.Fatalf("%+v", e)
			}
			if e := b.vouch(c, "web_fetch evil.example", true); e.After != taint.External {
				b.Fatalf("%+v", e)
			}
			v := b.admit(call(c, "r4"))
			b.wantLevel(v.Level, taint.External)
			if v.Worst.Label != "message" {
				b.Fatalf("the level is explained by %+v", v.Worst)
			}
			b.vouch(c, "message", true)
			b.wantLevel(b.level(c, "s1"), taint.Local) // never as if nothing had been there
		}},
		{"vouching for a source ends the conversation's grants, taking that back does not", func(b *bench) {
			c := conv("a")
			b.grantFor(c, grantFields[0], time.Hour) // before it had a say
			b.grantFor(conv("b"), grantFields[0], 3*time.Hour)
			b.admit(reads(c, "r1", "web_fetch wiki.example", taint.Untrusted))
			b.grantFor(c, grantFields[2], 2*time.Hour)
			b.vouch(c, "web_fetch wiki.example", true)
			b.wantListed("", 10, "b/"+grantFields[0])
			if v := b.admit(call(c, "r2")); len(v.Grants) != 0 {
				b.Fatalf("grants %q", v.Grants)
			}
			b.grantFor(c, grantFields[0], time.Hour)
			b.vouch(c, "web_fetch wiki.example", true) // nothing is lowered by it
			b.vouch(c, "web_fetch wiki.example", false)
			b.wantListed(c.Hash(), 10, "a/"+grantFields[0])
		}},
		{"H21 what comes from a source later counts again", func(b *bench) {
			c := conv("a")
			b.admit(reads(c, "r1", "web_fetch wiki.example", taint.Untrusted))
			before := b.admit(call(c, "r2"))
			b.vouch(c, "web_fetch wiki.example", true)
			again := reads(c, "r3", "web_fetch wiki.example", taint.Untrusted)
			again.Note = false // a process that has not heard of it yet
			again.Floor = session.Mark{Generation: before.Generation}
			b.admit(again)
			b.wantLevel(b.level(c, "s1"), taint.Untrusted)
			if i := b.source(c, "web_fetch wiki.example"); !i.Endorsed.IsZero() {
				b.Fatalf("%+v", i)
			}
		}},
		{"H21 also where it made nothing worse", func(b *bench) {
			c := conv("a")
			b.admit(reads(c, "r1", "web_fetch wiki.example", taint.Untrusted))
			b.admit(reads(c, "r2", "web_fetch evil.example", taint.Untrusted))
			b.vouch(c, "web_fetch wiki.example", true)
			again := reads(c, "r3", "web_fetch wiki.example", taint.Untrusted)
			again.Note = false // the process thinks that it is known
			b.admit(again)
			b.vouch(c, "web_fetch evil.example", true)
			b.wantLevel(b.level(c, "s1"), taint.Untrusted)
		}},
		{"H21 who wrote, and what another session sent, can't be taken out", func(b *bench) {
			c := conv("a")
			b.admit(reads(c, "r1", "web_fetch wiki.example", taint.Untrusted))
			stranger := call(c, "r2")
			stranger.Initial, stranger.Sender, stranger.Note = taint.External, "someone wrote", true
			b.admit(stranger)
			b.vouch(c, "web_fetch wiki.example", true)
			b.wantLevel(b.level(c, "s1"), taint.External)
			i := b.source(c, "someone wrote")
			if _, err := b.Store.Endorse(b.ctx, c.Ref(), i.Number, true, i.Last); !errors.Is(err, approval.ErrFixed) {
				b.Fatalf("the sender was taken out: %v", err)
			}
			b.must(b.Store.Raise(b.ctx, c, taint.Untrusted, "a message from another session"))
			b.wantLevel(b.level(c, "s1"), taint.Untrusted)
			i = b.source(c, "a message from another session")
			if _, err := b.Store.Endorse(b.ctx, c.Ref(), i.Number, true, i.Last); !errors.Is(err, approval.ErrFixed) {
				b.Fatalf("another session was taken out: %v", err)
			}
		}},
		{"what a process has seen before does not undo it, and what it sees after counts", func(b *bench) {
			c := conv("a")
			b.admit(reads(c, "r1", "web_fetch wiki.example", taint.Untrusted))
			b.vouch(c, "web_fetch wiki.example", true)
			a := call(c, "r2")
			a.Floor = session.Mark{Level: taint.Untrusted}
			v := b.admit(a)
			b.wantLevel(v.Level, taint.Local)
			a.RequestID, a.Floor.Generation = "r3", v.Generation
			b.wantLevel(b.admit(a).Level, taint.Untrusted)
			if e := b.vouch(c, "web_fetch wiki.example", true); e.After != taint.Untrusted {
				b.Fatalf("a level that nothing explains was lowered: %+v", e)
			}
		}},
		{"a word that was taken back counts no longer", func(b *bench) {
			c := conv("a")
			b.admit(reads(c, "r1", "web_fetch wiki.example", taint.Untrusted))
			b.vouch(c, "web_fetch wiki.example", true)
			b.vouch(c, "web_fetch wiki.example", false)
			b.wantLevel(b.level(c, "s1"), taint.Untrusted)
		}},
		{"a source that had a say since it was looked at stays", func(b *bench) {
			c := conv("a")
			b.admit(reads(c, "r1", "web_fetch wiki.example", taint.Untrusted))
			i := b.source(c, "web_fetch wiki.example")
			if _, err := b.Store.Endorse(b.ctx, c.Ref(), i.Number, true, i.Last.Add(-time.Second)); !errors.Is(err, approval.ErrAgain) {
				b.Fatal(err)
			}
			if _, err := b.Store.Endorse(b.ctx, c.Ref(), i.Number+7, true, i.Last); !errors.Is(err, approval.ErrNoSource) {
				b.Fatal(err)
			}
			if _, err := b.Store.Endorse(b.ctx, conv("b").Ref(), i.Number, true, i.Last); !errors.Is(err, approval.ErrUnknown) {
				b.Fatal(err)
			}
			b.wantLevel(b.level(c, "s1"), taint.Untrusted)
		}},
		{"a call that was judged before is stale after it", func(b *bench) {
			c := conv("a")
			b.admit(reads(c, "r1", "web_fetch wiki.example", taint.Untrusted))
			v := b.admit(call(c, "r2"))
			b.vouch(c, "web_fetch wiki.example", true)
			if after := b.admit(call(c, "r3")); after.Version <= v.Version || after.Generation <= v.Generation {
				b.Fatalf("%+v", after)
			}
		}},
		{"numbers are never given twice, also not after a reset", func(b *bench) {
			c := conv("a")
			b.admit(reads(c, "r1", "web_fetch wiki.example", taint.Untrusted))
			first := b.source(c, "web_fetch wiki.example").Number
			_, err := b.Store.Reset(b.ctx, c.Ref())
			b.must(err)
			b.admit(reads(c, "r2", "web_fetch evil.example", taint.Untrusted))
			if i := b.source(c, "web_fetch evil.example"); i.Number == first {
				b.Fatalf("%+v", i)
			}
		}},
		{"H31 sources are bounded, and the rest can't be taken out", func(b *bench) {
			c := conv("a")
			for i := range session.MostInfluences + 8 { // and then some
				b.admit(reads(c, fmt.Sprint("r", i), fmt.Sprint("web_fetch ", i), taint.Untrusted))
			}
			account, err := b.Store.Influences(b.ctx, c.Ref())
			b.must(err)
			if n := len(account.Influences); n != session.MostInfluences+1 {
				b.Fatalf("%d are kept", n)
			}
			for _, i := range account.Influences {
				if !i.Fixed {
					_, err := b.Store.Endorse(b.ctx, c.Ref(), i.Number, true, i.Last)
					b.must(err)
				}
			}
			b.wantLevel(b.level(c, "s1"), taint.Untrusted)
		}},
		{"H19 what was lost can't be taken out", func(b *bench) {
			c := conv("a")
			b.admit(reads(c, "r1", "web_fetch wiki.example", taint.Untrusted))
			b.Forget(c)
			b.admit(reads(c, "r2", "web_fetch wiki.example", taint.Untrusted))
			b.vouch(c, "web_fetch wiki.example", true)
			b.wantLevel(b.level(c, "s1"), taint.Untrusted)
		}},
	}
}
