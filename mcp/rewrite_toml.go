package mcp

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlEntries are the servers in the config of Codex: `[mcp_servers.name]`, in any of the ways in which TOML can say it.
func tomlEntries(file []byte) ([]entry, error) {
	var all map[string]any
	if toml.Unmarshal(file, &all) != nil { // what the parser below takes can still say a thing twice
		return nil, ErrNoServers
	}
	r := tomlReader{file: file}
	r.parser.Reset(file)
	for r.parser.NextExpression() {
		e := r.parser.Expression()
		switch e.Kind {
		case unstable.KeyValue:
			r.member(r.table, e, false)
		case unstable.ArrayTable:
			r.table = []string{""} // no servers are in one
		default:
			r.table, _ = r.keys(e)
			r.at(r.table)
		}
	}
	if r.parser.Error() != nil {
		return nil, ErrNoServers
	}
	for i, e := range r.found {
		if e.program == nil || e.open == unreadable {
			r.found[i] = entry{name: e.name, open: cmp.Or(e.open, unreadable)}
		}
	}
	return r.found, nil
}

type tomlReader struct {
	parser unstable.Parser
	file   []byte
	table  []string
	found  []entry
}

// keys are the parts of a name, and where they are.
func (r *tomlReader) keys(n *unstable.Node) (parts []string, at []span) {
	for k := n.Key(); k.Next(); {
		parts, at = append(parts, string(k.Node().Data)), append(at, r.span(k.Node()))
	}
	return parts, at
}

func (r *tomlReader) span(n *unstable.Node) span {
	return span{int(n.Raw.Offset), int(n.Raw.Offset + n.Raw.Length)}
}

// at is the server that a name is about; nil: it is about something else.
func (r *tomlReader) at(path []string) *entry {
	if len(path) < 2 || path[0] != "mcp_servers" {
		return nil
	}
	i := slices.IndexFunc(r.found, func(e entry) bool { return e.name == path[1] })
	if i < 0 {
		r.found = append(r.found, entry{name: path[1]})
		i = len(r.found) - 1
	}
	return &r.found[i]
}

// member reads a name and its value.
func (r *tomlReader) member(below []string, n *unstable.Node, inline bool) {
	parts, places := r.keys(n)
	path, value := slices.Concat(below, parts), n.Value()
	if value.Kind == unstable.InlineTable {
		for c := value.Children(); c.Next(); {
			if c.Node().Kind == unstable.KeyValue {
				r.member(path, c.Node(), true)
			}
		}
		return
	}
	e := r.at(path)
	if e == nil || len(path) != 3 {
		return
	}
	first, last := places[0], places[len(places)-1]
	switch {
	case path[2] == "command" && value.Kind == unstable.String && len(value.Data) > 0:
		e.program = &word{r.span(value), string(value.Data)}
		e.join = ", " + string(r.file[first.from:last.from]) + "args ="
		if !inline {
			line := bytes.LastIndexByte(r.file[:first.from], '\n') + 1
			e.join = "\n" + string(r.file[line:last.from]) + "args ="
			if bytes.Contains(r.file, []byte("\r\n")) {
				e.join = "\r" + e.join
			}
		}
	case path[2] == "args" && value.Kind == unstable.Array:
		r.arguments(e, value, last.to)
	case isAddress(path[2]) || path[2] == "type" && !startsPrograms(string(value.Data)):
		e.open = cmp.Or(e.open, byAddress)
	case path[2] == "command" || path[2] == "args":
		e.open = unreadable
	}
}

// arguments reads a list, which begins behind its name.
func (r *tomlReader) arguments(e *entry, list *unstable.Node, name int) {
	begin := name + bytes.IndexByte(r.file[name:], '[')
	e.at = span{begin, begin + 1}
	for c := list.Children(); c.Next(); {
		e.list = append(e.list, word{r.span(c.Node()), string(c.Node().Data)})
		if c.Node().Kind != unstable.String {
			e.open = unreadable
		}
	}
}
