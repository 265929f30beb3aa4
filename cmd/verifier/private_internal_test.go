package main

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/server/certtest"
	gw "github.com/openclaw-verifier/verifier/test/gateway"
)

// Whatever stands in the state directory is for its owner alone. A file that
// others can read is refused at the start; one that the server writes anew or
// has closed is private again after it.
func TestEveryFileOfTheStateDirectoryIsPrivate(t *testing.T) {
	t.Parallel()
	cert, key := certtest.Pair(t, "127.0.0.1")
	g := gw.Start(t, "tls: {cert: "+cert+", key: "+key+"}\n")
	g.Quit()
	cfg, _, err := config.Load(g.ConfigFile(), os.LookupEnv, builtin.platforms())
	if err != nil {
		t.Fatal(err)
	}
	cfg.Audit.RotateMB = 1
	note := record.Entry{Kind: record.KindNote, At: time.Now(), Note: strings.Repeat("x", 1<<20)}
	open := func() error {
		opened, err := openGateway(setup{config: cfg, state: g.State, log: slog.New(slog.DiscardHandler)})
		if err != nil {
			return err
		}
		for range 3 {
			err = errors.Join(err, opened.record.Append(note))
		}
		return errors.Join(err, opened.close())
	}
	if err := open(); err != nil {
		t.Fatal(err)
	}
	// serve writes them anew at each start, and they hold no secret
	for _, name := range []string{"address", "config"} {
		if err := os.Remove(filepath.Join(g.State.Dir(), name)); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(g.State.Dir())
	if err != nil {
		t.Fatal(err)
	}
	mended := map[string]bool{"tls.pem": true, "verifier.db.lock": true}
	for _, e := range entries {
		path := filepath.Join(g.State.Dir(), e.Name())
		if info, err := e.Info(); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
		if err := os.Chmod(path, 0o644); err != nil {
			t.Fatal(err)
		}
		err := open()
		info, errStat := os.Stat(path)
		private := errStat == nil && info.Mode().Perm()&0o077 == 0
		switch ours := mended[e.Name()]; {
		case ours && e.Name() != "verifier.db.lock" && (err != nil || !private):
			t.Errorf("%s was not made private again: %v, %v", e.Name(), info.Mode(), err)
		case !ours && (err == nil || !strings.Contains(err.Error(), e.Name())):
			t.Errorf("%s, which others can read, is not refused: %v", e.Name(), err)
		}
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(key, 0o640); err != nil {
		t.Fatal(err)
	}
	if err := open(); err == nil || !strings.Contains(err.Error(), "can be read by others") {
		t.Errorf("a TLS key that others can read: %v", err)
	}
	if len(entries) < 9 {
		t.Errorf("only %d files were looked at", len(entries))
	}
}
