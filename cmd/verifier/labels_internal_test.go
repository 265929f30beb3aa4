package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
)

// TestH318NoLabelMakesWhatIsDangerousSafe: neither in the config nor in a file that it includes.
func TestH318NoLabelMakesWhatIsDangerousSafe(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"gateway", "exec", "message", "write", "some_tool"} {
		_, _, err := config.Parse("v.yaml", []byte("tools:\n  "+name+": {safe: true}\n"), os.LookupEnv, builtin.platforms())
		if err == nil {
			t.Errorf("%s is safe", name)
		}
	}
	for text, refused := range map[string]bool{
		"tools:\n  send_note: {safe: true, sink: true}\n": true, "tools:\n  send_note: {safe: true, sink: false, " +
			"destructive: true}\n": true, "tools:\n  gateway: {safe: true, sink: false}\n": true,
		"tools:\n  get_note: {safe: true, sink: false}\n": false, "approvers: []\ntools: {}\n": true, "tools:\n  exec: {safe: true, sink: false}\n": true,
	} {
		dir := t.TempDir()
		for name, content := range map[string]string{"labels.yaml": text, "v.yaml": "include: [labels.yaml]\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := config.Load(filepath.Join(dir, "v.yaml"), os.LookupEnv, builtin.platforms()); (err != nil) != refused {
			t.Errorf("%q: %v", text, err)
		}
	}
}
