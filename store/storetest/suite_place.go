package storetest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
)

func placeSpecs() []spec {
	return []spec{
		{"a new card is up, and reads as it was written", func(b *bench) {
			c := conv("a")
			b.admit(call(c, "r1"))
			d := draft(c, "one", "digest")
			d.Blob = []byte("a blob\x00with\nanything\xff")
			p := b.place(d)
			if p.State != approval.New || p.ID != d.ID {
				b.Fatalf("%+v", p)
			}
			k := b.card(d.ID)
			if k.Version != 1 || string(k.Blob) != string(d.Blob) || !k.Until.Equal(p.Until) {
				b.Fatalf("%+v, placed %+v", k, p)
			}
			_, now, err := b.Store.Load(b.ctx)
			b.must(err)
			if left := p.Until.Sub(now); left <= 59*time.Minute || left > time.Hour {
				b.Fatalf("%v left of an hour", left)
			}
		}},
		{"a card needs a conversation that the store knows", func(b *bench) {
			b.must(b.Store.Ready(b.ctx))
			if _, err := b.Store.Place(b.ctx, draft(conv("a"), "one", "digest")); !errors.Is(err, approval.ErrUnknown) {
				b.Fatalf("%v", err)
			}
		}},
		{"a live card about the same call is shared", func(b *bench) {
			c := conv("a")
			b.admit(call(c, "r1"))
			first := b.place(draft(c, "one", "digest"))
			p := b.place(draft(c, "two", "other", "digest"))
			if p.State != approval.Shared || p.ID != first.ID || !p.Until.Equal(first.Until) {
				b.Fatalf("%+v, want %+v", p, first)
			}
			if id := b.find("seal-two"); id != "" {
				b.Fatalf("the draft's code leads to %q", id)
			}
			if p := b.place(draft(c, "three", "other")); p.State != approval.New {
				b.Fatalf("another digest: %+v", p)
			}
			b.admit(call(conv("b"), "r1"))
			if p := b.place(draft(conv("b"), "four", "digest")); p.State != approval.New {
				b.Fatalf("another conversation: %+v", p)
			}
		}},
		{"a card that can no longer serve gives way to the one that comes instead", func(b *bench) {
			c := conv("a")
			b.admit(call(c, "r1"))
			spent := b.place(draft(c, "one", "digest"))
			d := draft(c, "two", "digest")
			d.Instead = spent.ID
			next := b.place(d)
			if next.State != approval.New {
				b.Fatalf("%+v", next)
			}
			late := draft(c, "three", "digest") // someone else found the same card spent
			late.Instead = spent.ID
			if p := b.place(late); p.State != approval.Shared || p.ID != next.ID {
				b.Fatalf("%+v, want to share %+v", p, next)
			}
		}},
		{"an expired card is not shared", func(b *bench) {
			c := conv("a")
			b.admit(call(c, "r1"))
			d := draft(c, "one", "digest")
			d.Live = b.short()
			b.place(d)
			b.outlive()
			if p := b.place(draft(c, "two", "digest")); p.State != approval.New {
				b.Fatalf("%+v", p)
			}
		}},
		{"a life ends at its very millisecond, and not before", func(b *bench) {
			if b.Real {
				return
			}
			c := conv("a")
			a := call(c, "r1")
			a.Keep = time.Minute
			b.admit(a)
			d := draft(c, "one", "digest")
			d.Live = time.Minute
			b.place(d)
			b.miss("eve", time.Minute, true)
			asked := asking(c, "r2")
			asked.Digest = "digest"
			state := func() string {
				open, err := b.Store.Open(b.ctx)
				b.must(err)
				asked.RequestID = fresh("r")
				return fmt.Sprint(len(open), " open, ", b.miss("eve", time.Minute, false), " tries, waits ", b.admit(asked).Waiting == d.ID)
			}
			b.Advance(time.Minute - time.Millisecond)
			if got := state(); got != "1 open, 1 tries, waits true" || !b.admit(a).Replayed {
				b.Fatal("a millisecond before its end: ", got)
			}
			if p := b.place(draft(c, "two", "digest")); p.State != approval.Shared {
				b.Fatalf("a millisecond before its end: %+v", p)
			}
			b.Advance(time.Millisecond)
			if got := state(); got != "0 open, 0 tries, waits false" || b.admit(a).Replayed {
				b.Fatal("at its end: ", got)
			}
			if p := b.place(draft(c, "three", "digest")); p.State != approval.New {
				b.Fatalf("at its end: %+v", p)
			}
		}},
		{"a conversation has at most MaxOpen live cards, and others are not counted", func(b *bench) {
			c := conv("a")
			b.admit(call(c, "r1"))
			b.admit(call(conv("b"), "r1"))
			for i := range 2 {
				if p := b.place(b.small(c, fmt.Sprint("card", i))); p.State != approval.New {
					b.Fatalf("%+v", p)
				}
			}
			if p := b.place(b.small(c, "card2")); p.State != approval.Full || p.ID != "" {
				b.Fatalf("%+v", p)
			}
			if p := b.place(b.small(conv("b"), "card3")); p.State != approval.New {
				b.Fatalf("%+v", p)
			}
		}},
		{"a card that is closed makes room", func(b *bench) {
			c := conv("a")
			b.admit(call(c, "r1"))
			one := b.small(c, "one")
			b.place(one)
			b.place(b.small(c, "two"))
			b.must(b.Store.Swap(b.ctx, approval.Change{ID: one.ID, Version: 1, Conversation: c, Blob: []byte("x"), Closed: true}))
			if p := b.place(b.small(c, "three")); p.State != approval.New {
				b.Fatalf("%+v", p)
			}
		}},
		{"a card that expired makes room", func(b *bench) {
			c := conv("a")
			b.admit(call(c, "r1"))
			one := b.small(c, "one")
			one.Live = b.short()
			b.place(one)
			b.place(b.small(c, "two"))
			b.outlive()
			if p := b.place(b.small(c, "three")); p.State != approval.New {
				b.Fatalf("%+v", p)
			}
		}},
		{"one batch card collects the rest, and is named when all is full", func(b *bench) {
			c := conv("a")
			b.admit(call(c, "r1"))
			b.place(b.small(c, "one"))
			b.place(b.small(c, "two"))
			batch := b.small(c, "batch")
			batch.Batch, batch.Digests = true, []string{"d1", "d2"}
			first := b.place(batch)
			if first.State != approval.New {
				b.Fatalf("%+v", first)
			}
			if p := b.place(b.small(c, "three")); p.State != approval.Full || p.ID != batch.ID || !p.Until.Equal(first.Until) {
				b.Fatalf("%+v", p)
			}
			second := b.small(c, "batch2")
			second.Batch = true
			if p := b.place(second); p.State != approval.Full || p.ID != batch.ID {
				b.Fatalf("%+v", p)
			}
			for _, digest := range batch.Digests {
				if p := b.place(draft(c, "share"+digest, digest)); p.State != approval.Shared || p.ID != batch.ID {
					b.Fatalf("%+v", p)
				}
			}
		}},
		{"a batch card does not count as open", func(b *bench) {
			c := conv("a")
			b.admit(call(c, "r1"))
			batch := b.small(c, "batch")
			batch.Batch = true
			b.place(batch)
			for _, name := range []string{"one", "two"} {
				if p := b.place(b.small(c, name)); p.State != approval.New {
					b.Fatalf("%+v", p)
				}
			}
		}},
		{"a code is taken as long as its card is remembered", func(b *bench) {
			c := conv("a")
			b.admit(call(c, "r1"))
			one := draft(c, "one", "digest")
			b.place(one)
			two := draft(c, "two", "digest2")
			two.CodeSeal = one.CodeSeal
			if _, err := b.Store.Place(b.ctx, two); !errors.Is(err, approval.ErrCodeTaken) {
				b.Fatalf("%v", err)
			}
			if id := b.find(one.CodeSeal); id != one.ID {
				b.Fatalf("the code leads to %q", id)
			}
			if b.Real {
				return
			}
			b.Advance(one.Live + approval.Retention + time.Second)
			if p := b.place(two); p.State != approval.New || b.find(one.CodeSeal) != two.ID {
				b.Fatalf("%+v", p)
			}
		}},
		{"64 cards about one call at once are one card", func(b *bench) {
			c := conv("a")
			b.admit(call(c, "r1"))
			got := make([]approval.Placement, 64)
			b.parallel(len(got), func(i int) (err error) {
				got[i], err = b.Store.Place(b.ctx, draft(c, fmt.Sprint("card", i), "digest"))
				return err
			})
			fresh := slices.DeleteFunc(slices.Clone(got), func(p approval.Placement) bool { return p.State != approval.New })
			if len(fresh) != 1 {
				b.Fatalf("%d cards are new", len(fresh))
			}
			for _, p := range got {
				if p.ID != fresh[0].ID {
					b.Fatalf("%+v, want %+v", p, fresh[0])
				}
			}
		}},
	}
}
