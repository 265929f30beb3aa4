package config

import (
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/openclaw-verifier/verifier/internal/text"
)

// The examples of the documents that this product comes from are parts of
// openclaw.json. They load as they stand: what is ours in them is taken out of
// what is around it, and what belongs to the client is left out with a word.

// clientsOwn are the keys under tools.verifier that say what the client does.
var clientsOwn = []string{"enabled", "failMode"}

// clientsWebhook are those under tools.verifier.webhook.
var clientsWebhook = []string{"url", "timeout", "headers"}

// unwrap takes what is ours out of tools.verifier, tools.caution and
// plugins.entries.<id>.config, and sets agents.list aside. What it leaves out it says.
func (d *document) unwrap() (left []Finding) {
	w := &wrappers{left: &left}
	var out []*ast.MappingValueNode
	for _, e := range entries(d.root) {
		switch key, _ := keyText(e.Key); {
		case key == "tools" && (has(e.Value, "verifier") || has(e.Value, "caution")):
			out = append(out, w.tools(e)...)
		case key == "plugins" && has(e.Value, "entries"):
			out = append(out, w.plugins(e)...)
		case key == "agents" && d.agents == nil:
			list, rest := listed(e.Value)
			if d.agents = list; list == nil {
				out = append(out, e)
				continue
			}
			w.found = true
			if len(rest) > 0 {
				out = append(out, with(e, rest))
			}
		case key == "hooks" && has(d.root, "plugins"):
			w.leave(e, "hooks", "belongs to the client and is left out")
		default:
			out = append(out, e)
		}
	}
	if w.found {
		d.root = ast.Mapping(d.root.GetToken(), true, out...)
	}
	return left
}

// misspelt names the wrapper that a key below tools was meant to be in, if it has
// nearly the name of one: else it would be a tool of that name.
func misspelt(path string) (string, bool) {
	group, rest, _ := strings.Cut(path, ".")
	name, _, below := strings.Cut(rest, ".")
	near, far := text.Nearest(name, []string{"verifier", "caution"})
	return "tools." + near, group == "tools" && below && far <= 2
}

type wrappers struct {
	left  *[]Finding
	found bool
}

func (w *wrappers) leave(e *ast.MappingValueNode, path, text string) {
	p := e.Key.GetToken().Position
	*w.left = append(*w.left, Finding{Severity: Note, Line: p.Line, Col: p.Column, Path: path, Text: text})
}

func has(n ast.Node, key string) bool { return member(n, key) != nil }

func member(n ast.Node, key string) *ast.MappingValueNode {
	for _, e := range entries(n) {
		if k, _ := keyText(e.Key); k == key {
			return e
		}
	}
	return nil
}

// without are the members of a group but for one.
func without(n ast.Node, key string) []*ast.MappingValueNode {
	return slices.DeleteFunc(slices.Clone(entries(n)), func(e *ast.MappingValueNode) bool {
		k, _ := keyText(e.Key)
		return k == key
	})
}

// tools takes tools.verifier and tools.caution out. Other tools stay where they
// are.
func (w *wrappers) tools(tools *ast.MappingValueNode) (out []*ast.MappingValueNode) {
	w.found = true
	var rest []*ast.MappingValueNode
	for _, e := range entries(tools.Value) {
		switch key, _ := keyText(e.Key); key {
		case "verifier":
			out = append(out, w.verifier(e)...)
		case "caution":
			out = append(out, w.caution(e))
		default:
			rest = append(rest, e)
		}
	}
	if len(rest) > 0 {
		out = append(out, with(tools, rest))
	}
	return out
}

// with is the entry with other members.
func with(e *ast.MappingValueNode, members []*ast.MappingValueNode) *ast.MappingValueNode {
	return ast.MappingValue(e.Start, e.Key, ast.Mapping(e.Value.GetToken(), true, members...))
}

func (w *wrappers) verifier(v *ast.MappingValueNode) (out []*ast.MappingValueNode) {
	for _, e := range entries(v.Value) {
		switch key, _ := keyText(e.Key); {
		case slices.Contains(clientsOwn, key):
			w.leave(e, "tools.verifier."+key, strangers[key].text+", and is left out")
		case key == "webhook":
			out = append(out, w.webhook(e))
		case key == "telegram":
			out = append(out, under("channels", e))
		default:
			out = append(out, e)
		}
	}
	return out
}

