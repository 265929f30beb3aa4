package storetest

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/taint"
)

// races: no update that begins after a raise has returned sees the level of before, in any process.
func races(b *bench) {
	stores := []*store.Store{b.store(), b.store(), b.store(), b.store()}
	var worst [4]atomic.Int64
	var all sync.WaitGroup
	for n := range 32 {
		all.Go(func() {
			s := stores[n%len(stores)]
			for i := range 12 {
				at := (n + i) % len(worst)
				c, least := conv(fmt.Sprint("c", at)), worst[at].Load()
				var saw taint.Level
				err := s.Update(b.ctx, c, func(t *store.Tx) error {
					saw = t.C.Level("")
					t.Decide(store.Request{ID: fmt.Sprint(n, "-", i), Allow: true, Keep: time.Minute})
					if i%4 == 3 {
						t.C.Raise("", min(saw+1, taint.Untrusted), "x", t.Now)
						saw = t.C.Level("")
					}
					return nil
				})
				if err != nil {
					b.Error(err)
				}
				if int64(saw) < least {
					b.Errorf("saw %v after %v", saw, taint.Level(least))
				}
				for old := worst[at].Load(); old < int64(saw) && !worst[at].CompareAndSwap(old, int64(saw)); {
					old = worst[at].Load()
				}
			}
		})
	}
	all.Wait()
}

// contention: 64 calls at once of one conversation from four processes, each of which changes it.
func contention(b *bench) {
	stores := []*store.Store{b.store(), b.store(), b.store(), b.store()}
	var all sync.WaitGroup
	for n := range 64 {
		all.Go(func() {
			s := stores[n%len(stores)]
			err := s.Update(b.ctx, conv("one"), func(t *store.Tx) error {
				t.C.Changed()
				t.C.Fresh.Count++
				t.Decide(store.Request{ID: fmt.Sprint("r", n), Allow: true, Keep: time.Minute})
				return nil
			})
			if err == nil {
				_, err = s.Count(b.ctx, "all", time.Hour, true)
			}
			if err != nil {
				b.Error(err)
			}
		})
	}
	all.Wait()
	c, err := stores[0].Look(b.ctx, conv("one"))
	b.must(err)
	n, err := stores[1].Count(b.ctx, "all", time.Hour, false)
	b.must(err)
	b.is("changes", c.Fresh.Count, 64)
	b.is("counted", n, 64)
}

// claims: of 64 calls at four processes that claim the yes of one card at the same time, one gets it.
func claims(b *bench) {
	stores := []*store.Store{b.store(), b.store(), b.store(), b.store()}
	b.card(stores[0], conv("a"), "c1", time.Hour)
	var claimed atomic.Int64
	var all sync.WaitGroup
	for n := range 64 {
		all.Go(func() {
			mine := false
			err := stores[n%len(stores)].Update(b.ctx, conv("a"), func(t *store.Tx) error {
				c, err := t.Card("c1")
				if mine = err == nil && !c.Closed; mine {
					c.Closed, c.Data = true, fmt.Append(nil, n)
					b.put(t, c)
				}
				return err
			})
			if err != nil {
				b.Error(err)
			}
			if mine {
				claimed.Add(1)
			}
		})
	}
	all.Wait()
	b.is("claimed", claimed.Load(), int64(1))
}

// starts: processes that meet an empty store at the same moment agree that it is new.
func starts(b *bench) {
	var all sync.WaitGroup
	for n := range 12 {
		s := b.store(fmt.Sprint("machine", n))
		all.Go(func() {
			err := s.Update(b.ctx, conv(fmt.Sprint(n)), func(t *store.Tx) error {
				t.C.Raise("", taint.Owner, "its owner", t.Now)
				return nil
			})
			if err != nil {
				b.Error(err)
			}
		})
	}
	all.Wait()
	for n := range 12 {
		s := b.store(fmt.Sprint("machine", n))
		lost, err := s.Lost(b.ctx)
		b.must(err)
		b.is("lost", len(lost), 0)
		b.is("the level", b.level(s, conv(fmt.Sprint(11-n)), ""), taint.Owner)
	}
}

