package approval_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/internal/record"
)

// failing is a store that takes no change of a card for a while.
type failing struct {
	approval.Store
	down atomic.Bool
}

func (f *failing) Swap(ctx context.Context, c approval.Change) error {
	if f.down.Load() {
		return errStoreDown
	}
	return f.Store.Swap(ctx, c)
}

// TestH199NothingIsCalledWithdrawnThatStillWaits: the record tells what the store holds.
func TestH199NothingIsCalledWithdrawnThatStillWaits(t *testing.T) {
	store, book, c := &failing{Store: openStore(t)}, new(ledger), newChat()
	d := openDesk(t, store, func(o *approval.Options) {
		o.Channels, o.Record = map[string]approval.Channel{"chat": c}, book
	})
	ask(t, d, func(r *approval.Request) { r.Hold = time.Millisecond })
	card := c.card(t)
	withdrawn := func() int { return len(book.of(record.KindAnswer)) }

	end := approval.Ending{Conversation: conversation, SessionKey: conversation.Key, At: time.Now(), Why: "the conversation was ended"}
	store.down.Store(true)
	if err := d.Abandon(t.Context(), end); !errors.Is(err, errStoreDown) || withdrawn() != 0 {
		t.Errorf("with the store down: %v, %d withdrawn", err, withdrawn())
	}
	store.down.Store(false)
	if err := d.Abandon(t.Context(), end); err != nil || withdrawn() != 1 {
		t.Errorf("afterwards: %v, %d withdrawn", err, withdrawn())
	}
	if o := tap(t, d, alice, card.Handle(approval.AllowOnce), ""); o.State != approval.Denied {
		t.Errorf("a late tap: %+v", o)
	}
}
