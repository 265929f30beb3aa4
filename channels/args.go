package channels

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/internal/approval"
)

// mains are the arguments that say what a call does, in the order in which a
// person wants to read them.
var mains = []string{"command", "cmd", "url", "path", "file_path", "filePath", "to", "message"}

// bodies are the arguments that say what is written, in that order: texts of many lines, and a list of changes.
var bodies = []string{
	changeName, "edits", "old_string", "new_string", "oldText", "newText", "oldString", "newString", "old_text", "new_text",
	"content", "contents", "file_text", "new_source", "input", "patch",
}

// patches are the bodies that are lines which go and come.
var patches = []string{changeName, "edits", "input", "patch"}

// arg is one argument as it is shown.
type arg struct {
	name, text string
	body       bool   // its text is what is written, line by line
	diff       bool   // and its lines say by their first character whether they go or come
	isText     bool   // the value is a string
	raw        string // and which
}

// call is what a person can see of one call.
type call struct {
	tool   string
	mains  []arg // named by us
	others []arg // named by the agent
	left   int   // arguments not shown at all
	seen   Visibility
}

// look reads what there is room to show of a call, and counts what is not.
func look(a *approval.Ask, r *room) call {
	c := call{seen: Visibility{Hidden: a.Hidden}}
	c.tool = c.name(a.Tool, r)
	members, ok := members(a.Shown)
	if !ok {
		c.others = []arg{{name: "all arguments", text: c.safe(string(a.Shown), Form{Limit: r.main})}}
		return c
	}
	members = joined(members)
	for _, m := range inOrder(members) {
		if r.mains == 0 || len(c.mains) < r.mains {
			c.mains = append(c.mains, arg{name: m.name, text: c.safe(m.text, Form{Lines: true, Limit: r.main}), body: m.body, diff: m.diff})
		}
	}
	c.rest(members, r)
	return c
}

// inOrder are the arguments that say what a call does, and then what it writes.
func inOrder(members []arg) (out []arg) {
	for i, name := range slices.Concat(mains, bodies) {
		for _, m := range members {
			if m.name == name && (m.body || i < len(mains)) {
				out = append(out, m)
			}
		}
	}
	return out
}

// rest shows the other arguments, as many as there is room for.
func (c *call) rest(members []arg, r *room) {
	left := r.other
	if r.other == 0 {
		left = math.MaxInt
	}
	for _, m := range members {
		switch {
		case c.isMain(m):
		case left <= 0:
			c.left++
			c.seen.Cut += utf8.RuneCountInString(m.name) + utf8.RuneCountInString(m.text)
		default:
			shown := arg{name: c.name(plainName(m.name), r), text: c.safe(m.text, Form{Limit: r.arg})}
			c.others = append(c.others, shown)
			left -= width(shown.name) + width(shown.text)
		}
	}
}

// isMain reports whether an argument is shown among the first.
func (c *call) isMain(m arg) bool {
	return slices.ContainsFunc(c.mains, func(shown arg) bool { return shown.name == m.name && shown.body == m.body })
}

func (c *call) safe(s string, f Form) string {
	text, r := Safe(s, f)
	c.seen.add(r)
	return text
}

func (c *call) name(s string, r *room) string {
	text, report := name(s, r.name)
	c.seen.add(report)
	return text
}

// members reads an object member by member. It reports false for anything else.
func members(v jsontext.Value) ([]arg, bool) {
	dec := jsontext.NewDecoder(bytes.NewReader(v), jsontext.AllowDuplicateNames(true))
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != jsontext.KindBeginObject {
		return nil, false
	}
	var out []arg
	left := mostCompared
	for dec.PeekKind() != jsontext.KindEndObject {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, false
		}
		key := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return nil, false
		}
		m := arg{name: key, text: valueText(value)}
		if text, written := bodyText(key, value, &left); written {
			m.text, m.body, m.diff = text, true, slices.Contains(patches, key)
		}
		m.raw, m.isText = unquoted(value)
		out = append(out, m)
	}
	return out, true
}

// valueText is a value as people read it: a string without its quotes, unless
// it would then look like something else; all the rest as compact JSON in which
// no letter hides behind an escape.
func valueText(v jsontext.Value) string {
	v = v.Clone()
	if err := v.Format(jsontext.AllowDuplicateNames(true)); err != nil {
		return string(v)
	}
	if v.Kind() != jsontext.KindString {
		return string(v)
	}
	s, err := jsontext.AppendUnquote(nil, v)
	if err != nil || needsQuotes(s) {
		return string(v)
	}
	return string(s)
}

// needsQuotes is for a string that would be taken for another value, or whose
// ends can't be seen.
func needsQuotes(s []byte) bool {
	return len(s) == 0 || len(bytes.TrimSpace(s)) != len(s) || s[0] == '"' || jsontext.Value(s).IsValid()
}

// plainName is an argument's name that can't be taken for name and value.
func plainName(s string) string {
	if !strings.ContainsAny(s, `: "`) {
		return s
	}
	quoted, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		return s
	}
	return string(quoted)
}