func vanished(b *bench) {
	s := b.store()
	b.raise(s, conv("a"), "", taint.Owner)
	b.raise(s, conv("b"), "", taint.Owner)
	b.must(s.Update(b.ctx, conv("child"), func(t *store.Tx) error { t.Join(conv("b"), ""); return nil }))
	b.must(b.Restore(b.ctx, nil, func(key string) bool {
		return strings.HasSuffix(key, conv("a").Hash()) || strings.HasSuffix(key, conv("b").Hash())
	}))
	b.is("one that this process remembers", b.level(s, conv("a"), ""), taint.Untrusted)
	b.is("one that its child remembers", b.level(b.store(), conv("child"), ""), taint.Untrusted)
}

// given gives a grant and puts a card, and what still counts of them.
func (b *bench) given(s *store.Store, id string) {
	b.Helper()
	b.card(s, conv("a"), id, time.Hour)
	b.update(s, conv("a"), func(t *store.Tx) {
		t.C.Grant(store.Grant{ID: id, Tool: "exec", Until: t.Now.Add(time.Hour)})
		t.Other(store.Always("laptop", "main")).Grant(store.Grant{ID: id, Until: t.Now.Add(time.Hour)})
	})
}

func (b *bench) counting(s *store.Store) (what string) {
	b.Helper()
	what = "cards " + b.open(s)
	given, _, err := s.Grants(b.ctx)
	b.must(err)
	b.update(s, conv("a"), func(t *store.Tx) {
		always := t.Other(store.Always("laptop", "main")).Grants
		what = fmt.Sprintf("cards %s, grants %d+%d of %d", b.open(s), len(t.C.Grants), len(always), len(given))
	})
	return what
}

func clockSetBack(b *bench) {
	s, other := b.store(), b.store()
	b.given(s, "c1")
	b.is("before", b.counting(other), "cards c1, grants 1+1 of 2")
	b.SetClock(-10 * time.Minute)
	b.update(s, conv("x"), func(t *store.Tx) { t.MarkUnseen("x") }) // this reply says so
	b.update(s, conv("x"), func(*store.Tx) {})
	for _, s := range []*store.Store{s, other, b.store()} {
		b.is("after", b.counting(s), "cards , grants 0+0 of 0")
	}
	b.fails("the card", s.Update(b.ctx, conv("a"), func(t *store.Tx) error { _, err := t.Card("c1"); return err }),
		store.ErrGone)
	b.given(other, "c2")
	b.update(s, conv("x"), func(*store.Tx) {})
	b.is("new ones", b.counting(s), "cards c2, grants 1+1 of 2")
}

func clockSetBackAtStart(b *bench) {
	s := b.store()
	b.given(s, "c1")
	b.eventually("the time is kept", func() bool { return b.keptTime() })
	b.must(s.Close())
	b.SetClock(-10 * time.Minute)
	audit, err := store.Open(b.ctx, store.Options{Backend: b.Faults, Key: key, Clients: func() []string { return nil },
		Wait: 20 * time.Second})
	b.must(err)
	_, err = audit.Kept(b.ctx, "head") // who knows no clients ends nothing for them, and leaves that to the next
	b.must(err)
	b.must(audit.Close())
	b.is("after the start", b.counting(b.store()), "cards , grants 0+0 of 0")
}

