// Package label proposes what tools do (policy.Tool) from what their catalogue says of them, and keeps the file in which
// an owner reviews the proposals.
//
// What a tool says of itself counts only against it. A word for acting, paying or destroying in its name, its description
// or its annotations makes the label stricter; no word makes it milder. A tool is proposed as safe only if its name begins
// with a word for looking, nothing of it names an act, and its schema takes nothing that could carry a text or an address
// out. What is unsure is strict: source and sink, and every argument a destination.
package label

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
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
	// Loose says that the schema takes arguments that it doesn't name, or that there is none.
	Loose bool
	// ReadOnly, Destructive and OpenWorld are what the server claims; nil: nothing.
	ReadOnly, Destructive, OpenWorld *bool
	// Numbers says that what it returns holds no text: numbers, truth values and words from a list.
	Numbers bool
}

// Param is one argument.
type Param struct {
	Name        string
	Description string
	// Chosen says that its values are numbers, truth values, dates or words from a list: it can't carry a text.
	Chosen bool
}

// Bounds on a catalogue: it may come from a server that nobody trusts.
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
	if err := walk(text, &found, 0); err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, ErrCatalogue
	}
	return Merge(found), nil
}

// Merge sorts tools by name. Where one name is there twice, however it is spelled, what either says counts.
func Merge(found []Tool) []Tool {
	byName := map[string]*Tool{}
	for i := range found {
		t, name := &found[i], toolcall.Canonical(found[i].Name)
		one, twice := byName[name]
		switch {
		case name == "": // it can't be called
		case twice:
			one.add(t)
		default:
			byName[name] = t
		}
	}
	out := make([]Tool, 0, len(byName))
	for _, t := range byName {
		out = append(out, *t)
	}
	slices.SortFunc(out, func(a, b Tool) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// add takes what another definition of the same tool says.
func (t *Tool) add(other *Tool) {
	if other.Description != t.Description {
		t.Description += ". " + other.Description
	}
	t.Loose, t.Numbers = t.Loose || other.Loose, t.Numbers && other.Numbers
	either := func(a, b *bool, worse bool) *bool {
		if b != nil && (a == nil || *b == worse) {
			return b
		}
		return a
	}
	t.ReadOnly, t.Destructive, t.OpenWorld = either(t.ReadOnly, other.ReadOnly, false), either(t.Destructive, other.Destructive, true), either(t.OpenWorld, other.OpenWorld, true)
	for _, p := range other.Params {
		i := slices.IndexFunc(t.Params, func(own Param) bool { return own.Name == p.Name })
		if i < 0 {
			t.Params = append(t.Params, p)
			continue
		}
		t.Params[i].Chosen = t.Params[i].Chosen && p.Chosen
	}
	slices.SortFunc(t.Params, func(a, b Param) int { return cmp.Compare(a.Name, b.Name) })
}

// entry is a tool in any of the forms.
type entry struct {
	Name         string         `json:"name"`
	Description  string         `json:"description"`
	Title        string         `json:"title"`
	Label        string         `json:"label"`
	Function     jsontext.Value `json:"function"`
	InputSchema  jsontext.Value `json:"inputSchema"`
	InputSchema2 jsontext.Value `json:"input_schema"`
	Parameters   jsontext.Value `json:"parameters"`
	Params       jsontext.Value `json:"params"`
	OutputSchema jsontext.Value `json:"outputSchema"`
	Annotations  struct {
		Title           string `json:"title"`
		ReadOnlyHint    *bool  `json:"readOnlyHint"`
		DestructiveHint *bool  `json:"destructiveHint"`
		OpenWorldHint   *bool  `json:"openWorldHint"`
	} `json:"annotations"`
}

// deepest is how far below the top tools are looked for.
const deepest = 4

// walk finds tools in lists, and in objects whose keys are their names.
func walk(v jsontext.Value, found *[]Tool, depth int) error {
	if depth > deepest {
		return nil
	}
	switch v.Kind() {
	case jsontext.KindBeginArray:
		var list []jsontext.Value
		if err := json.Unmarshal(v, &list); err != nil {
			return err
		}
		for _, one := range list {
			if err := take("", one, found, depth); err != nil {
				return err
			}
		}
	case jsontext.KindBeginObject:
		var members map[string]jsontext.Value
		if err := json.Unmarshal(v, &members); err != nil {
			return err
		}
		for name, one := range members {
			if err := take(name, one, found, depth); err != nil {
				return err
			}
		}
	}
	return nil
}

// take adds a tool, or looks below what is none.
func take(key string, v jsontext.Value, found *[]Tool, depth int) error {
	if v.Kind() == jsontext.KindString && depth == 1 && key == "" { // a list of names alone
		return nil
	}
	var e entry
	if v.Kind() != jsontext.KindBeginObject || json.Unmarshal(v, &e) != nil {
		return walk(v, found, depth+1)
	}
	if e.Function.Kind() == jsontext.KindBeginObject { // OpenAI's form
		var inner entry
		if err := json.Unmarshal(e.Function, &inner); err != nil {
			return err
		}
		e = inner
	}
	takes := slices.ContainsFunc([]jsontext.Value{e.InputSchema, e.InputSchema2, e.Parameters, e.Params}, func(s jsontext.Value) bool { return s != nil })
	if !takes && (e.Name == "" || e.Description == "") && key != "" || !takes && e.Name == "" {
		return walk(v, found, depth+1)
	}
	if len(*found) == mostTools {
		return fmt.Errorf("more than %d tools", mostTools)
	}
	*found = append(*found, e.tool(key))
	return nil
}

func (e *entry) tool(key string) Tool {
	t := Tool{
		Name: cmp.Or(e.Name, key), Description: strings.Join([]string{e.Title, e.Label, e.Annotations.Title, e.Description}, ". "),
		ReadOnly: e.Annotations.ReadOnlyHint, Destructive: e.Annotations.DestructiveHint, OpenWorld: e.Annotations.OpenWorldHint,
		Numbers: e.OutputSchema != nil && !holdsText(e.OutputSchema, 0),
	}
	for _, s := range []jsontext.Value{e.InputSchema, e.InputSchema2, e.Parameters} {
		if s != nil {
			t.Params, t.Loose = params(s)
			return t
		}
	}
	t.Loose = e.Params == nil
	var words map[string]jsontext.Value // AgentDojo's form: a text for each
	if e.Params != nil && json.Unmarshal(e.Params, &words) != nil {
		t.Loose = true
	}
	for name, text := range words {
		var description string
		_ = json.Unmarshal(text, &description) // what is no text says nothing
		t.Params = append(t.Params, Param{Name: name, Description: description})
	}
	slices.SortFunc(t.Params, func(a, b Param) int { return cmp.Compare(a.Name, b.Name) })
	return t
}

// schema is the part of a JSON schema that is understood. What has any other keyword that may widen it is loose.
type schema struct {
	Type                 jsontext.Value            `json:"type"`
	Description          string                    `json:"description"`
	Format               string                    `json:"format"`
	Enum                 []jsontext.Value          `json:"enum"`
	Const                jsontext.Value            `json:"const"`
	Items                jsontext.Value            `json:"items"`
	Properties           map[string]jsontext.Value `json:"properties"`
	AdditionalProperties jsontext.Value            `json:"additionalProperties"`
	PatternProperties    jsontext.Value            `json:"patternProperties"`
	AnyOf                []jsontext.Value          `json:"anyOf"`
	OneOf                []jsontext.Value          `json:"oneOf"`
	AllOf                []jsontext.Value          `json:"allOf"`
	Ref                  string                    `json:"$ref"`
}

// params are the arguments that a schema names, and whether it takes others. Most schemas say nothing of others;
// agents then send only those that are named, so that only a schema that invites others is loose.
func params(v jsontext.Value) (out []Param, loose bool) {
	var s schema
	if json.Unmarshal(v, &s) != nil {
		return nil, true
	}
	widened := s.PatternProperties != nil || s.Ref != "" || len(s.AnyOf)+len(s.OneOf)+len(s.AllOf) > 0
	open := s.AdditionalProperties != nil && s.AdditionalProperties.Kind() != jsontext.KindFalse
	for name, p := range s.Properties {
		var of schema
		_ = json.Unmarshal(p, &of) // what can't be read has no description, and carries anything
		out = append(out, Param{Name: name, Description: of.Description, Chosen: !holdsText(p, 0)})
	}
	slices.SortFunc(out, func(a, b Param) int { return cmp.Compare(a.Name, b.Name) })
	return out, widened || open
}

// chosenFormats are those of texts in which little else fits.
var chosenFormats = []string{"date", "time", "date-time", "duration", "uuid"}

// holdsText reports whether what a schema describes may hold a text that anyone chooses.
func holdsText(v jsontext.Value, depth int) bool {
	var s schema
	if depth > 8 || json.Unmarshal(v, &s) != nil || s.Ref != "" || s.PatternProperties != nil || len(s.OneOf)+len(s.AllOf) > 0 {
		return true
	}
	if len(s.Enum) > 0 || s.Const != nil {
		return false
	}
	below := func(v jsontext.Value) bool { return holdsText(v, depth+1) }
	if len(s.AnyOf) > 0 {
		return slices.ContainsFunc(s.AnyOf, below)
	}
	types, ok := typesOf(s.Type)
	return !ok || slices.ContainsFunc(types, func(t string) bool { return s.textIn(t, below) })
}

// textIn reports whether a value of one type may hold a text. below looks at what is in it.
func (s *schema) textIn(kind string, below func(jsontext.Value) bool) bool {
	switch kind {
	case "number", "integer", "boolean", "null":
		return false
	case "string":
		return !slices.Contains(chosenFormats, s.Format)
	case "array":
		return s.Items == nil || below(s.Items)
	case "object":
		if s.AdditionalProperties.Kind() != jsontext.KindFalse {
			return true
		}
		for _, p := range s.Properties {
			if below(p) {
				return true
			}
		}
		return false
	}
	return true
}

// typesOf reads a type, which is a word or a list of words.
func typesOf(v jsontext.Value) ([]string, bool) {
	var one string
	if json.Unmarshal(v, &one) == nil {
		return []string{one}, true
	}
	var several []string
	err := json.Unmarshal(v, &several)
	return several, err == nil && len(several) > 0
}
