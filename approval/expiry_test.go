package approval_test

import (
	"sync"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/audit"
)

// expiries counts what is recorded of cards that nobody answered.
type expiries struct {
	mu      sync.Mutex
	expired int
}

func (l *expiries) Append(e audit.Entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.Note == "expired without an answer" {
		l.expired++
	}
	return nil
}

// A gateway that is restarted leaves cards behind, which its successor sees.
func TestH53ACardThatAnotherProcessLeftSaysThatItHasExpired(t *testing.T) {
	s, c, record := openStore(t), newChat(), &expiries{}
	edit := func(o *approval.Options) {
		o.Channels, o.Terms.TTL, o.Record, o.Tend = map[string]approval.Channel{"chat": c}, 1500*time.Millisecond, record, 20*time.Millisecond
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
	if record.expired != 1 {
		t.Errorf("recorded %d times", record.expired)
	}
}

// Two processes know of the card; one of them tells of it.
func TestACardsExpiryIsToldOnce(t *testing.T) {
	s, c, record := openStore(t), newChat(), &expiries{}
	edit := func(o *approval.Options) {
		o.Channels, o.Terms.TTL, o.Record, o.Tend = map[string]approval.Channel{"chat": c}, 300*time.Millisecond, record, 5*time.Millisecond
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
	if len(c.changed) > 0 || record.expired != 1 {
		t.Errorf("shown %d times more, recorded %d times", len(c.changed), record.expired)
	}
}
