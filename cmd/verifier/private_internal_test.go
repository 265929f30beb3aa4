package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/server/certtest"
)

// Whatever stands in the state directory is for its owner alone. A file that
// others can read is refused at the start; one that the server writes anew or
// has closed is private again after it.
func TestEveryFileOfTheStateDirectoryIsPrivate(t *testing.T) {
	t.Parallel()
	cert, key := certtest.Pair(t, "127.0.0.1")
	r := newRig(t, func(c *config.Config) { c.TLS = config.TLS{Cert: cert, Key: key} })
	r.trust(cert)
	r.g.record.SetRotation(audit.Rotation{Bytes: 1})
	for range 3 {
		r.allow(call{tool: "read", params: `{"path":"a"}`, context: ownerIn("m")})
	}
	r.quit()
	entries, err := os.ReadDir(r.state.Dir())
	if err != nil {
		t.Fatal(err)
	}
	mended := map[string]bool{"tls.pem": true, "verifier.db.lock": true}
	for _, e := range entries {
		path := filepath.Join(r.state.Dir(), e.Name())
		if info, err := e.Info(); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
		if err := os.Chmod(path, 0o644); err != nil {
			t.Fatal(err)
		}
		g, err := openGateway(setup{config: r.cfg, state: r.state, log: slog.New(slog.DiscardHandler)})
		if err == nil {
			_ = g.close()
		}
		info, errStat := os.Stat(path)
		private := errStat == nil && info.Mode().Perm()&0o077 == 0
		switch ours := mended[e.Name()] || strings.HasPrefix(e.Name(), "record-"); {
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
	if _, err := openGateway(setup{config: r.cfg, state: r.state, log: slog.New(slog.DiscardHandler)}); err == nil || !strings.Contains(err.Error(), "can be read by others") {
		t.Errorf("a TLS key that others can read: %v", err)
	}
	if len(entries) < 9 {
		t.Errorf("only %d files were looked at", len(entries))
	}
}
