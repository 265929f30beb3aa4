package storetest

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/session"
)

func swapSpecs() []spec {
	return []spec{
		{"a change replaces the card that was read, once", func(b *bench) {
			d := b.placed("one", "digest")
			ch := approval.Change{ID: d.ID, Version: 1, Conversation: d.Conversation, Blob: []byte("changed")}
			b.must(b.Store.Swap(b.ctx, ch))
			if k := b.card(d.ID); k.Version != 2 || string(k.Blob) != "changed" {
				b.Fatalf("%+v", k)
			}
			ch.Blob = []byte("again")
			if err := b.Store.Swap(b.ctx, ch); !errors.Is(err, approval.ErrStale) {
				b.Fatalf("%v", err)
			}
			if k := b.card(d.ID); string(k.Blob) != "changed" {
				b.Fatalf("%+v", k)
			}
		}},
		{"there is nothing to change where no card is", func(b *bench) {
			b.placed("one", "digest")
			d := draft(conv("a"), "none")
			if err := b.Store.Swap(b.ctx, approval.Change{ID: d.ID, Version: 1, Conversation: d.Conversation}); !errors.Is(err, approval.ErrGone) {
				b.Fatalf("%v", err)
			}
		}},
		{"a change after its deadline is late and changes nothing", func(b *bench) {
			d := b.placed("one", "digest")
			_, now, err := b.Store.Load(b.ctx)
			b.must(err)
			ch := approvalOf(d, 1, "f1", "v1")
			ch.NotAfter = now.Add(-time.Second)
			if err := b.Store.Swap(b.ctx, ch); !errors.Is(err, approval.ErrLate) {
				b.Fatalf("%v", err)
			}
			a := asking(d.Conversation, "r2")
			a.Grants = []string{"f1"}
			if v := b.admit(a); len(v.Grants) != 0 {
				b.Fatalf("grants %q", v.Grants)
			}
			ch.NotAfter = now.Add(time.Hour)
			b.must(b.Store.Swap(b.ctx, ch))
		}},
		{"a change with effects needs its conversation, one without does not", func(b *bench) {
			d := b.placed("one", "digest")
			b.Forget(d.Conversation)
			ch := approvalOf(d, 1, "f1", "v1")
			if err := b.Store.Swap(b.ctx, ch); !errors.Is(err, approval.ErrUnknown) {
				b.Fatalf("%v", err)
			}
			if k := b.card(d.ID); k.Version != 1 {
				b.Fatalf("%+v", k)
			}
			ch.Grants = nil
			b.must(b.Store.Swap(b.ctx, ch))
		}},
		{"a change says until when each call finds the card", func(b *bench) {
			d := b.placed("one", "digest")
			_, now, err := b.Store.Load(b.ctx)
			b.must(err)
			ch := approval.Change{ID: d.ID, Version: 1, Conversation: d.Conversation, Waiting: map[string]time.Time{
				"digest": now.Add(-time.Second), "other": now.Add(time.Hour),
			}}
			b.must(b.Store.Swap(b.ctx, ch))
			for digest, want := range map[string]string{"digest": "", "other": d.ID} {
				a := asking(d.Conversation, fresh("r"))
				a.Digest = digest
				if v := b.admit(a); v.Waiting != want {
					b.Fatalf("%s waits for %q, want %q", digest, v.Waiting, want)
				}
			}
		}},
		{"a card is remembered as long as a call may find it, and then its retention", func(b *bench) {
			d := b.placed("one", "digest")
			if b.Real {
				return
			}
			_, now, err := b.Store.Load(b.ctx)
			b.must(err)
			ch := approval.Change{ID: d.ID, Version: 1, Conversation: d.Conversation, Waiting: map[string]time.Time{"digest": now.Add(2 * time.Hour)}}
			b.must(b.Store.Swap(b.ctx, ch))
			b.Advance(2*time.Hour + approval.Retention - time.Second)
			b.card(d.ID)
			if b.find(d.CodeSeal) != d.ID {
				b.Fatal("the code is forgotten before its card")
			}
			b.Advance(2 * time.Second)
			if cards, _, err := b.Store.Load(b.ctx, d.ID); err != nil || len(cards) != 0 {
				b.Fatalf("%+v, %v", cards, err)
			}
			if id := b.find(d.CodeSeal); id != "" {
				b.Fatalf("the code leads to %q", id)
			}
		}},
		{"a question that ends early does not shorten its card's life", func(b *bench) {
			d := b.placed("one", "digest")
			if b.Real {
				return
			}
			_, now, err := b.Store.Load(b.ctx)
			b.must(err)
			ch := approval.Change{ID: d.ID, Version: 1, Conversation: d.Conversation, Waiting: map[string]time.Time{"digest": now.Add(-time.Minute)}}
			b.must(b.Store.Swap(b.ctx, ch))
			b.Advance(d.Live + approval.Retention - time.Second)
			b.card(d.ID)
		}},
		{"H25 one code used by 100 answers at once has exactly one outcome", func(b *bench) {
			d := b.placed("one", "digest")
			var won, stale atomic.Int64
			b.parallel(100, func(i int) error {
				k := approvalOf(d, 1, "f1", "by "+fresh("someone"))
				k.Closed = i%2 == 0
				switch err := b.Store.Swap(b.ctx, k); {
				case err == nil:
					won.Add(1)
				case errors.Is(err, approval.ErrStale):
					stale.Add(1)
				default:
					return err
				}
				return nil
			})
			if won.Load() != 1 || stale.Load() != 99 {
				b.Fatalf("%d won, %d came too late", won.Load(), stale.Load())
			}
			if k := b.card(d.ID); k.Version != 2 {
				b.Fatalf("%+v", k)
			}
		}},
		{"a change wakes who waits, in every listener", func(b *bench) {
			d := b.placed("one", "digest")
			ctx, stop := context.WithCancel(b.ctx)
			woken := [2]chan string{make(chan string, 100), make(chan string, 100)}
			ended := make(chan error, len(woken))
			for _, w := range woken {
				go func() {
					ended <- b.Store.Wakes(ctx, func(id string) {
						select {
						case w <- id:
						default:
						}
					})
				}()
			}
			version := int64(1)
			for _, w := range woken {
				version = b.wake(d, version, w)
			}
			stop()
			for range woken {
				if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
					b.Fatal(err)
				}
			}
		}},
	}
}

