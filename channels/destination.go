package channels

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/approval"
)

// target is where a call goes, or else what it says.
type target struct {
	text  string
	real  []string // what is in the call: none of it is a wrong choice
	whole bool     // it is what the call says: the policy names no argument that says where it goes
}

// places are what looks like one. That is enough to keep it from the wrong choices of a call, and to take wrong choices from what the
// owner wrote; it is never the right one, since the agent can put any place before the one that the call goes to.
var places = regexp.MustCompile(`[\w.+-]+@[\w-]+(?:\.[\w-]+)+|https?://[^\s"'|;&<>]+|(?:~|\.{0,2})/[\w./-]{2,}|\+\d[\d ()-]{6,}\d|\b[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}\b`)

// destination is where a call goes by those of its arguments that the policy
// calls a destination. Where there are none, it is all that the call says.
func destination(a *approval.Ask) target {
	texts := Arguments(a)
	t := target{real: slices.Clone(texts)}
	for _, text := range texts {
		t.real = append(t.real, places.FindAllString(text, -1)...)
	}
	var goes []string
	for _, place := range destinations(a) {
		place, _ = Safe(place, Form{Limit: maxChoice})
		if !slices.Contains(goes, place) {
			goes = append(goes, place)
		}
	}
	t.real = append(t.real, goes...)
	switch {
	case len(goes) == 1:
		t.text = goes[0]
	case len(goes) > 1: // one of them would hide the others
		t.text, _ = Safe(strings.Join(goes, ", "), Form{Limit: maxChoice})
	case len(texts) > 0:
		t.text, _ = Safe(strings.Join(texts, " · "), Form{Limit: maxChoice})
		t.whole = true
	default:
		t.text, _ = Safe(a.Tool, Form{Limit: maxChoice})
		t.whole = true
	}
	return t
}

// destinations are the values of the arguments that say where a call goes, as they
// may be shown. What can't be read to its end has none: the rest could go elsewhere.
func destinations(a *approval.Ask) []string {
	if len(a.TargetParams) == 0 {
		return nil
	}
	w := goesWalk{d: jsontext.NewDecoder(bytes.NewReader(a.Shown)), names: a.TargetParams}
	if !w.value(false) {
		return nil
	}
	return w.found
}

type goesWalk struct {
	d     *jsontext.Decoder
	names []string
	found []string
}

// value reads one value; there says that it is below a destination's name.
func (w *goesWalk) value(there bool) bool {
	token, err := w.d.ReadToken()
	if err != nil {
		return false
	}
	switch kind := token.Kind(); kind {
	case '{', '[':
		return w.inside(kind == '{', there)
	case '"', '0':
		if text := token.String(); there && strings.TrimSpace(text) != "" {
			w.found = append(w.found, text)
		}
	}
	return true
}

// inside reads what an object or an array holds, and its end.
func (w *goesWalk) inside(object, there bool) bool {
	for k := w.d.PeekKind(); k != '}' && k != ']'; k = w.d.PeekKind() {
		named := there
		if object {
			name, err := w.d.ReadToken()
			if err != nil {
				return false
			}
			named = there || w.isName(name.String())
		}
		if !w.value(named) {
			return false
		}
	}
	_, err := w.d.ReadToken()
	return err == nil
}

// isName reports whether a param is a destination: by any part of its name, as
// the policy reads it.
func (w *goesWalk) isName(param string) bool {
	for part := range strings.FieldsFuncSeq(param, func(c rune) bool { return c == '.' || c == '[' || c == ']' }) {
		if slices.ContainsFunc(w.names, func(n string) bool { return strings.EqualFold(n, part) }) {
			return true
		}
	}
	return false
}
