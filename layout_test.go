// Package layout holds no code: its test is the specification of which package may import which.
package layout

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/openclaw-verifier/verifier"

// layer is one line of the specification. Its packages may import, of our own packages, what mayImport
// names: packages, or whole layers. They may not import each other unless mayImport says so. A star
// stands for any one name, where no layer has the package by its own.
type layer struct {
	name      string
	packages  string
	mayImport string
}

// layout is the specification, from the bottom up: arrows point down only. It binds what the program is
// built from; the files of a test may import anything.
var layout = []layer{
	{name: "leaves", packages: "toolcall taint codes hmac redact audit crash spelling recent wholefile command", mayImport: "command"}, // redact: secrets are where a shell's words are
	{name: "session", packages: "session", mayImport: "leaves"},
	{name: "passkey", packages: "passkey", mayImport: "leaves"}, // what a person's authenticator signs
	{name: "push", packages: "push", mayImport: "leaves"},       // what tells a person's device
	{name: "knowledge", packages: "policy intent provenance lineage", mayImport: "session leaves"},
	{name: "label", packages: "label", mayImport: "knowledge session leaves"}, // proposes what tools do
	{name: "loop", packages: "loop", mayImport: "lineage leaves"},             // what a runtime tells, as it comes in
	{name: "approval", packages: "approval", mayImport: "passkey policy session leaves"},
	{name: "channels", packages: "channels", mayImport: "approval knowledge session leaves"},
	{name: "drawing", packages: "drawing", mayImport: "channels provenance leaves"}, // turns as people see them
	{name: "turns", packages: "turns", mayImport: "provenance session leaves"},      // what is kept of turns, and their graphs
	{name: "verifier", packages: "verifier", mayImport: "turns loop approval knowledge session leaves"},
	{name: "replay", packages: "replay", mayImport: "verifier loop approval knowledge session leaves"},
	{name: "state", packages: "store/state", mayImport: "approval session leaves"},  // what a store's records mean
	{name: "stores", packages: "store", mayImport: "state approval session leaves"}, // keeps it, in whatever keeps records
	{name: "delivery", packages: "channels/delivery", mayImport: "approval crash"},  // what all chats need besides words
	{name: "long", packages: "test/long"},                                           // which tests make test-long has more than make test
	{name: "adapters", packages: "server web notify config metrics intent/provider store/redis store/sqlite channels/*", mayImport: "delivery stores state replay verifier turns loop drawing channels push passkey approval knowledge session leaves"},
	{name: "suites", packages: "passkey/passkeytest mcp/mcptest push/pushtest cputest store/storetest store/redistest store/redistest/miniredistest redact/redacttest intent/provider/providertest channels/channeltest channels/*/*test server/certtest web/webtest", mayImport: "long channels/channeltest store/sqlite delivery stores verifier turns loop channels approval knowledge session leaves"}, // for tests: nothing below may import them
	{name: "gateway", packages: "test/gateway", mayImport: "suites adapters leaves"}, // the real program, for tests of what it does
	{name: "hostile", packages: "test/hostile test/e2e test/auditor test/page"},      // only tests
	{name: "hook", packages: "hook", mayImport: "lineage hmac wholefile"},            // what coding agents run: it starts for each call, so that it holds little
	{name: "hook program", packages: "cmd/verifier-hook", mayImport: "hook"},         // and nothing else
	{name: "mcp", packages: "mcp", mayImport: "hook wholefile"},                      // the gate before servers of tools
	{name: "plugin", packages: "integrations/openclaw"},                              // the plugin's own files, for the program to hand out
	{name: "scripted", packages: "integrations/agents/e2e/scripted"},                 // a model by which tests try coding agents
	{name: "programs", packages: "cmd/verifier packaging/dist", mayImport: "label mcp hook plugin adapters delivery stores replay verifier turns loop drawing channels push passkey approval knowledge session leaves"},
	{name: "tools", packages: "test/bench test/chaos", mayImport: "suites leaves"},                                                                 // drive the real program from outside
	{name: "stand-ins", packages: "integrations/openclaw/e2e/telegram integrations/agents/e2e integrations/mcp/e2e", mayImport: "scripted suites"}, // fakes as programs, for tests in other languages
	{name: "root", packages: "."}, // this test
}

