package storetest

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/store"
	"github.com/openclaw-verifier/verifier/taint"
)

type card struct {
	approval.Stored
	conversation string
	code         string
	batch        bool
	closed       bool
	keep         time.Time // forgotten after this
}

type misses struct {
	count int
	until time.Time
}

func (k *card) live(now time.Time) bool { return !k.closed && now.Before(k.Until) }

// Place implements approval.Store.
func (m *Model) Place(_ context.Context, d approval.Draft) (approval.Placement, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.Now()
	if id, taken := m.codes[d.CodeSeal]; taken && m.card(id) != nil {
		return approval.Placement{}, approval.ErrCodeTaken
	}
	c := m.convs[d.Conversation.Hash()]
	if c == nil {
		return approval.Placement{}, approval.ErrUnknown
	}
	for _, digest := range d.Digests {
		if w, ok := c.waiting[digest]; ok && now.Before(w.until) && w.card != d.Instead {
			return approval.Placement{State: approval.Shared, ID: w.card, Until: m.cards[w.card].Until}, nil
		}
	}
	open, batch := m.openIn(d.Conversation.Hash())
	if d.Batch && batch != "" || !d.Batch && open >= d.MaxOpen {
		p := approval.Placement{State: approval.Full, ID: batch}
		if batch != "" {
			p.Until = m.cards[batch].Until
		}
		return p, nil
	}
	until := now.Add(d.Live)
	m.cards[d.ID] = &card{
		Stored:       approval.Stored{ID: d.ID, Version: 1, Blob: d.Blob, Until: until},
		conversation: d.Conversation.Hash(), code: d.CodeSeal, batch: d.Batch, keep: until.Add(approval.Retention),
	}
	m.codes[d.CodeSeal] = d.ID
	m.order = append(m.order, d.ID)
	for _, digest := range d.Digests {
		c.waiting[digest] = waiting{card: d.ID, until: until}
	}
	return approval.Placement{State: approval.New, ID: d.ID, Until: until}, nil
}

// openIn counts a conversation's live cards; its live batch card is not counted
// but named.
func (m *Model) openIn(hash string) (open int, batch string) {
	for id, k := range m.cards {
		if k.conversation != hash || !k.live(m.Now()) {
			continue
		}
		if k.batch {
			batch = id
		} else {
			open++
		}
	}
	return open, batch
}

func (m *Model) card(id string) *card {
	k := m.cards[id]
	if k == nil || !m.Now().Before(k.keep) {
		return nil
	}
	return k
}

// Load implements approval.Store.
func (m *Model) Load(_ context.Context, ids ...string) ([]approval.Stored, time.Time, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []approval.Stored
	for _, id := range ids {
		if k := m.card(id); k != nil {
			out = append(out, k.Stored)
		}
	}
	return out, m.Now(), nil
}

// Versions implements approval.Store.
func (m *Model) Versions(ctx context.Context, ids ...string) ([]approval.Stored, time.Time, error) {
	cards, now, err := m.Load(ctx, ids...)
	for i := range cards {
		cards[i].Blob = nil
	}
	return cards, now, err
}

// Swap implements approval.Store.
func (m *Model) Swap(_ context.Context, ch approval.Change) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, now := m.card(ch.ID), m.Now()
	switch {
	case k == nil:
		return approval.ErrGone
	case k.Version != ch.Version:
		return approval.ErrStale
	case !ch.NotAfter.IsZero() && now.After(ch.NotAfter):
		return approval.ErrLate
	}
	c := m.convs[ch.Conversation.Hash()]
	if c == nil && (len(ch.Grants) > 0 || len(ch.Waiting) > 0) {
		return approval.ErrUnknown
	}
	k.Version++
	k.Blob, k.closed = ch.Blob, k.closed || ch.Closed
	for f, v := range ch.Grants {
		c.grants[f] = v
	}
	for digest, until := range ch.Waiting {
		c.waiting[digest] = waiting{card: ch.ID, until: until}
		if keep := until.Add(approval.Retention); keep.After(k.keep) {
			k.keep = keep
		}
	}
	for _, woke := range m.wakes {
		woke(ch.ID)
	}
	return nil
}

// claim uses up a yes in the same step as the allow.
func (m *Model) claim(cl *session.Claim) bool {
	k := m.card(cl.Card)
	if k == nil || k.Version != cl.Version {
		return false
	}
	k.Version++
	k.Blob = cl.Blob
	return true
}

// Find implements approval.Store.
func (m *Model) Find(_ context.Context, seal string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if id := m.codes[seal]; m.card(id) != nil {
		return id, nil
	}
	return "", nil
}

// Open implements approval.Store.
func (m *Model) Open(context.Context) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	live := func(id string) bool { k := m.cards[id]; return k != nil && k.live(m.Now()) }
	return slices.Collect(func(yield func(string) bool) {
		for _, id := range m.order {
			if live(id) && !yield(id) {
				return
			}
		}
	}), nil
}

