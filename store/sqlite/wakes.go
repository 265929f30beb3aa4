package sqlite

import (
	"context"
	"sync"
)

// maxPending bounds the wakes a slow listener has not taken yet. A wake is a
// hint and may be lost; a waiting caller also looks for itself.
const maxPending = 1 << 16

// wakes hands what commits announce to who listens. There is one process, so
// a list in memory is enough. The writer only drops an id into each listener's
// box: what a listener does with it happens on the listener's own goroutine.
type wakes struct {
	mu     sync.Mutex
	closed bool
	boxes  map[*box]bool
}

type box struct {
	ids    []string
	signal chan struct{}
}

// listen calls heard until ctx ends, or with ErrClosed when the store is closed.
func (w *wakes) listen(ctx context.Context, heard func(id string)) error {
	b := &box{signal: make(chan struct{}, 1)}
	if !w.add(b) {
		return ErrClosed
	}
	defer w.remove(b)
	for {
		select {
		case <-ctx.Done():
			return nil
		case _, open := <-b.signal:
			if !open {
				return ErrClosed
			}
			for _, id := range w.take(b) {
				heard(id)
			}
		}
	}
}

func (w *wakes) add(b *box) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false
	}
	if w.boxes == nil {
		w.boxes = map[*box]bool{}
	}
	w.boxes[b] = true
	return true
}

func (w *wakes) remove(b *box) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.boxes, b)
}

func (w *wakes) take(b *box) (ids []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	ids, b.ids = b.ids, nil
	return ids
}

func (w *wakes) announce(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for b := range w.boxes {
		if len(b.ids) < maxPending {
			b.ids = append(b.ids, id)
		}
		select {
		case b.signal <- struct{}{}:
		default: // it has not answered the last one yet
		}
	}
}

// close ends every listener. The boxes go out of the list first: nothing sends
// on a closed channel.
func (w *wakes) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	for b := range w.boxes {
		close(b.signal)
	}
	clear(w.boxes)
}
