package redact

import (
	"maps"
	"strings"
	"sync"
	"sync/atomic"
)

// ordinary remembers the names of members that say nothing of their value and
// hold no secret themselves: calls use the same few all the time, and to look
// one up is much quicker than to look at it.
type ordinary struct {
	known atomic.Pointer[map[string]struct{}]
	write sync.Mutex
}

const (
	maxOrdinary     = 512 // names that are remembered; whoever sends more gains nothing by it
	maxOrdinaryName = 32  // bytes
)

func (o *ordinary) has(name string) bool {
	_, ok := o.all()[name]
	return ok
}

func (o *ordinary) all() map[string]struct{} {
	if known := o.known.Load(); known != nil {
		return *known
	}
	return nil
}

func (o *ordinary) full() bool { return len(o.all()) >= maxOrdinary }

func (o *ordinary) add(name string) {
	o.write.Lock()
	defer o.write.Unlock()
	if o.full() {
		return
	}
	known := maps.Clone(o.all())
	if known == nil {
		known = map[string]struct{}{}
	}
	known[strings.Clone(name)] = struct{}{}
	o.known.Store(&known)
}

// isOrdinary reports whether nothing depends on a name in which no secret was
// found, whatever its value and its tool are.
func (r *Redactor) isOrdinary(name string) bool {
	squashed := squash(name)
	_, body := bodyFields[squashed]
	return len(name) <= maxOrdinaryName && !body && !isCode(squashed) && !mayLogIn(squashed) && r.kindOf("", name, squashed, 0) == "" &&
		!programNames[squashed] && !argumentNames[squashed] && !pairNames[squashed] && !pairValues[squashed]
}
