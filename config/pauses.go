package config

import (
	"errors"
	"io/fs"

	"github.com/go-json-experiment/json"
)

const pausesFile = "pauses"

// Pauses are the owner's words about pauses as this machine last knew them: what
// vanishes from the store meanwhile is remembered here.
func (s *State) Pauses() (map[string]string, error) {
	text, err := s.read(pausesFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var words map[string]string
	if err := json.Unmarshal([]byte(text), &words); err != nil {
		return nil, &StateError{s.path(pausesFile), "is damaged", "remove it, then say `verifier pause` again for whatever is to stay paused"}
	}
	return words, nil
}

// KeepPauses remembers them.
func (s *State) KeepPauses(words map[string]string) error {
	text, err := json.Marshal(words, json.Deterministic(true))
	if err != nil {
		return err
	}
	return s.keep(pausesFile, string(text)+"\n")
}