// namedSetBack: the clock is set two hours ahead and back, and what the backend had then is gone.
func namedSetBack(b *bench) {
	s, other := b.store(), b.store()
	look := func() (n int, asked bool) {
		b.Helper()
		n, err := other.Count(b.ctx, "tries", time.Minute, false)
		b.must(err)
		b.update(other, conv("a"), func(t *store.Tx) { asked = t.Prompted("main", 1) })
		return n, asked
	}
	lease := func(s *store.Store, holder string, want bool) {
		b.Helper()
		has, err := s.Lease(b.ctx, "poll", holder, time.Minute)
		b.must(err)
		b.is("the lease of "+holder, has, want)
	}
	b.SetClock(2 * time.Hour)
	lease(s, "dead", true)
	lease(other, "waits", false)
	_, err := s.Count(b.ctx, "tries", time.Minute, true)
	b.must(err)
	look()
	b.SetClock(0)
	b.update(s, conv("x"), func(t *store.Tx) { t.MarkUnseen("x") }) // these replies say so
	b.update(other, conv("x"), func(t *store.Tx) { t.MarkUnseen("y") })
	for range 3 {
		n, asked := look()
		b.is("counted", n, 1)
		b.is("asked again", asked, false)
	}
	lease(other, "waits", true)
	lease(s, "dead", false)
	b.SetClock(time.Minute + 10*time.Second)
	lease(s, "third", true)
	n, asked := look()
	b.is("counted", n, 0)
	b.is("asked again", asked, false)
	b.SetClock(time.Hour + 10*time.Second)
	_, asked = look()
	b.is("asked again", asked, true)
}

// lostNames: what the store has lost of a count is put back, and said once.
func lostNames(b *bench) {
	s := b.store()
	count := func(s *store.Store, add bool) int {
		b.Helper()
		n, err := s.Count(b.ctx, "tries", time.Hour, add)
		b.must(err)
		return n
	}
	count(s, true)
	before := b.Snapshot()
	count(s, true)
	b.must(s.Keep(b.ctx, "head", []byte("new")))
	b.must(b.Restore(b.ctx, before, func(key string) bool { return strings.Contains(key, ":n/") }))
	for range 3 {
		b.is("counted", count(s, false), 2)
		text, err := s.Kept(b.ctx, "head")
		b.must(err)
		b.is("kept", string(text), "new")
	}
	b.is("counted elsewhere", count(b.store(), false), 2)
	b.is("said", strings.Count(b.log.String(), "has lost"), 2)
}

func (b *bench) keptTime() bool {
	for k := range b.Snapshot() {
		if strings.HasSuffix(k, ":time") {
			return true
		}
	}
	return false
}

func (b *bench) eventually(what string, holds func() bool) {
	b.Helper()
	deadline, tick := time.After(time.Minute), time.NewTicker(10*time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-deadline:
			b.Fatal("not within a minute: ", what)
		case <-tick.C:
		}
	}
}

func flush(b *bench) {
	s := b.store("machine")
	b.raise(s, conv("old"), "", taint.Owner)
	b.given(s, "c1")
	b.must(s.Pause(b.ctx, store.Pause{Agent: "paused", On: true, By: "ann"}))
	lost, err := s.Lost(b.ctx)
	b.must(err)
	b.is("a fresh store", len(lost), 0)
	b.must(b.Restore(b.ctx, nil, nil)) // everything is gone
	for _, s := range []*store.Store{b.store("machine"), s, b.store("machine")} {
		b.update(s, conv("old"), func(t *store.Tx) { b.is("the agent is paused", t.Paused("paused") != nil, true) })
		for _, c := range []string{"old", "new"} {
			b.update(s, conv(c), func(t *store.Tx) {
				b.is("it is untrusted", t.C.Level("any"), taint.Untrusted)
				b.is("the files are unseen", t.Unseen != nil, true)
			})
		}
		b.is("what was given", b.counting(s), "cards , grants 0+0 of 0")
	}
	lost, err = s.Lost(b.ctx)
	b.must(err)
	b.is("lost", strings.Join(lost, " "), "laptop phone")
	b.raise(s, conv("born lost"), "", taint.Owner)
	b.must(b.store("machine").AcceptLoss(b.ctx))
	b.is("what was met since", b.level(s, conv("born lost"), ""), taint.Untrusted)
	b.is("a new one", b.level(s, conv("newer"), ""), taint.System)
	b.is("a new one elsewhere", b.level(b.store("machine"), conv("newest"), ""), taint.System)
}

