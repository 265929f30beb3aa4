package approval_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/internal/record"
)

// expiries counts what is recorded of cards that nobody answered.
type expiries struct {
	mu      sync.Mutex
	expired int
}

func (l *expiries) Append(e record.Entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.Note == "expired without an answer" {
		l.expired++
	}
	return nil
}

// A gateway that is restarted leaves cards behind, which its successor sees.
func TestH53ACardThatAnotherProcessLeftSaysThatItHasExpired(t *testing.T) {
	s, c, book := openStore(t), newChat(), &expiries{}
	edit := func(o *approval.Options) {
		o.Channels, o.Terms.TTL, o.Record, o.SweepEvery = map[string]approval.Channel{"chat": c}, 4*time.Second, book, 20*time.Millisecond
	}
	first := openDesk(t, s, edit)
	ruling := ask(t, first, nil)
	c.card(t)
	first.Stop()
	<-ruling
	first.Close()
	for more := true; more; more = len(c.changed) > 0 {
		if o := c.shows(t); o.State != approval.Open {
			t.Fatalf("the gateway stops, and the card shows %+v", o)
		}
	}
	openDesk(t, s, edit)
	if o := c.shows(t); o.State != approval.Expired {
		t.Errorf("when its time is up the card shows %+v", o)
	}
	if book.expired != 1 {
		t.Errorf("recorded %d times", book.expired)
	}
}

// Two processes know of the card; one of them tells of it.
func TestACardsExpiryIsToldOnce(t *testing.T) {
	s, c, book := openStore(t), newChat(), &expiries{}
	edit := func(o *approval.Options) {
		o.Channels, o.Terms.TTL, o.Record, o.SweepEvery = map[string]approval.Channel{"chat": c}, 4*time.Second, book, 5*time.Millisecond // it is noted as shown before that, also on a busy machine
	}
	first, second := openDesk(t, s, edit), openDesk(t, s, edit)
	ruling := ask(t, first, nil)
	c.card(t)
	if r := <-ruling; r.Yes {
		t.Errorf("ruled %+v", r)
	}
	c.shows(t)
	first.Close()
	second.Close()
	if len(c.changed) > 0 || book.expired != 1 {
		t.Errorf("shown %d times more, recorded %d times", len(c.changed), book.expired)
	}
}

// cracked is a store that panics where a card is read, once it is cracked.
type cracked struct {
	approval.Store
	now    atomic.Bool
	struck chan struct{}
}

func (c *cracked) Load(ctx context.Context, ids ...string) ([]approval.Stored, time.Time, error) {
	if c.now.Load() {
		c.struck <- struct{}{}
		panic("boom")
	}
	return c.Store.Load(ctx, ids...)
}

// What is due of a card is done on a goroutine of its own, which nobody waits for.
func TestAPanicWhenACardExpiresEndsNothingElse(t *testing.T) {
	s := &cracked{Store: openStore(t), struck: make(chan struct{}, 10)}
	const ttl = 200 * time.Millisecond
	d := openDesk(t, s, func(o *approval.Options) { o.Terms.TTL, o.Poll = ttl, time.Hour })
	for struck := false; !struck; { // a machine may take longer to put a card up than it stands
		s.now.Store(false)
		unheld := request(func(r *approval.Request) { r.Hold = 0 })
		if r, err := d.Ask(t.Context(), &unheld); err != nil || r.Ref == "" {
			t.Fatalf("got %+v, %v", r, err)
		}
		s.now.Store(true)
		select {
		case <-s.struck:
			struck = true
		case <-time.After(2 * ttl):
		}
	}
	s.now.Store(false)
	again := request(func(r *approval.Request) { r.Hold = 0 })
	if r, err := d.Ask(t.Context(), &again); err != nil || r.Ref == "" {
		t.Errorf("after the panic: %+v, %v", r, err)
	}
}
