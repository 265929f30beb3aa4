package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"

	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/redact"
)

// Load reads the file at path, for a program that has these chats. The findings are what is valid but risky. Every
// error is [Errors].
func Load(path string, env Env, chats []approval.Platform) (*Config, []Finding, error) {
	text, open, err := readConfig(path)
	if err != nil {
		return nil, nil, Errors{unreadable(path, err)}
	}
	r := reading{resolver: resolver{env: env, dir: filepath.Dir(path), used: &used{}}, file: path, open: open, chats: chats}
	return quiet(r.read(text))
}

// Parse reads a text that was loaded otherwise; file is what errors call it.
func Parse(file string, text []byte, env Env, chats []approval.Platform) (*Config, []Finding, error) {
	r := reading{resolver: resolver{env: env, dir: filepath.Dir(file), used: &used{}}, file: file, chats: chats}
	return quiet(r.read(text))
}

// maxErrors are reported: people read no more, and hiding secrets in each takes time.
const maxErrors = 100

// quiet hides the secrets that errors repeat: they were written in the place of
// a key, a word or a name.
func quiet(c *Config, f []Finding, err error) (*Config, []Finding, error) {
	if all, ok := errors.AsType[Errors](err); ok {
		if more := len(all) - maxErrors; more > 0 {
			all = append(all[:maxErrors:maxErrors], &Error{File: all[0].File, Text: fmt.Sprintf("%d more", more)})
			err = all
		}
		for _, e := range all {
			e.Path, e.Text, e.Hint = redact.Line(e.Path), redact.Line(e.Text), redact.Line(e.Hint)
		}
	}
	return c, f, err
}

// readConfig also reports whether others may read the file.
func readConfig(path string) (text []byte, open bool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, false, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, false, err
	case info.IsDir():
		return nil, false, &problem{"is a directory", "name the file in it, such as " + filepath.Join(path, "verifier.yaml")}
	case othersMayWrite(info):
		return nil, false, &problem{"others can write to it, and so could let themselves approve", "chmod go-w " + path}
	case !isOurs(info) && !isRoots(info):
		return nil, false, &problem{"belongs to another user, who could let themselves approve", "chown it to the user that verifier runs as, or to root"}
	}
	text, err = io.ReadAll(io.LimitReader(f, maxFile+1))
	return text, othersMay(info), err
}

// Private refuses a config that was found, not named, unless it is a file that only you
// can read and write. A repository can't hold such a file.
func Private(path string) error {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return Errors{unreadable(path, err)}
	case !info.Mode().IsRegular():
		return Errors{{File: path, Text: "is no ordinary file, so it is not taken from this directory", Hint: "name it with --config, or go to another directory"}}
	case !isOurs(info):
		return Errors{{File: path, Text: "belongs to another user, so it is not taken from this directory", Hint: "name it with --config, or go to another directory"}}
	case othersMay(info):
		return Errors{{File: path, Text: "others can read or write it, so it is not taken from this directory: it may have come with a download or from the agent", Hint: "if it is yours: chmod 600 " + path + ". If not, go to another directory or name yours with --config"}}
	}
	return nil
}

func unreadable(path string, err error) *Error {
	if p, ok := errors.AsType[*problem](err); ok {
		return &Error{File: path, Text: p.text, Hint: p.hint}
	}
	e := &Error{File: path, Text: "can't be read: " + err.Error()}
	if errors.Is(err, fs.ErrNotExist) {
		e.Text, e.Hint = "there is no such file", "run `verifier init` to write one, or name yours with --config"
	}
	return e
}

// reading is one pass over one file.
type reading struct {
	resolver
	file  string
	open  bool // others may read it
	chats platforms
}

func (r *reading) read(text []byte) (*Config, []Finding, error) {
	doc, err := parse(r.file, text)
	if err != nil {
		return nil, nil, err
	}
	left := doc.unwrap()
	c, d := Default(), decoder{resolver: r.resolver, file: r.file, chats: r.chats}
	if doc.root != nil {
		d.value(spot{key: doc.root.GetToken(), node: doc.root}, reflect.ValueOf(c).Elem())
	}
	left = append(left, d.agentList(doc, c)...)
	for id, a := range c.Agents {
		if c.Policy.Agents == nil {
			c.Policy.Agents = map[string]policy.Agent{}
		}
		c.Policy.Agents[id] = a.Policy
	}
	d.include(c)
	if d.literals && r.open {
		d.fail(d.secretAt, "", "a secret is in a file that others can read", "chmod 600 "+r.file)
	}
	c.TLS.below(r.dir)
	k := &checker{Config: c, report: &report{doc: doc, errs: d.errs, findings: left}, chats: r.chats}
	k.check()
	findings := risks{k}.all()
	if len(k.errs) > 0 {
		k.errs.sort()
		return nil, findings, k.errs
	}
	c.secretFiles, c.secretVariables = r.used.files, r.used.variables
	return c, findings, nil
}
