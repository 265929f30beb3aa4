package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/internal/provenance"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/internal/store/sqlite"
)

// openRecord opens the record, holds it against the head that the store has seen, and notes the start in it.
func (g *gateway) openRecord(c *config.Config, state *config.State, key hmac.Key) error {
	path := recordPath(c, state)
	g.name = headName(key, path)
	log, err := record.Open(path, record.Options{
		Key: key, SyncEach: c.Audit.Sync == config.SyncEach, Patience: record.DefaultPatience,
		Rotation: func() (int64, int) {
			a := &g.live.Load().config.Audit
			return int64(a.RotateMB) << 20, a.Keep
		},
		Hide: func() func(string) string { return g.live.Load().Redactor.Liner() },
	})
	if err != nil {
		return err
	}
	g.record = log
	for _, note := range log.Repairs() {
		g.log.Error("the record: " + note)
	}
	if err := g.compareHead(); err != nil {
		g.log.Warn("the store can't be asked how far the record had got; it is compared later", "err", err)
	}
	return g.record.Append(record.Entry{Kind: record.KindStart, Note: "verifier " + version().Version})
}

// recordPath is where the record is.
func recordPath(c *config.Config, state *config.State) string {
	if c.Audit.Path != "" {
		return c.Audit.Path // there may be no state directory
	}
	return state.Record()
}

// recordName is the file that the record goes on in.
func recordName(c *config.Config, state *config.State) string {
	files, err := record.Files(recordPath(c, state))
	if err != nil {
		return recordPath(c, state)
	}
	return files[len(files)-1]
}

// headName is what the record's head is called in the store: instances that share a store have records of their own.
func headName(key hmac.Key, path string) string {
	host, _ := os.Hostname() // "" is as good a name, of a machine that has none
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return "record-" + key.Seal("record-head", host, path)[:16]
}

// compareHead holds the record against how far the store has seen it get.
func (g *gateway) compareHead() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	seen, err := headFrom(ctx, g.store, g.name)
	if err != nil {
		return err
	}
	missing, err := g.record.Compare(seen)
	if missing != "" {
		g.log.Error("the record: " + missing)
	}
	g.compared = err == nil
	return err
}

func headFrom(ctx context.Context, s *store.Store, name string) (*record.Head, error) {
	text, err := s.Kept(ctx, name)
	if err != nil || text == nil {
		return nil, err
	}
	h := &record.Head{}
	if err := json.Unmarshal(text, h); err != nil {
		return nil, fmt.Errorf("read the record's head: %w", err)
	}
	return h, nil
}

// keepHeads puts the record's head into the store each second, so that cutting
// the record's tail is seen.
func (g *gateway) keepHeads(ctx context.Context) {
	var last uint64
	every(ctx, time.Second, func() {
		if h := g.record.Head(); h.Seq != last && g.keepHead() == nil {
			last = h.Seq
		}
	})
}

// keepHead puts the head beside the record and into the store. Before the first time after a start, the head that is
// there is compared, lest it hide what was cut.
func (g *gateway) keepHead() error {
	if err := g.record.KeepHead(); err != nil {
		g.log.Warn("the record's head could not be put beside it", "err", err)
	}
	if !g.compared {
		if err := g.compareHead(); err != nil {
			return err
		}
	}
	head := g.record.Head()
	text, err := json.Marshal(head)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := g.store.Keep(ctx, g.name, text); err != nil {
		g.log.Warn("the record's head could not be put into the store", "err", err)
		return err
	}
	return nil
}

// draw draws a turn from this gateway's own record.
func (g *gateway) draw(ctx context.Context, name string) (*provenance.Graph, error) {
	files, err := record.Files(recordPath(g.config, g.state))
	if err != nil {
		return nil, err
	}
	return provenance.Draw(ctx, [][]string{files}, name, refOf)
}

// recordHead is how far the store has seen the record get, nil where it has seen nothing: lines cut off the end show
// only against it. A database that a server is using can't be read: then the head beside the record counts.
func recordHead(state *config.State, c *config.Config) (*record.Head, error) {
	key, err := serverKey(c, state)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(state.DB()); err != nil && !c.Store.URL.Set() {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), commandWaits)
	defer cancel()
	backend, err := openBackend(c, state)
	switch {
	case errors.Is(err, sqlite.ErrInUse):
		return nil, nil
	case err != nil:
		return nil, err
	}
	s, err := store.Open(ctx, store.Options{
		Backend: backend, Key: key, Clients: func() []string { return nil }, Wait: commandWaits,
	})
	if err != nil {
		return nil, errors.Join(err, backend.Close())
	}
	head, err := headFrom(ctx, s, headName(key, recordPath(c, state)))
	return head, errors.Join(err, s.Close())
}
