package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/goccy/go-yaml"

	"github.com/openclaw-verifier/verifier/taint"
)

// Case is one example of the owner's: a call, and what the policy should say of
// it.
type Case struct {
	Name      string         `yaml:"name"`
	Tool      string         `yaml:"tool"`
	Params    map[string]any `yaml:"params"`
	Level     string         `yaml:"level"` // empty: every level
	Agent     string         `yaml:"agent"`
	Session   string         `yaml:"session"`
	Iteration *int           `yaml:"iteration"`
	Want      string         `yaml:"want"` // allow, confirm or restrict
	Rule      string         `yaml:"rule"` // the rule that should decide; empty: any
}

// maxCases bounds the file.
const maxCases = 4 << 20

// LoadCases reads a file of examples: a list under the key cases.
func LoadCases(name string) ([]Case, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxCases {
		return nil, fmt.Errorf("%s is too large for a file of examples", name)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var file struct {
		Cases []Case `yaml:"cases"`
	}
	if err := yaml.UnmarshalWithOptions(text, &file, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("%s:%s", name, yaml.FormatError(err, false, true))
	}
	for i := range file.Cases {
		if err := file.Cases[i].check(); err != nil {
			return nil, fmt.Errorf("%s: cases[%d]: %w", name, i, err)
		}
	}
	return file.Cases, nil
}

func (c *Case) check() error {
	if c.Tool == "" {
		return errors.New("has no tool")
	}
	if _, err := taint.ParseMode(c.Want); err != nil {
		return fmt.Errorf("want: %w", err)
	}
	if c.Level != "" {
		if _, err := taint.ParseLevel(c.Level); err != nil {
			return fmt.Errorf("level: %w", err)
		}
	}
	return nil
}

// JSON is the call's params as a runtime would send them.
func (c *Case) JSON() ([]byte, error) {
	if c.Params == nil {
		return []byte("{}"), nil
	}
	return json.Marshal(c.Params)
}
