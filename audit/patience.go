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

// inTime appends, and returns after the patience of the log at the latest where
// other lines are being written or the disk was slow lately. A line that is
// alone on a disk that kept up is written without more ado: a goroutine for each
// would cost every call, and the first line that stalls is one.
func (l *Log) inTime(e *Entry) error {
	if l.o.Patience == 0 {
		return l.append(e)
	}
	if l.slowUntil.Load() < time.Now().UnixNano() && l.alone.TryLock() {
		defer l.alone.Unlock()
		return l.timed(func() error { return l.append(e) })
	}
	entry := *e
	return l.patiently(1, func() error { return l.append(&entry) })
}

// timed writes, and remembers when that took long.
func (l *Log) timed(write func() error) error {
	began := time.Now()
	err := write()
	if now := time.Now(); now.Sub(began) > stall {
		l.slowUntil.Store(now.Add(slowFor).UnixNano())
	}
	return err
}

// patiently leaves the writing of lines to a goroutine, and does not wait for it
// for ever.
func (l *Log) patiently(lines int64, write func() error) error {
	if l.o.Patience == 0 {
		return write()
	}
	if l.queued.Add(lines) > maxQueued {
		l.queued.Add(-lines)
		return l.late()
	}
	done := make(chan error, 1)
	go func() {
		defer l.queued.Add(-lines)
		done <- l.timed(write)
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
	l.slowUntil.Store(time.Now().Add(slowFor).UnixNano())
	return ErrSlow
}
