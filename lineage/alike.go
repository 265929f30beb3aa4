package lineage

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/unicode/norm"
)

// Alike is what calls have in common that go to the same place: each argument
// under its path and as it is, except those that are known to hold only what
// is said, and the names of all arguments. An argument that no label names may be
// a destination, so it counts as one. The zero Alike is like nothing.
type Alike struct {
	where []leaf
	text  string
}

// mostAlike is how long it may be, written down. It is kept, and read by people.
const mostAlike = 1000

// AlikeOf says what a call's params have in common with others that may differ
// only in content, which is text at the top: an object there could hold anything. A call that goes nowhere, or of which there is too much, is
// like no other.
func AlikeOf(params jsontext.Value, destinations, content []string) *Alike {
	if len(destinations) == 0 {
		return &Alike{}
	}
	said := walked(params)
	if said.more {
		return &Alike{}
	}
	a, goes := &Alike{}, false
	for _, l := range said.found {
		goes = goes || isDestination(l.path, destinations) && strings.TrimSpace(l.text) != ""
		if !slices.Contains(content, l.path) || breaksHeader(l) {
			a.where = append(a.where, l)
		}
	}
	for _, l := range said.literals { // public: false is a place too, but none to go to alone
		if !slices.Contains(content, l.path) {
			a.where = append(a.where, l)
		}
	}
	slices.SortStableFunc(a.where, func(x, y leaf) int { return strings.Compare(x.path, y.path) })
	slices.Sort(said.names)
	written := struct {
		To   [][2]string `json:"to"`
		Bare []string    `json:"bare,omitempty"` // paths of what is no text in To
		With []string    `json:"with"`
	}{With: slices.Compact(said.names)}
	for _, l := range a.where {
		written.To = append(written.To, [2]string{l.path, l.text})
		if l.bare {
			written.Bare = append(written.Bare, l.path)
		}
	}
	text, err := json.Marshal(written)
	if err != nil || !goes || len(text) > mostAlike {
		return &Alike{}
	}
	a.text = string(text)
	return a
}

// breaksHeader reports whether a subject has more than one line: a mail program may take the second for another header, such as Bcc.
func breaksHeader(l leaf) bool {
	return strings.EqualFold(l.path, "subject") && strings.ContainsAny(l.text, "\r\n")
}

// String is the same for calls that are alike, and empty for one that is like no
// other.
func (a *Alike) String() string { return a.text }

// In is String for calls that run in one directory; without one it is the same as String.
func (a *Alike) In(directory string) string {
	if a.text == "" || directory == "" {
		return a.text
	}
	in, err := json.Marshal(directory)
	if err != nil || len(a.text)+len(in) > mostAlike {
		return ""
	}
	return strings.TrimSuffix(a.text, "}") + `,"in":` + string(in) + "}"
}

// Where says in words where they go and by which action, an argument each. It is foreign text.
func (a *Alike) Where() (out []string) {
	if a.text == "" {
		return nil
	}
	for _, l := range a.where {
		out = append(out, l.path+": "+l.text)
	}
	return out
}

// callText is what a call is about but for its content, without what makes two spellings of the same differ: case, spaces and what can't
// be seen, and the order of its arguments. It is empty where the params can't be read.
func callText(tool string, params jsontext.Value, content []string) string {
	var members map[string]jsontext.Value
	if json.Unmarshal(params, &members) != nil {
		return ""
	}
	maps.DeleteFunc(members, func(name string, _ jsontext.Value) bool { return slices.Contains(content, name) })
	text, err := json.Marshal(members, json.Deterministic(true))
	if err != nil {
		return ""
	}
	return tool + "\x00" + strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || !unicode.IsGraphic(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, string(norm.NFKC.Bytes(text)))
}

// Spelled is a digest of callText, after one of which params are content: two can be compared only where those are the same. It is empty
// where that is.
func Spelled(tool string, params jsontext.Value, content []string) string {
	text := callText(tool, params, content)
	if text == "" {
		return ""
	}
	names := sha256.Sum256([]byte(strings.Join(slices.Sorted(slices.Values(content)), "\x00")))
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(names[:8]) + ":" + hex.EncodeToString(sum[:])
}

// isDestination reports whether any part of a path is the name of a destination.
func isDestination(path string, names []string) bool {
	for part := range strings.FieldsFuncSeq(path, func(c rune) bool { return c == '.' || c == '[' || c == ']' }) {
		if slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, part) }) {
			return true
		}
	}
	return false
}
