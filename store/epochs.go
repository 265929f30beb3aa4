package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// errList says that no list has this name.
var errList = errors.New("store: the name of a list begins with two hex digits")

// epochs know whether the records still hold what they held. Each bucket has a marker with the epoch's id, and this machine
// remembers the id:
//
//	here    there              means
//	none    none               new: make an id, write it there, then here
//	none    c:x or a:x         another process was here before: take x
//	x       c:x or a:x         all is well
//	x       none, or c:y       lost: the bucket becomes l:x, and its conversations are born untrusted
//	x       l:anything         lost, and not yet accepted
//	x       a:y                the owner accepted the loss through another process: take y
type epochs struct {
	records Records
	file    *Epoch // may be nil
	timeout time.Duration
	clock   *Clock
	goOn    func(context.Context) error // done once, when the markers were read
	id      atomic.Pointer[string]
	met     atomic.Bool

	mu        sync.Mutex
	flight    *flight
	candidate string // the id this process is writing to new records; only the flight touches it
}

// flight is one attempt to meet the records, which all callers share.
type flight struct {
	done chan struct{}
	err  error
}

// epochError says that a bucket's marker is not one of this epoch: it must be looked after first.
type epochError struct{ bucket string }

func (e *epochError) Error() string {
	return "store: the epoch of bucket " + e.bucket + " is not known"
}

func markerKey(bucket string) Key { return key(bucket, "epoch") }

// judge reads a marker: whether what was there is lost, and whether that can be told.
func (e *epochs) judge(marker string) (lost, known bool) {
	id := e.current()
	return strings.HasPrefix(marker, "l:"), strings.HasPrefix(marker, "l:") || marker == "c:"+id || marker == "a:"+id
}

func (e *epochs) current() string {
	if id := e.id.Load(); id != nil {
		return *id
	}
	if e.file != nil {
		return e.file.ID()
	}
	return ""
}

// meet makes sure that the markers were seen once. However many callers find the store down, one at a time asks it.
func (e *epochs) meet(ctx context.Context) error {
	if e.met.Load() {
		return nil
	}
	return e.look(ctx)
}

// look reads all markers, alone or with those who look already. That may take several times as long as its callers wait: on a machine so
// busy that each of them gives up, the next ones find the store met instead of beginning anew.
func (e *epochs) look(ctx context.Context) error { return e.lookWithin(ctx, 5*e.timeout) }

