package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/store"
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

// Run accepts. Whether others have written to services that are labelled own is not known any more.
func (c *StoreAcceptLossCmd) Run(a *app) error {
	cfg, err := c.quietConfig(a)
	if err != nil {
		return err
	}
	rules, _, err := policy.New(cfg.Policy)
	if err != nil {
		return err
	}
	return c.with(a, func(ctx context.Context, name string, s backend) error {
		if err := verifier.MarkForeign(ctx, s, rules.OwnServices()); err != nil {
			return err
		}
		if err := s.AcceptLoss(ctx); err != nil {
			return err
		}
		a.printf("%s: the loss is accepted. New conversations start as usual.\n", name)
		return nil
	})
}

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
	s, err := openStore(c, state, storeTime{setBack: func(b store.SetBack) { a.printf("%s\n", b) }})
	if errors.Is(err, sqlite.ErrInUse) {
		return &failure{"a gateway is using the store in " + state.Dir(), "`verifier test` asks it whether the store works; for anything else stop it first"}
	}
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(a.ctx, 5*time.Second)
	defer cancel()
	return errors.Join(do(ctx, storeName(c, state), s), s.Close())
}
