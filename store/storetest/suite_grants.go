package storetest

import (
	"fmt"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/session"
)

func grantSpecs() []spec {
	return []spec{
		{"grants that have not ended are listed with where they stand, those that end last first", func(b *bench) {
			b.grantFor(conv("a"), "f1", time.Hour)
			b.grantFor(conv("b"), "f1", 2*time.Hour)
			b.grantFor(conv("a"), "f2", 3*time.Hour)
			b.wantListed("", 10, "a/f2", "b/f1", "a/f1")
			b.wantListed("", 2, "a/f2", "b/f1")
			b.wantListed(conv("a").Hash(), 10, "a/f2", "a/f1")
			b.wantListed(conv("a").Hash(), 1, "a/f2")
			b.wantListed(conv("c").Hash(), 10)
		}},
		{"a grant that is over, or that does not say when it is, is not listed", func(b *bench) {
			b.grantFor(conv("a"), "f1", -time.Second)
			b.grantFor(conv("a"), "f2", time.Hour)
			b.granted(conv("a"), "f3")
			b.wantListed("", 10, "a/f2")
			b.wantListed(conv("a").Hash(), 10, "a/f2")
		}},
		{"a grant that ended with its conversation's trust, or with its session, is not listed", func(b *bench) {
			b.grantFor(conv("a"), "f1", time.Hour)
			_, err := b.Store.Reset(b.ctx, conv("a").Ref())
			b.must(err)
			b.wantListed("", 10)
			b.grantFor(conv("a"), grantFields[0], time.Hour)
			b.grantFor(conv("a"), grantFields[2], time.Hour)
			r := report(conv("a"), "closed")
			r.Closed, r.Window = true, "s1"
			_, err = b.Store.Hear(b.ctx, r)
			b.must(err)
			b.wantListed("", 1, "a/"+grantFields[2])
			b.Forget(conv("a"))
			b.wantListed("", 10)
		}},
		{"a grant that is given again is listed once, with its new end", func(b *bench) {
			b.grantFor(conv("a"), "f1", 3*time.Hour)
			b.grantFor(conv("a"), "f2", 2*time.Hour)
			b.grantFor(conv("a"), "f1", time.Hour)
			b.wantListed("", 10, "a/f2", "a/f1")
		}},
		{"revoking ends what it names and nothing else", func(b *bench) {
			for _, f := range []string{"f1", "f2", "f3"} {
				b.grantFor(conv("a"), f, time.Hour)
			}
			b.grantFor(conv("b"), "f1", 2*time.Hour)
			b.revoke(2, conv("a"), "f1", "f3", "never given")
			b.wantListed("", 10, "b/f1", "a/f2")
			b.revoke(0, conv("a"), "f1")
			b.revoke(0, conv("c"), "f1")
			b.grantFor(conv("a"), "f1", 3*time.Hour)
			b.revoke(2, conv("a"))
			b.wantListed("", 10, "b/f1")
			a := asking(conv("a"), "r")
			a.Grants = []string{"f1", "f2", "f3"}
			if v := b.admit(a); len(v.Grants) > 0 {
				b.Fatalf("grants %q", v.Grants)
			}
		}},
		{"a grant that went with its conversation can't be ended once more", func(b *bench) {
			b.grantFor(conv("a"), "f1", time.Hour)
			b.Forget(conv("a"))
			b.revoke(0, conv("a"))
			b.grantFor(conv("b"), "f1", time.Hour)
			b.Forget(conv("b"))
			b.revoke(0, conv("b"), "f1")
		}},
		{"an allow that was judged with a grant is stale once that is revoked", func(b *bench) {
			b.grantFor(conv("a"), "f1", time.Hour)
			a := asking(conv("a"), "r")
			a.Grants = []string{"f1"}
			v := b.admit(a)
			b.revoke(1, conv("a"), "f1")
			if out := b.settle(settling(a, v)); out.State != session.Stale {
				b.Fatalf("%+v", out)
			}
			v = b.admit(a)
			b.revoke(0, conv("a"), "f1")
			if out := b.settle(settling(a, v)); out.State != session.Done {
				b.Fatalf("what ended nothing made it stale: %+v", out)
			}
		}},
	}
}

// grantFor gives a grant that ends so long from now.
func (b *bench) grantFor(c session.Conversation, field string, lasts time.Duration) {
	b.Helper()
	b.admit(call(c, fresh("granted")))
	d := draft(c, fresh("card"), fresh("digest"))
	d.MaxOpen = 100
	b.place(d)
	_, now, err := b.Store.Load(b.ctx)
	b.must(err)
	b.must(b.Store.Swap(b.ctx, approvalOf(d, 1, field, fmt.Sprintf("%d|%s", now.Add(lasts).Unix(), field))))
}

func (b *bench) revoke(want int, c session.Conversation, fields ...string) {
	b.Helper()
	ended, err := b.Store.Revoke(b.ctx, c.Hash(), fields...)
	b.must(err)
	if ended != want {
		b.Fatalf("%d grants ended, want %d", ended, want)
	}
}

// wantListed says what the list holds, by the names of conversations and fields.
func (b *bench) wantListed(conversation string, most int, want ...string) {
	b.Helper()
	list, now, err := b.Store.Grants(b.ctx, conversation, most)
	b.must(err)
	if now.IsZero() {
		b.Fatal("the list has no time")
	}
	names := map[string]string{}
	for _, name := range []string{"a", "b", "c"} {
		names[conv(name).Hash()] = name
	}
	var got []string
	for _, g := range list {
		got = append(got, names[g.Conversation]+"/"+g.Field)
		if !endOf(g.Value).After(now) {
			b.Fatalf("%+v is over", g)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		b.Fatalf("listed are %q, want %q", got, want)
	}
}

var _ approval.Store = (*Model)(nil)
