// Package label proposes what tools do (policy.Tool) from what their catalogue says of them, and keeps the file in which
// an owner reviews the proposals.
//
// What a tool says of itself counts only against it. A tool is proposed as safe only if all that it says is about looking:
// its name begins with a word for looking, its description too, no word for acting is anywhere in it or in its arguments,
// and its schema takes nothing that could carry a text or an address out. What is unsure is strict: source and sink, and
// every argument a destination. No tool is proposed as one whose answers hold nothing of others.
package label

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/toolcall"
)

// Tool is what a catalogue says of one tool.
type Tool struct {
	Name        string
	Description string
	Params      []Param // in the order of their names
	// Loose says that the schema takes arguments that it doesn't name, that there is none, or that part of the tool can't be read.
	Loose bool
	// ReadOnly and Destructive are what the server claims; nil: nothing.
	ReadOnly, Destructive *bool
}

// Param is one argument.
type Param struct {
	Name string
	// Text is all that the schema says of it: descriptions, titles, values of a list.
	Text string
	// Chosen says that its values are truth values or words from a list, Number that they are numbers: neither carries a text.
	Chosen, Number bool
	// Switch says that it is a truth value.
	Switch bool `json:",omitzero"`
	// Nested says that it is more than one text, number or list of them, as far as its schema tells.
	Nested bool
}

// Bounds on a catalogue: it may come from a server that is not trusted.
const (
	longestCatalogue = 16 << 20
	mostTools        = 10_000
)

// ErrCatalogue says that a text is no catalogue that this program knows.
var ErrCatalogue = errors.New("no tools were found: an MCP tools/list answer, an array of OpenAI or Anthropic tools, OpenClaw's list or AgentDojo's tools.json is wanted")

// Read reads a catalogue in any of the forms that [ErrCatalogue] names. Tools are sorted by name.
func Read(r io.Reader) ([]Tool, error) {
	text, err := io.ReadAll(io.LimitReader(r, longestCatalogue+1))
	if err != nil {
		return nil, err
	}
	if len(text) > longestCatalogue {
		return nil, fmt.Errorf("larger than %d MB", longestCatalogue>>20)
	}
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if !jsontext.Value(text).IsValid() {
		return nil, errors.New("is not JSON in which every name is there once")
	}
	var found []Tool
	if err := walk("", text, &found, 0); err != nil {
		return nil, err
	}
	if found = Merge(found); len(found) == 0 {
		return nil, ErrCatalogue
	}
	return found, nil
}

// ReadOne reads what a server says of one tool. What can't be read is a tool of which nothing is known.
func ReadOne(name string, text []byte) Tool {
	var members map[string]jsontext.Value
	if json.Unmarshal(text, &members) != nil {
		return Tool{Name: name, Loose: true}
	}
	t := toolOf(name, members)
	t.Name = name
	return t
}

// Merge sorts tools by name. Where one name is there twice, however it is spelled, what either says counts.
func Merge(found []Tool) []Tool {
	slices.SortStableFunc(found, func(a, b Tool) int { return cmp.Compare(a.Name, b.Name) })
	var out []Tool
	at := map[string]int{}
	for i := range found {
		name := toolcall.Canonical(found[i].Name)
		if name == "" { // it can't be called
			continue
		}
		first, twice := at[name]
		if twice {
			out[first].add(&found[i])
			continue
		}
		at[name] = len(out)
		out = append(out, found[i])
	}
	return out
}

// add takes what another definition of the same tool says.
func (t *Tool) add(other *Tool) {
	if other.Description != t.Description {
		t.Description = strings.TrimSpace(t.Description + "\n" + other.Description)
	}
	t.Loose = t.Loose || other.Loose
	either := func(a, b *bool, worse bool) *bool {
		if b != nil && (a == nil || *b == worse) {
			return b
		}
		return a
	}
	t.ReadOnly, t.Destructive = either(t.ReadOnly, other.ReadOnly, false), either(t.Destructive, other.Destructive, true)
	for _, p := range other.Params {
		i := slices.IndexFunc(t.Params, func(own Param) bool { return own.Name == p.Name })
		if i < 0 {
			t.Params = append(t.Params, p)
			continue
		}
		own := &t.Params[i]
		own.Chosen, own.Number, own.Nested, own.Switch = own.Chosen && p.Chosen, own.Number && p.Number, own.Nested || p.Nested, own.Switch || p.Switch
		if own.Text != p.Text {
			own.Text += " " + p.Text
		}
	}
	slices.SortFunc(t.Params, func(a, b Param) int { return cmp.Compare(a.Name, b.Name) })
}

