package sqlite

import (
	"context"
	"sync"
)

// mostPending bounds what a slow listener has not taken yet: what it hears is a hint and may be lost.
const mostPending = 1 << 16

// listeners hear what commits publish. There is one process, so a list in memory is enough. The writer only drops a text
// into each one's box: what a listener does with it happens on its own goroutine.
type listeners struct {
	mu    sync.Mutex
	boxes map[*box]bool
}

type box struct {
	texts  []string
	signal chan struct{}
}

// listen calls heard until ctx ends, or with ErrClosed when the backend is closed.
func (l *listeners) listen(ctx context.Context, closed <-chan struct{}, heard func(string)) error {
	b := &box{signal: make(chan struct{}, 1)}
	l.mu.Lock()
	if l.boxes == nil {
		l.boxes = map[*box]bool{}
	}
	l.boxes[b] = true
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.boxes, b)
	}()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-closed:
			return ErrClosed
		case <-b.signal:
			l.mu.Lock()
			texts := b.texts
			b.texts = nil
			l.mu.Unlock()
			for _, text := range texts {
				heard(text)
			}
		}
	}
}

func (l *listeners) tell(text string) {
	if text == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for b := range l.boxes {
		if len(b.texts) < mostPending {
			b.texts = append(b.texts, text)
		}
		select {
		case b.signal <- struct{}{}:
		default: // it has not answered the last one yet
		}
	}
}