// wake changes a card until a listener hears of it.
func (b *bench) wake(d approval.Draft, version int64, woken <-chan string) int64 {
	b.Helper()
	b.hears(woken, d.ID, func() {
		b.must(b.Store.Swap(b.ctx, approval.Change{ID: d.ID, Version: version, Conversation: d.Conversation, Blob: []byte("x")}))
		version++
	})
	return version
}

// hears does something until a listener is woken: it may have begun to listen
// only after the first time.
func (b *bench) hears(woken <-chan string, want string, do func()) {
	b.Helper()
	deadline := time.After(10 * time.Second)
	for {
		do()
		select {
		case id := <-woken:
			if id != want {
				b.Fatalf("woken for %q, want %q", id, want)
			}
			return
		case <-time.After(20 * time.Millisecond):
		case <-deadline:
			b.Fatal("no listener was woken")
		}
	}
}

func deskSpecs() []spec {
	return []spec{
		{"cards are loaded in the order asked for, and what is gone is left out", func(b *bench) {
			one, two := b.placed("one", "d1"), b.placed("two", "d2")
			cards, _, err := b.Store.Load(b.ctx, two.ID, draft(conv("a"), "none").ID, one.ID)
			b.must(err)
			if len(cards) != 2 || cards[0].ID != two.ID || cards[1].ID != one.ID {
				b.Fatalf("%+v", cards)
			}
		}},
		{"an expired card can still be read and found", func(b *bench) {
			c := conv("a")
			b.admit(call(c, "r1"))
			d := draft(c, "one", "digest")
			d.Live = b.short()
			b.place(d)
			b.outlive()
			cards, now, err := b.Store.Load(b.ctx, d.ID)
			b.must(err)
			if len(cards) != 1 || now.Before(cards[0].Until) {
				b.Fatalf("%+v at %v", cards, now)
			}
			if b.find(d.CodeSeal) != d.ID {
				b.Fatal("the code is forgotten")
			}
			b.must(b.Store.Swap(b.ctx, approval.Change{ID: d.ID, Version: 1, Conversation: c, Blob: []byte("late")}))
		}},
		{"a code that was never given out finds nothing", func(b *bench) {
			b.placed("one", "digest")
			if id := b.find("seal-none"); id != "" {
				b.Fatalf("%q", id)
			}
		}},
		{"open cards are listed oldest first, without the closed and the expired", func(b *bench) {
			var want []string
			for _, name := range []string{"a", "b", "c", "d"} {
				b.admit(call(conv(name), "r1"))
				d := draft(conv(name), name, "digest")
				b.place(d)
				want = append(want, d.ID)
				b.Advance(2 * time.Millisecond)
			}
			brief := draft(conv("a"), "brief", "other")
			brief.Live = b.short()
			b.place(brief)
			b.outlive()
			b.must(b.Store.Swap(b.ctx, approval.Change{ID: want[1], Version: 1, Conversation: conv("b"), Closed: true}))
			b.must(b.Store.Swap(b.ctx, approval.Change{ID: want[2], Version: 1, Conversation: conv("c")}))
			want = slices.Delete(want, 1, 2)
			got, err := b.Store.Open(b.ctx)
			b.must(err)
			if !slices.Equal(got, want) {
				b.Fatalf("%q, want %q", got, want)
			}
		}},
		{"a closed card stays closed", func(b *bench) {
			d := b.placed("one", "digest")
			ch := approval.Change{ID: d.ID, Version: 1, Conversation: d.Conversation, Closed: true}
			b.must(b.Store.Swap(b.ctx, ch))
			ch.Version, ch.Closed = 2, false
			b.must(b.Store.Swap(b.ctx, ch))
			if got, err := b.Store.Open(b.ctx); err != nil || len(got) != 0 {
				b.Fatalf("%q, %v", got, err)
			}
		}},
		{"wrong tries are counted for each person, within the window that the first opened", func(b *bench) {
			for i, want := range []int{1, 2, 3} {
				if n := b.miss("eve", time.Hour, true); n != want {
					b.Fatalf("try %d counts %d", i+1, n)
				}
			}
			if n := b.miss("eve", time.Hour, false); n != 3 {
				b.Fatalf("looking counts %d", n)
			}
			if n := b.miss("bob", time.Hour, false); n != 0 {
				b.Fatalf("bob has %d", n)
			}
		}},
		{"the window of wrong tries closes, and does not slide", func(b *bench) {
			b.miss("eve", b.short(), true)
			b.Advance(b.short() * 2 / 3)
			b.miss("eve", b.short(), true)
			b.Advance(b.short() * 2 / 3)
			if n := b.miss("eve", b.short(), false); n > 1 {
				b.Fatalf("after the window %d are left", n)
			}
		}},
		{"50 wrong tries at once are all counted", func(b *bench) {
			b.parallel(50, func(int) error {
				_, err := b.Store.Count(b.ctx, "eve", time.Hour, true)
				return err
			})
			if n := b.miss("eve", time.Hour, false); n != 50 {
				b.Fatalf("%d", n)
			}
		}},
		{"the head of a record is kept, by name", func(b *bench) {
			b.must(b.Store.KeepHead(b.ctx, "one", "h1"))
			b.must(b.Store.KeepHead(b.ctx, "one", "h2"))
			for name, want := range map[string]string{"one": "h2", "two": ""} {
				if got, err := b.Store.Head(b.ctx, name); err != nil || got != want {
					b.Fatalf("%s: %q, %v", name, got, err)
				}
			}
		}},
		{"a healthy store is ready", func(b *bench) { b.must(b.Store.Ready(b.ctx)) }},
	}
}

