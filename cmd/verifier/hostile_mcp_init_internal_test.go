package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// gateAll runs `init --mcp` on a config, from a shell that may say something first. It returns what was printed and what the config is then.
func gateAll(t *testing.T, first, config string, flags ...string) (printed, after string) {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "mcp.json")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	script := first + `exec verifier init --mcp mcp.json "$@"`
	cmd := exec.CommandContext(t.Context(), "sh", append([]string{"-c", script, "sh"}, flags...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "VERIFIER_STATE="+dir+"/state")
	out, _ := cmd.CombinedOutput() // what it prints says whether it failed
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(out), string(text)
}

// holdsAll checks that a text holds each of these.
func holdsAll(t *testing.T, whole string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(whole, part) {
			t.Errorf("%q is not in:\n%s", part, whole)
		}
	}
}

// TestH395AnotherGateIsNotTakenForOurs: a cloned project brings its config along.
func TestH395AnotherGateIsNotTakenForOurs(t *testing.T) {
	config := `{"mcpServers":{
"a":{"command":"verifier","args":["mcp","--config","./evil/verifier.yaml","--","npx","evil"]},
"b":{"command":"sh","args":["mcp","--","x"]},
"e":{"command":"/tmp/evil/verifier","args":["mcp","--url","https://evil.example"]}}}`
	printed, after := gateAll(t, "", config)
	holdsAll(t, printed, "Open: a runs another gate. Your gate is not before it.\n  its command: verifier mcp --config ./evil/verifier.yaml -- npx evil\n", "Open: e runs another gate.", "--name b -- sh mcp -- x\n")
	holdsAll(t, after, `"--", "sh", "mcp","--","x"]`)
	if strings.Contains(printed, "as before") {
		t.Errorf("a server without our gate is as before:\n%s", printed)
	}
	foreign := `{"mcpServers":{"docs":{"command":"firebase","args":["mcp","--only","x","--","extra"]}}}`
	if printed, after := gateAll(t, "", foreign, "--remove"); after != foreign {
		t.Errorf("--remove made %s of it:\n%s", after, printed)
	}
}

// TestH396AServerWithAnAddressIsNamedOpen: the client may take the address and never start the command.
func TestH396AServerWithAnAddressIsNamedOpen(t *testing.T) {
	for _, members := range []string{`"type":"http","url":"https://evil.example/mcp"`, `"url":"https://evil.example/mcp"`, `"type":"sse"`, `"serverUrl":"https://evil.example"`, `"httpUrl":"https://evil.example"`} {
		config := `{"mcpServers":{"a":{` + members + `,"command":"npx","args":["x"]}}}`
		printed, after := gateAll(t, "", config)
		holdsAll(t, printed, "Open: a is reached by an address")
		if after != config {
			t.Errorf("%s became %s", config, after)
		}
	}
}

// TestH397AServerOfOneProjectGetsTheGate: `claude mcp add` writes it there.
func TestH397AServerOfOneProjectGetsTheGate(t *testing.T) {
	config := `{"mcpServers":{"a":{"command":"s"}},"projects":{"/home/me/app":{"mcpServers":{"evil":{"command":"evil-server"},"web":{"url":"https://x"}}}}}`
	printed, after := gateAll(t, "", config)
	holdsAll(t, printed, "evil in /home/me/app\n", "--name evil -- evil-server\n", "Open: web in /home/me/app is reached by an address")
	holdsAll(t, after, `"--name", "evil", "--", "evil-server"]`)
}

// TestH398AConfigCantWriteToTheTerminal: names and arguments hold what terminals obey.
func TestH398AConfigCantWriteToTheTerminal(t *testing.T) {
	printed, _ := gateAll(t, "", `{"mcpServers":{"a":{"command":"s","args":["x\n\u001b[1A\u001b[2Kweb: as before","y z"]},"b\u001b[1A\u001b[2K":{"url":"https://x"},"c\nweb: as before":{"url":"https://x"}}}`)
	holdsAll(t, printed, `Open: "b\x1b[1A\x1b[2K" is reached`, `Open: "c\nweb: as before" is reached`, `s "x\n\x1b[1A\x1b[2Kweb: as before" "y z"`)
	if strings.ContainsFunc(printed, func(r rune) bool { return r != '\n' && unicode.IsControl(r) }) || strings.Contains(printed, "\nweb") {
		t.Errorf("it printed %q", printed)
	}
}

// TestH399AFailedWriteLeavesTheConfigWhole: no file can get longer than a kilobyte here.
func TestH399AFailedWriteLeavesTheConfigWhole(t *testing.T) {
	config := `{"mcpServers":{`
	for _, name := range strings.Split("abcdefghijkl", "") {
		config += `"` + name + `":{"command":"s"},`
	}
	config = strings.TrimSuffix(config, ",") + "}}"
	printed, after := gateAll(t, "ulimit -f 1; ", config)
	holdsAll(t, printed, "mcp.json can't be written", "mcp.json.before-verifier is a copy of it")
	if after != config || strings.Contains(printed, "Wrote") {
		t.Errorf("the config is %s after\n%s", after, printed)
	}
}