// banned are names that say nothing: a shared noun lives with the package that produces it.
const banned = "types type utils util common helpers helper misc"

// impure are imports that would let the policy read the world or the network.
const impure = "os os/exec io/ioutil net net/http database/sql"

func TestLayout(t *testing.T) {
	for _, broken := range check(load(t)) {
		t.Error(broken)
	}
}

// TestLayoutRefuses proves that the check bites: each case is a package that must not pass.
func TestLayoutRefuses(t *testing.T) {
	cases := []struct {
		breach string
		pkg    pkg
		want   string
	}{
		{"a leaf that imports a leaf", fake("taint", "toolcall"), "taint must not import toolcall"},
		{"an arrow that points up", fake("session", "policy"), "session must not import policy"},
		{"policies that know each other", fake("lineage", "provenance"), "lineage must not import provenance"},
		{"a decision that knows how cards look", fake("verifier", "channels"), "verifier must not import channels"},
		{"a core that imports an adapter", fake("verifier", "store/redis"), "verifier must not import store/redis"},
		{"adapters that know each other", fake("server", "config"), "server must not import config"},
		{"a channel that imports another", fake("channels/slack", "channels/telegram"), "channels/slack must not import channels/telegram"},
		{"a fourth channel that imports another", fake("channels/matrix", "channels/telegram"), "channels/matrix must not import channels/telegram"},
		{"a fourth channel that imports its own fake", fake("channels/matrix", "channels/matrix/matrixtest"), "a suite is for _test.go files"},
		{"a fake that imports its channel", fake("channels/matrix/matrixtest", "channels/matrix"), "channels/matrix/matrixtest must not import channels/matrix"},
		{"a package inside a channel", fake("channels/matrix/wire"), "say in layout_test.go where channels/matrix/wire belongs"},
		{"what all chats need that knows one", fake("channels/delivery", "channels/matrix"), "channels/delivery must not import channels/matrix"},
		{"rendering that knows a chat", fake("channels", "channels/matrix"), "channels must not import channels/matrix"},
		{"a program that ships a test suite", fake("cmd/verifier", "store/storetest"), "cmd/verifier must not import store/storetest"},
		{"a package nobody placed", fake("store/etcd"), "say in layout_test.go where store/etcd belongs"},
		{"an import nobody placed", fake("policy", "rules"), "say in layout_test.go where rules belongs"},
		{"a name that says nothing", fake("policy/types"), "is no name for a package"},
		{"a package without a comment", pkg{ImportPath: module + "/taint", Name: "taint", GoFiles: []string{"level.go"}}, "taint has no package comment"},
		{"a leaf with two dependencies", outside("audit", "github.com/a/b/c", "github.com/a/b", "example.com/d"), "audit is a leaf"},
		{"a policy that reads files", outside("policy", "os"), "policy must not import os"},
	}
	for _, c := range cases {
		t.Run(c.breach, func(t *testing.T) {
			found := check([]pkg{c.pkg})
			if !slices.ContainsFunc(found, func(s string) bool { return strings.Contains(s, c.want) }) {
				t.Errorf("got %q, want a message with %q", found, c.want)
			}
		})
	}
	good := []pkg{fake("channels/slack", "channels", "approval", "taint"), fake("channels/matrix", "channels", "channels/delivery"), fake("channels/matrix/matrixtest", "channels/channeltest"), fake("cmd/verifier", "channels/matrix"), fake("cmd/verifier", "server", "replay"), outside("toolcall", "github.com/a/b", "github.com/a/b/c", "os")}
	if found := check(good); len(found) > 0 {
		t.Errorf("a good layout is refused: %q", found)
	}
}

// pkg is the part of `go list -json` that the layout is about.
type pkg struct {
	Dir, ImportPath, Name, Doc       string
	GoFiles, IgnoredGoFiles, Imports []string
}

// short is the path below the module's root: "store/redis", or "." for the root itself.
func (p pkg) short() string { return short(p.ImportPath) }

func short(importPath string) string {
	if importPath == module {
		return "."
	}
	return strings.TrimPrefix(importPath, module+"/")
}

func ours(importPath string) bool {
	return importPath == module || strings.HasPrefix(importPath, module+"/")
}

