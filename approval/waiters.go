package approval

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// waiters are the held requests of this process, by card. A wake is a hint to
// reread; it may come too often, and the poller makes up for lost ones.
type waiters struct {
	mu   sync.Mutex
	byID map[string][]*waiter
}

// waiter is one of them.
type waiter struct {
	agent string
	woken chan struct{}
	seen  atomic.Int64 // the version of the card that it has read
}

// add has someone wait for a card until it is removed.
func (w *waiters) add(id string, one *waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.byID[id] = append(w.byID[id], one)
}

func (w *waiters) remove(id string, one *waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	left := slices.DeleteFunc(w.byID[id], func(other *waiter) bool { return other == one })
	if len(left) == 0 {
		delete(w.byID, id)
		return
	}
	w.byID[id] = left
}

func (w *waiter) wake() {
	select {
	case w.woken <- struct{}{}:
	default: // a wake is already waiting to be seen
	}
}

func (w *waiters) wake(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range w.byID[id] {
		one.wake()
	}
}

// wakePaused wakes those whose agent is paused now, and not the thousands
// there may be of others: each of them would reread its card.
func (w *waiters) wakePaused(paused func(agent string) bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, all := range w.byID {
		for _, one := range all {
			if paused(one.agent) {
				one.wake()
			}
		}
	}
}

// wakeBehind wakes those who have read another version of a card.
func (w *waiters) wakeBehind(id string, version int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range w.byID[id] {
		if one.seen.Load() != version {
			one.wake()
		}
	}
}

func (w *waiters) ids() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Keys(w.byID))
}
