package audit

import "fmt"

// batch is a group of lines that one fdatasync covers. The appender that opens
// it leads: it waits for the sync before to end, closes the batch and syncs;
// those who come meanwhile follow.
type batch struct {
	done chan struct{}
	err  error // set before done is closed
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
	upTo, lost := l.shut(b)
	if lost {
		return
	}
	l.settle(b, upTo, l.disk.Sync())
}

// shut closes the batch to newcomers and says what a sync will cover. The batch
// is lost if the sync before it failed: its lines stood upon those.
func (l *Log) shut(b *batch) (upTo state, lost bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if b.err != nil {
		return state{}, true
	}
	l.open = nil
	return l.cur, false
}

// settle notes how the sync went. After a failed one the kernel may have dropped
// the pages and forgotten about them, so a second try would prove nothing. All
// lines since the last good sync are taken back instead: none of their Appends
// has returned yet.
func (l *Log) settle(b *batch, upTo state, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		l.synced, l.err = upTo, nil
		return
	}
	l.err = fmt.Errorf("audit: sync: %w", err)
	b.err = l.err
	if next := l.open; next != nil {
		next.err = l.err
		l.open = nil
	}
	l.cur, l.torn = l.synced, true
	l.heal() //nolint:errcheck // stays torn; the next write heals first
}
