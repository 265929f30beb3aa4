package lineage

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/internal/protocol"
)

// Alike is what calls have in common that go to the same place: each argument under its path and as it is, except those
// that are known to hold only what is said. An argument that no label names may be a destination, so it counts as one.
// The zero Alike is like nothing.
type Alike struct {
	To   [][2]string `json:"to"`             // the path of an argument, and what it says
	Bare []string    `json:"bare,omitempty"` // the paths of those that are no text: "false" is another value than false

	text string
}

const (
	mostAlike = 1000 // bytes that are kept, and read by people
	longPath  = 256  // bytes: [protocol.Values.Path] cuts longer ones, and two could look the same
)

// AlikeOf says what a call's params have in common with others that may differ only in content, which is text at the
// top: an object there could hold anything. A call that goes nowhere, or of which there is too much, is like no other.
func AlikeOf(params protocol.Values, destinations, content []string) *Alike {
	a, goes := &Alike{}, false
	if len(params) > mostAlike {
		return a
	}
	for i := range params {
		v := &params[i]
		path := params.Path(i)
		switch v.Kind {
		case jsontext.KindBeginObject, jsontext.KindBeginArray:
			continue
		case jsontext.KindString, jsontext.KindNumber: // public: false is a place too, but none to go to alone
			goes = goes || isDestination(path, destinations) && strings.TrimSpace(v.Text) != ""
		}
		if len(path) >= longPath {
			return &Alike{}
		}
		if !slices.Contains(content, path) {
			a.To = append(a.To, [2]string{path, v.Text})
			if v.Kind != jsontext.KindString {
				a.Bare = append(a.Bare, path)
			}
		}
	}
	slices.SortStableFunc(a.To, func(x, y [2]string) int { return cmp.Compare(x[0], y[0]) })
	slices.Sort(a.Bare)
	text, err := json.Marshal(a)
	if err != nil || !goes || len(text) > mostAlike {
		return &Alike{}
	}
	a.text = string(text)
	return a
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

// String is the same for calls that are alike, and empty for one that is like no other.
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

// Where says in words where they go and by which action, an argument each. It is
// foreign text.
func (a *Alike) Where() (out []string) {
	if a.text == "" {
		return nil
	}
	for _, l := range a.To {
		out = append(out, l[0]+": "+l[1])
	}
	return out
}
