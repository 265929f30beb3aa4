package delivery

import "sync"

// Views remembers where this process has shown the details of cards, to take
// their buttons away. One that it does not know has buttons that answer with the
// truth. The zero Views is ready to use.
type Views[Place any] struct {
	mu    sync.Mutex
	shown map[string][]Place
}

const maxViews = 1000 // cards

// Add notes where a card's details are.
func (v *Views[Place]) Add(card string, at Place) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.shown == nil || len(v.shown) >= maxViews {
		v.shown = make(map[string][]Place)
	}
	v.shown[card] = append(v.shown[card], at)
}

// Take returns where they are, and forgets it.
func (v *Views[Place]) Take(card string) []Place {
	v.mu.Lock()
	defer v.mu.Unlock()
	at := v.shown[card]
	delete(v.shown, card)
	return at
}
