package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
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
