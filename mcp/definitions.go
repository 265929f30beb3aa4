package mcp

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/internal/files"
)

// Definitions keep what servers have said of their tools when they were first seen: a later change has to be seen by the
// owner before the tool can be called again. Each is a file that is written once; beside it a change waits for the owner.
type Definitions struct {
	// Dir is where they are. The agent must not write there.
	Dir string
}

// Definition is what a server says of a tool.
type Definition struct {
	Server, Tool string
	Text         string   // what it said when it was first seen, or as the owner has accepted it: JSON
	Change       string   // what it says now, where that is something else
	Shadows      []string // where else there is a tool of this name
}

// Version names a change, so that what was shown is what is accepted.
func (d *Definition) Version() string {
	sum := sha256.Sum256([]byte(d.Change))
	return hex.EncodeToString(sum[:16])
}

const (
	definedEnd = ".json"
	changedEnd = ".new"

	longestDefinition = 256 << 10
	mostDefinitions   = 1024
)

// toolMembers are what the protocol knows of a tool. Others are kept with them: a model, or its user, may read them.
var toolMembers = []string{"name", "title", "description", "inputSchema", "outputSchema", "annotations", "icons", "execution", "_meta"}

// Instructions is in place of a tool's name where a server says how to use all of its tools. No tool has this name.
const Instructions = "(instructions)"

// defined is a tool as a server offers it.
type defined struct {
	raw  jsontext.Value
	name string
	text []byte // of its definition
}

// readTool reads what a server says of a tool.
func readTool(raw jsontext.Value) (d defined, err error) {
	all, err := members(raw, toolMembers, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return d, err
	}
	d.raw, d.name = raw, ""
	var ok bool
	if d.name, ok = asString(all["name"]); !ok || !callable(d.name) {
		return d, errors.New("a tool has no name that can be called")
	}
	text, err := json.Marshal(all, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if d.text = canonical(text); err != nil || len(d.text) > longestDefinition {
		return d, errors.New("what a server says of a tool is too long")
	}
	return d, nil
}

// hints are a tool's own annotations, as they are kept: a client may know its tools from a list that this gate has not seen.
// nil: there are none.
func (k *Definitions) hints(server, tool string) jsontext.Value {
	var kept struct {
		Annotations *struct {
			ReadOnly    *bool `json:"readOnlyHint,omitzero"`
			Destructive *bool `json:"destructiveHint,omitzero"`
			OpenWorld   *bool `json:"openWorldHint,omitzero"`
		} `json:"annotations"`
	}
	if !k.read(server, tool, &kept) || kept.Annotations == nil {
		return nil
	}
	hints, err := json.Marshal(kept.Annotations)
	if err != nil {
		return nil
	}
	return hints
}

// read reads what is kept of a tool. It reports whether there is something that can be read.
func (k *Definitions) read(server, tool string, kept any) bool {
	text, err := os.ReadFile(k.path(server, tool) + definedEnd)
	return err == nil && json.Unmarshal(text, kept, jsontext.AllowInvalidUTF8(true)) == nil
}

// see compares a definition with the one that was seen first, and reports whether it is the same.
func (k *Definitions) see(server string, d *defined) (same bool, err error) {
	path := k.path(server, d.name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return false, err
	}
	old, err := os.ReadFile(path + definedEnd)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if all, err := os.ReadDir(filepath.Dir(path)); err != nil || len(all) > mostDefinitions {
			return false, errors.New("the server has too many tools")
		}
		return true, files.Put(path+definedEnd, d.text)
	case err != nil:
		return false, err
	case bytes.Equal(old, d.text):
		if err := os.Remove(path + changedEnd); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
		return true, nil
	}
	return false, files.Put(path+changedEnd, d.text)
}

// changed reports whether a tool waits for the owner.
func (k *Definitions) changed(server, tool string) bool {
	_, err := os.Stat(k.path(server, tool) + changedEnd)
	return !errors.Is(err, fs.ErrNotExist)
}

// path is where a tool's definition is, without the end. Names that the gateway takes for one have one.
func (k *Definitions) path(server, tool string) string {
	sum := sha256.Sum256([]byte(strings.ToLower(tool)))
	return filepath.Join(k.Dir, strings.ToLower(server), hex.EncodeToString(sum[:16]))
}

// List are all definitions, by server and tool. Builtin are names that tools of agents have.
func (k *Definitions) List(builtin []string) (out []Definition, err error) {
	files, err := filepath.Glob(filepath.Join(k.Dir, "*", "*"+definedEnd))
	if err != nil {
		return nil, err
	}
	where := map[string][]string{}
	for _, name := range builtin {
		where[strings.ToLower(name)] = []string{"an agent's own tool"}
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		change, err := os.ReadFile(strings.TrimSuffix(file, definedEnd) + changedEnd)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		var named struct {
			Name string `json:"name"`
		}
		if err := json.Unmarshal(text, &named, jsontext.AllowInvalidUTF8(true)); err != nil {
			return nil, errors.New(file + " is not what was written there")
		}
		d := Definition{Server: filepath.Base(filepath.Dir(file)), Tool: named.Name, Text: string(text), Change: string(change)}
		where[strings.ToLower(d.Tool)] = append(where[strings.ToLower(d.Tool)], d.Server)
		out = append(out, d)
	}
	for i := range out {
		for _, other := range where[strings.ToLower(out[i].Tool)] {
			if other != out[i].Server {
				out[i].Shadows = append(out[i].Shadows, other)
			}
		}
	}
	slices.SortFunc(out, func(a, b Definition) int {
		return cmp.Or(cmp.Compare(a.Server, b.Server), cmp.Compare(a.Tool, b.Tool))
	})
	return out, nil
}

