// Package store keeps conversations, cards and limits for the verifier and the desk. How they change is said once, in package state; here
// it is read from records, changed and committed, in one trip where nothing but a count changes. What keeps the records, Redis or
// SQLite, knows nothing of what they mean: see [Records].
//
// A change is a function that reads records and says what to write. It is committed if all it read is still so, else it runs again.
// What this process remembers of records saves it from reading them, and never decides: the commit finds out.
//
// The package refuses to guess: whatever it can't read, or can't commit in time, is an error, and the caller denies. It never takes
// empty records for new ones when this machine remembers others (see epochs.go).
package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/store/state"
)

// Store keeps conversations and cards in records: it is the verifier's and the desk's store, whatever keeps the records. It is safe
// for concurrent use, and any number of processes may share the records.
type Store struct {
	*core
	*conversations
	*cards
	*limits
}

// core makes changes and keeps the epoch and the time.
type core struct {
	records Records
	epochs  epochs
	cache   cache
	locks   locks
	timeout time.Duration
	told    func(SetBack)
}

// conversations, cards and limits are what changes.
type (
	conversations struct{ *core }
	limits        struct{ *core }
	cards         struct {
		*core
		placed atomic.Int64
	}
)

// Options are what New takes.
type Options struct {
	// Epoch remembers on this machine which store it worked with. Nil remembers for the life of the process only.
	Epoch *Epoch

	// Timeout bounds each method.
	Timeout time.Duration

	// Clock is the one by which the records end.
	Clock *Clock

	// SetBack is called when the clock is found behind the time that was kept with the records.
	SetBack func(SetBack)
}

// New makes a store of records. They are met at the first use.
func New(records Records, o Options) *Store {
	c := &core{records: records, timeout: o.Timeout, told: o.SetBack, locks: newLocks()}
	c.epochs = epochs{records: records, file: o.Epoch, timeout: o.Timeout, clock: o.Clock, goOn: c.goOn}
	return &Store{core: c, conversations: &conversations{c}, cards: &cards{core: c}, limits: &limits{c}}
}

// MeetPatience is how long Meet waits: no call does yet, and the first write to a slow disk may take seconds.
const MeetPatience = 30 * time.Second

// Meet reads the epoch markers and the time that was kept, which the first use would do.
func (s *core) Meet() error { return s.epochs.lookWithin(context.Background(), MeetPatience) }

// begin bounds a method's time and makes sure that the epoch is known.
func (s *core) begin(ctx context.Context, what string) (context.Context, context.CancelFunc, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	if err := s.epochs.meet(ctx); err != nil {
		cancel()
		return nil, nil, fmt.Errorf("store: %s: %w", what, err)
	}
	return ctx, cancel, nil
}

// change makes one change in the method's time.
func (s *core) change(ctx context.Context, what string, run func(*tx) error) (*tx, error) {
	return s.changeHot(ctx, what, "", run)
}

// changeHot does so for a record that many change.
func (s *core) changeHot(ctx context.Context, what string, hot Key, run func(*tx) error) (*tx, error) {
	ctx, cancel, err := s.begin(ctx, what)
	if err != nil {
		return nil, err
	}
	defer cancel()
	for range 2 {
		t, err := s.do(ctx, hot, run)
		if e := (*epochError)(nil); !errors.As(err, &e) {
			return t, wrap(what, err)
		} else if err := s.epochs.reconcile(ctx, e.bucket); err != nil {
			return nil, wrap(what, err)
		}
	}
	return nil, fmt.Errorf("store: %s: the epoch changed twice during one call", what)
}

// ask reads what the store holds now, in the method's time.
func (s *core) ask(ctx context.Context, what string, run func(*tx) error) error {
	ctx, cancel, err := s.begin(ctx, what)
	if err != nil {
		return err
	}
	defer cancel()
	return wrap(what, s.look(ctx, run))
}

func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("store: %s: %w", what, err)
}

// place is where a conversation's records are.
type place struct{ bucket, hash string }

func placeOf(c session.Conversation) place { return placeAt(c.ID()) }

func placeAt(id [16]byte) place {
	hash := hex.EncodeToString(id[:])
	return place{hash[:2], hash}
}

