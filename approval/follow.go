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
	cards map[string]*followed
	ended bool
}

// followed is one of them, and what is due of it.
type followed struct {
	id    string
	stage int         // the one that is next
	at    []time.Time // when that and those after it begin, and last when the card expires
	next  *time.Timer // for the first of these
}

// set has something done when the next is due of a card, which is followed until
// it is removed. It reports false once the desk has stopped: then nothing is done.
func (f *follows) set(c *followed, do func()) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended {
		return false
	}
	if f.cards == nil {
		f.cards = make(map[string]*followed)
	}
	f.cards[c.id] = c
	c.next = time.AfterFunc(time.Until(c.at[0]), func() { f.during(do) })
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

func (f *follows) remove(c *followed) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.cards, c.id)
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
	for id, c := range f.cards {
		c.next.Stop()
		ids = append(ids, id)
	}
	f.cards, f.ended = nil, true
	return ids
}

// follow stays with a card that this process has put up: it begins the stages
// that are due while there is no answer, and tells every copy when the time is
// up, or that this process stops before it is.
func (sw *sweeper) follow(c *Card, stage int, now time.Time) {
	began := time.Now()
	local := func(at time.Time) time.Time { return began.Add(at.Sub(now)) } // by our clock, however that is set
	f := &followed{id: c.ID, stage: stage + 1}
	for i, s := range c.stages() {
		if i > stage {
			f.at = append(f.at, local(s.From))
		}
	}
	f.at = append(f.at, local(c.Until()))
	if !sw.await(f) {
		sw.run(func(ctx context.Context) { sw.sayStopped(ctx, f.id) })
	}
}

// await waits for what is due next of a card, without a goroutine.
func (sw *sweeper) await(f *followed) bool {
	return sw.follows.set(f, func() {
		sw.run(func(ctx context.Context) { sw.due(ctx, f) })
	})
}

// due does what is due of a card. One that waits no more is only looked at again
// when it expires.
func (sw *sweeper) due(ctx context.Context, f *followed) {
	again := false
	defer func() {
		if !again {
			sw.follows.remove(f)
		}
	}()
	if len(f.at) == 1 {
		sw.expire(ctx, f.id)
		return
	}
	waits := sw.announcer.escalate(ctx, f.id, f.stage)
	f.stage, f.at = f.stage+1, f.at[1:]
	if !waits {
		f.at = f.at[len(f.at)-1:]
	}
	again = sw.await(f)
}

// expire tells every copy that the card's time is up.
func (sw *sweeper) expire(ctx context.Context, id string) {
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
