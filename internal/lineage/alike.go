package lineage

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/unicode/norm"

	"github.com/openclaw-verifier/verifier/internal/protocol"
)

// Alike is what calls have in common that go to the same place: each argument under
// its path and as it is, except those that are known to hold only what is said, and
// the names of all arguments. An argument that no label names may be a destination, so
// it counts as one. The zero Alike is like nothing.
type Alike struct {
	where []argument
	text  string
}

// argument is one text or number of a call, or true, false or null.
type argument struct {
	path, text string
	bare       bool // it is no text: "false" is another value than false
}

const (
	mostAlike = 1000 // bytes that are kept, and read by people
	longPath  = 256  // bytes: [protocol.Values.Path] cuts longer ones, and two could look the same
)

// AlikeOf says what a call's params have in common with others that may differ only in
// content, which is text at the top: an object there could hold anything. A call that
// goes nowhere, or of which there is too much, is like no other.
func AlikeOf(params protocol.Values, destinations, content []string) *Alike {
	if len(params) > mostAlike {
		return &Alike{}
	}
	a, goes := &Alike{}, false
	var names []string
	for i := range params {
		v := &params[i]
		if v.NameAt > 0 {
			names = append(names, v.Name)
		}
		if v.Kind == jsontext.KindBeginObject || v.Kind == jsontext.KindBeginArray {
			continue
		}
		l := argument{params.Path(i), v.Text, v.Kind != jsontext.KindString}
		if len(l.path) >= longPath {
			return &Alike{}
		}
		// public: false is a place too, but none to go to alone
		says := v.Kind == jsontext.KindString || v.Kind == jsontext.KindNumber
		goes = goes || says && isDestination(l.path, destinations) && strings.TrimSpace(l.text) != ""
		if !slices.Contains(content, l.path) || breaksHeader(l) {
			a.where = append(a.where, l)
		}
	}
	slices.SortStableFunc(a.where, func(x, y argument) int { return cmp.Compare(x.path, y.path) })
	slices.Sort(names)
	written := struct {
		To   [][2]string `json:"to"`
		Bare []string    `json:"bare,omitempty"` // paths of what is no text in To
		With []string    `json:"with"`
	}{With: slices.Compact(names)}
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

// isDestination reports whether any part of a path is the name of a destination.
func isDestination(path string, names []string) bool {
	for part := range strings.FieldsFuncSeq(path, func(c rune) bool { return c == '.' || c == '[' || c == ']' }) {
		if slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, part) }) {
			return true
		}
	}
	return false
}

// breaksHeader reports whether a subject has more than one line: a mail program may
// take the second for another header, such as Bcc.
func breaksHeader(l argument) bool {
	return strings.EqualFold(l.path, "subject") && strings.ContainsAny(l.text, "\r\n")
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
	for _, l := range a.where {
		out = append(out, l.path+": "+l.text)
	}
	return out
}

// Spelled is a digest of what a call is about but for its content, after one of which
// params are content: two can be compared only where those are the same. Case, spaces,
// what can't be seen and the order of arguments make no difference. It is empty where
// the params can't be read.
func Spelled(tool string, params jsontext.Value, content []string) string {
	var members map[string]jsontext.Value
	if json.Unmarshal(params, &members) != nil {
		return ""
	}
	maps.DeleteFunc(members, func(name string, _ jsontext.Value) bool { return slices.Contains(content, name) })
	text, err := json.Marshal(members, json.Deterministic(true))
	if err != nil {
		return ""
	}
	seen := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || !unicode.IsGraphic(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, string(norm.NFKC.Bytes(text)))
	names := sha256.Sum256([]byte(strings.Join(slices.Sorted(slices.Values(content)), "\x00")))
	sum := sha256.Sum256([]byte(tool + "\x00" + seen))
	return hex.EncodeToString(names[:8]) + ":" + hex.EncodeToString(sum[:])
}