func otherEpoch(b *bench) {
	s, third := b.store("one machine"), b.store("a third machine")
	b.raise(s, conv("a"), "", taint.Owner)
	b.raise(third, conv("a"), "", taint.Owner)
	b.must(s.Close())
	b.must(third.Close())
	b.must(b.Restore(b.ctx, nil, nil))
	other := b.store("another")
	b.raise(other, conv("a"), "", taint.Owner)
	b.raise(other, conv("b"), "", taint.Owner)
	for range 3 { // who has lost what agrees on it, in any order
		s = b.store("one machine")
		b.is("one that is new", b.level(s, conv("c"), ""), taint.Untrusted)
		b.raise(s, conv("c"), "", taint.Owner)
		b.is("and elsewhere", b.level(other, conv("d"), ""), taint.Untrusted)
	}
	b.must(other.AcceptLoss(b.ctx))
	for _, s := range []*store.Store{b.store("another"), b.store("one machine"), b.store("a third machine"), other} {
		b.is("a new one", b.level(s, conv("new"), ""), taint.System)
		b.raise(s, conv("some"), "", taint.Owner)
		lost, err := s.Lost(b.ctx)
		b.must(err)
		b.is("lost", len(lost), 0)
	}
}

func failover(b *bench) {
	s, c := b.store(), conv("a")
	b.raise(s, c, "", taint.Owner)
	b.raise(s, conv("b"), "", taint.Owner)
	before := b.Snapshot()
	b.raise(s, c, "", taint.External)
	b.must(b.Restore(b.ctx, before, nil))
	b.is("what was seen is worse than what is there", b.level(s, c, ""), taint.Untrusted)
	b.raise(s, c, "", taint.Owner) // which is written
	b.is("and for others", b.level(b.store(), c, ""), taint.Untrusted)
	b.is("the other conversation is as it was", b.level(s, conv("b"), ""), taint.Owner)
	b.update(s, conv("b"), func(t *store.Tx) { b.is("the files are unseen", t.Unseen != nil, true) })
	// What is put back takes nothing away that others have said since.
	before = b.Snapshot()
	b.update(s, conv("b"), func(t *store.Tx) { t.MarkUnseen("x") })
	b.must(s.Pause(b.ctx, store.Pause{}))
	b.must(b.Restore(b.ctx, before, nil))
	b.must(b.store().Pause(b.ctx, store.Pause{Agent: "main", On: true}))
	b.update(s, conv("b"), func(t *store.Tx) { b.is("paused", t.Paused("main") != nil, true) })
}

func pauseTakenAway(b *bench) {
	s, c := b.store(), conv("a")
	b.raise(s, c, "", taint.Owner)
	before := b.Snapshot()
	b.must(s.Pause(b.ctx, store.Pause{Agent: "main", On: true, By: "ann"}))
	paused := func(s *store.Store) (on bool) {
		b.update(s, c, func(t *store.Tx) {
			on = t.Paused("main") != nil
			t.Decide(store.Request{ID: "r", Keep: time.Minute})
		})
		return on
	}
	for range 3 {
		b.must(b.Restore(b.ctx, before, func(key string) bool { return strings.HasSuffix(key, ":client") }))
		b.is("an older document is put back", paused(s) && paused(b.store()), true)
	}
	b.must(b.Restore(b.ctx, nil, func(key string) bool { return strings.HasSuffix(key, ":client") }))
	b.is("it is gone", paused(s) && paused(b.store()), true)
	b.must(s.Pause(b.ctx, store.Pause{On: false}))
	b.is("lifted", paused(s) || paused(b.store()), false)
}

