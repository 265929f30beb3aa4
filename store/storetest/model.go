// Package storetest says what a store means: a small model of it in memory, the
// suite that every store passes, and random histories that drive a store and
// the model side by side. It is for tests only and keeps nothing.
package storetest

import (
	"context"
	"sync"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// Model is a store in memory, written to be read: where a real store and this
// one differ, one of them is wrong.
type Model struct {
	*clocked
	leases
	noteLists
	spending
	counters

	lost    bool // the epoch says that state was lost
	known   map[string]bool
	convs   map[string]*conversation
	replays map[string]*replay
	runs    map[string]int64
	auto    map[string]taint.Level
	cards   map[string]*card
	codes   map[string]string
	order   []string // card ids, oldest first
	wakes   map[int]func(string)
	nextID  int
	pauses  map[string]string
}

// clocked is the clock and the lock that the parts of a model share.
type clocked struct {
	Now func() time.Time
	mu  sync.Mutex
}

type conversation struct {
	name       session.Conversation
	root       *session.Conversation
	levels     map[string]taint.Level // by session id; "" is what came without one
	worst      taint.Level
	generation int64
	version    int64
	step       int64
	source     session.Source
	grants     map[string]string
	waiting    map[string]waiting
	influences map[string]session.Influences // by session id
	counted    int64                         // influences that were ever there
	secrets    session.Exposure
}

type waiting struct {
	card  string
	until time.Time
}

type replay struct {
	body  [32]byte
	mark  string
	until time.Time
}

// NewModel is an empty, clean store.
func NewModel(now func() time.Time) *Model {
	c := &clocked{Now: now}
	return &Model{
		clocked: c, leases: leases{c, map[string]lease{}}, noteLists: noteLists{c, map[string][]note{}}, counters: counters{c, map[string]*misses{}},
		spending: spending{c, map[string][]time.Time{}, map[string]time.Time{}}, known: map[string]bool{}, convs: map[string]*conversation{},
		replays: map[string]*replay{}, runs: map[string]int64{}, auto: map[string]taint.Level{}, cards: map[string]*card{},
		codes: map[string]string{}, wakes: map[int]func(string){}, pauses: map[string]string{},
	}
}

// Admit implements verifier.Store.
func (m *Model) Admit(_ context.Context, a session.Admission) (session.View, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if stand, differ := m.pausesDiffer(a.Pauses); differ {
		return session.View{Entry: session.PauseChanged, Paused: stand}, nil
	}
	c := m.convs[a.Conversation.Hash()]
	if c != nil && c.root != nil {
		return session.View{Entry: session.Moved, Root: *c.root, Now: m.Now()}, nil
	}
	if r := m.replayed(a.Conversation, a.RequestID); r != nil {
		return m.again(c, r, a), nil
	}
	lost := false
	if c == nil {
		c, lost = m.born(a.Conversation)
	}

	own := taint.Worse(c.levels[a.Session], a.Initial)
	if c.step == 0 {
		own = taint.Worse(own, a.Birth)
	}
	if a.Floor.Generation >= c.generation && a.Floor.Level > c.level(a.Session) {
		own = taint.Worse(own, a.Floor.Level)
	}
	if lost {
		own = taint.Untrusted
	}
	c.step++
	if before := c.level(a.Session); a.Initial > before {
		c.source = session.Source{Label: a.Sender, Level: a.Initial, Step: c.step}
	}
	keep := a.Note || a.Floor.Generation != c.generation
	if keep || a.Initial > c.levels[a.Session] {
		c.influence(a.Session, session.Influence{Label: a.Sender, Level: a.Initial}, m.Now())
	}
	c.raiseBy(a.Session, own, m.Now())
	level := c.level(a.Session)

	v := c.view(a.Session, m.Now())
	v.Lost = lost
	least := a.Counted(m.count(a))
	v.Mode, v.Capped = max(a.Modes[level], least), least > taint.Allow
	if a.Pauses.On {
		v.Mode = taint.Restrict
	}
	mark := session.MarkPending
	switch {
	case v.Mode == taint.Restrict:
		v.Entry, mark = session.Refused, session.MarkDenied
	case v.Mode == taint.Allow && a.Final && (!a.Leaves || c.secrets.Of(a.Session) == "" && c.generation == 0):
		v.Entry, mark = session.Passed, a.Decision
		if keep || a.Raise > c.levels[a.Session] {
			c.influence(a.Session, session.Influence{Label: a.Source, Level: a.Raise}, m.Now())
		}
		c.bringIn(a.Session, a.Raise, a.Source)
	default:
		v.Grants, v.Waiting = c.consents(a, m.Now())
		v.Secret = c.secrets.Of(a.Session)
	}
	v.After, v.Version, v.Worst = c.level(a.Session), c.version, c.source
	m.replays[replayKey(a.Conversation, a.RequestID)] = &replay{body: a.Body, mark: mark, until: m.Now().Add(a.Keep)}
	return v, nil
}

// again answers a request that was admitted before; nothing is counted twice.
func (m *Model) again(c *conversation, r *replay, a session.Admission) session.View {
	if r.body != a.Body {
		return session.View{Entry: session.Conflict, Now: m.Now()}
	}
	if c == nil { // the state went away under the request: nothing it said counts
		return session.View{Entry: session.Held, Replayed: true, Lost: true, Level: taint.Untrusted, After: taint.Untrusted, Mode: a.Modes[taint.Untrusted], Now: m.Now()}
	}
	v := c.view(a.Session, m.Now())
	v.Replayed, v.Mode = true, a.Modes[v.Level]
	switch r.mark {
	case session.MarkPending:
		least := a.Counted(m.runs[runKey(a)])
		v.Mode, v.Capped = max(v.Mode, least), least > taint.Allow
		v.Grants, v.Waiting = c.consents(a, m.Now())
		v.Secret = c.secrets.Of(a.Session)
	case session.MarkDenied:
		v.Entry, v.PriorDecision = session.Refused, r.mark
	default:
		v.Entry, v.PriorDecision = session.Passed, r.mark
	}
	return v
}

// Settle implements verifier.Store.
func (m *Model) Settle(_ context.Context, s session.Settlement) (session.Settled, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if stand, differ := m.pausesDiffer(s.Pauses); differ {
		return session.Settled{State: session.PausedMeanwhile, View: session.View{Paused: stand}}, nil
	}
	c := m.convs[s.Conversation.Hash()]
	if c == nil || c.root != nil { // gone, or it lives elsewhere since it was judged
		v := session.View{Lost: true, Level: taint.Untrusted, After: taint.Untrusted, Now: m.Now()}
		return session.Settled{State: session.Stale, View: v}, nil
	}
	v := c.view(s.Session, m.Now())
	if r := m.replayed(s.Conversation, s.RequestID); r != nil && (r.mark != session.MarkPending || r.body != s.Body) {
		v.PriorDecision = r.mark
		if r.body != s.Body {
			v.PriorDecision = session.MarkDenied
		}
		return session.Settled{State: session.Decided, View: v}, nil
	}
	if c.version != s.Version {
		v.Secret = c.secrets.Of(s.Session)
		return session.Settled{State: session.Stale, View: v}, nil
	}
	if s.Claim != nil && !m.claim(s.Claim) {
		return session.Settled{State: session.Taken, View: v}, nil
	}
	c.influence(s.Session, session.Influence{Label: s.Source, Level: s.Raise}, m.Now())
	c.bringIn(s.Session, s.Raise, s.Source)
	c.expose(s.Session, s.Secret)
	m.replays[replayKey(s.Conversation, s.RequestID)] = &replay{body: s.Body, mark: s.Decision, until: m.Now().Add(s.Keep)}
	v.After, v.Version, v.Worst = c.level(s.Session), c.version, c.source
	return session.Settled{State: session.Done, View: v}, nil
}

// Deny implements verifier.Store.
func (m *Model) Deny(_ context.Context, d session.Denial) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.replayed(d.Conversation, d.RequestID)
	open := r == nil || r.mark == session.MarkPending && r.body == d.Body
	if open && m.convs[d.Conversation.Hash()] != nil {
		m.replays[replayKey(d.Conversation, d.RequestID)] = &replay{body: d.Body, mark: session.MarkDenied, until: m.Now().Add(d.Keep)}
	}
	return nil
}

