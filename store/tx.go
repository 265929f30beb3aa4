package store

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/recent"
)

// tx is one attempt at a change: a function reads records and says what to write, and the store commits that if the records are
// still what the function read. If not, the function runs again with what they are now. It must change nothing but through the tx.
//
// What is not known yet reads as absent, and the attempt does not count: see missing.
type tx struct {
	now    time.Time // the earliest that it can be
	known  map[Key]*known
	cache  *cache
	commit Commit

	reads   map[Key]bool
	writes  map[Key]*known
	missing []Key
	fresh   bool // nothing is taken from the cache
	stale   bool // something was
	failed  error
	birth   bool // a conversation was born
	late    int  // how often another was first
}

// known is a record as it was last seen, and what it says.
type known struct {
	Record
	value any
}

// absent is the record that is not there.
var absent = &known{}

// find gives a record that the commit will rest on, and whether anything is known of it.
func (t *tx) find(k Key) (*known, bool) {
	if w := t.writes[k]; w != nil {
		return w, true
	}
	r, found := t.known[k]
	if !found && !t.fresh {
		if r, found = t.cache.get(k); found {
			t.known[k], t.stale = r, true
		}
	}
	if found && !r.Until.IsZero() && !t.isBefore(r.Until.UnixMilli()) {
		r = absent
	}
	if found && !t.reads[k] && k.isRecord() {
		t.reads[k] = true
		t.commit.Reads = append(t.commit.Reads, Read{k, r.Version})
	}
	return r, found
}

// read gives a record. One that is not known is loaded for the next attempt.
func (t *tx) read(k Key) *known {
	r, found := t.find(k)
	if !found {
		t.missing = append(t.missing, k)
		return absent
	}
	return r
}

// guess gives a record, and takes one that is not known to be absent: the commit finds out.
func (t *tx) guess(k Key) *known {
	r, found := t.find(k)
	if !found {
		t.reads[k], t.stale = true, true
		t.commit.Reads = append(t.commit.Reads, Read{Key: k})
		return absent
	}
	return r
}

// isBefore reports whether a time, in Unix milliseconds, is yet to come. The commit holds only as long as that is so.
func (t *tx) isBefore(ms int64) bool {
	if t.now.UnixMilli() >= ms {
		return false
	}
	if last := time.UnixMilli(ms - 1); t.commit.NotAfter.IsZero() || last.Before(t.commit.NotAfter) {
		t.commit.NotAfter = last
	}
	return true
}

// get reads a record as a T; nil where there is none.
func get[T any](t *tx, k Key) *T { return decode[T](t, k, t.read(k)) }

func decode[T any](t *tx, k Key, r *known) *T {
	if v, ok := r.value.(*T); ok {
		return v
	}
	if r.Data == "" {
		return nil
	}
	v, err := unmarshal[T](k, r.Data)
	if err != nil {
		t.fail(err)
		return nil
	}
	r.value = v
	return v
}

func unmarshal[T any](k Key, data string) (*T, error) {
	v := new(T)
	if err := json.Unmarshal([]byte(data), v); err != nil {
		return nil, fmt.Errorf("store: a record %s can't be read: %w", k.kind(), err)
	}
	return v, nil
}

// fail makes the change fail. The first error counts.
func (t *tx) fail(err error) {
	if t.failed == nil {
		t.failed = err
	}
}

// put writes a value until a time; zero: for good.
func (t *tx) put(k Key, value any, until time.Time) {
	data, err := json.Marshal(value, json.Deterministic(true))
	if err != nil {
		t.fail(fmt.Errorf("store: a record %s can't be written: %w", k.kind(), err))
		return
	}
	t.set(k, string(data), value, until)
}

func (t *tx) set(k Key, data string, value any, until time.Time) {
	t.writes[k] = &known{Record: Record{Version: newVersion(), Data: data, Until: until}, value: value}
}

// remove takes a record away.
func (t *tx) remove(k Key) { t.writes[k] = absent }

