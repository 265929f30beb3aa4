package main

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/internal/store/redis"
	"github.com/openclaw-verifier/verifier/internal/store/sqlite"
)

// commandWaits is how long a command waits for the store: a person has more time than a call.
const commandWaits = 5 * time.Second

// openStore opens Redis where the config names one, else SQLite in the state directory.
func (g *gateway) openStore(key hmac.Key) (*store.Store, error) {
	backend, err := openBackend(g.config, g.state)
	if err != nil {
		return nil, err
	}
	return store.Open(context.Background(), store.Options{
		Backend: backend, Key: key, File: g.state.Epoch(), Log: g.log,
		Clients: func() []string { return clientsOf(g.live.Load().config) },
	})
}

func openBackend(c *config.Config, state *config.State) (store.Backend, error) {
	if c.Store.URL.Set() {
		b, err := redis.Open(c.Store.URL.Reveal(), redis.Options{})
		if err != nil {
			return nil, err // a nil one of its own type would pass for one that is open
		}
		return b, nil
	}
	b, err := sqlite.Open(context.Background(), state.DB(), nil)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// clientsOf are the names of a config's clients.
func clientsOf(c *config.Config) []string {
	if all := c.Clients(); len(all) > 0 {
		return slices.Sorted(maps.Keys(all))
	}
	return []string{config.DefaultClient} // the state directory's secret is its
}

// storeName says in words where state is kept, without any password.
func storeName(c *config.Config, state *config.State) string {
	if c.Store.URL.Set() {
		return "Redis"
	}
	return "SQLite in " + state.Dir()
}