func (e *epochs) lookWithin(ctx context.Context, within time.Duration) error {
	e.mu.Lock()
	f := e.flight
	if f == nil {
		f = &flight{done: make(chan struct{})}
		e.flight = f
		go e.fly(context.WithoutCancel(ctx), f, within) // the first caller may leave: the others wait for it too
	}
	e.mu.Unlock()
	select {
	case <-f.done:
		return f.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (e *epochs) fly(ctx context.Context, f *flight, within time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	f.err = e.contact(ctx)
	if f.err == nil && !e.met.Load() {
		f.err = e.goOn(context.WithoutCancel(ctx))
	}
	if f.err == nil {
		e.met.Store(true)
	}
	e.mu.Lock()
	e.flight = nil
	e.mu.Unlock()
	close(f.done)
}

func (e *epochs) contact(ctx context.Context) error {
	marks, err := e.read(ctx)
	if err != nil {
		return err
	}
	id := e.current()
	if id == "" {
		if id, marks, err = e.first(ctx, marks); err != nil {
			return err
		}
	}
	for _, m := range marks {
		if accepted, ok := strings.CutPrefix(m.Data, "a:"); ok && accepted != id {
			id = accepted
			break
		}
	}
	if err := e.markLost(ctx, marks, id); err != nil {
		return err
	}
	return e.adopt(id)
}

// first settles on an id where this machine has none: the one in the records, or a new one.
func (e *epochs) first(ctx context.Context, marks []Record) (string, []Record, error) {
	if e.candidate == "" && firstID(marks) == "" {
		e.candidate = NewEpochID()
	}
	if e.candidate != "" {
		return e.found(ctx)
	}
	marks, err := e.settled(ctx, marks)
	return firstID(marks), marks, err
}

// found writes the candidate to new records. Where several processes do so at once, the one that gets the first bucket founds it,
// and the others wait.
func (e *epochs) found(ctx context.Context) (string, []Record, error) {
	ours := "c:" + e.candidate
	first := e.mark(0, Version{}, ours)
	if err := e.records.Commit(ctx, first); err != nil {
		return "", nil, err
	}
	if first.Result.Done || first.Result.Moved[markerKey(Bucket(0))].Data == ours {
		rest := make([]*Commit, 0, Buckets)
		for n := 1; n < Buckets; n++ {
			rest = append(rest, e.mark(n, Version{}, ours))
		}
		if err := e.records.Commit(ctx, rest...); err != nil {
			return "", nil, err
		}
	}
	marks, err := e.read(ctx)
	if err != nil {
		return "", nil, err
	}
	e.candidate = ""
	marks, err = e.settled(ctx, marks)
	return firstID(marks), marks, err
}

// mark writes a bucket's marker in the place of another.
func (e *epochs) mark(n int, instead Version, marker string) *Commit {
	k := markerKey(Bucket(n))
	return &Commit{
		Reads: []Read{{k, instead}}, Writes: []Write{{k, Record{Version: newVersion(), Data: marker}}},
		NotAfter: e.records.Now().Add(24 * time.Hour),
	}
}

// settled waits a moment for markers that another process may be writing. Those that are still missing then were lost.
func (e *epochs) settled(ctx context.Context, marks []Record) ([]Record, error) {
	var err error
	for range 20 {
		if missing(marks) == 0 {
			break
		}
		if err = pause(ctx, 10*time.Millisecond); err != nil {
			break
		}
		if marks, err = e.read(ctx); err != nil {
			break
		}
	}
	return marks, err
}

// markLost marks the buckets that do not know the id.
func (e *epochs) markLost(ctx context.Context, marks []Record, id string) error {
	var commits []*Commit
	for n, m := range marks {
		if m.Data != "c:"+id && m.Data != "a:"+id && !strings.HasPrefix(m.Data, "l:") {
			commits = append(commits, e.mark(n, m.Version, "l:"+id))
		}
	}
	if len(commits) == 0 {
		return nil
	}
	return e.records.Commit(ctx, commits...) // one that moved meanwhile is met when a conversation is born there
}

// reconcile looks after one bucket, whose marker could not be judged.
func (e *epochs) reconcile(ctx context.Context, bucket string) error {
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	k := markerKey(bucket)
	found, _, err := e.records.Load(ctx, k)
	if err != nil {
		return err
	}
	if accepted, ok := strings.CutPrefix(found[0].Data, "a:"); ok {
		return e.adopt(accepted)
	}
	if _, known := e.judge(found[0].Data); known {
		return nil
	}
	lost := &Commit{
		Reads: []Read{{k, found[0].Version}}, Writes: []Write{{k, Record{Version: newVersion(), Data: "l:" + e.current()}}},
		NotAfter: e.records.Now().Add(24 * time.Hour),
	}
	return e.records.Commit(ctx, lost)
}

// adopt remembers the id, on disk first: a process that could not would take the next loss for a new store.
func (e *epochs) adopt(id string) error {
	if id == "" {
		return errors.New("no epoch could be agreed on")
	}
	if e.file != nil && e.file.ID() != id {
		if err := e.file.Save(id); err != nil {
			return err
		}
	}
	e.id.Store(&id)
	return nil
}

// read gives the marker of each bucket.
func (e *epochs) read(ctx context.Context) ([]Record, error) {
	keys := make([]Key, Buckets)
	for n := range keys {
		keys[n] = markerKey(Bucket(n))
	}
	marks, _, err := e.records.Load(ctx, keys...)
	return marks, err
}

// Lost reports whether the store has lost what it knew: it is not the one this state directory worked with before, and the owner has
// not accepted that yet.
func (s *core) Lost(ctx context.Context) (bool, error) {
	if err := s.epochs.look(ctx); err != nil {
		return false, wrap("lost", err)
	}
	marks, err := s.epochs.read(ctx)
	for _, m := range marks {
		if lost, _ := s.epochs.judge(m.Data); lost {
			return true, nil
		}
	}
	return false, wrap("lost", err)
}

// AcceptLoss begins a new epoch: from now on, a conversation that was never seen is a new one again. Those born since the loss stay
// as they are.
func (s *core) AcceptLoss(ctx context.Context) error {
	ctx, cancel, err := s.begin(ctx, "accept loss")
	if err != nil {
		return err
	}
	defer cancel()
	marks, err := s.epochs.read(ctx)
	if err != nil {
		return wrap("accept loss", err)
	}
	id, commits := NewEpochID(), make([]*Commit, Buckets)
	for n, m := range marks {
		commits[n] = s.epochs.mark(n, m.Version, "a:"+id)
	}
	err = s.records.Commit(ctx, commits...)
	for _, c := range commits {
		if err == nil && !c.Result.Done {
			err = errContended
		}
	}
	if err != nil {
		return fmt.Errorf("store: accept loss: %w\nhint: some buckets may have it already; ask again", err)
	}
	return wrap("accept loss", s.epochs.adopt(id))
}

// firstID is the id in the first marker there is.
func firstID(marks []Record) string {
	for _, m := range marks {
		if len(m.Data) > 2 {
			return m.Data[2:]
		}
	}
	return ""
}

func missing(marks []Record) (n int) {
	for _, m := range marks {
		if m.Data == "" {
			n++
		}
	}
	return n
}

// pause waits, unless ctx ends first.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
