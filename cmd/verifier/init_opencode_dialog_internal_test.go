package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// opencodeSees lets a stand-in for opencode load both plugins. The hook says "ask", and beside the dialog it ends without an answer.
func opencodeSees(t *testing.T) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("this machine has no node, as CI has")
	}
	dir := t.TempDir()
	hook := filepath.Join(dir, "hook")
	plugin, terminal := filepath.Join(dir, "verifier.mjs"), filepath.Join(dir, "verifier-tui.mjs")
	for name, text := range map[string]string{
		hook:     "#!/bin/sh\nif grep -q permission.asked; then echo '{}'; else echo '{\"decision\":\"ask\"}'; fi\n",
		plugin:   strings.ReplaceAll(opencodePlugin, "@COMMAND@", tomlText(hook)),
		terminal: string(opencodeTerminal),
	} {
		if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, node, "testdata/opencode_dialog.mjs", plugin, terminal).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// TestH647OpencodesPluginSaysThatItRunsOtherArguments: in each event about a call; and it runs them.
func TestH647OpencodesPluginSaysThatItRunsOtherArguments(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("this machine has no node, as CI has")
	}
	dir := t.TempDir()
	hook, plugin, events := filepath.Join(dir, "hook"), filepath.Join(dir, "verifier.mjs"), filepath.Join(dir, "events")
	for name, text := range map[string]string{
		hook:   "#!/bin/sh\ncat >>" + events + "\necho '{\"decision\":\"allow\",\"input\":{\"command\":\"ls\"}}'\n",
		plugin: strings.ReplaceAll(opencodePlugin, "@COMMAND@", tomlText(hook)),
	} {
		if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, node, "testdata/opencode_edit.mjs", plugin).CombinedOutput()
	if err != nil || string(out) != "runs {\"command\":\"ls\"}\n" {
		t.Errorf("%v: %s", err, out)
	}
	if event := contents(t, events); strings.Count(event, `"edits":true`) != 1 || !strings.Contains(event, "git push --force") {
		t.Errorf("the plugin says %s", event)
	}
}

// TestH289NothingHidesInOpencodesDialog: what can't be seen is shown by its number, and counts for the length.
func TestH289NothingHidesInOpencodesDialog(t *testing.T) {
	t.Parallel()
	seen := opencodeSees(t)
	for at, shown := range map[string]string{
		"20": "a b", "20 20": `a\u{20}\u{20}b`, "3164": `a\u{3164}b`, "ffa0": `a\u{ffa0}b`, "115f": `a\u{115f}b`, "2800": `a\u{2800}b`, "34f": `a\u{34f}b`,
		"fe0f": `a\u{fe0f}b`, "e0100": `a\u{e0100}b`, "200b": `a\u{200b}b`, "a0": `a\u{a0}b`, "e9 65e5": "aé日b",
	} {
		if want := "\n" + at + `: The verifier asks: allow bash {"command":"` + shown + `"}? deny,allow` + "\n"; !strings.Contains("\n"+seen, want) {
			t.Errorf("want %s in\n%s", want, seen)
		}
	}
	if !strings.Contains(seen, "\nlong: deny\n") {
		t.Errorf("a call that is longer than the dialog can be allowed there:\n%s", seen)
	}
}

// TestH401ACallDoesNotWaitForATerminalThatHasGone: the dialog's end and the hook's leave no one to ask.
func TestH401ACallDoesNotWaitForATerminalThatHasGone(t *testing.T) {
	t.Parallel()
	if seen := opencodeSees(t); !strings.HasSuffix(seen, "You can't be asked any more: opencode's terminal has gone, and so has the verifier's hook. Nothing was run.\n") {
		t.Errorf("it ends with:\n%s", seen)
	}
}
