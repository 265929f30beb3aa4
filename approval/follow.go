package approval

import (
	"context"
	"sync"
	"time"
)

// follows are the cards that this process has put up and stays with. There may be
// thousands: each is a name and a timer.
type follows struct {
	mu    sync.Mutex
	cards map[string]*time.Timer // by id, for their expiry
	ended bool
}

// set has something done after a while about a card, which is followed until it is removed. It reports false once the
// desk has stopped: then nothing is done.
func (f *follows) set(id string, after time.Duration, do func()) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended {
		return false
	}
	if f.cards == nil {
		f.cards = make(map[string]*time.Timer)
	}
	f.cards[id] = time.AfterFunc(after, func() { f.during(do) })
	return true
}

// during does something, quickly, unless the desk has stopped.
func (f *follows) during(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.ended {
		do()
	}
}

func (f *follows) remove(id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.cards, id)
}

func (f *follows) has(id string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cards[id] != nil
}

// end lets go of all of them and returns their ids.
func (f *follows) end() (ids []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, expiry := range f.cards {
		expiry.Stop()
		ids = append(ids, id)
	}
	f.cards, f.ended = nil, true
	return ids
}

// follow stays with a card that this process has put up: it tells every copy when the time is up, or that this process
// stops before it is.
func (sw *sweeper) follow(c *Card, now time.Time) {
	due := func() { sw.run(func(ctx context.Context) { sw.expire(ctx, c.ID) }) }
	if !sw.follows.set(c.ID, c.Until().Sub(now), due) { // by our clock, however that is set
		sw.run(func(ctx context.Context) { sw.sayStopped(ctx, c.ID) })
	}
}

// expire tells every copy that the card's time is up.
func (sw *sweeper) expire(ctx context.Context, id string) {
	defer sw.follows.remove(id)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if c, now, err := sw.load(ctx, id); err == nil {
		sw.expired(ctx, c, now)
	}
}

// onStop tells the copies of all cards that are followed when the desk stops.
func (sw *sweeper) onStop() {
	ids := sw.follows.end()
	if len(sw.o.Channels) == 0 { // they are shown nowhere, and those who are held wait for their answers
		return
	}
	for _, id := range ids {
		sw.run(func(ctx context.Context) { sw.sayStopped(ctx, id) })
	}
}

// sayStopped tells every copy of an open card that this process stops before its
// time is up.
func (sw *sweeper) sayStopped(ctx context.Context, id string) {
	if len(sw.o.Channels) == 0 { // it is shown nowhere
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	if c, now, err := sw.load(ctx, id); err == nil && !c.closed(now) {
		sw.announcer.showCopies(ctx, c)
	}
}