// born makes a conversation. One that was known before, or that comes after a
// loss, is as bad as can be.
func (m *Model) born(name session.Conversation) (*conversation, bool) {
	h := name.Hash()
	lost := m.lost || m.known[h]
	c := &conversation{
		name: name, levels: map[string]taint.Level{}, grants: map[string]string{}, waiting: map[string]waiting{},
		influences: map[string]session.Influences{}, secrets: session.Exposure{},
	}
	c.version = 1
	if lost { // whatever session id comes: what it had read is not known any more
		c.levels[""], c.worst = taint.Untrusted, taint.Untrusted
		c.influence("", session.Influence{Level: taint.Untrusted}, m.Now())
		c.secrets.Add("", session.Forgotten)
	}
	m.convs[h], m.known[h] = c, true
	return c, lost
}

// rootOf is the conversation whose state counts, however long the line of
// parents is.
func (m *Model) rootOf(name session.Conversation) session.Conversation {
	for {
		c := m.convs[name.Hash()]
		if c == nil || c.root == nil {
			return name
		}
		name = *c.root
	}
}

// count counts a call of a run, and says how many there are with it.
func (m *Model) count(a session.Admission) int64 {
	if a.RunCap <= 0 || a.Run == "" {
		return 0
	}
	m.runs[runKey(a)]++
	return m.runs[runKey(a)]
}