// count adds to a counter, and gives what it was before as far as that is known.
func (t *tx) count(c Count) (had int64, at int) {
	r, found := t.find(c.Key)
	if !found {
		r = absent
	}
	c.Had = r.Count
	t.commit.Counts = append(t.commit.Counts, c)
	return r.Count, len(t.commit.Counts) - 1
}

// join adds a member to a set.
func (t *tx) join(set Key, member string) {
	t.commit.Joins = append(t.commit.Joins, Join{set, member})
}

// drift is how far the store's clock may be ahead of what this process takes it to be: times are written by the latter.
const drift = Slack

// finish makes the commit of what the function said.
func (t *tx) finish() *Commit {
	for _, removes := range []bool{false, true} { // removals last: a Redis that is full takes nothing after them that it would refuse alone
		for k, w := range t.writes {
			if (w == absent) == removes {
				t.commit.Writes = append(t.commit.Writes, Write{k, w.Record})
			}
		}
	}
	if last := t.now.Add(drift); t.commit.NotAfter.IsZero() || last.Before(t.commit.NotAfter) {
		t.commit.NotAfter = last
	}
	return &t.commit
}

// at is when the store did it.
func (t *tx) at() time.Time {
	if t.commit.Result.Now.IsZero() { // it had nothing to do
		return t.now
	}
	return t.commit.Result.Now
}

// changes reports whether there is anything to commit, or to make sure of.
func (t *tx) changes() bool {
	c := &t.commit
	return t.stale || len(t.writes)+len(c.Counts)+len(c.Joins) > 0
}

// errContended says that others were first again and again.
var errContended = errors.New("store: others changed the same records again and again")

// job is a change under way.
type job struct {
	run   func(*tx) error
	tx    *tx
	err   error
	known map[Key]*known
	fresh bool // what the store holds now, not what the cache remembers
	stale bool // something was taken from the cache
	done  bool
	hot   Key           // a record that many change; empty: none
	late  int           // how often another was first
	lock  chan struct{} // held
}

// do makes one change, and gives the tx that was committed. Of a record that many change at the same moment, hot, it makes one after the
// other.
func (s *core) do(ctx context.Context, hot Key, run func(*tx) error) (*tx, error) {
	j := &job{run: run, hot: hot}
	if err := s.doAll(ctx, j); err != nil { // then what the function said does not count
		return nil, err
	}
	return j.tx, j.err
}

// look runs a function that only reads, on what the store holds now.
func (s *core) look(ctx context.Context, run func(*tx) error) error {
	j := &job{run: run, fresh: true}
	if err := s.doAll(ctx, j); err != nil {
		return err
	}
	return j.err
}

