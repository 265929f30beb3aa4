package channels

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// bodyText is what an argument writes, as a person reads it: a text as it is, a list of changes as lines that go and lines that
// come. It reports false for any other value, and for a text that can't be seen: those are shown as all arguments are.
func bodyText(name string, v jsontext.Value) (string, bool) {
	if !slices.Contains(bodies, name) {
		return "", false
	}
	if text, isText := unquoted(v); isText {
		return text, strings.TrimSpace(text) != ""
	}
	if name == "edits" {
		return changes(v)
	}
	return "", false
}

// replaced are the names of an old text and of the new one.
var replaced = [][2]string{{"oldText", "newText"}, {"old_string", "new_string"}, {"oldString", "newString"}, {"old_text", "new_text"}}

// changes are the edits of a file. Each line of the old text begins with a minus, each line of the new one with a plus. What else
// an edit says is on a line of its own, which begins with neither.
func changes(v jsontext.Value) (string, bool) {
	var list []jsontext.Value
	if json.Unmarshal(v, &list) != nil || len(list) == 0 {
		return "", false
	}
	var b strings.Builder
	for i, edit := range list {
		if len(list) > 1 {
			fmt.Fprintf(&b, "\nedit %d of %d", i+1, len(list))
		}
		if !change(&b, edit) {
			return "", false
		}
	}
	return strings.TrimPrefix(b.String(), "\n"), true
}

func change(b *strings.Builder, edit jsontext.Value) bool {
	var said map[string]jsontext.Value
	if edit.Kind() != jsontext.KindBeginObject || json.Unmarshal(edit, &said) != nil {
		return false
	}
	at := slices.IndexFunc(replaced, func(names [2]string) bool { return said[names[0]] != nil && said[names[1]] != nil })
	if at < 0 {
		return false
	}
	for i, sign := range []string{"- ", "+ "} {
		text, isText := unquoted(said[replaced[at][i]])
		if !isText {
			return false
		}
		if text != "" {
			b.WriteString("\n" + sign + strings.ReplaceAll(text, "\n", "\n"+sign))
		}
	}
	delete(said, replaced[at][0])
	delete(said, replaced[at][1])
	if len(said) == 0 {
		return true
	}
	rest, err := json.Marshal(said, json.Deterministic(true)) // on one line
	b.WriteString("\nalso " + string(rest))
	return err == nil
}

// unquoted is a string's text.
func unquoted(v jsontext.Value) (string, bool) {
	if v.Kind() != jsontext.KindString {
		return "", false
	}
	text, err := jsontext.AppendUnquote(nil, v)
	return string(text), err == nil
}
