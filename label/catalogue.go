// Package label proposes what tools do (policy.Tool) from their catalogue, and keeps the file in which an owner reviews
// the proposals.
//
// What a tool says of itself counts only against it, and no sentence is read for what it could mean: every tool is
// proposed as source and sink, with every argument a destination. Only a person says that a tool is less than that. A
// model may say that it is more.
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
	// Destructive says that the server claims it.
	Destructive bool
}

// Param is one argument.
type Param struct {
	Name string
	// Schema is all that the catalogue says of it.
	Schema string
}

// Bounds on a catalogue: it may come from a server that is not trusted.
const (
	longestCatalogue = 16 << 20
	mostTools        = 10_000
)

// ErrCatalogue says that a text is no catalogue that this program knows.
var ErrCatalogue = errors.New("no tools were found: an MCP tools/list answer, " +
	"an array of OpenAI or Anthropic tools or OpenClaw's list is wanted")

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
		return Tool{Name: name}
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
	t.Destructive = t.Destructive || other.Destructive
	for _, p := range other.Params {
		i := slices.IndexFunc(t.Params, func(own Param) bool { return own.Name == p.Name })
		switch {
		case i < 0:
			t.Params = append(t.Params, p)
		case t.Params[i].Schema != p.Schema:
			t.Params[i].Schema += " " + p.Schema
		}
	}
	slices.SortFunc(t.Params, func(a, b Param) int { return cmp.Compare(a.Name, b.Name) })
}

// schemas are the members that hold what a tool takes: MCP's, Anthropic's and OpenAI's.
var schemas = []string{"inputSchema", "input_schema", "parameters"}

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
	named := key != "" || members["name"].Kind() == jsontext.KindString
	return takes && named || function && members["type"].Kind() == jsontext.KindString || members["name"].Kind() == jsontext.KindString && members["description"] != nil
}

// toolOf reads a tool. What any of its parts says counts. A part that can't be read says nothing.
func toolOf(key string, members map[string]jsontext.Value) Tool {
	var annotations struct {
		Title       string `json:"title"`
		Destructive bool   `json:"destructiveHint"`
	}
	read(members["annotations"], &annotations)
	t := Tool{Name: cmp.Or(text(members["name"]), key), Destructive: annotations.Destructive}
	said := []string{text(members["description"]), text(members["title"]), text(members["label"]), annotations.Title}
	t.Description = strings.Join(slices.DeleteFunc(said, func(s string) bool { return s == "" }), "\n")
	for _, name := range schemas {
		t.takes(members[name])
	}
	var function map[string]jsontext.Value
	read(members["function"], &function)
	if function != nil {
		inner := toolOf("", function)
		t.Name = cmp.Or(t.Name, inner.Name)
		t.add(&inner)
	}
	return t
}

// takes reads a schema.
func (t *Tool) takes(v jsontext.Value) {
	var of struct {
		Properties map[string]jsontext.Value `json:"properties"`
	}
	read(v, &of)
	var other Tool
	for name, p := range of.Properties {
		if p.Canonicalize() != nil { // a text may be written with escapes
			p = nil
		}
		other.Params = append(other.Params, Param{Name: name, Schema: string(p)})
	}
	t.add(&other)
}

func text(v jsontext.Value) (s string) {
	read(v, &s)
	return s
}

// read reads a part of a catalogue into out, and leaves it as it is where that can't be.
func read(v jsontext.Value, out any) {
	if v != nil {
		_ = json.Unmarshal(v, out)
	}
}
