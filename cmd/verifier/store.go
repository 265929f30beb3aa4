package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/channels/delivery"
	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/store"
	"github.com/openclaw-verifier/verifier/store/redis"
	"github.com/openclaw-verifier/verifier/store/sqlite"
	"github.com/openclaw-verifier/verifier/verifier"
)

// StoreCmd looks after the store.
type StoreCmd struct {
	Status     StoreStatusCmd     `cmd:"" help:"Check that the database works and lost nothing."`
	AcceptLoss StoreAcceptLossCmd `cmd:"" help:"Trust new conversations again after the store lost its content."`
}

// storeFlags are what both need.
type storeFlags struct {
	configFlag
	State string `type:"path" placeholder:"DIR" help:"State directory."`
}

// StoreStatusCmd looks.
type StoreStatusCmd struct{ storeFlags }

// StoreAcceptLossCmd accepts a loss.
type StoreAcceptLossCmd struct{ storeFlags }

// Run prints what there is to say.
func (c *StoreStatusCmd) Run(a *app) error {
	return c.with(a, func(ctx context.Context, name string, s backend) error {
		if err := s.Ready(ctx); err != nil {
			return fmt.Errorf("%s can't be used, and a gateway denies every call until it can: %w", name, err)
		}
		a.printf("%s: ready\n", name)
		return nil
	})
}

// Run accepts.
func (c *StoreAcceptLossCmd) Run(a *app) error {
	return c.with(a, func(ctx context.Context, name string, s backend) error {
		if err := s.AcceptLoss(ctx); err != nil {
			return err
		}
		a.printf("%s: the loss is accepted. New conversations start as usual.\n", name)
		return nil
	})
}

// commandWaits is how long a command waits for the store: a person has more time than a call.
const commandWaits = 5 * time.Second

// with opens the store for one command.
func (f *storeFlags) with(a *app, do func(context.Context, string, backend) error) error {
	c, err := f.quietConfig(a)
	if err != nil {
		return err
	}
	state, err := config.FindState(f.State)
	if err != nil {
		return err
	}
	s, err := openStore(c, state, storeTime{waits: commandWaits, setBack: func(b store.SetBack) { a.printf("%s\n", b) }})
	if errors.Is(err, sqlite.ErrInUse) {
		return &failure{"a gateway is using the store in " + state.Dir(), "`verifier test` asks it whether the store works; for anything else stop it first"}
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(a.ctx, commandWaits)
	defer cancel()
	return errors.Join(do(ctx, storeName(c, state), s), s.Close())
}

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

// storeTime is what a store tells the time by, whom it tells that a clock was set
// back, and how long it may take. All may be zero.
type storeTime struct {
	now     func() time.Time     // SQLite follows it; Redis has a clock of its own
	elapsed func() time.Duration // what passes while that is set back
	setBack func(store.SetBack)
	waits   time.Duration // how long a caller waits for an answer; 0: the store's own limit
}

// openStore opens Redis where the config names one, else SQLite in the state
// directory.
func openStore(c *config.Config, state *config.State, by storeTime) (backend, error) {
	epoch, err := store.OpenEpoch(state.Epoch())
	if err != nil {
		return nil, err
	}
	if c.Store.URL.Set() {
		return opened(redis.Open(c.Store.URL.Reveal(), redis.Options{Epoch: epoch, Timeout: by.waits, Elapsed: by.elapsed, SetBack: by.setBack}))
	}
	return opened(sqlite.Open(state.DB(), sqlite.Options{Epoch: epoch, Timeout: by.waits, Now: by.now, Elapsed: by.elapsed, SetBack: by.setBack}))
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