func (p place) state() Key            { return key(p.bucket, "s:"+p.hash) }
func (p place) steps() Key            { return key(p.bucket, "n:"+p.hash) }
func (p place) run(name string) Key   { return key(p.bucket, "n:"+p.hash+":"+name) }
func (p place) request(id string) Key { return key(p.bucket, "r:"+p.hash+":"+id) }
func (p place) card(id string) Key    { return key(p.bucket, "k:"+id) }
func (p place) blob(id string) Key    { return key(p.bucket, "b:"+id) }
func (p place) open() Key             { return key(p.bucket, "open") }
func (p place) granting() Key         { return key(p.bucket, "granting") }
func (p place) pauses() Key           { return key(p.bucket, "pauses") }
func (p place) known() Key            { return key(p.bucket, "known") }
func (p place) member() Key           { return key(p.bucket, "known "+p.hash) }
func (p place) source(id string) Key  { return SourceKey(p.hash, id) }

// SourceKey is where the sources of a session id in a conversation are kept.
func SourceKey(conversation, sessionID string) Key {
	sum := sha256.Sum256([]byte(sessionID))
	return key(conversation[:2], "o:"+conversation+":"+hex.EncodeToString(sum[:16]))
}

// How long things are kept that are not used.
const (
	keepConversation = 30 * 24 * time.Hour
	keepRun          = 24 * time.Hour
	keepSources      = 365 * 24 * time.Hour // longer than a conversation: one in use writes them seldom
)

// conversation reads a conversation; nil if there is none.
func (t *tx) conversation(p place) *state.Conversation {
	cold := len(t.missing)
	found := get[state.Conversation](t, p.state())
	if len(t.missing) > cold { // it will be wanted
		t.missing = append(t.missing, p.steps())
	}
	if found == nil {
		return nil
	}
	c := *found
	if steps, found := t.find(p.steps()); found {
		c.Step = steps.Count
	}
	c.Sources = &sources{t: t, p: p, life: c.Life}
	return &c
}

// born makes a conversation that is not there. Lost says that it was there once, or that everything that was is gone.
func (t *tx) born(s *core, name session.Conversation, p place) (c *state.Conversation, lost bool, err error) {
	marker, was := t.read(markerKey(p.bucket)), t.read(p.member())
	flushed, known := s.epochs.judge(marker.Data)
	if !known && len(t.missing) == 0 {
		return nil, false, &epochError{p.bucket}
	}
	lost = flushed || was.Data != ""
	t.join(p.known(), p.hash)
	life := newVersion()
	src := &sources{t: t, p: p, life: binary.BigEndian.Uint32(life[:]), born: true}
	c = state.Born(name, src.life, lost, src, t.now)
	t.birth = true
	return c, lost, nil
}

// inexact is after how many lost races a step may be off that is noted with a source: others count calls all the time, and people only
// read it.
const inexact = 3

// save writes a conversation if it changed.
func (t *tx) save(p place, c *state.Conversation) {
	changed, stepped := c.Changed()
	if changed {
		t.put(p.state(), c.Kept(), time.UnixMilli(c.Touched).Add(keepConversation))
	}
	if stepped && t.late < inexact {
		t.exact(p.steps())
	}
}

// steps counts calls of a conversation, from the beginning where it was born here, and says where among the commit's counts they are.
func (t *tx) steps(p place, by int64) int {
	_, at := t.count(Count{Key: p.steps(), By: by, Set: t.birth, Keep: keepConversation, cached: true})
	return at
}

// exact makes the commit hold only if a counter is what it was taken for.
func (t *tx) exact(k Key) {
	for i := range t.commit.Counts {
		if c := &t.commit.Counts[i]; c.Key == k {
			c.Exact = true
			return
		}
	}
}

// sources are those of a conversation, a record for each session id.
type sources struct {
	t    *tx
	p    place
	life uint32
	born bool // none was written yet
}

// SourceList is a record of sources; see session.Influences.
type SourceList struct {
	Life    uint32 `json:"life"`
	Session string `json:"session"`
	List    string `json:"list"`
}

func (s *sources) Of(sessionID string) session.Influences {
	k := s.p.source(sessionID)
	if s.born && s.t.writes[k] == nil {
		return nil
	}
	kept := get[SourceList](s.t, k)
	if kept == nil || kept.Life != s.life {
		return nil
	}
	all, ok := session.ParseInfluences(sessionID, kept.List)
	if !ok {
		s.t.fail(fmt.Errorf("store: the record %s holds no sources", k))
	}
	return all
}

func (s *sources) Put(sessionID string, all session.Influences) {
	s.t.put(s.p.source(sessionID), &SourceList{Life: s.life, Session: sessionID, List: all.String()}, s.t.now.Add(keepSources))
}

// Ready says why the store can't be used now, if it can't. It reads the epoch markers anew, so that a loss is noticed even where no
// call meets it.
func (s *core) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	return cmp.Or(s.records.Ready(ctx), wrap("ready", s.epochs.look(ctx)))
}

// Close ends the store.
func (s *core) Close() error { return s.records.Close() }