// check returns one sentence for each breach of the layout: what is wrong and what to do.
func check(pkgs []pkg) []string {
	var found []string
	report := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	for _, p := range pkgs {
		checkName(p, report)
		l, known := layerOf(p.short())
		if !known {
			report("say in layout_test.go where %s belongs: add it to a layer", p.short())
			continue
		}
		if len(p.GoFiles) > 0 && p.Doc == "" {
			report("%s has no package comment: say above the package clause of one file what it is for and what it refuses to do", p.short())
		}
		checkOurs(p, l, report)
		checkOutside(p, l, report)
	}
	return found
}

func checkName(p pkg, report func(string, ...any)) {
	for _, name := range []string{path.Base(p.ImportPath), p.Name} {
		if slices.Contains(strings.Fields(banned), name) {
			report("%q is no name for a package (%s): put each thing with the package that produces it", name, p.short())
			return
		}
	}
}

func checkOurs(p pkg, l layer, report func(string, ...any)) {
	allowed := strings.Fields(l.mayImport)
	for _, i := range p.Imports {
		to, known := layerOf(short(i))
		if !ours(i) || slices.Contains(allowed, short(i)) || known && slices.Contains(allowed, to.name) {
			continue
		}
		switch {
		case !known:
			report("say in layout_test.go where %s belongs: %s imports it", short(i), p.short())
		case to.name == "suites":
			report("%s must not import %s: a suite is for _test.go files", p.short(), short(i))
		default:
			report("%s must not import %s: it may import of ours only [%s]. Define the interface you need in %s and let %s implement it, or pass it in from cmd/verifier",
				p.short(), short(i), l.mayImport, p.short(), short(i))
		}
	}
}

func checkOutside(p pkg, l layer, report func(string, ...any)) {
	var deps []string
	for _, i := range p.Imports {
		if dep := dependency(i); dep != "" && !slices.Contains(deps, dep) {
			deps = append(deps, dep)
		}
		if p.short() == "policy" && slices.Contains(strings.Fields(impure), i) {
			report("policy must not import %s: it is pure, its caller reads the world and passes it in", i)
		}
	}
	most := 1
	if p.short() == "redact" {
		most = 2 // JSON, and the search for the words of gitleaks' rules
	}
	if l.name == "leaves" && len(deps) > most {
		report("%s is a leaf and may have one outside dependency, not %d (%s): move what needs the other one up", p.short(), len(deps), strings.Join(deps, ", "))
	}
}

// dependency names the repository an import comes from, "" for the standard library and for ourselves.
func dependency(importPath string) string {
	parts := strings.Split(importPath, "/")
	if ours(importPath) || !strings.Contains(parts[0], ".") {
		return ""
	}
	return path.Join(parts[:min(3, len(parts))]...)
}

func layerOf(name string) (layer, bool) {
	matching := func(has func(pattern string) bool) (layer, bool) {
		i := slices.IndexFunc(layout, func(l layer) bool { return slices.ContainsFunc(strings.Fields(l.packages), has) })
		if i < 0 {
			return layer{}, false
		}
		return layout[i], true
	}
	if l, ok := matching(func(pattern string) bool { return pattern == name }); ok {
		return l, true
	}
	return matching(func(pattern string) bool {
		fits, err := path.Match(pattern, name)
		return err == nil && fits
	})
}

// load asks the go command, and adds the imports of files that this platform or these build tags leave out.
func load(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", "-json=Dir,ImportPath,Name,Doc,GoFiles,IgnoredGoFiles,Imports", "./...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var pkgs []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		for _, file := range p.IgnoredGoFiles {
			if !strings.HasSuffix(file, "_test.go") {
				p.Imports = append(p.Imports, importsOf(t, filepath.Join(p.Dir, file))...)
			}
		}
		pkgs = append(pkgs, p)
	}
}

func importsOf(t *testing.T, file string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, spec := range parsed.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, name)
	}
	return out
}

// fake is a documented package that imports some of ours.
func fake(name string, imports ...string) pkg {
	for i := range imports {
		imports[i] = module + "/" + imports[i]
	}
	return outside(name, imports...)
}

// outside is a documented package with just these imports.
func outside(name string, imports ...string) pkg {
	return pkg{ImportPath: module + "/" + name, Name: path.Base(name), Doc: "Package doc.", GoFiles: []string{"a.go"}, Imports: imports}
}
