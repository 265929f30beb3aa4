package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/store"
	"github.com/openclaw-verifier/verifier/store/sqlite"
)

// openRecord opens the record, holds it against the head that the store has
// seen, and notes the start in it.
func (g *gateway) openRecord(c *config.Config, state *config.State, key hmac.Key) error {
	path := recordPath(c, state)
	g.name = headName(key, path)
	seen, err := g.storedHead()
	if err != nil {
		g.unseen = true
		g.log.Warn("the store can't be asked how far the record had got; it is compared later", "err", err)
	}
	log, err := record.Open(path, record.Options{
		Key: key, SyncEach: c.Audit.Sync == config.SyncEach, Seen: seen, Rotation: rotation(c),
		Patience: record.DefaultPatience,
		Hide:     func(texts ...*string) { g.live.Load().redactor.Lines(texts...) },
	})
	if err != nil {
		return err
	}
	g.record = log
	for _, note := range log.Repairs() {
		g.log.Error("the record: " + note)
	}
	if err := g.record.Append(record.Entry{Kind: record.KindStart, Note: "verifier " + version().Version}); err != nil {
		return err
	}
	return g.recordSetBack()
}

// clockSetBack says that the store's clock was behind: in the log now, in health
// until the next start, and in the record as soon as that is open.
func (g *gateway) clockSetBack(b store.SetBack) {
	g.log.Error(b.String())
	g.behind.Store(&b)
	select {
	case g.setBack <- b:
	default: // a clock that is set all the time is in the record already
	}
}

// recordSetBack tells the record.
func (g *gateway) recordSetBack() error {
	for {
		select {
		case b := <-g.setBack:
			if err := g.record.Append(record.Entry{Kind: record.KindNote, Note: b.String()}); err != nil {
				return err
			}
		default:
			return nil
		}
	}
}

// rotation is when the record goes on in a new file.
func rotation(c *config.Config) record.Rotation {
	return record.Rotation{Bytes: int64(c.Audit.RotateMB) << 20, Keep: c.Audit.Keep}
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

// storedHead is how far the store has seen the record get; nil if it has not.
func (g *gateway) storedHead() (*record.Head, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return headFrom(ctx, g.store, g.name)
}

// headStore is the part of a store that keeps heads.
type headStore interface {
	Head(ctx context.Context, name string) (string, error)
	Close() error
}

func headFrom(ctx context.Context, s headStore, name string) (*record.Head, error) {
	text, err := s.Head(ctx, name)
	if err != nil || text == "" {
		return nil, err
	}
	h := &record.Head{}
	if err := json.Unmarshal([]byte(text), h); err != nil {
		return nil, fmt.Errorf("read the record's head: %w", err)
	}
	return h, nil
}

// keepHeads puts the record's head into the store each second, so that cutting
// the record's tail is seen, and the time.
func (g *gateway) keepHeads(ctx context.Context) {
	var last uint64
	every(ctx, time.Second, func() {
		g.keepTime(ctx)
		if err := g.recordSetBack(); err != nil {
			g.log.Error("the record has no entry that the clock was set back", "err", err)
		}
		if h := g.record.Head(); h.Seq != last && g.keepHead() == nil {
			last = h.Seq
		}
	})
}

// keepTime keeps the time in the store. A store that is down is
// reported by the next call that needs it.
func (g *gateway) keepTime(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if err := g.store.KeepTime(ctx); err != nil && ctx.Err() == nil {
		g.log.Debug("the time could not be kept in the store", "err", err)
	}
}

// keepHead puts the head beside the record and into the store. Before the first time after a start without a store,
// the head that is there is compared, lest it hide what was cut.
func (g *gateway) keepHead() error {
	if err := g.record.KeepHead(); err != nil {
		g.log.Warn("the record's head could not be put beside it", "err", err)
	}
	if g.unseen {
		seen, err := g.storedHead()
		if err != nil {
			return err
		}
		if seen != nil {
			missing, err := g.record.Compare(*seen)
			if err != nil {
				return err
			}
			if missing != "" {
				g.log.Error("the record: " + missing)
			}
		}
		g.unseen = false
	}
	head := g.record.Head()
	text, err := json.Marshal(head)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := g.store.KeepHead(ctx, g.name, string(text)); err != nil {
		g.log.Warn("the record's head could not be put into the store", "err", err)
		return err
	}
	return nil
}

// recordHead is how far the store has seen the record get, nil where it has
// seen nothing: lines cut off the end show only against it. It also works while
// a server runs.
func recordHead(state *config.State, c *config.Config) (*record.Head, error) {
	key, err := serverKey(c, state)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), commandWaits)
	defer cancel()
	open := func() (headStore, error) { return openStore(c, state, commandWaits, nil) }
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
	head, err := headFrom(ctx, s, headName(key, recordPath(c, state)))
	return head, errors.Join(err, s.Close())
}
