package record

import "fmt"

// batch is a group of lines that one fdatasync covers. The appender that opens
// it leads: it waits for the sync before to end, closes the batch and syncs;
// those who come meanwhile follow.
type batch struct {
	done chan struct{}
	err  error // set before done is closed

	synced bool // its lines are on disk already: their file was closed
}

// join enters the caller's line, already written, in the open batch. Called
// with mu held.
func (l *Log) join() (b *batch, leads bool) {
	if l.open == nil {
		l.open = &batch{done: make(chan struct{})}
		leads = true
	}
	return l.open, leads
}

// wait returns when the batch is on disk, or is known not to be. A nil batch
// has nothing to wait for.
func (l *Log) wait(b *batch, leads bool) error {
	if b == nil {
		return nil
	}
	if leads {
		l.lead(b)
	}
	<-b.done
	return b.err
}

func (l *Log) lead(b *batch) {
	l.syncing <- struct{}{}
	defer func() { <-l.syncing }()
	defer close(b.done)
	upTo, done := l.shut(b)
	if done {
		return
	}
	l.settle(b, upTo, l.disk.Sync())
}

// shut closes the batch to newcomers and says what a sync will cover. There is
// nothing to do if the sync before it failed, since its lines stood upon those,
// or if its file was closed meanwhile.
func (l *Log) shut(b *batch) (upTo state, done bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if b.err != nil || b.synced {
		return state{}, true
	}
	l.open = nil
	return l.cur, false
}

// settle notes how the sync went.
func (l *Log) settle(b *batch, upTo state, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		l.synced, l.err = upTo, nil
		return
	}
	l.lose(err)
	b.err = l.err
}

// lose takes back all lines since the last good sync: none of their Appends has
// returned yet. After a failed one the kernel may have dropped the pages and
// forgotten about them, so a second try would prove nothing.
func (l *Log) lose(err error) {
	l.err = fmt.Errorf("audit: sync: %w", err)
	if next := l.open; next != nil {
		next.err = l.err
		l.open = nil
	}
	l.cur, l.torn = l.synced, true
	l.heal() //nolint:errcheck // stays torn; the next write heals first
}