func runKey(a session.Admission) string { return a.Conversation.Hash() + "\x00" + a.Run }

func (m *Model) replayed(c session.Conversation, id string) *replay {
	r := m.replays[replayKey(c, id)]
	if r == nil || !m.Now().Before(r.until) {
		return nil
	}
	return r
}

func replayKey(c session.Conversation, id string) string { return c.Hash() + "\x00" + id }

// level is what a session id sees: the worse of its own and of what came
// without one; without a session id, the worst of all.
func (c *conversation) level(sessionID string) taint.Level {
	if sessionID == "" {
		return c.worst
	}
	return taint.Worse(c.levels[sessionID], c.levels[""])
}

func (c *conversation) raise(sessionID string, to taint.Level) {
	had, known := c.levels[sessionID]
	if known && to <= had {
		return
	}
	c.levels[sessionID] = taint.Worse(had, to)
	c.worst = taint.Worse(c.worst, to)
	c.version++
}

// expose notes that a secret was read.
func (c *conversation) expose(sessionID, secret string) {
	if secret != "" && c.secrets.Add(sessionID, secret) {
		c.version++
	}
}

// bringIn is what an allowed call does to the level.
func (c *conversation) bringIn(sessionID string, level taint.Level, source string) {
	if level == taint.System {
		return
	}
	if level >= c.level(sessionID) {
		c.source = session.Source{Label: source, Level: level, Step: c.step}
	}
	if level > c.levels[sessionID] {
		c.raise(sessionID, level)
	}
}

func (c *conversation) view(sessionID string, now time.Time) session.View {
	l := c.level(sessionID)
	return session.View{
		Level: l, After: l, Step: c.step, Version: c.version, Generation: c.generation, Worst: c.source, Now: now,
	}
}

// consents finds what could still let a held call pass.
func (c *conversation) consents(a session.Admission, now time.Time) (grants []string, card string) {
	for _, f := range a.Grants {
		if v, ok := c.grants[f]; ok {
			grants = append(grants, v)
		}
	}
	if w, ok := c.waiting[a.Digest]; ok && now.Before(w.until) {
		card = w.card
	}
	return grants, card
}

var _ approval.Store = (*Model)(nil)
