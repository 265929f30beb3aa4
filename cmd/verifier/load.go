package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/openclaw-verifier/verifier/config"
)

// configFlag is the config of a command. Its file is named by the flag or the
// variable, or it is one of the usual two.
type configFlag struct {
	Config string `short:"c" env:"VERIFIER_CONFIG" placeholder:"FILE" help:"The config. Without it: ./verifier.yaml, else ~/.config/verifier/verifier.yaml, else the defaults."`

	found bool // it was not named
}

// configName is the file's usual name.
const configName = "verifier.yaml"

// find looks where a config usually is, if none was named.
func (c *configFlag) find() {
	if c.Config != "" {
		return
	}
	for _, path := range usualConfigs() {
		if _, err := os.Stat(path); err == nil {
			c.Config, c.found = path, true
			return
		}
	}
}

// usualConfigs are where a config is looked for.
func usualConfigs() []string {
	paths := []string{configName}
	dir := os.Getenv("XDG_CONFIG_HOME")
	if home, err := os.UserHomeDir(); dir == "" && err == nil {
		dir = filepath.Join(home, ".config")
	}
	if filepath.IsAbs(dir) {
		paths = append(paths, filepath.Join(dir, "verifier", configName))
	}
	return paths
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
