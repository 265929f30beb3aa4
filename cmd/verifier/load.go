package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/openclaw-verifier/verifier/config"
)

// configFlag is the config of a command. Its file is named by the flag or the
// variable, or it is the usual one.
type configFlag struct {
	Config string `short:"c" env:"VERIFIER_CONFIG" placeholder:"FILE" help:"The config. Without it: ~/.config/verifier/verifier.yaml, else the defaults."`

	found bool // it was not named
}

// configName is the file's usual name.
const configName = "verifier.yaml"

// find looks where a config usually is, if none was named. That is not the current
// directory: an agent may have written one there, to be taken for the owner's.
func (c *configFlag) find() {
	if path := usualConfig(); c.Config == "" && path != "" {
		if _, err := os.Stat(path); err == nil {
			c.Config, c.found = path, true
		}
	}
}

// usualConfig is where a config is looked for; empty where there is no home.
func usualConfig() string {
	dir := os.Getenv("XDG_CONFIG_HOME")
	if home, err := os.UserHomeDir(); dir == "" && err == nil {
		dir = filepath.Join(home, ".config")
	}
	if !filepath.IsAbs(dir) {
		return ""
	}
	return filepath.Join(dir, "verifier", configName)
}

// loadConfig reads the config, and gives what is risky in it. No path is no
// config: all defaults.
func (a *app) loadConfig(path string) (*config.Config, []config.Finding, error) {
	if path == "" {
		return config.Default(), nil, nil
	}
	return config.Load(path, os.LookupEnv, a.chats.platforms())
}

// quietConfig is for commands that only look something up in it: the risks are
// for check and serve to tell.
func (c *configFlag) quietConfig(a *app) (*config.Config, error) {
	if c.find(); c.found {
		a.warnf("config: %s\n", c.Config)
	}
	cfg, _, err := a.loadConfig(c.Config)
	return cfg, err
}

func printFinding(w io.Writer, path string, f config.Finding) {
	fmt.Fprintf(w, "%s: %s: %s\n", f.Severity, place(path, f.Line, f.Col), f) //nolint:errcheck // a reader that has gone is no error
}

func place(path string, line, col int) string {
	if line == 0 {
		return path
	}
	return fmt.Sprintf("%s:%d:%d", path, line, col)
}
