package storetest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/taint"
)

// Run runs the suite on a backend. Open gives an empty one, which ends with the test.
func Run(t *testing.T, open func(t *testing.T) store.Backend) {
	for _, tt := range []struct {
		name string
		run  func(b *bench)
	}{
		{"H18ALevelOnlyGetsWorse", levels},
		{"ASteadyAllowIsOneTripAndOneDocument", steady},
		{"ARequestIsDecidedOnce", replay},
		{"H44ALostReplyIsFoundByTheNextTry", lostReply},
		{"H16ChildrenShareTheTrustOfTheirRoot", family},
		{"CardsAreFoundAndListedUntilTheyClose", cards},
		{"ManyCardsAreReadAFewAtATime", manyCards},
		{"ACodeInUseIsTaken", takenCode},
		{"GrantsAreListedAndEnd", grants},
		{"AlwaysGrantsAreOfTheAgent", always},
		{"PausesBindAllClients", pauses},
		{"QuestionsOfAnHourAreCounted", prompted},
		{"CountsLeasesAndTexts", counts},
		{"ConversationsAreFoundByTheirShortName", find},
		{"WatchersHear", watch},
		{"H17NobodySeesAnOldLevel", races},
		{"NoChangeIsLost", contention},
		{"H25AYesIsClaimedOnce", claims},
		{"ManyProcessesStartAtOnce", starts},
		{"H20AConversationThatVanishesIsUntrusted", vanished},
		{"TheClockIsSetBack", clockSetBack},
		{"TheClockWasSetBackWhileNobodyLooked", clockSetBackAtStart},
		{"WhatWasNamedBeforeTheClockWasSetBackEndsInTime", namedSetBack},
		{"WhatIsLostOfACountIsPutBack", lostNames},
		{"H19AFlushIsNoFreshStart", flush},
		{"H19AnotherStoreIsALoss", otherEpoch},
		{"H42AFailoverThatLosesTheLastWrite", failover},
		{"APauseThatSomeoneTakesAway", pauseTakenAway},
		{"AUsedCardThatSomeonePutsBack", cardPutBack},
		{"H30ForgedDocumentsAreRefused", forged},
		{"H42AHangingStoreFailsInTimeAndRecovers", hang},
		{"H46AStoreThatRefusesToWriteAllowsNothing", refuse},
		{"TheModelAgrees", model},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.run(&bench{T: t, Faults: &Faults{Backend: open(t)}, ctx: t.Context()})
		})
	}
}

// bench is what one test of the suite works on.
type bench struct {
	*testing.T
	*Faults
	ctx context.Context

	log      safeBuffer
	inUpdate bool     // what a run of an update finds wrong counts only if it is the last
	wrong    []string // what it found
}

var key = hmac.Key("the key of the suite's server 32b")

// clients are those of every store of the suite.
func clients() []string { return []string{"laptop", "phone"} }

// store opens a store that remembers nothing, as a process that was just started: on the same machine where file is
// given.
func (b *bench) store(file ...string) *store.Store {
	b.Helper()
	o := store.Options{Backend: b.Faults, Key: key, Clients: clients, Wait: 20 * time.Second,
		Log: slog.New(slog.NewTextHandler(&b.log, nil))}
	if len(file) > 0 {
		o.File = filepath.Join(b.TempDir(), "..", file[0])
	}
	s, err := store.Open(b.ctx, o)
	b.must(err)
	b.Cleanup(func() { _ = s.Close() })
	return s
}

func (b *bench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bench) is(what string, got, want any) {
	b.Helper()
	switch wrong := fmt.Sprintf("%s: got %v, want %v", what, got, want); {
	case got == want:
	case b.inUpdate:
		b.wrong = append(b.wrong, wrong)
	default:
		b.Error(wrong)
	}
}

func (b *bench) fails(what string, err, want error) {
	b.Helper()
	if !errors.Is(err, want) {
		b.Errorf("%s: got %v, want %v", what, err, want)
	}
}

