package config

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// document is a parsed file, with the place of each key and value.
type document struct {
	file string
	root ast.Node // nil for an empty file
	// agents is agents.list of an openclaw.json, taken out of root; nil if there is none
	agents *ast.SequenceNode
}

const (
	maxFile  = 256 << 10
	maxLines = 10_000 // the parser takes the square of what it is given
	maxDepth = 64
)

// parse reads the text into a tree. The parser is recursive, so what is nested
// beyond reason is refused before it.
func parse(file string, text []byte) (doc *document, err error) {
	fail := func(line, col int, what, hint string) (*document, error) {
		return nil, Errors{{File: file, Line: line, Col: col, Text: what, Hint: hint}}
	}
	defer func() {
		if p := recover(); p != nil {
			doc, err = fail(0, 0, "is not YAML that can be read", "")
		}
	}()
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if len(text) > maxFile {
		return fail(0, 0, fmt.Sprintf("is larger than %d KB", maxFile>>10), "is this the right file?")
	}
	if bytes.Count(text, []byte("\n")) > maxLines {
		return fail(0, 0, fmt.Sprintf("has more than %d lines", maxLines), "is this the right file?")
	}
	if !utf8.Valid(text) {
		return fail(0, 0, "is not UTF-8 text", "save it as UTF-8")
	}
	text = uncommented(text)
	tokens := lexer.Tokenize(string(text))
	if t := tooDeep(tokens); t != nil {
		return fail(t.Position.Line, t.Position.Column, "is nested too deeply", "")
	}
	tree, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey()) // the walk reports duplicates, all of them
	if err != nil {
		line, col, what := syntax(err)
		return fail(line, col, what, syntaxHint(text, line))
	}
	if len(tree.Docs) > 1 {
		t := tree.Docs[1].GetToken()
		return fail(t.Position.Line, t.Position.Column, "a second document begins here", "a config is one document: remove the line ---")
	}
	doc = &document{file: file}
	if len(tree.Docs) == 1 {
		doc.root = tree.Docs[0].Body
	}
	return doc, nil
}

// tooDeep is the token that opens one level too many. Brackets nest anywhere;
// dashes and question marks only within a line, since the next line must be
// indented further.
func tooDeep(tokens token.Tokens) *token.Token {
	brackets, openers, line := 0, 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			line, openers = t.Position.Line, 0
		}
		switch t.Type {
		case token.MappingStartType, token.SequenceStartType:
			brackets++
		case token.MappingEndType, token.SequenceEndType:
			brackets--
		case token.SequenceEntryType, token.MappingKeyType, token.TagType, token.AnchorType:
			openers++
		default:
		}
		if brackets > maxDepth || openers > maxDepth {
			return t
		}
	}
	return nil
}

// syntax takes the parser's error apart, without the lines it would quote: a
// secret may stand in them.
func syntax(err error) (line, col int, what string) {
	var e yaml.Error
	if errors.As(err, &e) && e.GetToken() != nil {
		p := e.GetToken().Position
		return p.Line, p.Column, "is not valid YAML: " + e.GetMessage()
	}
	return 0, 0, "is not valid YAML"
}

// syntaxHint knows the slips that the parser's words do not explain.
func syntaxHint(text []byte, line int) string {
	lines := strings.Split(string(text), "\n")
	if line < 1 || line > len(lines) {
		return ""
	}
	switch at := strings.TrimRight(lines[line-1], "\r"); {
	case strings.Contains(at, "*:"):
		return `put quotes around the star: "*": allow`
	case strings.Contains(at, "${"):
		return `put quotes around it: "${NAME}"`
	case strings.Contains(at, "\t"):
		return "YAML is indented by spaces, not by tabs"
	case strings.Contains(string(text), "//") && strings.HasPrefix(strings.TrimSpace(string(text)), "{"):
		return "comments in YAML begin with #, not with //"
	}
	return ""
}

// entries are the keys and values of a mapping, nil for another node.
func entries(n ast.Node) []*ast.MappingValueNode {
	switch m := n.(type) {
	case *ast.MappingNode:
		return m.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{m}
	}
	return nil
}

// keyText is a key as it was written, false for one that is no plain word.
func keyText(k ast.MapKeyNode) (string, bool) {
	switch k := k.(type) {
	case *ast.StringNode:
		return k.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return k.GetToken().Value, true
	}
	return "", false
}

// place finds a dotted path, or as much of it as the file has. Keys may hold
// dots themselves, so the longest one that fits is taken.
func (d *document) place(path string) (line, col int) {
	n, t := d.root, (*token.Token)(nil)
	for rest := path; rest != "" && n != nil; {
		var next *token.Token
		n, next, rest = step(n, rest)
		if next == nil {
			break
		}
		t = next
	}
	if t == nil || t.Position == nil {
		return 0, 0
	}
	return t.Position.Line, t.Position.Column
}

// step goes down by the first part of the path. The token is nil where there
// is no such part.
func step(n ast.Node, path string) (ast.Node, *token.Token, string) {
	if list, ok := n.(*ast.SequenceNode); ok {
		return stepIndex(list, path)
	}
	var best *ast.MappingValueNode
	var key string
	for _, e := range entries(n) {
		k, ok := keyText(e.Key)
		if ok && within(path, k) && (best == nil || len(k) > len(key)) {
			best, key = e, k
		}
	}
	if best == nil {
		return nil, nil, ""
	}
	return best.Value, best.Key.GetToken(), strings.TrimPrefix(path[len(key):], ".")
}

// within reports whether key is a first part of path.
func within(path, key string) bool {
	rest, ok := strings.CutPrefix(path, key)
	return ok && key != "" && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// stepIndex goes to [i], or to the entry that is the word itself: policy names
// scope.include.exec.
func stepIndex(list *ast.SequenceNode, path string) (ast.Node, *token.Token, string) {
	if in, rest, ok := strings.Cut(strings.TrimPrefix(path, "["), "]"); ok && path[0] == '[' {
		if i, err := strconv.Atoi(in); err == nil && i >= 0 && i < len(list.Values) {
			return list.Values[i], list.Values[i].GetToken(), strings.TrimPrefix(rest, ".")
		}
		return nil, nil, ""
	}
	for _, v := range list.Values {
		if s, ok := v.(*ast.StringNode); ok && s.Value == path {
			return nil, s.Token, ""
		}
	}
	return nil, nil, ""
}