// ErrChangedAgain says that a change is not the one that was shown.
var ErrChangedAgain = errors.New("the definition has changed since")

// Accept makes the change that the owner has seen the definition.
func (k *Definitions) Accept(d *Definition) error {
	path := k.path(d.Server, d.Tool)
	now, err := os.ReadFile(path + changedEnd)
	if err != nil || string(now) != d.Change {
		return ErrChangedAgain
	}
	if err := files.Put(path+definedEnd, []byte(d.Change)); err != nil {
		return err
	}
	return os.Remove(path + changedEnd)
}

// listed takes the answer to tools/list: it leaves out what the conversation may not call, and what waits for the owner.
func (g *gate) listed(ctx context.Context, m *message) ([]byte, error) {
	if m.result == nil {
		return m.text, nil
	}
	result, err := members(m.result, []string{"tools", "nextCursor"}, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil, err
	}
	var raw []jsontext.Value
	if err := json.Unmarshal(result["tools"], &raw, jsontext.AllowInvalidUTF8(true)); err != nil {
		return nil, err
	}
	var tools []defined
	for _, one := range raw {
		d, err := readTool(one)
		if err != nil {
			g.logf("A tool was left out: %v.", err)
			continue
		}
		tools = append(tools, d)
	}
	same := g.unchanged(tools)
	kept := g.permitted(ctx, same)
	if len(kept) == len(raw) {
		return m.text, nil
	}
	left := make([]jsontext.Value, 0, len(kept))
	for i := range kept {
		left = append(left, kept[i].raw)
	}
	if result["tools"], err = json.Marshal(left, jsontext.AllowInvalidUTF8(true)); err != nil {
		return nil, err
	}
	text, err := json.Marshal(result, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.id, text), err
}

// greeted takes the answer to initialize, or to server/discover: instructions that are not those that were first seen are
// left out, until the owner accepts them.
func (g *gate) greeted(m *message) ([]byte, error) {
	if m.result == nil {
		return m.text, nil
	}
	result, err := members(m.result, []string{"instructions"}, jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil, err
	}
	said, ok := result["instructions"]
	if !ok {
		return m.text, nil
	}
	d := defined{name: Instructions}
	text, err := json.Marshal(map[string]jsontext.Value{"name": quoted(Instructions), "instructions": said}, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if d.text = canonical(text); err != nil || len(d.text) > longestDefinition {
		return nil, errors.New("the server's instructions are too long")
	}
	same, err := g.Definitions.see(g.Server, &d)
	if err != nil {
		return nil, err
	}
	if same {
		return m.text, nil
	}
	g.logf("The server's instructions were left out: they are not what they were. `verifier mcp tools` shows the change.")
	delete(result, "instructions")
	text, err = json.Marshal(result, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.id, text), err
}

// unchanged are the tools that are what they were when they were first seen, each name once.
func (g *gate) unchanged(tools []defined) (out []defined) {
	names := map[string]int{}
	for i := range tools {
		names[strings.ToLower(tools[i].name)]++
	}
	for i := range tools {
		d := &tools[i]
		same, err := false, error(nil)
		if names[strings.ToLower(d.name)] == 1 {
			same, err = g.Definitions.see(g.Server, d)
		}
		switch {
		case err != nil:
			g.logf("The tool %q was left out: what the server says of it could not be noted.", d.name)
		case names[strings.ToLower(d.name)] > 1:
			g.logf("The tool %q was left out: there are two of this name.", d.name)
		case !same:
			g.logf("The tool %q was left out: the server has changed what it says of it. `verifier mcp tools` shows the change.", d.name)
		default:
			out = append(out, *d)
		}
	}
	return out
}

// permitted are the tools that the conversation may call. Where the gateway does not answer, calls are refused anyway.
func (g *gate) permitted(ctx context.Context, tools []defined) (out []defined) {
	var names []string
	for i := range tools {
		names = append(names, g.toolName(tools[i].name))
	}
	s, err := g.session()
	if err != nil || len(names) == 0 {
		return tools
	}
	ctx, cancel := context.WithTimeout(ctx, tellWithin)
	defer cancel()
	remain, err := s.Offered(ctx, names)
	if err != nil {
		return tools
	}
	for i := range tools {
		if remain[names[i]] {
			out = append(out, tools[i])
		}
	}
	return out
}