func (w *wrappers) webhook(v *ast.MappingValueNode) *ast.MappingValueNode {
	var rest []*ast.MappingValueNode
	for _, e := range entries(v.Value) {
		if key, _ := keyText(e.Key); slices.Contains(clientsWebhook, key) {
			w.leave(e, "tools.verifier.webhook."+key, strangers["webhook."+key].text+", and is left out")
			continue
		}
		rest = append(rest, e)
	}
	return with(v, rest)
}

// under puts an entry into a group of its own.
func under(group string, e *ast.MappingValueNode) *ast.MappingValueNode {
	at := e.Key.GetToken()
	key := ast.String(token.String(group, group, at.Position))
	return ast.MappingValue(at, key, ast.Mapping(at, true, e))
}

// caution leaves out a model of the runtime's own: which server has it, this
// program can't know.
func (w *wrappers) caution(c *ast.MappingValueNode) *ast.MappingValueNode {
	auditor := member(c.Value, "auditor")
	if auditor == nil || has(auditor.Value, "provider") || !has(auditor.Value, "model") {
		return c
	}
	members := without(auditor.Value, "model")
	model := member(auditor.Value, "model")
	w.leave(model, "tools.caution.auditor.model", "")
	last := &(*w.left)[len(*w.left)-1]
	last.Severity, last.Text = Warning, "names a model of the runtime's, which this program can't ask: there is no auditor until provider and model name a server's"
	return with(c, slices.Concat(slices.DeleteFunc(slices.Clone(entries(c.Value)), func(e *ast.MappingValueNode) bool { return e == auditor }),
		[]*ast.MappingValueNode{with(auditor, members)}))
}

// plugins takes the one plugin's config out.
func (w *wrappers) plugins(p *ast.MappingValueNode) []*ast.MappingValueNode {
	var found []*ast.MappingValueNode
	for _, e := range entries(member(p.Value, "entries").Value) {
		if c := member(e.Value, "config"); c != nil {
			found = append(found, c)
		}
	}
	if len(found) != 1 {
		return []*ast.MappingValueNode{p} // none of ours, or there is no telling which
	}
	w.found = true
	w.leave(p, "plugins", "belongs to the client: what is under config is read, and the rest is left out")
	return entries(found[0].Value)
}

// strangers are keys that people will try because the documents this product
// comes from have them, at a place where they mean nothing to a server. Each
// gets a word of why instead of "unknown".
var strangers = map[string]problem{
	"failMode":          failMode,
	"agents.*.failMode": failMode,
	"webhook.failMode":  failMode,
	"enabled":           {"is the client's switch: a server that runs is on", "remove it; to switch the verifier off, switch it off in the client"},
	"webhook.url":       {"belongs to the client: it says where the server is", "remove it; the server's side of it is listen and webhook.path"},
	"webhook.timeout":   {"belongs to the client: it says how long the client waits", "remove it; webhook.hold says how long a call waits for a person here"},
	"webhook.headers":   {"belongs to the client: it says what the client sends", "remove it; to demand a bearer token, set webhook.bearer"},
	"tools.verifier":    {"is the client's file: this one holds only what is under tools.verifier", "move what is under tools.verifier to the top of the file"},
	"plugins":           {"is the client's file: this one holds only the plugin's config", "move what is under plugins.entries.<id>.config to the top of the file"},
}

var failMode = problem{
	"belongs to the client: it says what the client does when it can't ask; a server that is asked and can't decide always denies",
	"remove it here, and set it in the client",
}

// elsewhere finds a stranger. A star is any one key.
func (all platforms) elsewhere(path string) (problem, bool) {
	if p, ok := strangers[path]; ok {
		return p, true
	}
	if _, chat := all.named(path); chat {
		return problem{"is one level too high", "write it as channels." + path}, true
	}
	if strings.HasPrefix(path, "tools.verifier.") {
		return strangers["tools.verifier"], true
	}
	first, rest, ok := strings.Cut(path, ".")
	if i := strings.LastIndex(rest, "."); ok && i >= 0 {
		p, found := strangers[first+".*"+rest[i:]]
		return p, found
	}
	return problem{}, false
}
