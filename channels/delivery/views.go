package delivery

import (
	"slices"
	"sync"
)

// Views remembers where this process has shown the details of cards, to take
// their buttons away. One that it does not know has buttons that answer with the
// truth. The zero Views is ready to use.
type Views[Place comparable] struct {
	mu      sync.Mutex
	shown   map[string][]Place
	settled map[string]bool // cards whose places were taken
}

const maxViews = 1000 // cards

// Add notes where a card's details are. It reports false if the card was settled while they were sent: then the
// caller takes their buttons away.
func (v *Views[Place]) Add(card string, at Place) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.settled[card] {
		return false
	}
	if v.shown == nil || len(v.shown) >= maxViews {
		v.shown = make(map[string][]Place)
	}
	if !slices.Contains(v.shown[card], at) {
		v.shown[card] = append(v.shown[card], at)
	}
	return true
}

// Take returns where they are, and forgets it.
func (v *Views[Place]) Take(card string) []Place {
	v.mu.Lock()
	defer v.mu.Unlock()
	at := v.shown[card]
	delete(v.shown, card)
	if v.settled == nil || len(v.settled) >= maxViews {
		v.settled = make(map[string]bool)
	}
	v.settled[card] = true
	return at
}
