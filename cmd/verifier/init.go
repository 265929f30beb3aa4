package main

import (
	"cmp"
	"crypto/rand"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/integrations/openclaw"
	"github.com/openclaw-verifier/verifier/internal/files"
)

// InitCmd writes a first config.
type InitCmd struct {
	Config   string `help:"Where to write it. Without it: ~/.config/verifier/verifier.yaml, where every command looks. For a coding agent: the config of your gateway, if it has one." placeholder:"FILE" short:"c"`
	Force    bool   `help:"Replace the file if it is there. Its secrets are gone then."`
	Openclaw bool   `help:"Write the plugin for OpenClaw and its secret beside it, and print the commands that set OpenClaw up."`

	ClaudeCode bool   `help:"Let Claude Code ask before every tool call." name:"claude-code" xor:"runtime"`
	Codex      bool   `help:"Let Codex ask." xor:"runtime"`
	Gemini     bool   `help:"Let Gemini CLI ask." xor:"runtime"`
	Opencode   bool   `help:"Let opencode ask." xor:"runtime"`
	MCP        bool   `help:"Print what to write into an MCP client's config." name:"mcp" xor:"runtime"`
	Remove     bool   `help:"Take the hook of a coding agent out again."`
	User       bool   `help:"Write your own settings of the agent and not the machine's. Weak: a project or a command can switch them off."`
	Owner      bool   `help:"Runs without a person at the terminal, as with -p and exec, are yours."`
	Root       string `help:"Write the machine's settings below this directory." hidden:"" placeholder:"DIR"`
}

//go:embed verifier.yaml.in
var firstConfig string

// Run writes the file and says what comes next.
func (c *InitCmd) Run(a *app) error {
	if agents := c.agents(); len(agents) > 0 {
		return c.wire(a, agents[0])
	}
	if c.Remove || c.User || c.Owner {
		return &failure{"--remove, --user and --owner are for coding agents", "name one: --claude-code, --codex, --gemini or --opencode"}
	}
	if c.MCP {
		return c.printGate(a)
	}
	if err := c.place(); err != nil {
		return err
	}
	secret := fresh(32)
	inConfig := secret
	if c.Openclaw {
		inConfig = strconv.Quote("file:" + c.beside(openclawSecret))
	}
	text := strings.NewReplacer("@SECRET@", inConfig, "@TOKEN@", fresh(32), "@WORKSPACE@", c.workspaces()).Replace(firstConfig)
	if err := c.write(c.Config, text); err != nil {
		return err
	}
	if c.Openclaw {
		if err := c.writeOpenclaw(secret); err != nil {
			return err
		}
		a.printf(nextForOpenclaw, c.Config, programName(), c.openclawCommands(), c.beside(openclawSecret), c.beside(openclawPlugin), c.named())
		return nil
	}
	a.printf(next, c.Config, programName(), c.named())
	return nil
}

// place is where the config goes: where it was named, else where every command finds it.
func (c *InitCmd) place() error {
	c.Config = cmp.Or(c.Config, os.Getenv("VERIFIER_CONFIG"))
	if c.Config != "" {
		return nil
	}
	if c.Config = usualConfig(); c.Config == "" {
		c.Config = configName
		return nil
	}
	return refused(c.Config, os.MkdirAll(filepath.Dir(c.Config), 0o700))
}

// named is the flag by which other commands find the config, if they need one.
func (c *InitCmd) named() string {
	path, err := filepath.Abs(c.Config)
	switch {
	case err != nil:
		path = c.Config
	case path == usualConfig():
		return ""
	}
	return " --config " + shellWord(path)
}

// workspaces are the directories whose files are the owner's own: those of OpenClaw's agents, or the one that init
// is run in.
func (c *InitCmd) workspaces() string {
	dirs := []string{"~/workspace"}
	if c.Openclaw {
		text, _ := os.ReadFile(openclawConfig()) // without one, OpenClaw has its defaults
		dirs = config.OpenClawWorkspaces(text)
	} else if dir, err := os.Getwd(); err == nil {
		dirs = []string{filepath.ToSlash(dir)}
	}
	for i, dir := range dirs {
		dirs[i] = strconv.Quote(dir)
	}
	return strings.Join(dirs, ", ")
}

// openclawConfig is where OpenClaw has its config.
func openclawConfig() string {
	home, _ := os.UserHomeDir() // without one there is no such file
	state := cmp.Or(os.Getenv("OPENCLAW_STATE_DIR"), filepath.Join(home, ".openclaw"))
	return cmp.Or(os.Getenv("OPENCLAW_CONFIG_PATH"), filepath.Join(state, "openclaw.json"))
}

const next = `Wrote %[1]s with a fresh secret and a fresh owner token. Only you can read it.

Next:
  %[2]s check%[3]s
  %[2]s serve%[3]s
and in another terminal:
  %[2]s send%[3]s --tool exec --params '{"command":"date"}'
  %[2]s pending%[3]s
Give the agent's runtime webhook.secret. Never give it ownerToken: that is yours.
`

const nextForOpenclaw = `Wrote %[1]s with a fresh secret and a fresh owner token, and the plugin for OpenClaw. Only you can read config and secret.

Next:
  %[2]s serve%[6]s
and in another terminal, for OpenClaw:
%[3]s
The last one must show a line "ok      OpenClaw": the plugin says hello when OpenClaw's gateway starts. From then on every tool call is asked about:
  %[2]s pending%[6]s
If OpenClaw runs as another user, which it should, copy to that user, and name in the commands, %[4]s and %[5]s. Never give it %[1]s: ownerToken in it is yours.
`

// fresh are so many random bytes, in hex.
func fresh(bytes int) string {
	b := make([]byte, bytes)
	rand.Read(b) // it never fails
	return hex.EncodeToString(b)
}

// write makes the file at once and whole, for its owner alone.
func (c *InitCmd) write(path, text string) error {
	if c.Force {
		return refused(path, files.Replace(path, []byte(text), files.Private, nil))
	}
	return refused(path, files.Create(path, []byte(text)))
}

func refused(path string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrExist):
		return &failure{path + " is there already", "name another with --config, or replace it with --force: its secrets are gone then"}
	}
	return &failure{fmt.Sprintf("%s can't be written: %v", path, err), "name another with --config"}
}

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
