package storetest

import (
	"errors"
	"fmt"
	"slices"
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

// drop forgets the source with this label, if it has added nothing since a time after its last.
func (b *bench) drop(c session.Conversation, label string, after time.Duration) {
	b.Helper()
	i := b.source(c, label)
	b.must(b.Store.DropSource(b.ctx, c, i.Number, i.Last.Add(after)))
}

// labels are those of all that had a say.
func (b *bench) labels(c session.Conversation) (out []string) {
	b.Helper()
	account, err := b.Store.Influences(b.ctx, c.Ref())
	b.must(err)
	for _, i := range account.Influences {
		out = append(out, i.Label)
	}
	return out
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
		{"H21 what had a say is kept, also where it made nothing worse", func(b *bench) {
			c := conv("a")
			b.admit(reads(c, "r1", "web_fetch wiki.example", taint.Untrusted))
			b.admit(reads(c, "r2", "message", taint.External))
			stranger := call(c, "r3")
			stranger.Initial, stranger.Sender, stranger.Note = taint.External, "someone wrote", true
			b.admit(stranger)
			b.must(b.Store.Raise(b.ctx, c, taint.Untrusted, "a message from another session"))
			if got := b.labels(c); !slices.Equal(got, []string{"web_fetch wiki.example", "message", "someone wrote", "a message from another session"}) {
				b.Fatalf("%q", got)
			}
			b.wantLevel(b.level(c, "s1"), taint.Untrusted)
		}},
		{"H21 dropping a source lowers no level and ends no grant", func(b *bench) {
			c := conv("a")
			b.admit(reads(c, "r1", "job one", taint.Untrusted))
			b.admit(reads(c, "r2", "job two", taint.Untrusted))
			b.grantFor(c, grantFields[0], time.Hour)
			b.drop(c, "job one", 0)
			if got := b.labels(c); !slices.Equal(got, []string{"job two"}) {
				b.Fatalf("%q", got)
			}
			b.wantLevel(b.level(c, "s1"), taint.Untrusted)
			b.wantListed(c.Hash(), 10, "a/"+grantFields[0])
		}},
		{"a source that had a say since it was looked at stays, and one that was dropped counts again later", func(b *bench) {
			c := conv("a")
			b.admit(reads(c, "r1", "job one", taint.Untrusted))
			b.drop(c, "job one", -time.Second)
			if got := b.labels(c); len(got) != 1 {
				b.Fatalf("%q", got)
			}
			b.drop(c, "job one", 0)
			b.admit(reads(c, "r2", "job one", taint.Untrusted))
			if got := b.labels(c); len(got) != 1 {
				b.Fatalf("%q", got)
			}
			if err := b.Store.DropSource(b.ctx, conv("b"), 1, time.Now()); !errors.Is(err, approval.ErrUnknown) {
				b.Fatal(err)
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
		{"H31 sources are bounded, and the rest share one", func(b *bench) {
			c := conv("a")
			for i := range session.MostInfluences + 8 { // and then some
				b.admit(reads(c, fmt.Sprint("r", i), fmt.Sprint("web_fetch ", i), taint.Untrusted))
			}
			if got := b.labels(c); len(got) != session.MostInfluences+1 || got[session.MostInfluences] != "" {
				b.Fatalf("%q are kept", got)
			}
			b.wantLevel(b.level(c, "s1"), taint.Untrusted)
		}},
		{"H19 what was lost is a source without a name", func(b *bench) {
			c := conv("a")
			b.admit(reads(c, "r1", "web_fetch wiki.example", taint.Untrusted))
			b.Forget(c)
			b.admit(reads(c, "r2", "web_fetch wiki.example", taint.Untrusted))
			b.source(c, "")
			b.wantLevel(b.level(c, "s1"), taint.Untrusted)
		}},
	}
}
