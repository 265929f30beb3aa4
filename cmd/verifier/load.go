package main

import (
	"fmt"
	"io"
	"os"

	"github.com/openclaw-verifier/verifier/config"
)

// loadConfig reads the config, and says on w what is risky in it. No path is
// no config: all defaults.
func loadConfig(path string, w io.Writer) (*config.Config, error) {
	if path == "" {
		return config.Default(), nil
	}
	c, findings, err := config.Load(path, os.LookupEnv)
	if err != nil {
		return nil, err
	}
	for _, f := range findings {
		if f.Severity == config.Warning {
			printFinding(w, path, f)
		}
	}
	return c, nil
}

// quietConfig is for commands that only look something up in it: the risks are
// for check and serve to tell.
func quietConfig(path string) (*config.Config, error) { return loadConfig(path, io.Discard) }

func printFinding(w io.Writer, path string, f config.Finding) {
	place := path
	if f.Line > 0 {
		place = fmt.Sprintf("%s:%d:%d", path, f.Line, f.Col)
	}
	fmt.Fprintf(w, "%s: %s: %s\n", f.Severity, place, f) //nolint:errcheck // a reader that has gone is no error
}
