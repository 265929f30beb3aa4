package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Whatever a tui.json holds, init adds one entry to it, and --remove puts every byte back. The file keeps its mode, and a link stays one.
func TestATerminalConfigOfOpencodeIsPutBackAsItWas(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"{}", "{\n}\n", `{"plugin":[]}`, `{"plugin": [ ]}`, `{"plugin":["./mine.js"]}`, "{\r\n\t\"z\": 9007199254740993,\r\n\t\"a\": 1.50\r\n}", "",
		"{\n  \"plugin\": [\n    \"./mine.js\",\n    [\"other\", {\"x\": 1}]\n  ],\n  \"theme\": \"dark\"\n}\n",
	} {
		dir := t.TempDir()
		config, target := filepath.Join(dir, "tui.json"), filepath.Join(dir, "dotfiles.json")
		if err := os.WriteFile(target, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, config); err != nil {
			t.Fatal(err)
		}
		for range 4 { // no copy is kept twice
			terminalConfig(t, dir, false)
			if now := contents(t, config); strings.Count(now, terminalPlugin) != 1 {
				t.Errorf("%q became %q", text, now)
			}
			terminalConfig(t, dir, true)
			if now := contents(t, config); now != text {
				t.Errorf("%q came back as %q", text, now)
			}
		}
		if link, err := os.Readlink(config); err != nil || link != target {
			t.Errorf("%q is no link any more: %v", config, err)
		}
		if info, err := os.Stat(config); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%q has another mode: %v", config, err)
		}
	}
}

// What the user changed meanwhile stays, and what is no object with a list is left alone.
func TestATerminalConfigOfOpencodeThatChangedMeanwhile(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"plugin":["./verifier-tui.js","./mine.js"]}`: `{"plugin":["./mine.js"]}`,
		`{"plugin":["./verifier-tui.js"],"theme":"x"}`: `{"plugin":[],"theme":"x"}`,
		`{"plugin":["a" , "./verifier-tui.js" , "b"]}`: `{"plugin":["a" , "b"]}`,
	} {
		if got, ok := withoutPlugin(filepath.Join(t.TempDir(), "tui.json"), []byte(text)); !ok || string(got) != want {
			t.Errorf("%s: %s", text, got)
		}
	}
	for _, text := range []string{"null", "[]", `"x"`, "1", "{", `{"plugin":null}`, `{"plugin":{}}`, `{"plugin":"x"}`, "{} {}", `{"plugin":[1}`, `{"a":1,"a":2}`, "{/**/}"} {
		dir := t.TempDir()
		config := filepath.Join(dir, "tui.json")
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, remove := range []bool{false, true} {
			if said := terminalConfig(t, dir, remove); !strings.HasPrefix(said, "Not changed: ") {
				t.Errorf("%s: it says %q", text, said)
			}
			if now := contents(t, config); now != text {
				t.Errorf("%s became %s", text, now)
			}
		}
	}
	dir := t.TempDir()
	terminalConfig(t, dir, false)
	terminalConfig(t, dir, true)
	if _, err := os.Stat(filepath.Join(dir, "tui.json")); err == nil {
		t.Error("a tui.json is left that was not there before")
	}
}

func terminalConfig(t *testing.T, dir string, remove bool) string {
	t.Helper()
	var out strings.Builder
	if err := wireOpencodeTerminal(&app{stdout: &out}, filepath.Join(dir, "plugin", "verifier.js"), remove); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func contents(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
