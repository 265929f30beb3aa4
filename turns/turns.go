package turns

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sync"
	"time"

	"github.com/openclaw-verifier/verifier/provenance"
	"github.com/openclaw-verifier/verifier/recent"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// Key is one turn: a run, or where runs are not named a session id. It belongs to
// the conversation as the call names it: a child's run is not its parent's.
type Key struct {
	session.Conversation
	Run     string
	Session string
}

// KeyOf names the turn that a call belongs to.
func KeyOf(c *toolcall.Call) Key {
	k := Key{Conversation: session.Conversation{Client: c.Client, Key: c.Context.SessionKey}, Run: c.Context.RunID}
	if k.Run == "" {
		k.Session = c.Context.SessionID
	}
	return k
}

// name is 64 bits of what tells the turn from all others, as hex; it begins like
// its conversation's, so that the store keeps them together.
func (k Key) name() string {
	conversation := k.ID()
	text := hex.AppendEncode(make([]byte, 0, 256), conversation[:]) // on the stack, as long as that is enough
	text = append(append(append(append(text, 0), k.Run...), 0), k.Session...)
	sum := sha256.Sum256(text)
	return string(hex.AppendEncode(text[:2], sum[:7]))
}

// memory is what this process has seen of turns and has not noted in the store
// yet. It is bounded; what it has forgotten is still in the record.
type memory struct {
	mu      sync.Mutex
	known   recent.Map[Key, *turn]
	current map[session.Conversation]*turn // the last turn with a run
}

// turn is what is known here of one. The lock of memory is its own too.
type turn struct {
	Key
	id      string               // how the store and people name it
	root    session.Conversation // whose state its calls count in
	pending []provenance.Fact    // not noted yet
	facts   int                  // how many there were
	noted   bool                 // something of it is in the store
	named   bool                 // and it can be found by its names
	ended   bool
	sealed  bool // and that was said
	persist bool // its graph belongs into the record
}

const (
	remembered  = 1000 // turns
	mostPending = 64   // facts of one turn
	usualTurn   = 10   // its beginning, eight calls and its end: most have no more, and need not grow
)

// add keeps what is new of a turn. It returns the turn, and the one that this run
// put an end to, if it did.
func (m *memory) add(news *News) (now, over *turn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	last := m.current[news.Turn.Conversation]
	n := m.find(news.Turn)
	if n == nil {
		n = m.begin(news)
	}
	n.persist, n.ended = n.persist || news.Persist, n.ended || news.Ends
	if len(n.pending) >= mostPending {
		n.drop()
	}
	for i := range news.Facts {
		n.facts++
		n.pending = append(n.pending, news.Facts[i])
		n.pending[len(n.pending)-1].Number = n.facts
	}
	if n.Run == "" || n == last {
		return n, nil
	}
	return n, m.supersede(n, last)
}

// drop forgets the older half of what is not noted, except for whose turn it is.
func (n *turn) drop() {
	half := n.pending[len(n.pending)/2:]
	kept := make([]provenance.Fact, 0, mostPending)
	if n.pending[0].What == provenance.Began {
		kept = append(kept, n.pending[0])
	}
	kept = append(kept, provenance.Fact{What: provenance.Dropped, At: half[0].At})
	n.pending = append(kept, half...)
}

// find is a turn that is remembered, or nil. The caller holds the lock.
func (m *memory) find(k Key) *turn {
	n, known := m.known.Get(k)
	if known {
		m.known.Put(n.Key, n, remembered)
	}
	return n
}

// begin makes a turn. The caller holds the lock.
func (m *memory) begin(news *News) *turn {
	k := news.Turn
	n := &turn{Key: k, id: k.name(), root: news.Root, pending: make([]provenance.Fact, 0, usualTurn)}
	n.pending = append(n.pending, provenance.Fact{
		What: provenance.Began, At: time.Now().UnixMilli(), Session: k.Key, Agent: news.Agent, Run: k.Run,
	})
	m.known.Put(k, n, remembered)
	return n
}

// supersede makes a turn its conversation's current one, and returns the last if
// it is over by that. What is still heard of a turn that is over ends no other.
func (m *memory) supersede(n, last *turn) *turn {
	if n.ended {
		return nil
	}
	if m.current == nil || len(m.current) >= 2*remembered {
		m.current = make(map[session.Conversation]*turn)
	}
	m.current[n.Conversation] = n
	if last == nil || last.ended {
		return nil
	}
	last.ended = true
	last.pending = append(last.pending, provenance.Fact{What: provenance.Ended, At: time.Now().UnixMilli()})
	return last
}

// seal marks a turn as over. It reports whether it is the first to do so, and
// whether the graph belongs into the record.
func (m *memory) seal(n *turn) (first, persist bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	first = !n.sealed
	n.ended, n.sealed = true, true
	return first, n.persist
}

// matters reports whether the end of a turn has to be noted: something of it was,
// or has to be recorded.
func (m *memory) matters(n *turn) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return n.noted || n.persist
}

// take gives what is to be noted of a turn, and whether it is now that it has
// something to be found by its names for.
func (m *memory) take(n *turn) (facts []provenance.Fact, name bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	facts, name = n.pending, !n.named && slices.ContainsFunc(n.pending, provenance.Fact.Happened)
	n.pending, n.noted, n.named = nil, true, n.named || name
	return facts, name
}

// halfFull reports whether so much of a turn waits to be noted that it should not
// wait any longer: what does not fit is dropped.
func (m *memory) halfFull(n *turn) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(n.pending) >= mostPending/2
}

// giveBack keeps what could not be noted for the next time.
func (m *memory) giveBack(n *turn, facts []provenance.Fact) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n.pending, n.named = append(facts, n.pending...), false
	for len(n.pending) > 2*mostPending {
		n.drop()
	}
}

// waiting are turns of which something happened that is not noted, those first
// that will be forgotten first.
func (m *memory) waiting(most int) (found []*turn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for n := range m.known.All() {
		if len(found) < most && slices.ContainsFunc(n.pending, provenance.Fact.Happened) {
			found = append(found, n)
		}
	}
	return found
}

// called finds the turns that a name could mean.
func (m *memory) called(name string) (found []*turn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for n := range m.known.All() {
		if len(n.pending) > 0 && (n.id == name || n.Run == name || n.Ref() == name || n.root.Ref() == name) {
			found = append(found, n)
		}
	}
	return found
}
