package verifier

import (
	"slices"
	"sync"

	"github.com/openclaw-verifier/verifier/session"
)

// footnotes keeps what the user is to read under the next response of a turn. It is
// for people and decides nothing: a process that dies takes it along.
type footnotes struct {
	mu    sync.Mutex
	lines map[toldKey][]string
}

type toldKey struct {
	conversation [16]byte
	run          string
}

const (
	toldTurns = 10_000
	toldLines = 5
)

func (n *footnotes) add(c session.Conversation, run, line string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.lines == nil || len(n.lines) >= toldTurns {
		n.lines = make(map[toldKey][]string)
	}
	k := toldKey{c.ID(), run}
	if l := n.lines[k]; len(l) < toldLines && !slices.Contains(l, line) {
		n.lines[k] = append(l, line)
	}
}

// take is what there is to say, and forgets it.
func (n *footnotes) take(c session.Conversation, run string) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	k := toldKey{c.ID(), run}
	l := n.lines[k]
	delete(n.lines, k)
	return l
}