func cardPutBack(b *bench) {
	s := b.store()
	b.card(s, conv("a"), "c1", time.Hour)
	before := b.Snapshot()
	b.update(s, conv("a"), func(t *store.Tx) {
		if c, err := t.Card("c1"); err == nil {
			c.Closed, c.Data = true, []byte("used")
			b.put(t, c)
		}
	})
	b.must(b.Restore(b.ctx, before, func(key string) bool { return strings.Contains(key, ":card/") }))
	use := func() error {
		return s.Update(b.ctx, conv("a"), func(t *store.Tx) error {
			c, err := t.Card("c1")
			if err != nil {
				return err
			}
			b.put(t, c)
			if string(c.Data) != "used" {
				b.Log("it was taken for one that is not used: the commit finds out")
			}
			return nil
		})
	}
	b.fails("a used card", use(), store.ErrGone)
}

func forged(b *bench) {
	s, c := b.store(), conv("a")
	b.raise(s, c, "", taint.Untrusted)
	b.raise(s, conv("clean"), "", taint.Owner)
	was := b.Snapshot()
	key := func(name string) string { return "{laptop}:conv/" + conv(name).Hash() }
	good, bad := was[key("clean")], was[key("a")]
	for what, value := range map[string][]byte{
		"another's document": good,
		"another version":    slices.Concat(good[:8], bad[8:]),
		"another text":       slices.Concat(bad[:len(bad)-40], []byte("x"), bad[len(bad)-39:]),
		"no seal":            slices.Concat(bad[:8], []byte(`{"levels":{}}`)),
		"nothing":            bad[:8],
	} {
		b.must(b.Put(b.ctx, key("a"), value))
		fresh := b.store()
		b.fails(what, fresh.Update(b.ctx, c, func(t *store.Tx) error {
			t.Decide(store.Request{ID: "r", Allow: true, Keep: time.Minute})
			return nil
		}), store.ErrForged)
	}
}

// inTime is how long a deny may take: Wait is 400 ms, and a machine that does much else takes longer.
const inTime = 3 * time.Second

// troubled runs everything on a store that waits no longer than in production, and says which did not fail.
func (b *bench) troubled(s *store.Store, reads bool) {
	b.Helper()
	for what, do := range map[string]func() error{
		"update": func() error {
			return s.Update(b.ctx, conv("a"), func(t *store.Tx) error {
				t.Decide(store.Request{ID: "r", Allow: true, Keep: time.Minute})
				return nil
			})
		},
		"pause": func() error { return s.Pause(b.ctx, store.Pause{On: true}) },
		"count": func() error { _, err := s.Count(b.ctx, "x", time.Hour, true); return err },
		"lease": func() error { _, err := s.Lease(b.ctx, "x", "y", time.Hour); return err },
		"keep":  func() error { return s.Keep(b.ctx, "x", nil) },
		"cards": func() error { _, _, err := s.Cards(b.ctx); return err },
		"find":  func() error { _, err := s.Find(b.ctx, "00000000"); return err },
	} {
		began := time.Now()
		err := do()
		if took := time.Since(began); took > inTime {
			b.Errorf("%s took %v", what, took)
		}
		if err == nil && (reads || what != "cards" && what != "find") {
			b.Errorf("%s works", what)
		}
	}
}

func hang(b *bench) {
	s, err := store.Open(b.ctx, store.Options{Backend: b.Faults, Key: key, Clients: clients})
	b.must(err)
	b.Cleanup(func() { _ = s.Close() })
	b.Set(Hang)
	b.troubled(s, true)
	b.Set(None)
	b.raise(b.store(), conv("a"), "", taint.Owner)
	b.eventually("it works again", func() bool { _, err := s.Look(b.ctx, conv("a")); return err == nil })
}

func refuse(b *bench) {
	s := b.store()
	b.raise(s, conv("a"), "", taint.Owner)
	b.Set(Refuse)
	b.troubled(s, false)
	b.Set(None)
	b.update(s, conv("a"), func(t *store.Tx) { b.is("the request was not met", t.Request("r"), (*store.Request)(nil)) })
	b.raise(s, conv("a"), "", taint.Local)
}
