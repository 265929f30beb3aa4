package web

import (
	"sync"
	"time"
)

// kept is something that takes reading the record, and is read again only after a while.
type kept[T any] struct {
	mu   sync.Mutex
	at   time.Time
	last T
}

// get gives what was read last, or reads it. What can't be read is read again the next time.
func (k *kept[T]) get(now time.Time, life time.Duration, read func() (T, error)) (_ T, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if now.Sub(k.at) > life || now.Before(k.at) {
		if k.last, err = read(); err == nil {
			k.at = now
		}
	}
	return k.last, err
}

func (k *kept[T]) put(now time.Time, v T) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.at, k.last = now, v
}
