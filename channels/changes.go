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
func bodyText(name string, v jsontext.Value, left *cells) (string, bool) {
	if name == changeName || !slices.Contains(bodies, name) { // an argument of that name is the agent's
		return "", false
	}
	if text, isText := unquoted(v); isText {
		return text, strings.TrimSpace(text) != ""
	}
	if name == "edits" {
		return changes(v, left)
	}
	return "", false
}

// replaced are the names of an old text and of the new one.
var replaced = [][2]string{{"oldText", "newText"}, {"old_string", "new_string"}, {"oldString", "newString"}, {"old_text", "new_text"}}

// changes are the edits of a file, each as its [difference]. What else an edit says is on a line of its own, which begins with no sign.
func changes(v jsontext.Value, left *cells) (string, bool) {
	var list []jsontext.Value
	if json.Unmarshal(v, &list) != nil || len(list) == 0 {
		return "", false
	}
	var b strings.Builder
	for i, edit := range list {
		if len(list) > 1 {
			fmt.Fprintf(&b, "\nedit %d of %d", i+1, len(list))
		}
		if !change(&b, edit, left) {
			return "", false
		}
	}
	return strings.TrimPrefix(b.String(), "\n"), true
}

func change(b *strings.Builder, edit jsontext.Value, left *cells) bool {
	var said map[string]jsontext.Value
	if edit.Kind() != jsontext.KindBeginObject || json.Unmarshal(edit, &said) != nil {
		return false
	}
	at := onlyPair(func(name string) bool { return said[name] != nil })
	if at < 0 {
		return false
	}
	before, isText := unquoted(said[replaced[at][0]])
	after, isText2 := unquoted(said[replaced[at][1]])
	if !isText || !isText2 {
		return false
	}
	if text := difference(before, after, left); text != "" {
		b.WriteString("\n" + text)
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

// onlyPair is the pair of names that a call has both of; -1 where it has none, or two: which of them the tool reads is not known then, so
// that neither may be called the change.
func onlyPair(has func(name string) bool) int {
	found := -1
	for i, names := range replaced {
		switch {
		case !has(names[0]) || !has(names[1]):
		case found >= 0:
			return -1
		default:
			found = i
		}
	}
	return found
}

// joined shows an old text and a new one that stand beside each other among the arguments as one change, in the place of the first.
// Texts that are hidden stay as they are.
func joined(members []arg) []arg {
	index := func(name string) int {
		return slices.IndexFunc(members, func(m arg) bool { return m.name == name && m.isText })
	}
	at := onlyPair(func(name string) bool { return index(name) >= 0 })
	if at < 0 {
		return members
	}
	before, after := index(replaced[at][0]), index(replaced[at][1])
	if isHidden(members[before].raw) || isHidden(members[after].raw) {
		return members
	}
	left := mostCompared
	text := difference(members[before].raw, members[after].raw, &left)
	if strings.TrimSpace(text) == "" {
		return members
	}
	out := slices.Clone(members)
	out[before] = arg{name: changeName, text: text, body: true, diff: true}
	return slices.Delete(out, after, after+1)
}

// changeName is the label of a change that we made of two arguments.
const changeName = "change"

func isHidden(text string) bool { return strings.HasPrefix(text, "[REDACTED") }

// cells are the pairs of lines that may still be compared.
type cells int

// mostCompared is how many pairs of lines of one call are compared. Beyond it all of one side goes and all of the other comes: a card
// is drawn at every look, so that an agent must not be able to make that slow.
const mostCompared cells = 400 * 400

// Difference shows two texts as one, as cards do.
func Difference(before, after string) string {
	left := mostCompared
	return difference(before, after, &left)
}

// difference shows two texts as one: lines that go begin with a minus, lines that come with a plus, lines that stay with two spaces.
// No line is left out, so that both texts can be read from it.
func difference(before, after string, left *cells) string {
	a, b := linesIn(before), linesIn(after)
	var out []string
	add := func(sign string, lines ...string) {
		for _, line := range lines {
			out = append(out, sign+line)
		}
	}
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	add("  ", a[:head]...)
	compare(a[head:len(a)-tail], b[head:len(b)-tail], left, add)
	add("  ", a[len(a)-tail:]...)
	return strings.Join(out, "\n")
}

// compare keeps the longest sequence of lines that both have, in their order.
func compare(a, b []string, left *cells, add func(sign string, lines ...string)) {
	need := cells(len(a)) * cells(len(b))
	if need > *left {
		add("- ", a...)
		add("+ ", b...)
		return
	}
	*left -= need
	common := make([][]int, len(a)+1)
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if common[i][j] = max(common[i+1][j], common[i][j+1]); a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			}
		}
	}
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			add("  ", a[i])
			i, j = i+1, j+1
		case common[i+1][j] >= common[i][j+1]:
			add("- ", a[i])
			i++
		default:
			add("+ ", b[j])
			j++
		}
	}
	add("- ", a[i:]...)
	add("+ ", b[j:]...)
}

// linesIn are the lines of a text; an empty one has none.
func linesIn(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
