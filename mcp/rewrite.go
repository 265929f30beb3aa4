package mcp

import (
	"bytes"
	"cmp"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Configured is a server in a client's config.
type Configured struct {
	Name    string
	Command []string // as it is there now; nil: the client reaches it by an address, or we can't read it
	Changed bool
}

// configKeys are where clients keep their servers: Claude Desktop, Claude Code and Cursor; VS Code; opencode.
var configKeys = []string{"mcpServers", "servers", "mcp"}

// ErrNoServers says that a file is none that holds servers.
var ErrNoServers = errors.New("this is no client's config in JSON with servers of tools")

// Rewrite puts the gate before the command of each server in a client's config, or takes it out again. Everything else in
// the file stays as it is, byte by byte. What the gate is called with ends with "--".
func Rewrite(file []byte, gate func(server string) []string, remove bool) (out []byte, found []Configured, err error) {
	all, err := places(file, span{0, len(file)})
	if err != nil || !jsontext.Value(file).IsValid() {
		return nil, nil, ErrNoServers
	}
	var edits []edit
	for _, key := range configKeys {
		servers, err := places(file, all[key])
		if err != nil {
			continue // something else has that name
		}
		for name, at := range servers {
			s, e := rewriteServer(file, at, name, gate, remove)
			found, edits = append(found, s), append(edits, e...)
		}
	}
	if len(found) == 0 {
		return nil, nil, ErrNoServers
	}
	slices.SortFunc(found, func(a, b Configured) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
	end := 0
	for _, e := range edits {
		out = append(append(out, file[end:e.from]...), e.text...)
		end = e.to
	}
	return append(out, file[end:]...), found, nil
}

// rewriteServer is what has to change for one server: its command is a text with arguments beside it, or a list.
func rewriteServer(file []byte, at span, name string, gate func(string) []string, remove bool) (s Configured, edits []edit) {
	s.Name = name
	parts, err := places(file, at)
	if err != nil {
		return s, nil
	}
	command, args := parts["command"], parts["args"]
	var program string
	var words []string
	list := json.Unmarshal(file[command.from:command.to], &words) == nil
	switch {
	case list && len(words) > 0:
	case json.Unmarshal(file[command.from:command.to], &program) != nil || program == "":
		return s, nil // it is reached by an address
	case args != span{} && json.Unmarshal(file[args.from:args.to], &words) != nil:
		return s, nil
	default:
		words = append([]string{program}, words...)
	}
	if s.Command = words; gated(words) != remove || isGate(words, gate(name)[0]) {
		return s, nil
	}
	if remove {
		words = words[slices.Index(words, "--")+1:]
	} else {
		words = append(gate(name), words...)
	}
	s.Command, s.Changed = words, true
	switch {
	case list:
		return s, []edit{{command, quoted(words)}}
	case args == span{}:
		return s, []edit{{command, slices.Concat(quoted(words[0]), []byte(`, "args": `), quoted(words[1:]))}}
	}
	return s, []edit{{command, quoted(words[0])}, {args, quoted(words[1:])}}
}

// gated reports whether a command is that of a gate before another one.
func gated(words []string) bool {
	end := slices.Index(words, "--")
	return len(words) > 1 && words[1] == "mcp" && end > 0 && end < len(words)-1
}

// isGate reports whether a command is a gate that needs no command behind it: it reaches a server by an address, or several
// by a config. Another gate before it would ask twice.
func isGate(words []string, own string) bool {
	alone := slices.ContainsFunc(words, func(word string) bool {
		flag, _, _ := strings.Cut(word, "=")
		return flag == "--url" || flag == "--config" || flag == "-c"
	})
	return alone && len(words) > 1 && words[1] == "mcp" && !slices.Contains(words, "--") && filepath.Base(words[0]) == filepath.Base(own)
}

func quoted(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // texts can be written
	}
	return bytes.ReplaceAll(text, []byte(`","`), []byte(`", "`))
}

// span is a part of a file.
type span struct{ from, to int }

type edit struct {
	span
	text []byte
}

// places are where the members of an object are in a file.
func places(file []byte, at span) (map[string]span, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(file[at.from:at.to]))
	if t, err := dec.ReadToken(); err != nil || t.Kind() != jsontext.KindBeginObject {
		return nil, ErrNoServers
	}
	out := map[string]span{}
	for dec.PeekKind() != jsontext.KindEndObject {
		t, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		name := t.String()
		v, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		end := at.from + int(dec.InputOffset())
		out[name] = span{end - len(v), end}
	}
	return out, nil
}