func conv(key string) store.Name { return store.Name{Client: "laptop", Key: key} }

func (b *bench) update(s *store.Store, n store.Name, fn func(t *store.Tx)) {
	b.Helper()
	b.inUpdate = true
	err := s.Update(b.ctx, n, func(t *store.Tx) error {
		b.wrong = nil
		fn(t)
		return nil
	})
	b.inUpdate = false
	for _, wrong := range b.wrong {
		b.Error(wrong)
	}
	b.wrong = nil
	b.must(err)
}

func (b *bench) raise(s *store.Store, n store.Name, session string, level taint.Level) {
	b.Helper()
	b.update(s, n, func(t *store.Tx) { t.C.Raise(session, level, "a page", t.Now) })
}

func (b *bench) level(s *store.Store, n store.Name, session string) taint.Level {
	b.Helper()
	c, err := s.Look(b.ctx, n)
	b.must(err)
	return c.Level(session)
}

func levels(b *bench) {
	s, c := b.store(), conv("main")
	b.update(s, c, func(t *store.Tx) {
		b.is("a new conversation", !t.C.Called && !t.Lost && t.C.Worst() == taint.System, true)
		t.C.Raise("one", taint.Owner, "its owner", t.Now)
		t.Decide(store.Request{ID: "r1", Denied: true, Keep: time.Minute})
	})
	b.raise(s, c, "two", taint.Untrusted)
	b.raise(s, c, "two", taint.Local)
	for _, s := range []*store.Store{s, b.store()} {
		b.is("one", b.level(s, c, "one"), taint.Owner)
		b.is("two", b.level(s, c, "two"), taint.Untrusted)
		b.is("a new session id", b.level(s, c, "three"), taint.System)
		b.is("without a session id", b.level(s, c, ""), taint.Untrusted)
	}
	b.raise(s, c, "", taint.External)
	other := b.store()
	if err := other.Update(b.ctx, store.Name{Key: "main"}, func(*store.Tx) error { return nil }); err == nil {
		b.Error("a conversation of no client is changed")
	}
	b.is("what came without a session id counts for all", b.level(other, c, "one"), taint.External)
	b.update(other, c, func(t *store.Tx) {
		b.is("a call was decided there", t.C.Called, true)
		b.is("causes", len(t.C.Causes), 3)
		b.is("what made it untrusted", t.C.Cause("two").What, "a page")
		t.C.Expose("two", "a key")
		t.C.Forget(t.Now)
	})
	look, err := s.Look(b.ctx, c)
	b.must(err)
	b.is("after the reset", look.Worst(), taint.System)
	b.is("the session ids stay known", look.Met("two") && !look.Met("three") && look.Secret("") == "", true)
}

func steady(b *bench) {
	s, c := b.store(), conv("main")
	allow := func(id string) {
		b.update(s, c, func(t *store.Tx) {
			if t.Request(id) != nil || t.Paused("agent") != nil {
				b.Error("it was met, or is paused")
			}
			t.C.Raise("one", taint.Local, "a file", t.Now)
			t.Decide(store.Request{ID: id, Allow: true, Keep: time.Hour})
		})
	}
	allow("first")
	b.Used()
	for i := range 20 {
		allow("r" + strings.Repeat("x", i))
	}
	if trips, writes := b.Used(); trips > 24 || writes > 24 { // the time is kept each second
		b.Errorf("20 allows took %d trips and wrote %d documents", trips, writes)
	}
}

