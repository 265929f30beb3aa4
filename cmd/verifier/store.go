package main

import (
	"context"
	"errors"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/channels/delivery"
	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/store"
	"github.com/openclaw-verifier/verifier/store/redis"
	"github.com/openclaw-verifier/verifier/store/sqlite"
	"github.com/openclaw-verifier/verifier/verifier"
)

// commandWaits is how long a command waits for the store: a person has more time than a call.
const commandWaits = 5 * time.Second

// backend is a store as the program uses it.
type backend interface {
	verifier.Store
	approval.Store
	delivery.Leases
	// KeepTime keeps the latest time with the data; it is called each second.
	KeepTime(ctx context.Context) error
	KeepHead(ctx context.Context, name, head string) error
	Head(ctx context.Context, name string) (string, error)
	Ready(ctx context.Context) error
	AcceptLoss(ctx context.Context) error
	Close() error
}

// openStore opens Redis where the config names one, else SQLite in the state directory. A caller waits that long for an
// answer of the store, 0 is the store's own limit, and setBack is told where a clock was set back.
func openStore(
	c *config.Config,
	state *config.State,
	wait time.Duration,
	setBack func(store.SetBack),
) (backend, error) {
	epoch, err := store.OpenEpoch(state.Epoch())
	if err != nil {
		return nil, err
	}
	if c.Store.URL.Set() {
		s, err := redis.Open(c.Store.URL.Reveal(), redis.Options{Epoch: epoch, Timeout: wait, SetBack: setBack})
		if err != nil {
			return nil, err
		}
		if err := s.Earlier(context.Background()); err != nil {
			return nil, errors.Join(err, s.Close())
		}
		return s, nil
	}
	return opened(sqlite.Open(state.DB(), sqlite.Options{Epoch: epoch, Timeout: wait, SetBack: setBack}))
}

// opened gives no store where there is none: a nil one of its own type would
// pass for one that is open.
func opened[S backend](s S, err error) (backend, error) {
	if err != nil {
		return nil, err
	}
	return s, nil
}

// storeName says in words where state is kept, without any password.
func storeName(c *config.Config, state *config.State) string {
	if c.Store.URL.Set() {
		return "Redis"
	}
	return "SQLite in " + state.Dir()
}
