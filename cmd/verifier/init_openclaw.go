package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/openclaw-verifier/verifier/integrations/openclaw"
)

// What init puts beside the config for OpenClaw.
const (
	openclawSecret = "openclaw.secret" // readable by you alone, like the config
	openclawPlugin = "openclaw-plugin"
)

// writeOpenclaw puts secret and plugin beside the config.
func (c *InitCmd) writeOpenclaw(secret string) error {
	if err := c.write(c.beside(openclawSecret), secret+"\n"); err != nil {
		return err
	}
	dir := c.beside(openclawPlugin)
	files, err := openclaw.Plugin.ReadDir(".")
	if err == nil {
		err = os.MkdirAll(dir, 0o755) //nolint:gosec // it is public: another user may run OpenClaw
	}
	for _, f := range files {
		if err != nil {
			break
		}
		var text []byte
		if text, err = openclaw.Plugin.ReadFile(f.Name()); err == nil {
			err = os.WriteFile(filepath.Join(dir, f.Name()), text, 0o644) //nolint:gosec // see above
		}
	}
	if err != nil {
		return &failure{fmt.Sprintf("the plugin can't be written to %s: %v", dir, err), "make room there, or name another place with --config"}
	}
	return nil
}

// beside is the whole path of a file in the config's directory.
func (c *InitCmd) beside(name string) string {
	path := filepath.Join(filepath.Dir(c.Config), name)
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// openclawCommands set OpenClaw up, as they stand.
func (c *InitCmd) openclawCommands() string {
	entry := "openclaw config set plugins.entries.verifier."
	lines := []string{
		"openclaw plugins install " + shellWord(c.beside(openclawPlugin)) + " --force --accept-capabilities",
		entry + "config.secret " + shellWord("file:"+c.beside(openclawSecret)),
		entry + "hooks.allowConversationAccess true",
		"openclaw gateway restart",
		programName() + " test --config " + shellWord(c.beside(filepath.Base(c.Config))),
	}
	return "  " + strings.Join(lines, "\n  ")
}

// pluginPath is where init puts the plugin: who changes it is not asked about any
// more.
func pluginPath(configPath string) string {
	return filepath.Join(filepath.Dir(configPath), openclawPlugin)
}

// secretInFile is what the config says of a secret in a file of its own.
func secretInFile(path string) string { return fmt.Sprintf("%q", "file:"+path) }
