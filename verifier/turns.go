package verifier

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/openclaw-verifier/verifier/provenance"
	"github.com/openclaw-verifier/verifier/recent"
	"github.com/openclaw-verifier/verifier/session"
)

// turns is what this process has seen of turns and has not noted in the store
// yet: a call that is allowed costs no trip for it, and is noted a little later.
// It is bounded; what it has forgotten still stands in the record.
type turns struct {
	mu      sync.Mutex
	known   recent.Map[turnKey, *turn]
	current map[session.Conversation]*turn // the last turn with a run
}

// turnKey is one turn: a run, or where runs are not named a session id. It
// belongs to the conversation as the call names it: a child's run is not its
// parent's.
type turnKey struct {
	session.Conversation
	run     string
	session string
}

// turn is what is known here of one. The lock of turns is its own too.
type turn struct {
	turnKey
	id      string               // how the store and people name it
	root    session.Conversation // whose state its calls count in
	pending []provenance.Fact    // not noted yet
	facts   int                  // how many there were
	noted   bool                 // something of it is in the store
	named   bool                 // and it can be found by its names
	ended   bool
	sealed  bool // and that was said
	persist bool // its graph belongs into the record

	approvals int  // by people to calls at the cap of the run, see [Verifier.loop]
	stopped   bool // a person said no to one
	told      bool // the run has told iterations, and
	iteration int  // this is the highest, see [Verifier.reached]
}

const (
	turnsSize   = 1000
	turnPending = 64 // facts of one turn
	usualTurn   = 10 // its beginning, eight calls and its end: most have no more, and need not grow
)

// turnOf names the turn that a call or an event belongs to.
func (t *evaluation) turnOf() turnKey {
	c := &t.call.Context
	k := turnKey{Conversation: session.Conversation{Client: t.call.Client, Key: c.SessionKey}, run: c.RunID}
	if k.run == "" {
		k.session = c.SessionID
	}
	return k
}

// name is 64 bits of what tells the turn from all others, as hex; it begins like
// its conversation's, so that the store keeps them together.
func (k *turnKey) name() string {
	conversation := k.ID()
	text := hex.AppendEncode(make([]byte, 0, 256), conversation[:]) // on the stack, as long as that is enough
	text = append(append(append(append(text, 0), k.run...), 0), k.session...)
	sum := sha256.Sum256(text)
	return string(hex.AppendEncode(text[:2], sum[:7]))
}

// TurnID names a run's turn in a conversation. Nobody else's run has it, whatever
// a runtime calls that.
func TurnID(c session.Conversation, run string) string {
	k := turnKey{Conversation: c, run: run}
	return k.name()
}

// heardOf is what is new of a turn.
type heardOf struct {
	facts   []provenance.Fact
	ends    bool
	persist bool
}

// add keeps what is new of a turn. It returns the turn, and the one that this run
// put an end to, if it did.
func (s *turns) add(t *evaluation, h heardOf) (now, over *turn) {
	k := t.turnOf()
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.current[k.Conversation]
	n := s.findOrBegin(t)
	n.persist, n.ended = n.persist || h.persist, n.ended || h.ends
	if len(n.pending) >= turnPending {
		n.drop()
	}
	for i := range h.facts {
		n.facts++
		n.pending = append(n.pending, h.facts[i])
		n.pending[len(n.pending)-1].Number = n.facts
	}
	if k.run == "" || n == last {
		return n, nil
	}
	return n, s.supersede(n, last)
}

// drop forgets the older half of what is not noted, but for whose turn it is.
func (n *turn) drop() {
	half := n.pending[len(n.pending)/2:]
	kept := make([]provenance.Fact, 0, turnPending)
	if n.pending[0].What == provenance.Began {
		kept = append(kept, n.pending[0])
	}
	kept = append(kept, provenance.Fact{What: provenance.Dropped, At: half[0].At})
	n.pending = append(kept, half...)
}

func (s *turns) find(k turnKey) *turn {
	n, known := s.known.Get(k)
	if known {
		s.keep(n)
	}
	return n
}

func (s *turns) findOrBegin(t *evaluation) *turn {
	k := t.turnOf()
	if n := s.find(k); n != nil {
		return n
	}
	return s.begin(t, k)
}

func (s *turns) keep(n *turn) {
	s.known.Put(n.turnKey, n, turnsSize)
}

// begin makes a turn, with strings of its own.
func (s *turns) begin(t *evaluation, k turnKey) *turn {
	k = turnKey{k.Clone(), strings.Clone(k.run), strings.Clone(k.session)}
	n := &turn{turnKey: k, id: k.name(), root: k.Conversation, pending: make([]provenance.Fact, 0, usualTurn)}
	if t.conv != n.root {
		n.root = t.conv.Clone()
	}
	now := time.Now().UnixMilli()
	n.pending = append(n.pending, provenance.Fact{
		What: provenance.Began, At: now, Session: k.Key, Agent: strings.Clone(t.call.Agent()), Run: k.run,
	})
	s.keep(n)
	return n
}

// supersede makes a turn its conversation's current one, and returns the last if
// it is over by that. What is still heard of a turn that is over ends no other.
func (s *turns) supersede(n, last *turn) *turn {
	if n.ended {
		return nil
	}
	if s.current == nil || len(s.current) >= 2*turnsSize {
		s.current = make(map[session.Conversation]*turn)
	}
	s.current[n.Conversation] = n
	if last == nil || last.ended {
		return nil
	}
	last.ended = true
	last.pending = append(last.pending, provenance.Fact{What: provenance.Ended, At: time.Now().UnixMilli()})
	return last
}

// isOver reports whether a run is known to be over: nothing that was given for
// it counts any more.
func (s *turns) isOver(k turnKey) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.find(k)
	return k.run != "" && n != nil && n.ended
}

// seal marks a turn as over. It reports whether it is the first to do so, and
// whether the graph belongs into the record.
func (s *turns) seal(n *turn) (first, persist bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	first = !n.sealed
	n.ended, n.sealed = true, true
	return first, n.persist
}

// matters reports whether anyone has to hear of a turn's end: something of it was
// noted, or has to be recorded.
func (s *turns) matters(n *turn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return n.noted || n.persist
}

// take gives what is to be noted of a turn, and whether it is now that it has
// something to be found by its names for.
func (s *turns) take(n *turn) (facts []provenance.Fact, name bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	facts, name = n.pending, !n.named && slices.ContainsFunc(n.pending, provenance.Fact.Happened)
	n.pending, n.noted, n.named = nil, true, n.named || name
	return facts, name
}

// halfFull reports whether so much of a turn waits to be noted that it should not
// wait any longer: what does not fit is dropped.
func (s *turns) halfFull(n *turn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(n.pending) >= turnPending/2
}

// giveBack keeps what could not be noted for the next time.
func (s *turns) giveBack(n *turn, facts []provenance.Fact) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n.pending, n.named = append(facts, n.pending...), false
	for len(n.pending) > 2*turnPending {
		n.drop()
	}
}

// waiting are turns of which something happened that is not noted, those first
// that will be forgotten first.
func (s *turns) waiting(most int) (found []*turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n := range s.known.All() {
		if len(found) < most && slices.ContainsFunc(n.pending, provenance.Fact.Happened) {
			found = append(found, n)
		}
	}
	return found
}

// named finds the turns that a name could mean.
func (s *turns) named(name string) (found []*turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n := range s.known.All() {
		if len(n.pending) > 0 && (n.id == name || n.run == name || n.Ref() == name || n.root.Ref() == name) {
			found = append(found, n)
		}
	}
	return found
}
