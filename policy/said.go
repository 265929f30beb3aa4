package policy

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/internal/protocol"
)

// said is a call, what its params say, and where it works.
type said struct {
	*protocol.Call
	ground // of the call, until its command is read; then of that

	base     string   // where the call starts, before its command goes elsewhere
	files    []string // that it names
	args     []argument
	names    []string // of the members at the top, as they are written
	all      string   // each value, then each name, then the tool's, with a zero byte between them
	readable bool     // the params are one JSON value
	long     bool     // its commands are longer than [mostCommands]
}

// argument is a string among the params, or another plain value as it is written.
type argument struct {
	path   string // "edits[0].newText"
	name   string // of the member that it is in, in small letters and without the characters that set words apart
	value  string
	isText bool
}

// read reads the params of a call.
func (p *Policy) read(c *protocol.Call) *said {
	s := read(c)
	s.Call, s.ground = c, p.groundOf(c, s.args)
	s.files = filesOf(c.Tool, s.args)
	return s
}

func read(c *protocol.Call) *said {
	values, err := c.Values()
	s := &said{readable: err == nil, args: make([]argument, 0, len(values))}
	var all strings.Builder
	all.Grow(len(c.Params) + len(c.Sent) + 16)
	keys := make([]byte, 0, 64)
	for i := range values {
		v := &values[i]
		name := v.Name
		for up := v.Up; name == "" && up > 0; up = values[up].Up {
			name = values[up].Name
		}
		if v.Name != "" {
			keys = append(append(keys, v.Name...), 0)
			if v.Up == 0 {
				s.names = append(s.names, v.Name)
			}
		}
		if v.Kind == jsontext.KindBeginObject || v.Kind == jsontext.KindBeginArray || v.Kind == jsontext.KindNull {
			continue
		}
		a := argument{values.Path(i), plainKey(name), v.Text, v.Kind == jsontext.KindString}
		s.args = append(s.args, a)
		all.WriteString(v.Text)
		all.WriteByte(0)
	}
	all.Write(keys)
	all.WriteString(c.Sent)
	s.all = all.String()
	return s
}

// plainKey is a member's name in small letters and without the characters that set words apart.
func plainKey(name string) string {
	for i := range len(name) {
		if c := name[i]; c < 'a' || c > 'z' {
			return strings.ToLower(separators.Replace(name))
		}
	}
	return name
}

var separators = strings.NewReplacer("_", "", "-", "", " ", "")

// top is the text of the first member at the top with one of these names; "" where there is none.
func (s *said) top(names ...string) string {
	for _, name := range names {
		for i := range s.args {
			if a := &s.args[i]; a.path == name && a.isText {
				return a.value
			}
		}
	}
	return ""
}

// topOf is the member at the top of params that a path is in.
func topOf(path string) string {
	if i := strings.IndexAny(path, ".["); i >= 0 {
		return path[:i]
	}
	return path
}
