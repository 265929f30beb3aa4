package session

import (
	"sync"

	"github.com/openclaw-verifier/verifier/recent"
	"github.com/openclaw-verifier/verifier/taint"
)

// Floor is what this process has itself seen of each conversation. A store that
// was rolled back or failed over can't talk it into better; one that pretends an
// owner's reset can, so every writer to the store must be trusted. It
// is bounded: the least recently seen half is forgotten when it is full, and
// then only the store remembers.
//
// The zero Floor is ready to use.
type Floor struct {
	mu   sync.Mutex
	seen recent.Map[[16]byte, *seen]
}

type seen struct {
	generation int64
	worst      taint.Level
	bySession  map[string]taint.Level
}

// floorSize is how many conversations either half remembers: about 10 MB.
const floorSize = 50_000

// sessionsPerFloor bounds the session ids kept for one conversation; beyond it
// the worst level counts for all of them.
const sessionsPerFloor = 64

// Raise notes that a conversation was seen at a level. It is named by its ID.
func (f *Floor) Raise(id [16]byte, session string, m Mark) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.find(id)
	if m.Generation > s.generation {
		*s = seen{generation: m.Generation, bySession: map[string]taint.Level{}}
	}
	if m.Generation < s.generation {
		return
	}
	s.worst = taint.Worse(s.worst, m.Level)
	// What came without a session id counts for all of them, so it always fits.
	level, known := s.bySession[session]
	if known && level >= m.Level {
		return
	}
	if known || session == "" || len(s.bySession) < sessionsPerFloor {
		s.bySession[session] = taint.Worse(level, m.Level)
	}
}

// RaiseAll notes what was seen of a conversation as a whole: the worst of its session ids,
// which says nothing of any one of them.
func (f *Floor) RaiseAll(id [16]byte, m Mark) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.find(id)
	if m.Generation > s.generation {
		*s = seen{generation: m.Generation, bySession: map[string]taint.Level{}}
	}
	if m.Generation == s.generation {
		s.worst = taint.Worse(s.worst, m.Level)
	}
}

// At is the best a conversation can be, by what this process has seen.
func (f *Floor) At(id [16]byte, session string) Mark {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.find(id)
	if session == "" {
		return Mark{Level: s.worst, Generation: s.generation}
	}
	level, known := s.bySession[session]
	if !known && len(s.bySession) >= sessionsPerFloor {
		level = s.worst
	}
	return Mark{Level: taint.Worse(level, s.bySession[""]), Generation: s.generation}
}

func (f *Floor) find(id [16]byte) *seen {
	s, known := f.seen.Get(id)
	if !known {
		s = &seen{bySession: map[string]taint.Level{}}
	}
	f.seen.Put(id, s, floorSize)
	return s
}
