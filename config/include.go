package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"

	"github.com/openclaw-verifier/verifier/policy"
)

// Labels are what a file says that a config includes: what tools do, and nothing else.
type Labels struct {
	// Tools says what single tools do.
	Tools map[string]policy.Tool `yaml:"tools"`
}

// LoadLabels reads a file of labels. Every error is [Errors].
func LoadLabels(path string) (Labels, error) {
	text, _, err := readConfig(path)
	if err != nil {
		return Labels{}, Errors{unreadable(path, err)}
	}
	return ParseLabels(path, text)
}

// ParseLabels reads a text that was loaded otherwise; file is what errors call it.
func ParseLabels(file string, text []byte) (Labels, error) {
	var l Labels
	if err := decodeText(file, text, &l); err != nil {
		return Labels{}, err
	}
	return l, nil
}

// decodeText reads a file that names no secrets, files or variables into what v points to.
func decodeText(file string, text []byte, v any) error {
	doc, err := parse(file, text)
	if err != nil {
		return err
	}
	d := decoder{file: file}
	if doc.root != nil {
		d.value(spot{key: doc.root.GetToken(), node: doc.root}, reflect.ValueOf(v).Elem())
	}
	if len(d.errs) == 0 {
		return nil
	}
	d.errs.sort()
	_, _, err = quiet(nil, nil, d.errs)
	return err
}

// Add lays labels below what the config says itself. Two files must not speak of the same tool.
func (c *Config) Add(file string, l Labels) error {
	if c.Policy.Tools == nil {
		c.Policy.Tools = map[string]policy.Tool{}
	}
	for name, t := range l.Tools {
		if other, twice := c.labelled[name]; twice {
			return Errors{{File: file, Path: "tools." + name, Text: "is labelled in " + other + " as well", Hint: "keep one"}}
		}
		if c.labelled == nil {
			c.labelled = map[string]string{}
		}
		c.labelled[name] = file
		if _, own := c.Policy.Tools[name]; !own {
			c.Policy.Tools[name] = t
		}
	}
	return nil
}

// include reads the files that the config names.
func (d *decoder) include(c *Config) {
	for i, path := range c.Include {
		if !filepath.IsAbs(path) {
			path = filepath.Join(d.dir, path)
		}
		l, err := LoadLabels(path)
		if err == nil {
			d.used.files = append(d.used.files, links(path)...)
			err = c.Add(path, l)
		}
		if err == nil {
			continue
		}
		if all, ok := errors.AsType[Errors](err); ok {
			d.errs = append(d.errs, all...)
			continue
		}
		d.errs = append(d.errs, &Error{File: d.file, Path: fmt.Sprintf("include[%d]", i), Text: err.Error()})
	}
}

// links are a file and all that it is a link to: writing to one of them changes it.
func links(path string) []string {
	all := []string{path}
	for range 8 {
		to, err := os.Readlink(path)
		if err != nil {
			break
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
		all = append(all, path)
	}
	if end, err := filepath.EvalSymlinks(all[0]); err == nil && end != path {
		all = append(all, end)
	}
	return all
}