func replay(b *bench) {
	one, two, c := b.store(), b.store(), conv("main")
	body := [32]byte{1, 2, 3}
	b.update(one, c, func(t *store.Tx) {
		t.Decide(store.Request{ID: "r", Body: body, Allow: true, By: "ann", Keep: time.Hour})
	})
	for _, n := range []store.Name{c, conv("another")} {
		b.update(two, n, func(t *store.Tx) {
			r := t.Request("r")
			b.is("the request is known", r != nil && r.Allow && !r.Denied && r.Body == body && r.By == "ann", true)
		})
	}
	wrong := errors.New("wrong")
	b.fails("an error of fn", two.Update(b.ctx, c, func(t *store.Tx) error {
		t.Decide(store.Request{ID: "r2", Keep: time.Hour})
		return wrong
	}), wrong)
	b.update(one, c, func(t *store.Tx) { b.is("what an error left", t.Request("r2"), (*store.Request)(nil)) })
	// An error counts only if what it rests on holds.
	b.raise(one, c, "", taint.Untrusted)
	b.must(two.Update(b.ctx, c, func(t *store.Tx) error {
		if t.C.Worst() < taint.Untrusted {
			return wrong
		}
		return nil
	}))
}

func lostReply(b *bench) {
	s, c := b.store(), conv("main")
	b.raise(s, c, "", taint.Owner)
	allows := 0
	allow := func() error {
		return s.Update(b.ctx, c, func(t *store.Tx) error {
			if t.Request("r") == nil {
				t.C.Raise("", taint.External, "a page", t.Now)
				t.Decide(store.Request{ID: "r", Allow: true, Keep: time.Hour})
			} else {
				allows++
			}
			return nil
		})
	}
	b.Set(LoseReply)
	b.fails("the reply is lost", allow(), errFault)
	b.Set(None)
	b.must(allow())
	b.is("the second try finds what the first one did", allows > 0, true)
	b.is("the level is what the first one made it", b.level(b.store(), c, ""), taint.External)
}

func family(b *bench) {
	one, two := b.store(), b.store()
	root, child, grandchild := conv("root"), conv("child"), conv("grandchild")
	b.raise(one, root, "s1", taint.Owner)
	b.raise(two, child, "", taint.Shared)
	join := func(s *store.Store, own, parent store.Name, under string) {
		b.must(s.Update(b.ctx, own, func(t *store.Tx) error { t.Join(parent, under); return nil }))
	}
	join(one, child, root, "s1")
	join(two, grandchild, child, "s1")
	join(two, root, grandchild, "") // a circle changes nothing
	b.is("the worse level counts for both", b.level(two, root, "s1"), taint.Shared)
	b.update(two, grandchild, func(t *store.Tx) {
		b.is("the root's name", t.C.Name, root)
		b.is("its own", t.Own, grandchild)
		b.is("under", t.Under, "s1")
		t.C.Raise(t.Under, taint.Untrusted, "a page", t.Now)
		t.Decide(store.Request{ID: "r", Denied: true, Keep: time.Hour})
	})
	b.is("the root", b.level(one, root, "s1"), taint.Untrusted)
	b.must(two.Update(b.ctx, conv("reader"), func(t *store.Tx) error {
		t.C.Raise("", t.Other(child).Level("s1"), "another session", t.Now)
		return nil
	}))
	b.is("who reads another session", b.level(one, conv("reader"), ""), taint.Untrusted)
}

func (b *bench) card(s *store.Store, c store.Name, id string, until time.Duration) {
	b.Helper()
	b.update(s, c, func(t *store.Tx) {
		b.put(t, &store.Card{ID: id, Conversation: c, Digest: "d" + id, Until: t.Now.Add(until),
			Data: []byte(id)})
	})
}

// put puts a card in an update.
func (b *bench) put(t *store.Tx, c *store.Card) { b.is("put "+c.ID, t.PutCard(c), nil) }

func (b *bench) open(s *store.Store) string {
	b.Helper()
	all, _, err := s.Cards(b.ctx)
	b.must(err)
	var ids []string
	for _, c := range all {
		ids = append(ids, c.ID)
	}
	return strings.Join(ids, " ")
}

// safeBuffer is a log that several stores write.
type safeBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}
