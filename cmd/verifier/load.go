package main

import (
	"fmt"
	"io"
	"os"

	"github.com/openclaw-verifier/verifier/config"
)

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
func (a *app) quietConfig(path string) (*config.Config, error) {
	c, _, err := a.loadConfig(path)
	return c, err
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
