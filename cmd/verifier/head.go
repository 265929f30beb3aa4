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
	if !c.Store.URL.Set() {
		return embeddedHead(ctx, state, headName(key))
	}
	s, err := openStore(c, state, storeTime{})
	if err != nil {
		return nil, err
	}
	head, err := headFrom(ctx, s, headName(key))
	return head, errors.Join(err, s.Close())
}

func embeddedHead(ctx context.Context, state *config.State, name string) (*audit.Head, error) {
	s, err := sqlite.OpenReadOnly(state.DB())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	head, err := headFrom(ctx, s, name)
	return head, errors.Join(err, s.Close())
}
