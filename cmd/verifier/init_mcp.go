package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/openclaw-verifier/verifier/hook"
	"github.com/openclaw-verifier/verifier/mcp"
)

// gate puts the gate before the servers in a client's config, or takes it out again.
func (c *InitCmd) gate(a *app) error {
	old, err := os.ReadFile(c.MCP)
	if err != nil {
		return &failure{c.MCP + " can't be read: " + err.Error(), "name the file in which your client keeps its servers"}
	}
	command, err := c.gateCommand()
	if err != nil {
		return err
	}
	text, servers, err := mcp.Rewrite(old, func(server string) []string {
		return append(append([]string{}, command...), "--name", mcp.CleanName(server), "--")
	}, c.Remove)
	if errors.Is(err, mcp.ErrNoServers) {
		return &failure{c.MCP + ": " + err.Error(), "put `verifier mcp --` before the server's command by hand, see docs/mcp.md"}
	}
	if err != nil {
		return err
	}
	changed := false
	for _, s := range servers {
		switch {
		case s.Changed:
			changed = true
			a.printf("%s\n  - %s\n  + %s\n", s.Name, strings.Join(s.Was, " "), strings.Join(s.Command, " "))
		case s.Command == nil:
			a.printf("Open: %s is reached by an address. The gate is not before it.\n", s.Name)
		default:
			a.printf("%s: as before\n", s.Name)
		}
	}
	if !changed {
		return nil
	}
	kept, err := keepBeside(c.MCP, old)
	if err == nil {
		err = os.WriteFile(c.MCP, text, 0o600) //nolint:gosec // the owner names it; it keeps its mode: it may hold secrets
	}
	if err != nil {
		return &failure{c.MCP + " can't be written: " + err.Error(), "nothing else has changed"}
	}
	a.printf("Wrote %s. As it was: %s. Start the client again.\n", c.MCP, kept)
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

// keepBeside keeps a file as it was, where nothing is lost by it.
func keepBeside(path string, text []byte) (string, error) {
	for _, end := range []string{".before-verifier", ".before-verifier-2", ".before-verifier-3", ".before-verifier-4", ".before-verifier-5"} {
		f, err := os.OpenFile(path+end, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = f.Write(text)
		return path + end, errors.Join(err, f.Close())
	}
	return "", errors.New("there are five copies of it already: " + path + ".before-verifier…")
}
