package record

import (
	"errors"
	"sync"
	"testing"
	"time"
)

// stuck is a disk on which each write waits until it is let go.
type stuck struct {
	disk
	began chan struct{}
	gate  chan struct{}
}

func (s *stuck) Write(p []byte) (int, error) {
	select {
	case s.began <- struct{}{}:
	default:
	}
	<-s.gate
	return s.disk.Write(p)
}

// Whoever wants a line written while the disk hangs is told so in time; one line
// alone, the first, waits for the disk. Nothing is lost when it goes on.
func TestH46ADiskThatHangsIsToldInTimeAndNothingIsLost(t *testing.T) {
	o := testOptions()
	o.Patience = 10 * time.Millisecond
	l, f, path := faultyLog(t, o)
	mustAppend(t, l, "before")
	l.slowUntil.Store(0) // a busy machine is not the disk that hangs
	s := &stuck{f, make(chan struct{}, 1), make(chan struct{})}
	l.disk = s
	var first sync.WaitGroup
	first.Go(func() {
		if err := l.Append(Entry{Kind: KindNote, Note: "the first"}); err != nil {
			t.Error(err)
		}
	})
	<-s.began
	for range 3 {
		if err := l.Append(Entry{Kind: KindNote, Note: "meanwhile"}); !errors.Is(err, ErrSlow) {
			t.Errorf("append on a disk that hangs: %v", err)
		}
	}
	l.queued.Add(maxQueued)
	began := time.Now()
	if err := l.Append(Entry{Kind: KindNote, Note: "too many"}); !errors.Is(err, ErrSlow) || time.Since(began) > time.Second {
		t.Errorf("append to a full queue: %v", err)
	}
	l.queued.Add(-maxQueued)
	close(s.gate)
	first.Wait()
	for tick := time.Tick(time.Millisecond); l.queued.Load() > 0; {
		<-tick
	}
	l.o.Patience = time.Minute
	mustAppend(t, l, "after")
	mustClose(t, l)
	head := l.Head()
	if r := verifies(t, path, &head); r.Entries != 6 {
		t.Errorf("%d entries, want all that were not refused: %+v", r.Entries, r)
	}
}
