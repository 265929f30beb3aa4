package mcp

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tailscale/hujson"
)

// configKeys are where clients keep their servers: Claude Desktop, Claude Code and Cursor; VS Code; opencode, and VS Code's
// settings.
var configKeys = [][]string{{"mcpServers"}, {"servers"}, {"mcp"}, {"mcp", "servers"}}

// jsonEntries are the servers in a config in JSON. It may have comments.
func jsonEntries(file []byte) (out []entry, err error) {
	plain, err := hujson.Standardize(bytes.Clone(file)) // every byte stays where it is
	if err != nil || len(plain) != len(file) || !jsontext.Value(plain).IsValid() {
		return nil, ErrNoServers
	}
	whole := span{0, len(plain)}
	for _, keys := range configKeys {
		out = append(out, serversAt(plain, whole, keys)...)
	}
	projects, _ := places(plain, follow(plain, whole, "projects")) // Claude Code keeps what is for one of them there
	for path, at := range projects {
		for _, e := range serversAt(plain, at, []string{"mcpServers"}) {
			e.project = path
			out = append(out, e)
		}
	}
	return out, nil
}

// serversAt are the servers at a place in a file.
func serversAt(file []byte, at span, keys []string) (out []entry) {
	servers, _ := places(file, follow(file, at, keys...)) // something else may have that name
	for name, where := range servers {
		if slices.Equal(keys, []string{"mcp"}) && (name == "servers" && holdsObjects(file, where) || name == "inputs" && inside(file, where, jsontext.KindBeginArray) != nil) {
			continue // VS Code's settings have both; servers has a key of its own
		}
		out = append(out, jsonEntry(file, name, where))
	}
	return out
}

// follow is where the value is that keys lead to; zero: there is none.
func follow(file []byte, at span, keys ...string) span {
	for _, key := range keys {
		parts, _ := places(file, at)
		at = parts[key]
	}
	return at
}

// holdsObjects reports whether all members of an object are objects: then it is no server, but holds some.
func holdsObjects(file []byte, at span) bool {
	parts, _ := places(file, at)
	for _, part := range parts {
		if inside(file, part, jsontext.KindBeginObject) == nil {
			return false
		}
	}
	return true
}

func jsonEntry(file []byte, name string, at span) entry {
	e := entry{name: name, begins: at.from, join: `, "args":`}
	parts, _ := places(file, at)
	for key, part := range parts {
		text, ok := asString(file[part.from:part.to])
		if isAddress(key) || key == "type" && (!ok || !startsPrograms(text)) {
			e.open = byAddress
		}
	}
	if !e.readCommand(file, parts["command"], parts["args"]) {
		e.open = cmp.Or(e.open, unreadable)
	}
	return e
}

// readCommand reads a command in one text or in a list. If it can't, the entry has none.
func (e *entry) readCommand(file []byte, command, args span) (ok bool) {
	if e.list, ok = texts(file, command); ok {
		return len(e.list) > 0
	}
	program, ok := asString(file[command.from:command.to])
	if !ok || program == "" {
		return false
	}
	if e.at = args; args != (span{}) {
		if e.list, ok = texts(file, args); !ok {
			return false
		}
	}
	e.program = &word{command, program}
	return true
}

// isAddress reports whether a member of a server holds its address. Clients differ in what counts beside a command.
func isAddress(key string) bool { return key == "url" || key == "serverUrl" || key == "httpUrl" }

// startsPrograms reports whether a client starts servers of this type by their command.
func startsPrograms(kind string) bool { return kind == "stdio" || kind == "local" }

// places are where the members of an object are in a file.
func places(file []byte, at span) (map[string]span, error) {
	out := map[string]span{}
	_, err := walk(file[at.from:at.to], func(name string, v jsontext.Value, end int) error {
		out[name] = span{at.from + end - len(v), at.from + end}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// texts are those in a list, which has nothing else.
func texts(file []byte, at span) (out []word, ok bool) {
	d := inside(file, at, jsontext.KindBeginArray)
	if d == nil {
		return nil, false
	}
	for d.PeekKind() != jsontext.KindEndArray {
		v, err := d.ReadValue()
		text, ok := asString(v)
		if err != nil || !ok {
			return nil, false
		}
		end := at.from + int(d.InputOffset())
		out = append(out, word{span{end - len(v), end}, text})
	}
	return out, true
}

// inside reads what is in an object or a list; nil: it is none.
func inside(file []byte, at span, kind jsontext.Kind) *jsontext.Decoder {
	d := jsontext.NewDecoder(bytes.NewReader(file[at.from:at.to]))
	if t, err := d.ReadToken(); err != nil || t.Kind() != kind {
		return nil
	}
	return d
}
