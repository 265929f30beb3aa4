package channeltest

import (
	"context"
	"sync"
)

// Changes is a part for fakes: a lock, and a way to wait for what it guards. The zero Changes is ready.
type Changes struct {
	sync.Mutex
	changed chan struct{} // closed at the next change; nil: no one waits
}

// Change says that something is different now. The lock is held.
func (c *Changes) Change() {
	if c.changed != nil {
		close(c.changed)
		c.changed = nil
	}
}

// Await waits for something to become true. It is called without the lock and asks with it.
func (c *Changes) Await(ctx context.Context, is func() bool) error {
	for {
		c.Lock()
		ok := is()
		if c.changed == nil {
			c.changed = make(chan struct{})
		}
		changed := c.changed
		c.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