// doAll makes changes, each on its own, in about the time of one.
func (s *core) doAll(ctx context.Context, jobs ...*job) error {
	defer release(jobs)
	if len(jobs) == 1 && jobs[0].hot != "" {
		s.alone(ctx, jobs[0], jobs[0].hot)
	}
	for ctx.Err() == nil {
		waiting, missing, err := s.attemptAll(jobs)
		if err != nil || len(missing)+len(waiting) == 0 {
			return err
		}
		if len(missing) > 0 {
			err = s.load(ctx, missing, jobs)
		} else {
			err = s.commitAll(ctx, waiting, len(jobs) == 1)
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(errContended, ctx.Err()) // the method's time is up
}

// release gives back the locks that jobs hold.
func release(jobs []*job) {
	for _, j := range jobs {
		if j.lock != nil {
			<-j.lock
		}
	}
}

// commitAll commits what jobs have said, and learns from what comes back.
func (s *core) commitAll(ctx context.Context, jobs []*job, alone bool) error {
	commits := make([]*Commit, len(jobs))
	for i, j := range jobs {
		commits[i] = j.tx.finish()
	}
	if err := s.records.Commit(ctx, commits...); err != nil {
		return err
	}
	for _, j := range jobs {
		s.settle(ctx, j, alone)
	}
	return nil
}

// attemptAll runs the functions of the jobs that are not done once: which of them have something to commit, and what is missing.
func (s *core) attemptAll(jobs []*job) (waiting []*job, missing []Key, err error) {
	for _, j := range jobs {
		if j.done {
			continue
		}
		switch t := s.attempt(j); {
		case len(t.missing) > 0:
			missing = append(missing, t.missing...)
		case t.failed != nil:
			return nil, nil, t.failed
		case !t.changes():
			j.done = true
		default:
			waiting = append(waiting, j)
		}
	}
	return waiting, missing, nil
}

// attempt runs the function of a job once.
func (s *core) attempt(j *job) *tx {
	if j.known == nil {
		j.known = map[Key]*known{}
	}
	t := &tx{now: s.records.Now(), known: j.known, cache: &s.cache, reads: map[Key]bool{}, writes: map[Key]*known{}, fresh: j.fresh, stale: j.stale, late: j.late}
	j.tx = t
	if j.err = j.run(t); j.err != nil { // it refuses: nothing changes, but what it rests on must hold
		clear(t.writes)
		t.commit.Counts, t.commit.Joins, t.commit.Announce = nil, nil, ""
	}
	j.stale = t.stale
	return t
}

// load reads what jobs miss, each for itself: attemptAll gave the keys in this order.
func (s *core) load(ctx context.Context, keys []Key, jobs []*job) error {
	found, _, err := s.records.Load(ctx, keys...)
	if err != nil {
		return err
	}
	for _, j := range jobs {
		for _, k := range j.tx.missing {
			j.known[k], found = &known{Record: found[0]}, found[1:]
		}
	}
	return nil
}

// settle learns from the result of a commit.
func (s *core) settle(ctx context.Context, j *job, alone bool) {
	t, r := j.tx, &j.tx.commit.Result
	for i, c := range t.commit.Counts {
		j.known[c.Key] = &known{Record: Record{Count: r.Counts[i]}}
		if c.cached {
			s.cache.put(c.Key, j.known[c.Key])
		}
	}
	if r.Done {
		j.done = true
		for k := range t.reads {
			s.cache.keep(k, j.known[k])
		}
		for k, w := range t.writes {
			s.cache.keep(k, w)
		}
		return
	}
	for k, moved := range r.Moved {
		j.known[k] = &known{Record: moved}
	}
	j.late++
	if !alone || j.lock != nil || len(r.Moved) == 0 {
		return
	}
	// From now on this process changes these records one after the other.
	if !s.alone(ctx, j, t.commit.Reads[0].Key) {
		return
	}
	for k := range r.Moved { // those who were here meanwhile know better
		if _, found := s.cache.get(k); found {
			delete(j.known, k)
		}
	}
}

// alone has a job wait until no other of this process holds the lock of a record, and reports whether it had to.
func (s *core) alone(ctx context.Context, j *job, k Key) (waited bool) {
	lock := s.locks.of(k)
	select {
	case lock <- struct{}{}:
		j.lock = lock
		return false
	default:
	}
	select {
	case lock <- struct{}{}:
		j.lock = lock
	case <-ctx.Done():
	}
	return true
}

// locks are for those who were not first.
type locks struct {
	seed maphash.Seed
	some [64]chan struct{}
}

func newLocks() (l locks) {
	l.seed = maphash.MakeSeed()
	for i := range l.some {
		l.some[i] = make(chan struct{}, 1)
	}
	return l
}

func (l *locks) of(k Key) chan struct{} {
	return l.some[maphash.String(l.seed, string(k))%uint64(len(l.some))]
}

// cache remembers what was seen of conversations and pauses. It may be old: commits find out.
type cache struct {
	mu   sync.Mutex
	seen recent.Map[Key, *known]
}

// cacheSize is how many records either half of the cache remembers.
const cacheSize = 4096

func (c *cache) get(k Key) (*known, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen.Get(k)
}

// keep remembers a record by what it says.
func (c *cache) keep(k Key, r *known) {
	if r == nil || r.value == nil {
		return
	}
	if _, isText := r.value.(string); !isText {
		r = &known{Record: Record{Version: r.Version, Until: r.Until}, value: r.value}
	}
	c.put(k, r)
}

func (c *cache) put(k Key, r *known) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen.Put(k, r, cacheSize)
}
