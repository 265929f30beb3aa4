package notify

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/openclaw-verifier/verifier/internal/text"
	"github.com/openclaw-verifier/verifier/push"
)

// Bounds of what one service may cost.
const (
	mostPending = 32 // news that wait for it; the oldest go first
	mostTold    = 256
	mostTries   = 3
	firstPause  = time.Second
	longPause   = 2 * time.Minute // a service that asks for more is not tried again
	tellTimeout = 15 * time.Second
)

// outbox holds what one device or service is to be told, one after the other.
type outbox struct {
	n    *Notifier
	name string
	tell func(context.Context, *News) error

	mu      sync.Mutex
	pending []*News
	told    map[string]bool // cards that it knows of
	running bool
}

// put adds news. It never waits for the service.
func (b *outbox) put(news *News) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pending = slices.DeleteFunc(b.pending, func(p *News) bool { return p.Card == news.Card })
	if news.Over && !b.told[news.Card] { // it has not heard of it, and need not
		return
	}
	b.pending = append(b.pending, news)
	if len(b.pending) > mostPending {
		b.pending = b.pending[1:]
	}
	if !b.running {
		b.running = true
		b.n.wg.Go(b.run)
	}
}

// knows notes that it was told of a card before.
func (b *outbox) knows(news *News) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.told[news.Card] = true
}

// next takes the oldest news; without any the outbox rests.
func (b *outbox) next() *News {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.pending) == 0 || b.n.ctx.Err() != nil {
		b.running = false
		return nil
	}
	news := b.pending[0]
	b.pending = b.pending[1:]
	if news.Over {
		delete(b.told, news.Card)
	} else if len(b.told) < mostTold {
		b.told[news.Card] = true // it may arrive even if no answer says so
	}
	return news
}

// run sends what is there, until nothing is.
func (b *outbox) run() {
	defer func() {
		if p := recover(); p != nil {
			b.n.o.Log.Error("telling a service ended in a panic", "to", b.name, "panic", text.Panic(p))
			b.mu.Lock()
			defer b.mu.Unlock()
			b.running = false
		}
	}()
	for news := b.next(); news != nil; news = b.next() {
		b.send(news)
	}
}

// send tells it, a few times where that may help.
func (b *outbox) send(news *News) {
	for try := range mostTries {
		ctx, cancel := context.WithTimeout(b.n.ctx, tellTimeout)
		err := b.tell(ctx, news)
		cancel()
		switch pause, again := retry(err, try); {
		case err == nil || b.n.ctx.Err() != nil:
			return
		case !again || try == mostTries-1 || !b.wait(pause, news):
			b.n.o.Log.Warn("a notification could not be sent; the question waits on the page", "to", b.name, "err", err)
			return
		}
	}
}

// retry says whether an error may pass, and after how long.
func retry(err error, try int) (time.Duration, bool) {
	pause := firstPause << (2 * try)
	if refused, ok := errors.AsType[*push.Refused](err); ok {
		return max(pause, refused.After), refused.Later && refused.After <= longPause
	}
	return pause, !errors.Is(err, push.ErrForbidden) && !errors.Is(err, push.ErrGone) && !errors.Is(err, push.ErrSubscription)
}

// wait waits, unless the question is over by then.
func (b *outbox) wait(pause time.Duration, news *News) bool {
	if !news.Over && time.Until(news.Until) < pause {
		return false
	}
	select {
	case <-time.After(pause):
		return true
	case <-b.n.ctx.Done():
		return false
	}
}
