package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/openclaw-verifier/verifier/hook"
)

const gateLines = `Put the gate before the command of each server in your MCP client's config. NAME is what you call the server:

  %[1]s --name NAME -- COMMAND ARGUMENT …

Claude Code, Codex:
  claude mcp add NAME -- %[1]s --name NAME -- COMMAND ARGUMENT …
  codex mcp add NAME -- %[1]s --name NAME -- COMMAND ARGUMENT …
Claude Desktop (claude_desktop_config.json), Cursor (~/.cursor/mcp.json), Gemini CLI (~/.gemini/settings.json),
in "mcpServers"; VS Code (mcp.json), in "servers":
  "NAME": {"command": %[2]s, "args": [%[3]s, "--name", "NAME", "--", "COMMAND", "ARGUMENT"]}
opencode (opencode.json), in "mcp":
  "NAME": {"type": "local", "command": [%[2]s, %[3]s, "--name", "NAME", "--", "COMMAND", "ARGUMENT"]}

For a server on the web, write --url https://… in place of -- and the command.
`

// printGate prints what to write into the configs of MCP clients.
func (c *InitCmd) printGate(a *app) error {
	command, err := c.gateCommand()
	if err != nil {
		return err
	}
	words, quoted := make([]string, len(command)), make([]string, len(command))
	for i, word := range command {
		text, err := json.Marshal(word)
		if err != nil {
			return err
		}
		words[i], quoted[i] = shellWord(word), string(text)
	}
	a.printf(gateLines, strings.Join(words, " "), quoted[0], strings.Join(quoted[1:], ", "))
	return nil
}

// gateCommand is how the gate is called. It names the gateway whole: no variable is looked at then.
func (c *InitCmd) gateCommand() ([]string, error) {
	own, err := os.Executable()
	if err != nil {
		return nil, err
	}
	if c.Config == "" {
		return []string{own, "mcp", "--state", hook.StateDir("", os.Getenv)}, nil
	}
	path, err := filepath.Abs(c.Config)
	if err != nil || !isFile(path) {
		return nil, &failure{c.Config + " is not there", "name the config of your gateway, or none for the one in its state directory"}
	}
	return []string{own, "mcp", "--config", path}, nil
}
