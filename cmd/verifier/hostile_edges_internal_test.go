package main

import (
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/config"
)

// TestH766InitKeepsWhoMayReadAnAgentsSettings: a user's settings may hold keys.
func TestH766InitKeepsWhoMayReadAnAgentsSettings(t *testing.T) {
	t.Parallel()
	for _, flags := range [][]string{{"--claude-code", "--user"}, {"--gemini", "--user"}, {"--claude-code", "--user", "--remove"}} {
		home := t.TempDir()
		path := filepath.Join(home, ".claude", "settings.json")
		if flags[0] == "--gemini" {
			path = filepath.Join(home, ".gemini", "settings.json")
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(`{"env":{"ANTHROPIC_API_KEY":"sk-ant-a-key"}}`), 0o600)); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "verifier", append([]string{"init"}, flags...)...)
		cmd.Env = append(os.Environ(), "HOME="+home, "VERIFIER_STATE="+home+"/state")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %v\n%s", flags, err, out)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v: %v, %v", flags, info.Mode(), err)
		}
	}
}

// TestH768WithoutItsKeyTheServersRecordIsNotOK: all of it could have been written anew, under any key.
func TestH768WithoutItsKeyTheServersRecordIsNotOK(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state")
	state, err := config.OpenState(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, errServer := state.ServerKey()
	key, err := state.RecordKey()
	if err := errors.Join(errServer, err); err != nil {
		t.Fatal(err)
	}
	l, err := audit.Open(recordPath(config.Default(), state), audit.Options{Key: key})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(l.Append(audit.Entry{Kind: audit.KindNote, Note: "x"}), l.Close()); err != nil {
		t.Fatal(err)
	}
	verify := func(flags ...string) (string, int) {
		cmd := exec.CommandContext(t.Context(), "verifier", append([]string{"audit", "verify", "--state", dir}, flags...)...)
		out, _ := cmd.CombinedOutput() // the code says it
		return string(out), cmd.ProcessState.ExitCode()
	}
	if out, code := verify(); code != 0 {
		t.Errorf("with its key: %d\n%s", code, out)
	}
	if err := os.Remove(filepath.Join(dir, "record.key")); err != nil {
		t.Fatal(err)
	}
	if out, code := verify(); code != 1 || !strings.Contains(out, "nothing shows that the server wrote this record") || strings.Contains(out, "ok:") {
		t.Errorf("without its key: %d\n%s", code, out)
	}
	if out, code := verify("--key", hex.EncodeToString(key.Public().(ed25519.PublicKey))); code != 0 { //nolint:errcheck // it is one
		t.Errorf("with the public key: %d\n%s", code, out)
	}
}
