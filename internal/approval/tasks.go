package approval

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/internal/text"
)

// tasks are the goroutines of a desk.
type tasks struct {
	log  *slog.Logger
	ctx  context.Context
	stop context.CancelFunc
	wg   sync.WaitGroup
}

func newTasks(log *slog.Logger) *tasks {
	t := &tasks{log: log}
	t.ctx, t.stop = context.WithCancel(context.Background())
	return t
}

// run starts a goroutine that Close waits for. A panic in it ends it alone.
func (t *tasks) run(f func(ctx context.Context)) {
	t.wg.Go(func() { t.survive(f) })
}

func (t *tasks) survive(f func(ctx context.Context)) {
	defer func() {
		if p := recover(); p != nil {
			t.log.Error("the desk recovered from a panic", "panic", text.Panic(p))
		}
	}()
	f(t.ctx)
}

// runFor is run on behalf of a request, so that the log can say which. It ends neither with that nor with the desk.
func (t *tasks) runFor(request context.Context, f func(ctx context.Context)) {
	t.run(func(context.Context) { f(context.WithoutCancel(request)) })
}

// waiters are the held requests of this process, by the cards they wait for, and the cards that it has put up.
type waiters struct {
	mu     sync.Mutex
	byCard map[string][]*waiter
	mine   map[string]bool // put up here and open as far as we know
}

func newWaiters() waiters {
	return waiters{byCard: make(map[string][]*waiter), mine: make(map[string]bool)}
}

// waiter is someone who waits for cards to close.
type waiter struct {
	request *Request // nil: a caller that asks about late answers
	woken   chan struct{}
	paused  atomic.Bool            // the owner paused the agent
	edit    atomic.Pointer[edited] // what a person made of the call
}

func newWaiter(r *Request) *waiter { return &waiter{request: r, woken: make(chan struct{}, 1)} }

// add has someone wait for cards until the returned function is called.
func (w *waiters) add(one *waiter, ids ...string) (done func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range ids {
		w.byCard[id] = append(w.byCard[id], one)
	}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, id := range ids {
			w.byCard[id] = slices.DeleteFunc(w.byCard[id], func(other *waiter) bool { return other == one })
			if len(w.byCard[id]) == 0 {
				delete(w.byCard, id)
			}
		}
	}
}

// held are the requests that wait for a card here, the earliest first.
func (w *waiters) held(id string) []*waiter {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.byCard[id]), func(one *waiter) bool { return one.request == nil })
}

func (w *waiters) own(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mine[id] = true
}

// owned are the cards that this process has put up and that are open as far as it knows.
func (w *waiters) owned() (ids []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id := range w.mine {
		ids = append(ids, id)
	}
	return ids
}

// wake wakes those who wait for a card that has closed.
func (w *waiters) wake(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.mine, id)
	for _, one := range w.byCard[id] {
		one.wake()
	}
}

// wakeClosed wakes those who wait for cards that are not open.
func (w *waiters) wakeClosed(open map[string]time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, all := range w.byCard {
		if _, is := open[id]; !is {
			for _, one := range all {
				one.wake()
			}
		}
	}
	for id := range w.mine {
		if _, is := open[id]; !is {
			delete(w.mine, id)
		}
	}
}

// pause ends the waits of the agents that a pause binds.
func (w *waiters) pause(all []store.Pause) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, held := range w.byCard {
		for _, one := range held {
			if one.request != nil && binds(all, one.request.Ask.Agent) {
				one.paused.Store(true)
				one.wake()
			}
		}
	}
}

// idle reports whether no one waits here and no card of ours is open.
func (w *waiters) idle() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.byCard) == 0 && len(w.mine) == 0
}

func (w *waiter) wake() {
	select {
	case w.woken <- struct{}{}:
	default: // a wake is already waiting to be seen
	}
}
