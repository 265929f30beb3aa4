package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/openclaw-verifier/verifier/hook"
	"github.com/openclaw-verifier/verifier/mcp"
	"github.com/openclaw-verifier/verifier/wholefile"
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
		hint := "put `verifier mcp --` before the server's command by hand, see docs/mcp.md"
		if c.Remove {
			hint = "take `verifier mcp … --` out by hand, see docs/mcp.md"
		}
		return &failure{c.MCP + ": " + err.Error(), hint}
	}
	if err != nil {
		return err
	}
	kept := ""
	if slices.ContainsFunc(servers, func(s mcp.Configured) bool { return s.Changed }) {
		if kept, err = changeFile(c.MCP, old, text); err != nil {
			return err
		}
	}
	for _, s := range servers {
		a.printf("%s", serverLines(s))
	}
	if kept != "" {
		a.printf("Wrote %s. As it was: %s. Start the client again.\n", c.MCP, kept)
	}
	return nil
}

// serverLines say what is with a server. A project's file can hold any text: none of it may look like a line of ours.
func serverLines(s mcp.Configured) string {
	name := visibleWords(s.Name)
	if s.Project != "" {
		name += " in " + visibleWords(s.Project)
	}
	switch {
	case s.Changed:
		return name + "\n  - " + visibleWords(s.Was...) + "\n  + " + visibleWords(s.Command...) + "\n"
	case s.Open != "" && s.Command != nil:
		return "Open: " + name + " " + s.Open + ". Your gate is not before it.\n  its command: " + visibleWords(s.Command...) + "\n"
	case s.Open != "":
		return "Open: " + name + " " + s.Open + ". Your gate is not before it.\n"
	}
	return name + ": as before\n"
}

// visibleWords shows words, each with quotes where it is not plain.
func visibleWords(words ...string) string {
	var out []string
	for _, w := range words {
		if shellWord(w) != w || w == "" {
			w = strconv.Quote(w)
		}
		out = append(out, w)
	}
	return strings.Join(out, " ")
}

// changeFile replaces a file whole, keeps its mode and its owner, and keeps a copy of it as it was, of the same mode and owner. A link stays one.
func changeFile(path string, old, text []byte) (kept string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", &failure{path + " can't be read: " + err.Error(), "it is as it was"}
	}
	kept, err = keepBeside(path, old, info)
	if err != nil {
		return "", err
	}
	target, err := filepath.EvalSymlinks(path)
	if err == nil {
		err = wholefile.Replace(target, text, info.Mode().Perm(), info)
	}
	if err != nil {
		return "", &failure{path + " can't be written: " + err.Error(), "it is as it was, and " + kept + " is a copy of it"}
	}
	return kept, nil
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

// keepBeside keeps a file as it was, where nothing is lost by it. A copy that is the same is enough.
func keepBeside(path string, text []byte, as os.FileInfo) (string, error) {
	var copies []string
	for _, end := range []string{"", "-2", "-3", "-4", "-5"} {
		kept := path + ".before-verifier" + end
		f, err := os.OpenFile(kept, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, os.ErrExist) {
			if isCopy(kept, text) {
				return kept, nil
			}
			copies = append(copies, kept)
			continue
		}
		if err == nil {
			_, err = f.Write(text)
			if err = errors.Join(err, wholefile.Give(f, as), f.Chmod(as.Mode().Perm()), f.Close()); err != nil {
				_ = os.Remove(kept) // half a copy is none
			}
		}
		if err != nil {
			return "", &failure{kept + " can't be written: " + err.Error(), path + " is as it was: it is changed only where a copy can be kept"}
		}
		return kept, nil
	}
	return "", &failure{path + " is as it was: five older copies of it are there, and no other is kept", "delete those that you don't need: " + strings.Join(copies, ", ")}
}

func isCopy(path string, text []byte) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	there, err := os.ReadFile(path)
	return err == nil && bytes.Equal(there, text)
}
