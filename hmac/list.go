package hmac

import (
	"errors"
	"slices"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// List is a list that is kept outside of this process, under the server's seal. The seal covers all of it, so that no
// item of an older list can be put back alone. Each change is kept before it counts.
type List[T any] struct {
	key           Key
	purpose, name string
	keep          func(text string) error

	mu    sync.Mutex
	items []T
}

// OpenList reads a list as keep last got it; empty: there is none yet. Name is what the text calls its items.
func OpenList[T any](key Key, purpose, name, text string, keep func(text string) error) (*List[T], error) {
	l := &List[T]{key: key, purpose: purpose, name: name, keep: keep}
	if text == "" {
		return l, nil
	}
	kept, seal := map[string]jsontext.Value{}, ""
	if err := json.Unmarshal([]byte(text), &kept); err != nil {
		return nil, err
	}
	if json.Unmarshal(kept["seal"], &seal) != nil || !key.Check(seal, purpose, string(kept[name])) {
		return nil, errors.New("hmac: the list does not carry this server's seal")
	}
	return l, json.Unmarshal(kept[name], &l.items)
}

// All are its items.
func (l *List[T]) All() []T {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.items)
}

// Change puts other items in the place of those that there are; they may be changed. Without an error they are kept.
func (l *List[T]) Change(change func(items []T) ([]T, error)) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	items, err := change(slices.Clone(l.items))
	if err != nil {
		return err
	}
	list, err := json.Marshal(items)
	if err != nil {
		return err
	}
	kept := map[string]any{l.name: jsontext.Value(list), "seal": l.key.Seal(l.purpose, string(list))}
	text, err := json.Marshal(kept, json.Deterministic(true))
	if err == nil {
		err = l.keep(string(text) + "\n")
	}
	if err == nil {
		l.items = items
	}
	return err
}
