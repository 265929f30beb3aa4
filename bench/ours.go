package main

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/channels"
	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/metrics"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/redact"
	"github.com/openclaw-verifier/verifier/store"
	"github.com/openclaw-verifier/verifier/store/redis"
	"github.com/openclaw-verifier/verifier/store/sqlite"
	"github.com/openclaw-verifier/verifier/verifier"
)

// backend is a store as cmd/verifier uses it.
type backend interface {
	verifier.Store
	approval.Store
	KeepHead(ctx context.Context, name, head string) error
	Close() error
}

// openRedis serves with a database of Redis to itself.
func openRedis(db int) func(place) (running, error) {
	return func(p place) (running, error) {
		s, err := redisStore(p, db)
		if err != nil {
			return running{}, err
		}
		return (&gateway{store: s}).open(p)
	}
}

// redisStore is the store in a database of Redis.
func redisStore(p place, db int) (*redis.Store, error) {
	epoch, err := store.OpenEpoch(filepath.Join(p.dir, "epoch"))
	if err != nil {
		return nil, err
	}
	return redis.Open(fmt.Sprintf("redis://%s/%d", p.redis, db), redis.Options{Epoch: epoch, Dialer: p.count.dial})
}

// embeddedStore is the store in a file.
func embeddedStore(p place) (*sqlite.Store, error) {
	epoch, err := store.OpenEpoch(filepath.Join(p.dir, "epoch"))
	if err != nil {
		return nil, err
	}
	return sqlite.Open(filepath.Join(p.dir, "verifier.db"), sqlite.Options{Epoch: epoch})
}

func openEmbedded(p place) (running, error) {
	s, err := embeddedStore(p)
	if err != nil {
		return running{}, err
	}
	return (&gateway{store: s}).open(p)
}

// open wires the whole program with its defaults, as cmd/verifier's gateway
// does: the shipped policy and guard, redaction, the record, the desk, metrics.
func (g *gateway) open(p place) (running, error) {
	run, err := g.wire(p)
	if err != nil {
		return running{}, errors.Join(err, g.close())
	}
	return run, nil
}

// recordFile is the record's name in a server's directory.
const recordFile = "record.jsonl"

type gateway struct {
	store  backend
	record *audit.Log
	desk   *approval.Desk

	asked atomic.Int64 // how many questions were put

}

// guarded is what serve keeps calls away from.
func guarded(p place) policy.Guard {
	return policy.Guard{
		Paths: []string{p.dir}, Addresses: []string{"127.0.0.1:8787", p.redis}, Commands: []string{"verifier"},
		Names: []string{"VERIFIER_OWNER_TOKEN", "VERIFIER_SECRET", "VERIFIER_STATE", "VERIFIER_URL"},
	}
}

func (g *gateway) wire(p place) (run running, err error) {
	c, log := config.Default(), slog.New(slog.NewTextHandler(os.Stderr, nil))
	c.OwnerToken = config.NewSecret(ownerToken)
	_, recordKey, err := ed25519.GenerateKey(nil)
	if err != nil {
		return run, err
	}
	c.Policy.Guard = guarded(p)
	rules, _, err := policy.New(c.Policy)
	if err != nil {
		return run, err
	}
	redactor, err := redact.New(c.Redact)
	if err != nil {
		return run, err
	}
	g.record, err = audit.Open(filepath.Join(p.dir, recordFile), audit.Options{Key: recordKey, Patience: audit.DefaultPatience, Hide: redactor.Lines})
	if err != nil {
		return run, err
	}
	key := hmac.Key(random(32))
	terms := approval.Terms{Config: c.Approval, TTL: c.ApprovalTTL(), People: c.People()}
	g.desk, err = approval.NewDesk(approval.Options{
		Terms: terms, Key: key, Store: g.store, Record: g.record,
		Inbox: true, NoReset: rules.Strict, Log: log, Observe: g.observe,
	})
	if err != nil {
		return run, err
	}
	v, err := verifier.New(verifier.Options{
		Policy: func() *policy.Policy { return rules }, Redactor: func() *redact.Redactor { return redactor },
		Store: g.store, Record: g.record, Desk: g.desk, Pauses: g.desk.Pauses, Grants: g.desk.Grants, Consents: g.desk.Consents, Visible: visible, Key: key,
		Settings: func() verifier.Settings {
			return verifier.Settings{Hold: c.Webhook.Hold, MaxHold: c.Webhook.MaxHold, Keep: 2*c.Webhook.Tolerance + c.Webhook.MaxHold + time.Minute}
		},
		Log: log, Observe: metrics.New(metrics.Gauges{}).Decided,
	})
	if err != nil {
		return run, err
	}
	s, err := newServer(v, g.desk, g.desk.Rooms)
	if err != nil {
		return run, err
	}
	return running{
		serve: s.Serve, tend: g.keepHeads, asked: g.asked.Load,
		close: func() error { g.desk.Stop(); return errors.Join(shut(s), g.close()) },
	}, nil
}

func (g *gateway) observe(e approval.Event) {
	if e.Kind == approval.EventAsked {
		g.asked.Add(1)
	}
}

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails
	return b
}

func visible(a *approval.Ask) bool {
	all, _ := channels.FullyVisible(a)
	return all
}

// keepHeads puts the record's head into the store each second, as cmd/verifier
// does.
func (g *gateway) keepHeads(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var last uint64
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			head := g.record.Head()
			if head.Seq == last {
				continue
			}
			last = head.Seq
			text, err := json.Marshal(head)
			if err == nil {
				err = g.store.KeepHead(ctx, "record-bench", string(text))
			}
			if err != nil && ctx.Err() == nil {
				fmt.Fprintln(os.Stderr, "error: keep the record's head:", err)
			}
		}
	}
}

func (g *gateway) close() error {
	var errs []error
	if g.desk != nil {
		g.desk.Close()
	}
	if g.record != nil {
		errs = append(errs, g.record.Close())
	}
	return errors.Join(append(errs, g.store.Close())...)
}
