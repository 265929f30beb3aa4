package mcp

import (
	"bytes"
	"cmp"
	"errors"
	"path/filepath"
	"slices"

	"github.com/go-json-experiment/json"
)

// Configured is a server in a client's config.
type Configured struct {
	Name    string
	Project string   // for which the client starts it; "": for all
	Was     []string // its command before
	Command []string // as it is now; nil: we can't read it
	Open    string   // why the gate is not before it, if it is not
	Changed bool
}

// Why the gate is not before a server.
const (
	byAddress   = "is reached by an address"
	unreadable  = "has no command that we can read"
	anotherGate = "runs another gate"
)

// ErrNoServers says that a file is none that holds servers.
var ErrNoServers = errors.New("this is no client's config with servers of tools")

// Rewrite puts the gate before the command of each server in a client's config, or takes it out again. Everything else in
// the file stays as it is, byte by byte, comments too. The gate is called with [gateWords] words.
func Rewrite(file []byte, gate func(server string) []string, remove bool) (out []byte, found []Configured, err error) {
	entries, err := entriesIn(file)
	if err != nil || len(entries) == 0 {
		return nil, nil, ErrNoServers
	}
	var edits []edit
	for i := range entries {
		s, e := entries[i].rewrite(file, gate, remove)
		found, edits = append(found, s), append(edits, e...)
	}
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
	end := 0
	for _, e := range edits {
		out = append(append(out, file[end:e.from]...), e.text...)
		end = e.to
	}
	if out = append(out, file[end:]...); !holds(out, found) {
		return nil, nil, ErrNoServers
	}
	return out, found, nil
}

func entriesIn(file []byte) (all []entry, err error) {
	if all, err = jsonEntries(file); err != nil {
		all, err = tomlEntries(file)
	}
	slices.SortFunc(all, func(a, b entry) int { return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.begins, b.begins)) })
	return all, err
}

// holds reports whether a file, read once more, has these servers.
func holds(file []byte, found []Configured) bool {
	entries, err := entriesIn(file)
	if err != nil || len(entries) != len(found) {
		return false
	}
	for i := range entries {
		if entries[i].name != found[i].Name || !slices.Equal(entries[i].words(), found[i].Command) {
			return false
		}
	}
	return true
}

// entry is where a server's command is in a file.
type entry struct {
	name    string
	project string
	open    string // why the gate can't go before it
	begins  int    // where it is, beside others of its name
	program *word  // nil: the command is a list, or there is none
	list    []word // of arguments, or the whole command
	at      span   // of the list, as far as it is known: an empty one begins there. Zero: there is none
	join    string // what goes between a command and a list that is not there
}

// word is a text in a file.
type word struct {
	span
	text string
}

// span is a part of a file.
type span struct{ from, to int }

type edit struct {
	span
	text []byte
}

// words are the command; nil: there is none.
func (e *entry) words() (out []string) {
	if e.program != nil {
		out = append(out, e.program.text)
	}
	for _, w := range e.list {
		out = append(out, w.text)
	}
	return out
}

// rewrite is what has to change for one server.
func (e *entry) rewrite(file []byte, gate func(string) []string, remove bool) (s Configured, edits []edit) {
	words, own := e.words(), gate(e.name)
	s = Configured{Name: e.name, Project: e.project, Was: words, Command: words, Open: e.open}
	switch {
	case remove && written(words, own[0]):
		s.Changed, s.Command = true, words[gateWords:]
		return s, e.without(file, gateWords)
	case s.Open != "" || len(words) > len(own) && slices.Equal(words[:len(own)], own):
		return s, nil
	case isGate(words, own[0]):
		s.Open = anotherGate
		return s, nil
	case remove:
		return s, nil
	}
	s.Changed, s.Command = true, slices.Concat(own, words)
	return s, e.with(file, own)
}

// with puts words before the command.
func (e *entry) with(file []byte, words []string) []edit {
	if e.program == nil {
		return []edit{{span{e.list[0].from, e.list[0].from}, append(commas(words), ", "...)}}
	}
	more := slices.Concat(commas(words[1:]), []byte(", "), file[e.program.from:e.program.to])
	edits := []edit{{e.program.span, commas(words[:1])}}
	switch {
	case len(e.list) > 0:
		return append(edits, edit{span{e.list[0].from, e.list[0].from}, append(more, ", "...)})
	case e.at != span{}:
		return append(edits, edit{span{e.at.from + 1, e.at.from + 1}, more})
	}
	return append(edits, edit{span{e.program.to, e.program.to}, slices.Concat([]byte(e.join), []byte("["), more, []byte("]"))})
}

// without takes the first words of the command away.
func (e *entry) without(file []byte, n int) []edit {
	if e.program == nil {
		return []edit{{span{e.list[0].from, e.list[n].from}, nil}}
	}
	left, end := e.list[n:], e.list[len(e.list)-1].to
	if after, ok := bytes.CutPrefix(bytes.TrimLeft(file[end:], " \t\r\n"), []byte(",")); ok { // a formatter has put it there
		end = len(file) - len(after)
	}
	edits := []edit{{e.program.span, file[e.list[n-1].from:e.list[n-1].to]}}
	first := e.list[0].from
	switch {
	case len(left) > 0:
		return append(edits, edit{span{first, left[0].from}, nil})
	case first > e.program.to && string(file[e.program.to:first]) == e.join+"[" && bytes.HasPrefix(file[end:], []byte("]")): // we have put the list there
		return append(edits, edit{span{e.program.to, end + 1}, nil})
	}
	return append(edits, edit{span{first, end}, nil})
}

// gateWords is how many words [Rewrite] puts before a command: a program, "mcp", "--state" or "--config" and its value,
// "--name" and its value, "--".
const gateWords = 7

// written reports whether Rewrite could have put the first words of a command there, for this gateway or another.
func written(words []string, own string) bool {
	return len(words) > gateWords && isGate(words, own) && (words[2] == "--state" || words[2] == "--config") && words[4] == "--name" && words[6] == "--"
}

// isGate reports whether a command is a gate by its name. Another program may have that name, and it may ask another gateway.
func isGate(words []string, own string) bool {
	return len(words) > 1 && words[1] == "mcp" && filepath.Base(words[0]) == filepath.Base(own)
}

// commas are words with commas between them. The escapes of JSON are those of TOML as well.
func commas(words []string) []byte {
	var out [][]byte
	for _, w := range words {
		out = append(out, bytes.ReplaceAll(quoted(w), []byte{0x7f}, []byte(`\u007f`)))
	}
	return bytes.Join(out, []byte(", "))
}

func quoted(s string) []byte {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // texts can be written
	}
	return text
}
