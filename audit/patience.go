package audit

import (
	"errors"
	"time"
)

// ErrSlow says that the disk did not take a line in time. It may still take it:
// then the record says more than came of it, never less.
var ErrSlow = errors.New("audit: the disk is too slow to keep the record")

// DefaultPatience lets a call be denied within half a second of its time where
// the disk hangs.
const DefaultPatience = 250 * time.Millisecond

const (
	stall     = 20 * time.Millisecond // a line that took longer makes the disk count as slow
	slowFor   = 5 * time.Second       // from then on
	maxQueued = 1024                  // lines that wait for a slow disk; more are refused at once
)

// inTime writes a line, and returns after the patience of the log at the latest
// where other lines are being written or the disk was slow lately. A line that is
// alone on a disk that kept up is written without more ado: a goroutine for each
// would cost every call, and the first line that stalls is one.
func (l *Log) inTime(d *draft) error {
	if l.o.Patience == 0 {
		return l.put(d)
	}
	began := time.Since(l.opened)
	if l.slowUntil.Load() > int64(began) || !l.alone.TryLock() {
		return l.patiently([]*draft{d})
	}
	defer l.alone.Unlock()
	defer l.timed(began)
	return l.put(d)
}

// timed remembers when writing took long.
func (l *Log) timed(began time.Duration) {
	if now := time.Since(l.opened); now-began > stall {
		l.slowUntil.Store(int64(now + slowFor))
	}
}

// patiently leaves the writing of lines to a goroutine, and does not wait for it
// for ever.
func (l *Log) patiently(drafts []*draft) error {
	if l.o.Patience == 0 {
		return l.put(drafts...)
	}
	lines := int64(len(drafts))
	if l.queued.Add(lines) > maxQueued {
		l.queued.Add(-lines)
		return l.late()
	}
	done := make(chan error, 1)
	go func() {
		defer l.queued.Add(-lines)
		began := time.Since(l.opened)
		err := l.put(drafts...)
		l.timed(began)
		done <- err
	}()
	enough := time.NewTimer(l.o.Patience)
	defer enough.Stop()
	select {
	case err := <-done:
		return err
	case <-enough.C:
		return l.late()
	}
}

func (l *Log) late() error {
	l.slowUntil.Store(int64(time.Since(l.opened) + slowFor))
	return ErrSlow
}