// counters are counts that end with a window.
type counters struct {
	*clocked
	misses map[string]*misses
}

// Count implements approval.Store.
func (c *counters) Count(_ context.Context, person string, window time.Duration, count bool) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.misses[person]
	if t == nil || !c.Now().Before(t.until) {
		t = &misses{until: c.Now().Add(window)}
		if count {
			c.misses[person] = t
		}
	}
	if count {
		t.count++
	}
	return t.count, nil
}

// Reset implements approval.Store.
func (m *Model) Reset(_ context.Context, ref string) (session.Conversation, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c, err := m.named(ref)
	if err != nil {
		return session.Conversation{}, err
	}
	c.levels, c.grants, c.worst, c.source = map[string]taint.Level{}, map[string]string{}, taint.System, session.Source{}
	c.influences, c.secrets = map[string]session.Influences{}, session.Exposure{}
	c.generation = max(m.Now().UnixMilli(), c.generation+1)
	c.version++
	return c.name, nil
}

// named is the conversation whose state the one with this reference has.
func (m *Model) named(ref string) (*conversation, error) {
	var found []*conversation
	for h, c := range m.convs {
		if strings.HasPrefix(h, strings.ToLower(ref)) {
			found = append(found, c)
		}
	}
	if len(found) > 1 {
		return nil, approval.ErrAmbiguous
	}
	if len(found) == 0 {
		return nil, approval.ErrUnknown
	}
	c := m.convs[m.rootOf(found[0].name).Hash()]
	if c == nil {
		return nil, approval.ErrUnknown
	}
	return c, nil
}

// Wakes implements approval.Store.
func (m *Model) Wakes(ctx context.Context, woke func(string)) error {
	m.mu.Lock()
	id := m.nextID
	m.nextID++
	m.wakes[id] = woke
	m.mu.Unlock()
	<-ctx.Done()
	m.mu.Lock()
	delete(m.wakes, id)
	m.mu.Unlock()
	return nil
}

// Link implements verifier.Store.
func (m *Model) Link(_ context.Context, child, parent session.Conversation) (session.Conversation, taint.Level, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at := m.rootOf(child); at != child {
		return at, taint.System, nil
	}
	root := m.rootOf(parent)
	if root == child {
		return child, taint.System, nil
	}
	c := m.convs[child.Hash()]
	if c == nil {
		c, _ = m.born(child)
	}
	if c.worst > taint.System {
		m.raiseRoot(root, c.worst, store.Spawned)
	}
	m.exposeRoot(root, c.secrets.Of(""))
	c.root = &root
	return root, c.worst, nil
}

// Raise implements verifier.Store.
func (m *Model) Raise(_ context.Context, conv session.Conversation, to taint.Level, source string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.raiseRoot(m.rootOf(conv), to, source)
	return nil
}

func (m *Model) raiseRoot(conv session.Conversation, to taint.Level, source string) {
	c := m.convs[conv.Hash()]
	if c == nil {
		c, _ = m.born(conv)
	}
	if to > c.worst {
		c.source = session.Source{Label: source, Level: to, Step: c.step}
	}
	c.influence("", session.Influence{Label: source, Level: to}, m.Now())
	c.raise("", to)
}

// Expose implements verifier.Store.
func (m *Model) Expose(_ context.Context, conv session.Conversation, secret string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.exposeRoot(m.rootOf(conv), secret)
	return nil
}

func (m *Model) exposeRoot(conv session.Conversation, secret string) {
	if secret == "" {
		return
	}
	c := m.convs[conv.Hash()]
	if c == nil {
		c, _ = m.born(conv)
	}
	c.expose("", secret)
}

// Exposed implements verifier.Store.
func (m *Model) Exposed(_ context.Context, conv session.Conversation) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c := m.convs[m.rootOf(conv).Hash()]; c != nil {
		return c.secrets.Of(""), nil
	}
	return "", nil
}

// Worst implements verifier.Store.
func (m *Model) Worst(_ context.Context, conv session.Conversation) (taint.Level, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.convs[m.rootOf(conv).Hash()]
	if c == nil {
		return taint.Untrusted, nil
	}
	return c.worst, nil
}

// AutomationFloor implements verifier.Store.
func (m *Model) AutomationFloor(_ context.Context, client, agent string) (taint.Level, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	level, known := m.auto[client+"\x00"+agent]
	if !known && m.lost {
		return taint.Untrusted, nil
	}
	return level, nil
}

// RaiseAutomation implements verifier.Store.
func (m *Model) RaiseAutomation(_ context.Context, client, agent string, to taint.Level) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	k := client + "\x00" + agent
	level, known := m.auto[k]
	if !known && m.lost {
		to = taint.Untrusted
	}
	m.auto[k] = taint.Worse(level, to)
	return nil
}
