package mcp

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// configured is a server as clients write it in their configs.
type configured struct {
	Type     string            `json:"type"`
	Command  string            `json:"command"`
	Args     []string          `json:"args"`
	Env      map[string]string `json:"env"`
	URL      string            `json:"url"`
	Headers  map[string]string `json:"headers"`
	Disabled bool              `json:"disabled"`
}

func (c *configured) server(name string) (s Server, err error) {
	s.Name = CleanName(name)
	switch {
	case (c.Command == "") == (c.URL == ""):
		return s, errors.New("it has a command or a url")
	case c.Type == "sse":
		return s, errors.New("the older transport sse is not known here")
	case c.Command != "":
		s.Command = append([]string{c.Command}, c.Args...)
		if gated(s.Command) {
			return s, errors.New("it has a gate of its own already: name the server's own command")
		}
		for _, key := range slices.Sorted(maps.Keys(c.Env)) {
			s.Env = append(s.Env, key+"="+c.Env[key])
		}
		return s, nil
	}
	if s.URL, err = url.Parse(c.URL); err != nil {
		return s, errors.New("its url can't be read")
	}
	s.Header = http.Header{}
	for key, value := range c.Headers {
		s.Header.Set(key, Expand(value))
	}
	return s, CheckURL(s.URL)
}

// gated reports whether a command looks like a gate before another one.
func gated(words []string) bool {
	end := slices.Index(words, "--")
	return len(words) > 1 && words[1] == "mcp" && end > 0 && end < len(words)-1
}

var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// Expand puts the values of variables in: ${NAME}.
func Expand(text string) string {
	return variable.ReplaceAllStringFunc(text, func(v string) string { return os.Getenv(v[2 : len(v)-1]) })
}

// ReadServers reads the servers of a client's config: {"mcpServers": {...}}.
func ReadServers(file []byte) (out []Server, err error) {
	var config struct {
		Servers map[string]configured `json:"mcpServers"`
	}
	if err := json.Unmarshal(file, &config); err != nil || len(config.Servers) == 0 {
		return nil, ErrNoServers
	}
	taken := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(config.Servers)) {
		c := config.Servers[name]
		if c.Disabled {
			continue
		}
		s, err := c.server(name)
		if err != nil {
			return nil, fmt.Errorf("the server %q: %w", name, err)
		}
		if other, ok := taken[strings.ToLower(s.Name)]; ok {
			return nil, fmt.Errorf("the servers %q and %q would have the same name, %s", other, name, s.Name)
		}
		taken[strings.ToLower(s.Name)] = name
		out = append(out, s)
	}
	if len(out) == 0 {
		return nil, ErrNoServers
	}
	return out, nil
}