// schemas are the members that hold what a tool takes: MCP's, Anthropic's, OpenAI's, Gemini's and AgentDojo's.
var schemas = []string{"inputSchema", "input_schema", "parameters", "parametersJsonSchema", "params"}

// groups are the members of what has a name and holds tools: Codex' namespaces, Gemini's declarations.
var groups = []string{"tools", "functionDeclarations"}

// deepest is how far below the top tools are looked for.
const deepest = 4

// walk finds tools in lists, and in objects whose keys are their names. It never looks below a tool.
func walk(key string, v jsontext.Value, found *[]Tool, depth int) error {
	switch {
	case depth > deepest:
		return nil
	case v.Kind() == jsontext.KindBeginArray:
		var list []jsontext.Value
		if err := json.Unmarshal(v, &list); err != nil {
			return err
		}
		for _, one := range list {
			if err := walk("", one, found, depth+1); err != nil {
				return err
			}
		}
		return nil
	case v.Kind() != jsontext.KindBeginObject:
		return nil
	}
	var members map[string]jsontext.Value
	if err := json.Unmarshal(v, &members); err != nil {
		return err
	}
	if isTool(key, members) {
		if len(*found) == mostTools {
			return fmt.Errorf("more than %d tools", mostTools)
		}
		*found = append(*found, toolOf(key, members))
		return nil
	}
	for name, one := range members {
		if err := walk(name, one, found, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// isTool reports whether an object is one: it says what it takes, or it has a name and a description.
func isTool(key string, members map[string]jsontext.Value) bool {
	takes := slices.ContainsFunc(schemas, func(s string) bool { return members[s] != nil })
	function := members["function"].Kind() == jsontext.KindBeginObject
	if slices.ContainsFunc(groups, func(g string) bool { return members[g].Kind() == jsontext.KindBeginArray }) && !takes {
		return false
	}
	named := key != "" || members["name"].Kind() == jsontext.KindString
	return takes && named || function && members["type"].Kind() == jsontext.KindString || members["name"].Kind() == jsontext.KindString && members["description"] != nil
}

// toolOf reads a tool. What any of its parts says counts, and a part that can't be read makes it loose.
func toolOf(key string, members map[string]jsontext.Value) Tool {
	t := Tool{Name: key}
	text := func(name string) (s string) {
		if v := members[name]; v != nil && json.Unmarshal(v, &s) != nil {
			t.Loose = true
		}
		return s
	}
	t.Name = cmp.Or(text("name"), key)
	t.Description = strings.TrimSpace(strings.Join([]string{text("description"), text("title"), text("label")}, "\n"))
	t.annotations(members["annotations"])
	taken := 0
	for _, name := range schemas {
		if v := members[name]; v != nil {
			taken++
			t.takes(v, name == "params")
		}
	}
	if v := members["function"]; v != nil {
		taken++
		var inner map[string]jsontext.Value
		if json.Unmarshal(v, &inner) != nil {
			t.Loose = true
		} else {
			other := toolOf("", inner)
			t.Name = cmp.Or(t.Name, other.Name)
			t.add(&other)
		}
	}
	t.Loose = t.Loose || taken == 0
	return t
}

func (t *Tool) annotations(v jsontext.Value) {
	if v == nil {
		return
	}
	var a struct {
		Title           string `json:"title"`
		ReadOnlyHint    *bool  `json:"readOnlyHint"`
		DestructiveHint *bool  `json:"destructiveHint"`
	}
	if json.Unmarshal(v, &a) != nil {
		t.Loose = true
		return
	}
	t.ReadOnly, t.Destructive = a.ReadOnlyHint, a.DestructiveHint
	if a.Title != "" {
		t.Description += "\n" + a.Title
	}
}

// takes reads a schema, or AgentDojo's list of arguments, each with a text.
func (t *Tool) takes(v jsontext.Value, plain bool) {
	var of map[string]jsontext.Value
	if v.Kind() != jsontext.KindBeginObject || json.Unmarshal(v, &of) != nil {
		t.Loose = true
		return
	}
	other := Tool{}
	if plain && of["type"].Kind() != jsontext.KindString {
		for name, text := range of {
			other.Params = append(other.Params, Param{Name: name, Text: textsIn(text)})
		}
		t.add(&other)
		return
	}
	var properties map[string]jsontext.Value
	if p := of["properties"]; p != nil && json.Unmarshal(p, &properties) != nil {
		t.Loose = true
	}
	for name, p := range properties {
		one := Param{Name: name, Text: textsIn(p)}
		one.Chosen, one.Number, one.Switch = chosen(p)
		one.Nested = !one.Chosen && !one.Number && isNested(p)
		other.Params = append(other.Params, one)
	}
	other.Loose = isWidened(of, properties)
	t.add(&other)
}

// harmless are the keywords of a schema that let it take nothing more.
var harmless = strings.Fields("type properties required description title additionalProperties $schema $id $defs definitions examples default strict")

// isWidened reports whether a schema may take arguments that it doesn't name. One that says nothing of others takes those that
// it names: agents send no others.
func isWidened(of, properties map[string]jsontext.Value) bool {
	for keyword := range of {
		if !slices.Contains(harmless, keyword) {
			return true
		}
	}
	if more := of["additionalProperties"]; more != nil && more.Kind() != jsontext.KindFalse {
		return true
	}
	var required []string
	if r := of["required"]; r != nil && json.Unmarshal(r, &required) != nil {
		return true
	}
	return slices.ContainsFunc(required, func(name string) bool { return properties[name] == nil })
}

// chosen reports whether an argument takes only truth values and words from a list, or only numbers; it may be left out with null.
func chosen(v jsontext.Value) (words, numbers, isSwitch bool) {
	var s struct {
		Type  jsontext.Value   `json:"type"`
		Enum  []jsontext.Value `json:"enum"`
		Const jsontext.Value   `json:"const"`
		AnyOf []jsontext.Value `json:"anyOf"`
	}
	if json.Unmarshal(v, &s) != nil {
		return false, false, false
	}
	if len(s.AnyOf) == 2 && string(s.AnyOf[1]) == `{"type":"null"}` {
		return chosen(s.AnyOf[0])
	}
	kind := strings.Replace(string(s.Type), `,"null"`, "", 1)
	kind = strings.Trim(kind, `["]`)
	return len(s.Enum) > 0 || s.Const != nil || kind == "boolean", kind == "number" || kind == "integer", kind == "boolean"
}

// isNested reports whether an argument is not plainly a text or a list of texts and numbers; null may be among its types.
func isNested(v jsontext.Value) bool {
	var s struct {
		Type  jsontext.Value   `json:"type"`
		Items jsontext.Value   `json:"items"`
		AnyOf []jsontext.Value `json:"anyOf"`
	}
	if json.Unmarshal(v, &s) != nil {
		return true
	}
	if len(s.AnyOf) > 0 {
		return slices.ContainsFunc(s.AnyOf, isNested)
	}
	var kinds []string
	if json.Unmarshal(s.Type, &kinds) != nil {
		var one string
		if json.Unmarshal(s.Type, &one) != nil {
			return true
		}
		kinds = []string{one}
	}
	return slices.ContainsFunc(kinds, func(k string) bool {
		return k == "array" && (s.Items == nil || isNested(s.Items)) || !slices.Contains([]string{"string", "number", "integer", "boolean", "null", "array"}, k)
	})
}

// textsIn are all texts in a part of a schema that say what it is for, names of nested arguments too: what acts may be said in any of them.
func textsIn(v jsontext.Value) string {
	var part any
	if json.Unmarshal(v, &part) != nil {
		return ""
	}
	var b strings.Builder
	gather(&b, part)
	return b.String()
}

func gather(b *strings.Builder, part any) {
	switch part := part.(type) {
	case string:
		b.WriteString(part + "\n")
	case []any:
		for _, one := range part {
			gather(b, one)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(part)) {
			switch key {
			case "type", "format", "$ref", "$schema", "$id", "pattern":
				continue
			case "properties":
				if nested, ok := part[key].(map[string]any); ok {
					b.WriteString(strings.Join(slices.Sorted(maps.Keys(nested)), "\n") + "\n")
				}
			}
			gather(b, part[key])
		}
	}
}
