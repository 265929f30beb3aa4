package approval_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/session"
)

// flaky is a store that takes no pauses while it is down.
type flaky struct {
	approval.Store
	down atomic.Bool
}

var errStoreDown = errors.New("the store is down")

func (f *flaky) Pause(ctx context.Context, scope, word string) error {
	if f.down.Load() {
		return errStoreDown
	}
	return f.Store.Pause(ctx, scope, word)
}

func (f *flaky) Pauses(ctx context.Context) (map[string]string, error) {
	if f.down.Load() {
		return nil, errStoreDown
	}
	return f.Store.Pauses(ctx)
}

// slow is a store in which something happens right before a pause is written, for an owner's command and not by the
// way; once.
type slow struct {
	approval.Store
	write atomic.Pointer[func()]
}

// spoken marks what is done for an owner's command.
type spoken struct{}

func once(ctx context.Context, what *atomic.Pointer[func()]) {
	if ctx.Value(spoken{}) == nil {
		return
	}
	if f := what.Swap(nil); f != nil {
		(*f)()
	}
}

func (s *slow) Pause(ctx context.Context, scope, word string) error {
	once(ctx, &s.write)
	return s.Store.Pause(ctx, scope, word)
}

func types(d *approval.Desk, line string) (approval.Outcome, error) {
	return d.Answer(context.WithValue(context.Background(), spoken{}, true), approval.Answer{ID: alice, Via: "chat", Text: line})
}

func TestAPauseThatTheStoreDidNotTakeHoldsHereAndIsPassedOn(t *testing.T) {
	s := &flaky{Store: openStore(t)}
	d := openDesk(t, s, nil)
	s.down.Store(true)
	if o, err := types(d, ".pause"); !errors.Is(err, errStoreDown) || !strings.Contains(o.Text, "holds on this instance") {
		t.Errorf("told %+v, %v", o, err)
	}
	b := d.Pauses.View("main")
	if !b.On {
		t.Fatal("the pause was forgotten")
	}
	s.down.Store(false)
	if err := d.Pauses.Changed(t.Context(), b, [2]string{"", ""}); err != nil { // as an admit finds the store
		t.Fatal(err)
	}
	words, err := s.Pauses(t.Context())
	if err != nil || words[session.AllAgents] != b.All {
		t.Errorf("the store has %q, %v", words, err)
	}
	unsealed := [2]string{"9|lifted||00", ""} // by someone who writes into the store (H30)
	if err := d.Pauses.Changed(t.Context(), b, unsealed); err != nil || !d.Pauses.View("main").On {
		t.Errorf("a word that nobody sealed has lifted it: %v", err)
	}
}

func TestAPauseIsNotLiftedHereWhileTheStoreHasIt(t *testing.T) {
	s := &flaky{Store: openStore(t)}
	d := openDesk(t, s, nil)
	if _, err := types(d, ".pause main"); err != nil {
		t.Fatal(err)
	}
	s.down.Store(true)
	if _, err := types(d, ".resume"); !errors.Is(err, errStoreDown) || !d.Pauses.View("main").On {
		t.Errorf("the pause is on: %v, %v", d.Pauses.View("main").On, err)
	}
}

// full is a record that takes nothing of one kind.
type full struct{ kind record.Kind }

var errFull = errors.New("no space left on device")

func (f full) Append(e record.Entry) error {
	if e.Kind == f.kind {
		return errFull
	}
	return nil
}

func TestWhatCannotBeRecordedIsNotLifted(t *testing.T) {
	for _, kind := range []record.Kind{record.KindPause, record.KindResume} {
		d := openDesk(t, openStore(t), func(o *approval.Options) { o.Record = full{kind} })
		if o, err := types(d, ".pause"); err != nil || o.Kind != approval.Replied || !d.Pauses.View("main").On {
			t.Errorf("a pause that can't be recorded holds all the same: %+v, %v", o, err)
		}
		_, err := types(d, ".resume")
		if failed := kind == record.KindResume; errors.Is(err, errFull) != failed || d.Pauses.View("main").On != failed {
			t.Errorf("%s: %v, paused %v", kind, err, d.Pauses.View("main").On)
		}
	}
}

// dying is a process that ends between placing a card and showing it.
type dying struct{}

func (dying) Append(e record.Entry) error {
	if e.Kind == record.KindAsked {
		panic("killed")
	}
	return nil
}

// "Waiting for the owner" is said only of a card that somebody was shown.
func TestH54ACardThatWasNeverShownIsAskedAnew(t *testing.T) {
	s, chat := openStore(t), newChat()
	chats := func(o *approval.Options) { o.Channels = map[string]approval.Channel{"chat": chat} }
	r := request(func(r *approval.Request) { r.Now = time.Now().Add(-time.Minute) })
	func() {
		d := openDesk(t, s, func(o *approval.Options) {
			chats(o)
			o.Record = dying{}
		})
		defer func() {
			if recover() == nil {
				t.Error("it did not die")
			}
		}()
		_, _ = d.Ask(t.Context(), &r)
	}()
	chat.nothing(t)
	d := openDesk(t, s, chats)
	again := r
	again.ID, again.Now = "again", time.Now()
	ruling := ask(t, d, func(r *approval.Request) { *r = again })
	tap(t, d, alice, chat.card(t).Handle(approval.AllowOnce), "")
	if r := <-ruling; !r.Yes {
		t.Errorf("%+v", r)
	}
}

// tardy is a store that restores pauses only when it is let, for a call and not by the way.
type tardy struct {
	approval.Store
	asked, let chan struct{}
}

func (s *tardy) RestorePause(ctx context.Context, scope, found, word string) error {
	if ctx.Value(spoken{}) != nil {
		s.asked <- struct{}{}
		<-s.let
	}
	return s.Store.RestorePause(ctx, scope, found, word)
}

// The owner pauses, a call finds the store without the pause and puts it there, and the owner resumes before that is done.
func TestH750AWordThatIsPutBackLateDoesNotUndoTheOwnersNext(t *testing.T) {
	s, book := &tardy{Store: openStore(t), asked: make(chan struct{}), let: make(chan struct{})}, &ledger{}
	front := &slow{Store: s}
	d := openDesk(t, front, func(o *approval.Options) { o.Record = book })
	put := make(chan error, 1)
	before := func() {
		go func() {
			put <- d.Pauses.Changed(context.WithValue(context.Background(), spoken{}, true), d.Pauses.View("main"), [2]string{})
		}()
		<-s.asked
	}
	front.write.Store(&before)
	for _, line := range []string{".pause", ".resume"} {
		if o, err := types(d, line); err != nil || o.Kind != approval.Replied {
			t.Fatalf("%s: %+v, %v", line, o, err)
		}
	}
	close(s.let)
	if err := <-put; err != nil {
		t.Error(err)
	}
	words, err := s.Pauses(t.Context())
	if err != nil || d.Pauses.View("main").On || words[session.AllAgents] != d.Pauses.View("main").All {
		t.Errorf("paused: %v; the store has %q, %v", d.Pauses.View("main").On, words, err)
	}
	if notes := book.of(record.KindNote); len(notes) != 0 {
		t.Errorf("the record says %+v", notes)
	}
}
