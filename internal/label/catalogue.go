// Package label is how an owner says what the tools of a catalogue do: it reads the catalogue, turns the owner's key
// into a label (policy.Tool), and keeps the file of labels.
//
// No sentence is read for what it could mean. A tool without a label both reads and acts, and each of its arguments is
// a destination. Only the owner says that a tool is less than that; a model may say that it is more.
package label

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/internal/protocol"
)

// Tool is what a catalogue says of one tool.
type Tool struct {
	Name        string
	Description string
	Arguments   []string // sorted
	Claims      []string // what the server claims in annotations, for the owner to read

	sum string // of the whole definition: it tells that a tool has changed
}

// Bounds on a catalogue: it may come from a server that is not trusted.
const (
	longestCatalogue = 16 << 20
	mostTools        = 10_000
)

// ErrCatalogue says that a text is no catalogue that this program knows.
var ErrCatalogue = errors.New("no tools were found: an MCP tools/list answer or OpenClaw's list is wanted")

// Read reads a catalogue in any of the forms that [ErrCatalogue] names. Tools are sorted by name.
func Read(r io.Reader) ([]Tool, error) {
	text, err := io.ReadAll(io.LimitReader(r, longestCatalogue+1))
	if err != nil {
		return nil, err
	}
	if len(text) > longestCatalogue {
		return nil, fmt.Errorf("larger than %d MB", longestCatalogue>>20)
	}
	value := jsontext.Value(bytes.TrimPrefix(text, []byte("\ufeff")))
	if !value.IsValid() {
		return nil, errors.New("is not JSON in which every name is there once")
	}
	var tools []Tool
	for _, d := range definitions(value) {
		t, err := ReadOne(d.name, d.text)
		if err != nil {
			return nil, err
		}
		tools = append(tools, t)
	}
	return Sorted(tools)
}

// named is a definition, with the name that it has besides its own.
type named struct {
	name string
	text jsontext.Value
}

// definitions are those of a catalogue: a list, or an object with their names, by themselves or as "tools" of an
// answer. What is neither has none.
func definitions(v jsontext.Value) (all []named) {
	for range 2 {
		var answer struct {
			Result jsontext.Value `json:"result"`
			Tools  jsontext.Value `json:"tools"`
		}
		if json.Unmarshal(v, &answer) == nil {
			v = jsontext.Value(cmp.Or(string(answer.Result), string(answer.Tools), string(v)))
		}
	}
	var list []jsontext.Value
	var byName map[string]jsontext.Value
	_, _ = json.Unmarshal(v, &list), json.Unmarshal(v, &byName)
	for _, one := range list {
		all = append(all, named{"", one})
	}
	for name, one := range byName {
		if one.Kind() == jsontext.KindBeginObject {
			all = append(all, named{name, one})
		}
	}
	return all
}

// definition is one tool in the forms of MCP and OpenClaw.
type definition struct {
	Name        string         `json:"name"`
	Title       string         `json:"title"`
	Label       string         `json:"label"`
	Description string         `json:"description"`
	MCP         *schema        `json:"inputSchema"`
	OpenClaw    *schema        `json:"parameters"`
	Annotations map[string]any `json:"annotations"`
}

type schema struct {
	Properties map[string]jsontext.Value `json:"properties"`
}

// ReadOne reads what a catalogue says of one tool. It refuses a tool that is written in two forms at once, of which one
// could hide the other.
func ReadOne(name string, text jsontext.Value) (Tool, error) {
	var d definition
	if err := json.Unmarshal(text, &d); err != nil {
		return Tool{}, fmt.Errorf("the tool %q can't be read: %w", name, err)
	}
	t := Tool{Name: cmp.Or(name, d.Name)}
	said := []string{d.Label, d.Title, d.Description}
	t.Description = strings.Join(slices.DeleteFunc(said, func(s string) bool { return s == "" }), "\n")
	takes := cmp.Or(d.MCP, d.OpenClaw)
	switch {
	case d.MCP != nil && d.OpenClaw != nil:
		return Tool{}, fmt.Errorf("the tool %q is written in two forms", t.Name)
	case protocol.Canonical(t.Name) == "" || takes == nil && t.Description == "":
		return Tool{}, ErrCatalogue
	case takes != nil:
		t.Arguments = slices.Sorted(maps.Keys(takes.Properties))
	}
	for claim, value := range d.Annotations {
		if is, ok := value.(bool); ok {
			t.Claims = append(t.Claims, fmt.Sprintf("%s: %v", claim, is))
		}
	}
	slices.Sort(t.Claims)
	whole := text.Clone()
	if err := whole.Canonicalize(); err != nil {
		return Tool{}, err
	}
	sum := sha256.Sum256(whole)
	t.sum = hex.EncodeToString(sum[:6])
	return t, nil
}

// Sorted sorts tools by name and refuses two that are called by the same name.
func Sorted(tools []Tool) ([]Tool, error) {
	slices.SortFunc(tools, func(a, b Tool) int { return cmp.Compare(a.Name, b.Name) })
	at := map[string]*Tool{}
	for i := range tools {
		t := &tools[i]
		if other := at[protocol.Canonical(t.Name)]; other != nil && other.sum != t.sum {
			return nil, fmt.Errorf("the tool %q is there twice, and not alike", t.Name)
		}
		at[protocol.Canonical(t.Name)] = t
	}
	switch tools = slices.CompactFunc(tools, func(a, b Tool) bool { return a.Name == b.Name }); {
	case len(tools) == 0:
		return nil, ErrCatalogue
	case len(tools) > mostTools:
		return nil, fmt.Errorf("more than %d tools", mostTools)
	}
	return tools, nil
}
