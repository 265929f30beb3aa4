// Package recent keeps what was noted last, up to a bound. What it has forgotten
// must be found again or counts as unknown: nothing may pass because of that.
package recent

import (
	"iter"
	"sync"
)

// Map keeps at least the entries that were put last, and at most twice as many:
// when one half is full, the older half is forgotten. The zero Map is empty and
// ready to use. It is not safe for concurrent use.
type Map[K comparable, V any] struct {
	recent, old map[K]V
}

// Get is the value of a key, if it is still known.
func (m *Map[K, V]) Get(k K) (v V, known bool) {
	if v, known = m.recent[k]; !known {
		v, known = m.old[k]
	}
	return v, known
}

// Put keeps a value until most others were put after it.
func (m *Map[K, V]) Put(k K, v V, most int) {
	if _, known := m.recent[k]; !known && (m.recent == nil || len(m.recent) >= most) {
		m.old, m.recent = m.recent, make(map[K]V)
	}
	m.recent[k] = v
}

// All gives the values, those first that are forgotten first. An entry that was
// put into both halves comes once.
func (m *Map[K, V]) All() iter.Seq[V] {
	return func(yield func(V) bool) {
		for k, v := range m.old {
			if _, again := m.recent[k]; !again && !yield(v) {
				return
			}
		}
		for _, v := range m.recent {
			if !yield(v) {
				return
			}
		}
	}
}

// Shared is a Map that is safe for concurrent use, one step at a time.
type Shared[K comparable, V any] struct {
	mu sync.Mutex
	m  Map[K, V]
}

// Get is that of Map.
func (s *Shared[K, V]) Get(k K) (v V, known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.m.Get(k)
}

// Put is that of Map.
func (s *Shared[K, V]) Put(k K, v V, most int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.m.Put(k, v, most)
}
