package main

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/store/sqlite"
)

// recordHead is how far the store has seen the record get, nil where it has
// seen nothing: lines cut off the end show only against it. It also works while
// a server runs.
func recordHead(state *config.State, c *config.Config) (*audit.Head, error) {
	key, err := state.RecordKey()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	open := func() (headStore, error) { return openStore(c, state, storeTime{}) }
	if !c.Store.URL.Set() { // a server may be using it
		open = func() (headStore, error) { return sqlite.OpenReadOnly(state.DB()) }
	}
	s, err := open()
	switch {
	case !c.Store.URL.Set() && errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	}
	head, err := headFrom(ctx, s, headName(key))
	return head, errors.Join(err, s.Close())
}
