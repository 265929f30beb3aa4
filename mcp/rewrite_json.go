package mcp

import (
	"bytes"

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
	for _, keys := range configKeys {
		at := span{0, len(plain)}
		for _, key := range keys {
			parts, _ := places(plain, at)
			at = parts[key]
		}
		servers, _ := places(plain, at) // something else may have that name
		for name, where := range servers {
			if len(keys) == 1 && keys[0] == "mcp" && name == "servers" && holdsObjects(plain, where) {
				continue // see the next ones
			}
			out = append(out, jsonEntry(plain, name, where))
		}
	}
	return out, nil
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
	command, args := parts["command"], parts["args"]
	if list, ok := texts(file, command); ok {
		e.list = list
		return e
	}
	program, ok := asString(file[command.from:command.to])
	if !ok || program == "" {
		return e // it is reached by an address
	}
	if e.at = args; args != (span{}) {
		if e.list, ok = texts(file, args); !ok {
			return entry{name: name, begins: at.from}
		}
	}
	e.program = &word{command, program}
	return e
}

// places are where the members of an object are in a file.
func places(file []byte, at span) (map[string]span, error) {
	d := inside(file, at, jsontext.KindBeginObject)
	if d == nil {
		return nil, ErrNoServers
	}
	out := map[string]span{}
	for d.PeekKind() != jsontext.KindEndObject {
		t, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		name := t.String()
		v, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		end := at.from + int(d.InputOffset())
		out[name] = span{end - len(v), end}
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
