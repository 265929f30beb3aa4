package approval

import (
	"context"
	"sync"
	"time"
)

// waiters are the held requests of this process, by card. A wake is a hint to
// reread; it may come too often, and the poller makes up for lost ones.
type waiters struct {
	mu   sync.Mutex
	byID map[string]map[chan struct{}]bool
}

func (w *waiters) init() { w.byID = make(map[string]map[chan struct{}]bool) }

func (w *waiters) add(id string) (woken <-chan struct{}, done func()) {
	c := make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.byID[id] == nil {
		w.byID[id] = make(map[chan struct{}]bool)
	}
	w.byID[id][c] = true
	return c, func() { w.remove(id, c) }
}

func (w *waiters) remove(id string, c chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.byID[id], c)
	if len(w.byID[id]) == 0 {
		delete(w.byID, id)
	}
}

func (w *waiters) wake(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.byID[id] {
		select {
		case c <- struct{}{}:
		default: // a wake is already waiting to be seen
		}
	}
}

// wakeAll is for what may concern any of them.
func (w *waiters) wakeAll() {
	for _, id := range w.ids() {
		w.wake(id)
	}
}

func (w *waiters) ids() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	ids := make([]string, 0, len(w.byID))
	for id := range w.byID {
		ids = append(ids, id)
	}
	return ids
}

// hearWakes listens for answers that other processes took, and for pauses.
func (d *Desk) hearWakes(ctx context.Context) {
	woke := func(id string) {
		if id != PauseWake {
			d.waiters.wake(id)
			return
		}
		if err := d.hearPauses(ctx); err != nil && ctx.Err() == nil {
			d.o.Log.WarnContext(ctx, "a pause changed and could not be read", "err", err)
		}
	}
	if err := d.o.Store.Wakes(ctx, woke); err != nil && ctx.Err() == nil {
		d.o.Log.Error("wake-ups from the store have stopped; answers are found by polling", "err", err)
	}
}

// poll rereads all cards that someone waits for, in one trip, and wakes those
// that changed or expired: wake-ups get lost.
func (d *Desk) poll(ctx context.Context) {
	tick := time.NewTicker(d.o.Poll)
	defer tick.Stop()
	versions := make(map[string]int64)
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			versions = d.pollOnce(ctx, versions)
		}
	}
}

func (d *Desk) pollOnce(ctx context.Context, before map[string]int64) map[string]int64 {
	ids := d.waiters.ids()
	seen := make(map[string]int64, len(ids))
	if len(ids) == 0 {
		return seen
	}
	ctx, cancel := context.WithTimeout(ctx, d.o.Poll)
	defer cancel()
	cards, now, err := d.o.Store.Load(ctx, ids...)
	if err != nil {
		return before
	}
	for _, s := range cards {
		seen[s.ID] = s.Version
		if v, known := before[s.ID]; !known || v != s.Version || !now.Before(s.Until) {
			d.waiters.wake(s.ID)
		}
	}
	return seen
}
