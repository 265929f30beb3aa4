package redis

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/openclaw-verifier/verifier/store"
)

// epoch knows whether Redis still holds what it held. Each bucket has a marker
// with the epoch's id, and this machine remembers the id:
//
//	here    there              means
//	none    none               new: make an id, write it there, then here
//	none    c:x or a:x         another process was here before: take x
//	x       c:x or a:x         all is well
//	x       none, or c:y       lost: the bucket becomes l:x, and its conversations are born untrusted
//	x       l:anything         lost, and not yet accepted
//	x       a:y                the owner accepted the loss through another process: take y
type epoch struct {
	client  goredis.UniversalClient
	file    *store.Epoch // may be nil
	timeout time.Duration
	clock   *store.Clock
	told    func(store.SetBack)
	id      atomic.Pointer[string]
	met     atomic.Bool

	mu        sync.Mutex
	flight    *flight
	candidate string // the id this process is writing to a new store; only the flight touches it
}

// flight is one attempt to meet Redis, which all callers share.
type flight struct {
	done chan struct{}
	err  error
}

func (e *epoch) current() string {
	if id := e.id.Load(); id != nil {
		return *id
	}
	if e.file != nil {
		return e.file.ID()
	}
	return ""
}

// meet makes sure that the markers were seen once. However many callers find
// Redis down, one at a time asks it.
func (e *epoch) meet(ctx context.Context) error {
	if e.met.Load() {
		return nil
	}
	return e.look(ctx)
}

// look reads all markers, alone or with those who look already.
func (e *epoch) look(ctx context.Context) error {
	e.mu.Lock()
	f := e.flight
	if f == nil {
		f = &flight{done: make(chan struct{})}
		e.flight = f
		go e.fly(context.WithoutCancel(ctx), f) // the first caller may leave: the others wait for it too
	}
	e.mu.Unlock()
	select {
	case <-f.done:
		return f.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// fly may take several times as long as its callers wait: on a machine so busy that
// each of them gives up, the next ones find Redis met instead of beginning anew.
func (e *epoch) fly(ctx context.Context, f *flight) {
	ctx, cancel := context.WithTimeout(ctx, 5*e.timeout)
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

func (e *epoch) contact(ctx context.Context) error {
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
		if accepted, ok := strings.CutPrefix(m, "a:"); ok && accepted != id {
			id = accepted
			break
		}
	}
	if err := e.markLost(ctx, marks, id); err != nil {
		return err
	}
	return e.adopt(id)
}

// first settles on an id where this machine has none: the one that stands in
// Redis, or a new one.
func (e *epoch) first(ctx context.Context, marks []string) (string, []string, error) {
	if e.candidate == "" && firstID(marks) == "" {
		e.candidate = store.NewEpochID()
	}
	if e.candidate != "" {
		return e.found(ctx)
	}
	marks, err := e.settled(ctx, marks)
	return firstID(marks), marks, err
}

// found writes the candidate to a new store. Where several processes do so at
// once, the one that gets the first bucket founds it, and the others wait.
func (e *epoch) found(ctx context.Context) (string, []string, error) {
	ours := "c:" + e.candidate
	first := epochKey(bucketName(0))
	if err := e.client.SetNX(ctx, first, ours, 0).Err(); err != nil {
		return "", nil, err
	}
	winner, err := e.client.Get(ctx, first).Result()
	if err != nil {
		return "", nil, err
	}
	if winner == ours {
		if err := e.each(ctx, func(p goredis.Pipeliner, key string) { p.SetNX(ctx, key, ours, 0) }); err != nil {
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

// settled waits a moment for markers that another process may be writing. Those
// that are still missing then were lost.
func (e *epoch) settled(ctx context.Context, marks []string) ([]string, error) {
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
func (e *epoch) markLost(ctx context.Context, marks []string, id string) error {
	for n, m := range marks {
		if m == "c:"+id || m == "a:"+id || strings.HasPrefix(m, "l:") {
			continue
		}
		if err := markScript.Run(ctx, e.client, []string{epochKey(bucketName(n))}, id).Err(); err != nil {
			return err
		}
	}
	return nil
}

// reconcile looks after one bucket, whose marker a script could not judge.
func (e *epoch) reconcile(ctx context.Context, bucket string) error {
	id := e.current()
	marker, err := markScript.Run(ctx, e.client, []string{epochKey(bucket)}, id).Text()
	if err != nil {
		return err
	}
	if accepted, ok := strings.CutPrefix(marker, "a:"); ok {
		return e.adopt(accepted)
	}
	return nil
}

// adopt remembers the id, on disk first: a process that could not would take
// the next loss for a new store.
func (e *epoch) adopt(id string) error {
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

// read gives the marker of each bucket, "" where there is none.
func (e *epoch) read(ctx context.Context) ([]string, error) {
	marks := make([]string, buckets)
	cmds := make([]*goredis.StringCmd, 0, buckets)
	err := e.each(ctx, func(p goredis.Pipeliner, key string) { cmds = append(cmds, p.Get(ctx, key)) })
	if ifThere(err) != nil {
		return nil, err
	}
	for i, cmd := range cmds {
		if ifThere(cmd.Err()) != nil {
			return nil, cmd.Err()
		}
		marks[i] = cmd.Val()
	}
	return marks, nil
}

// each sends one command for every bucket in one pipeline.
func (e *epoch) each(ctx context.Context, do func(p goredis.Pipeliner, key string)) error {
	_, err := e.client.Pipelined(ctx, func(p goredis.Pipeliner) error {
		for n := range buckets {
			do(p, epochKey(bucketName(n)))
		}
		return nil
	})
	return err
}

// AcceptLoss is the owner's word that conversations may be born clean again.
func (s *Store) AcceptLoss(ctx context.Context) error {
	ctx, cancel, err := s.begin(ctx, "accept loss")
	if err != nil {
		return err
	}
	defer cancel()
	id := store.NewEpochID()
	if err := s.epoch.each(ctx, func(p goredis.Pipeliner, key string) { p.Set(ctx, key, "a:"+id, 0) }); err != nil {
		return fmt.Errorf("redis: accept loss: %w\nhint: some buckets may have it already; ask again", err)
	}
	return wrap("accept loss", s.epoch.adopt(id))
}

// firstID is the id in the first marker there is.
func firstID(marks []string) string {
	for _, m := range marks {
		if len(m) > 2 {
			return m[2:]
		}
	}
	return ""
}

func missing(marks []string) (n int) {
	for _, m := range marks {
		if m == "" {
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