// approvalOf is a change that gives a grant.
func approvalOf(d approval.Draft, version int64, field, value string) approval.Change {
	return approval.Change{
		ID: d.ID, Version: version, Conversation: d.Conversation, Blob: []byte("approved"), Grants: map[string]string{field: value},
	}
}

// placed puts a card up in conversation a.
func (b *bench) placed(name string, digests ...string) approval.Draft {
	b.Helper()
	c := conv("a")
	b.admit(call(c, fresh("r")))
	d := draft(c, name, digests...)
	if p := b.place(d); p.State != approval.New {
		b.Fatalf("%+v", p)
	}
	return d
}

// small is a draft where two cards are enough.
func (b *bench) small(c session.Conversation, name string) approval.Draft {
	d := draft(c, name, "digest of "+name)
	d.MaxOpen = 2
	return d
}

func (b *bench) card(id string) approval.Stored {
	b.Helper()
	cards, _, err := b.Store.Load(b.ctx, id)
	b.must(err)
	if len(cards) != 1 {
		b.Fatalf("card %s is gone", id)
	}
	return cards[0]
}

func (b *bench) find(seal string) string {
	b.Helper()
	id, err := b.Store.Find(b.ctx, seal)
	b.must(err)
	return id
}

func (b *bench) miss(person string, window time.Duration, count bool) int {
	b.Helper()
	n, err := b.Store.Count(b.ctx, person, window, count)
	b.must(err)
	return n
}
