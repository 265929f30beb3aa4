package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/config"
)

// forgedLine is an allow that fits behind a record: its number, the hash before it
// and its own hash are right. None of that needs a key.
func forgedLine(raw []byte) []byte {
	lines := bytes.Split(bytes.TrimSpace(raw), []byte("\n"))
	var last struct {
		Seq  int    `json:"seq"`
		Hash string `json:"hash"`
	}
	if err := json.Unmarshal(lines[len(lines)-1], &last); err != nil {
		panic(err)
	}
	body := fmt.Sprintf(`{"seq":%d,"prev":"%s","kind":"decision","at":"2026-10-03T14:02:11Z","tool":"exec","decision":"allow","by":"person"`, last.Seq+1, last.Hash)
	return fmt.Appendf(nil, "%s,\"hash\":\"%x\"}\n", body, sha256.Sum256([]byte(body)))
}

// refused starts the gateway again, which must refuse, and gives its reason.
func (r *rig) refused() error {
	r.t.Helper()
	_, err := openGateway(setup{
		config: r.cfg, state: r.state, guarded: guard(r.cfg, "", r.state, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}),
		chats: builtin, channels: r.channels, log: newLog(r.log, config.Log{}, &slog.LevelVar{}),
	})
	return err
}

// wantRefused starts the gateway again, which must refuse for this reason.
func (r *rig) wantRefused(want error, hint string) {
	r.t.Helper()
	if err := r.refused(); !errors.Is(err, want) || !strings.Contains(hintOf(err), hint) {
		r.t.Fatalf("the start says %v, and as a hint %q", err, hintOf(err))
	}
}

func read() call { return call{tool: "read", params: `{"path":"a"}`, context: ownerIn("m")} }

func TestH123AStartDoesNotSignOverALineThatTheServerDidNotWrite(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.allow(read())
	r.quit()
	path := recordPath(r.cfg, r.state)
	forged := append(r.recorded(), forgedLine(r.recorded())...)
	if err := os.WriteFile(path, forged, 0o600); err != nil {
		t.Fatal(err)
	}
	r.wantRefused(audit.ErrForged, "move it away")
	if !bytes.Equal(r.recorded(), forged) {
		t.Error("the evidence was changed")
	}

	// The owner keeps the file and begins a new chain, which says so.
	if err := os.Rename(path, path+".kept"); err != nil {
		t.Fatal(err)
	}
	r.start()
	r.allow(read())
	if !strings.Contains(string(r.recorded()), "this is not the chain seen last") {
		t.Error("the new chain does not name the old one")
	}
}

func TestH124ARecordThatIsTakenAwayIsNoticedBeforeTheNextAllow(t *testing.T) {
	t.Parallel()
	for name, take := range map[string]func(path string, raw []byte) error{
		"removed": func(path string, _ []byte) error { return os.Remove(path) },
		"replaced": func(path string, raw []byte) error {
			return errors.Join(os.Remove(path), os.WriteFile(path, raw, 0o600))
		},
		"cut": func(path string, _ []byte) error { return os.Truncate(path, 10) },
		"written to": func(path string, raw []byte) error {
			return os.WriteFile(path, append(bytes.Clone(raw), forgedLine(raw)...), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			r.allow(read())
			path, raw := recordPath(r.cfg, r.state), r.recorded()
			if err := errors.Join(os.Link(path, path+".kept"), take(path, raw)); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				if a := r.send(read()); a.allowed() {
					t.Fatalf("allowed without a record: %s", a.raw)
				}
			}
			if status, text := r.ready(); status != http.StatusServiceUnavailable || !strings.Contains(text, "record") {
				t.Errorf("ready says %d %s", status, text)
			}
			// The owner puts it back.
			if err := errors.Join(os.Rename(path+".kept", path), os.WriteFile(path, raw, 0o600)); err != nil {
				t.Fatal(err)
			}
			r.allow(read())
		})
	}
}

// verifies runs `verifier audit verify` on the rig's record.
func (r *rig) verifies() (code int, said string) {
	r.t.Helper()
	var out bytes.Buffer
	code = run(r.t.Context(), []string{"audit", "verify", "--state", r.state.Dir()}, &out, &out)
	return code, out.String()
}

// Without its key the record can't be checked. A new key would begin a new record,
// and the old one would be gone without a word.
func TestH153ARecordKeyThatIsGoneIsNotMadeAnew(t *testing.T) {
	t.Parallel()
	for name, also := range map[string]bool{"the key alone": false, "the key and the record": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, nil)
			r.allow(read())
			r.quit()
			key := filepath.Join(r.state.Dir(), "record.key")
			if err := os.Rename(key, key+".kept"); err != nil {
				t.Fatal(err)
			}
			if also {
				if err := os.Rename(r.state.Record(), r.state.Record()+".kept"); err != nil {
					t.Fatal(err)
				}
			}
			for range 2 {
				if err := r.refused(); err == nil || !strings.Contains(err.Error(), "record.key is missing") || !strings.Contains(hintOf(err), "backup") {
					t.Fatalf("the start says %v, and as a hint %q", err, hintOf(err))
				}
			}
			if _, err := os.Lstat(key); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("a key was made: %v", err)
			}
			if _, said := r.verifies(); !also && !strings.Contains(said, "record.key is missing") {
				t.Errorf("verify says %s", said)
			}
			// The owner brings the key back.
			if err := os.Rename(key+".kept", key); err != nil {
				t.Fatal(err)
			}
			r.start()
			r.allow(read())
			if lost := strings.Contains(string(r.recorded()), "this is not the chain seen last"); lost != also {
				t.Errorf("the record says that another is missing: %v", lost)
			}
		})
	}
}

func TestH154ARecordThatIsALinkIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.allow(read())
	r.quit()
	path := recordPath(r.cfg, r.state)
	if err := errors.Join(os.Rename(path, path+".there"), os.Symlink(path+".there", path)); err != nil {
		t.Fatal(err)
	}
	r.wantRefused(audit.ErrLink, "audit.path")
	if _, said := r.verifies(); !strings.Contains(said, "is a symbolic link") {
		t.Errorf("verify says %s", said)
	}
	if err := os.Rename(path+".there", path); err != nil {
		t.Fatal(err)
	}
	r.start()
	r.allow(read())
}
