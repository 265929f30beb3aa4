package lineage

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Alike is what calls have in common that go to the same place: each argument
// that says where, under its path and as it stands, what a tool with several
// actions does, and the names of all arguments, so that none can be added which
// nobody knew to be a destination. The zero Alike is like nothing.
type Alike struct {
	where []leaf
	text  string
}

// mostAlike is how long it may be, written down. It is kept, and read by people.
const mostAlike = 1000

// AlikeOf says what a call's params have in common with others. A call that goes
// nowhere, or of which there is too much, is like no other.
func AlikeOf(params jsontext.Value, destinations []string) *Alike {
	if len(destinations) == 0 {
		return &Alike{}
	}
	said := walked(params)
	if len(said.found)+len(said.literals) > maxArguments {
		return &Alike{}
	}
	a, goes := &Alike{}, false
	for _, l := range said.found {
		to := isDestination(l.path, destinations) && strings.TrimSpace(l.text) != ""
		if goes = goes || to; to || isAction(l.path) {
			a.where = append(a.where, l)
		}
	}
	for _, l := range said.literals { // public: false is a place too, but none to go to alone
		if isDestination(l.path, destinations) || isAction(l.path) {
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

// isAction reports whether a path is that of a tool's action, or inside it. It is
// no destination, but a yes to send is none to broadcast to the same place.
func isAction(path string) bool {
	top, _, _ := strings.Cut(path, ".")
	top, _, _ = strings.Cut(top, "[")
	return strings.EqualFold(top, "action")
}

// String is the same for calls that are alike, and empty for one that is like no
// other.
func (a *Alike) String() string { return a.text }

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
