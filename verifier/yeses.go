package verifier

import (
	"slices"
	"strings"
	"sync"
)

// yeses are the destinations that people have let calls go to in a turn. They
// are kept here alone: what is forgotten is asked about again.
type yeses struct {
	mu     sync.Mutex
	recent map[yesKey]*allowed
	old    map[yesKey]*allowed
}

type yesKey struct {
	conversation [16]byte
	window, run  string
}

// allowed is what was allowed in one turn.
type allowed struct{ calls []allowedCall }

type allowedCall struct {
	tool  string
	where []string
}

const (
	yesesSize  = 5000
	yesPerTurn = 64
)

func (t *trace) yesKey() yesKey {
	return yesKey{t.conv.ID(), t.window(), t.call.Context.RunID}
}

func (y *yeses) note(t *trace) {
	y.mu.Lock()
	defer y.mu.Unlock()
	k := t.yesKey()
	one := y.find(k)
	if one == nil {
		one = &allowed{}
		if y.recent == nil || len(y.recent) >= yesesSize {
			y.old, y.recent = y.recent, make(map[yesKey]*allowed)
		}
		k.window, k.run = strings.Clone(k.window), strings.Clone(k.run) // they are parts of a whole call
		y.recent[k] = one
	}
	if len(one.calls) < yesPerTurn {
		one.calls = append(one.calls, allowedCall{strings.Clone(t.call.Tool), t.where})
	}
}

func (y *yeses) find(k yesKey) *allowed {
	if one := y.recent[k]; one != nil {
		return one
	}
	return y.old[k]
}

// of is what was allowed in the call's turn, as it is now.
func (y *yeses) of(t *trace) allowed {
	if t.call.Context.RunID == "" {
		return allowed{}
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	if one := y.find(t.yesKey()); one != nil {
		return allowed{slices.Clone(one.calls)}
	}
	return allowed{}
}

func (a *allowed) has(tool string, where []string) bool {
	return slices.ContainsFunc(a.calls, func(c allowedCall) bool { return c.tool == tool && slices.Equal(c.where, where) })
}

func (a *allowed) mentioned() (all []string) {
	for _, c := range a.calls {
		all = append(all, c.where...)
	}
	return all
}
