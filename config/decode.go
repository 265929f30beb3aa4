package config

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/openclaw-verifier/verifier/spelling"
)

// decoder fills Go values from the tree by their types, and collects all that
// is wrong on the way.
type decoder struct {
	resolver
	file     string
	chats    platforms
	expand   bool         // resolve references in every string, not only in secrets
	literals bool         // the file itself holds a secret
	secretAt *token.Token // where
	errs     Errors
}

var (
	secretType   = reflect.TypeFor[Secret]()
	durationType = reflect.TypeFor[time.Duration]()
	rawType      = reflect.TypeFor[Raw]()
)

// spot is a place in the file: the path to it, the key and the value there.
type spot struct {
	path string
	key  *token.Token
	node ast.Node
}

func (s spot) token() *token.Token {
	if _, null := s.node.(*ast.NullNode); s.node == nil || null {
		return s.key // the value's own place is behind the end of the line
	}
	if m := entries(s.node); len(m) > 0 && !isFlow(s.node) {
		return m[0].Key.GetToken()
	}
	return s.node.GetToken()
}

func isFlow(n ast.Node) bool {
	m, ok := n.(*ast.MappingNode)
	return ok && m.IsFlowStyle
}

func (d *decoder) fail(t *token.Token, path, text, hint string) {
	e := &Error{File: d.file, Path: path, Text: text, Hint: hint}
	if t != nil && t.Position != nil {
		e.Line, e.Col = t.Position.Line, t.Position.Column
	}
	d.errs = append(d.errs, e)
}

func (d *decoder) wrong(s spot, want string) {
	d.fail(s.token(), s.path, "must be "+want+", not "+kindOf(s.node), "")
}

// value decodes one node into v.
func (d *decoder) value(s spot, v reflect.Value) {
	if d.refused(s) {
		return
	}
	switch v.Type() {
	case secretType:
		d.secret(s, v)
		return
	case durationType:
		d.duration(s, v)
		return
	case rawType:
		d.raw(s, v)
		return
	case userIDType:
		d.userID(s, v)
		return
	}
	if words, ok := wordsOf[v.Type()]; ok {
		d.oneOf(s, v, words)
		return
	}
	if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		d.word(s, u)
		return
	}
	d.kind(s, v)
}

// refused turns down what no value may be.
func (d *decoder) refused(s spot) bool {
	switch s.node.(type) {
	case nil, *ast.NullNode:
		d.fail(s.token(), s.path, "has no value", "give it one, or remove the key")
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode:
		d.fail(s.token(), s.path, "uses a YAML anchor, alias or tag, which are not read here", `write the value out; put quotes around a star or an exclamation mark: "*"`)
	default:
		return false
	}
	return true
}

func (d *decoder) kind(s spot, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		d.pointer(s, v)
	case reflect.Struct:
		d.structure(s, v)
	case reflect.Map:
		d.table(s, v)
	case reflect.Slice:
		d.list(s, v)
	case reflect.String:
		d.text(s, v)
	case reflect.Bool:
		d.truth(s, v)
	case reflect.Int, reflect.Int64:
		d.number(s, v)
	default:
		d.fail(s.token(), s.path, "can't be set in a file", "")
	}
}

// pointer leaves nil where the value is wrong: absent stays absent.
func (d *decoder) pointer(s spot, v reflect.Value) {
	n, to := len(d.errs), reflect.New(v.Type().Elem())
	if d.value(s, to.Elem()); len(d.errs) == n {
		v.Set(to)
	}
}

func (d *decoder) structure(s spot, v reflect.Value) {
	fields, users := fieldsOf(v.Type()), usersOf(v)
	for key, at := range d.keys(s) {
		index, ok := fields[key]
		_, chat := d.chats.named(key)
		switch {
		case ok:
			d.value(at, v.FieldByIndex(index))
		case chat && users.IsValid():
			d.entry(at, key, users)
		default:
			d.unknown(at, key, d.known(fields, users))
		}
	}
}

func (d *decoder) table(s spot, v reflect.Value) {
	v.Set(reflect.MakeMap(v.Type()))
	for key, at := range d.keys(s) {
		d.entry(at, key, v)
	}
}

// entry decodes one value of a map. One that is wrong stays out of it.
func (d *decoder) entry(s spot, key string, v reflect.Value) {
	n, to := len(d.errs), reflect.New(v.Type().Elem()).Elem()
	if d.value(s, to); len(d.errs) > n {
		return
	}
	if v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	v.SetMapIndex(reflect.ValueOf(key), to)
}

// known are the keys of a struct, for the hint about a mistyped one.
func (d *decoder) known(fields map[string][]int, users reflect.Value) []string {
	known := sortedKeys(fields)
	if users.IsValid() {
		known = append(known, d.chats.names()...)
	}
	return known
}

// keys walks over a mapping in the order of the file. A key that comes twice
// is an error, and the first one counts.
func (d *decoder) keys(s spot) func(yield func(string, spot) bool) {
	return func(yield func(string, spot) bool) {
		if _, ok := s.node.(ast.MapNode); !ok {
			d.wrong(s, "a group of keys")
			return
		}
		seen := map[string]bool{}
		for _, e := range entries(s.node) {
			key, ok := keyText(e.Key)
			at := spot{path: strings.TrimPrefix(s.path+"."+key, "."), key: e.Key.GetToken(), node: e.Value}
			switch {
			case !ok:
				d.fail(at.key, s.path, "has a key that is not a plain word", `write it out; put quotes around a star: "*"`)
			case seen[key]:
				d.fail(at.key, at.path, "is here for the second time", "keep one of the two")
			case !yield(key, at):
				return
			}
			seen[key] = true
		}
	}
}

func (d *decoder) unknown(at spot, key string, known []string) {
	if text, ok := d.chats.elsewhere(at.path); ok {
		d.fail(at.key, at.path, text.text, text.hint)
		return
	}
	if group, ok := misspelt(at.path); ok {
		d.fail(at.key, at.path, "unknown key", fmt.Sprintf("did you mean %q? For a tool of your own, known here are %s", group+"."+key, strings.Join(known, ", ")))
		return
	}
	near, far := spelling.Nearest(key, known)
	hint := fmt.Sprintf("did you mean %q?", near)
	if far > max(2, len(near)/2) {
		hint = fmt.Sprintf("the nearest known key is %q; known here: %s", near, strings.Join(known, ", "))
	}
	d.fail(at.key, at.path, "unknown key", hint)
}

func (d *decoder) list(s spot, v reflect.Value) {
	seq, ok := s.node.(*ast.SequenceNode)
	if !ok {
		d.wrong(s, "a list")
		return
	}
	out := reflect.MakeSlice(v.Type(), len(seq.Values), len(seq.Values)) // never nil: [] is not absent
	for i, n := range seq.Values {
		d.value(spot{index(s.path, i), seq.Start, n}, out.Index(i))
	}
	v.Set(out)
}

// platformsOption marks the map whose entries stand in the file as keys of the
// struct itself, one for each platform.
const platformsOption = "platforms"

// usersOf is that map of a struct; it is not valid where there is none.
func usersOf(v reflect.Value) reflect.Value {
	for f, field := range v.Fields() {
		if f.Tag.Get("yaml") == ","+platformsOption {
			return field
		}
	}
	return reflect.Value{}
}

// fieldsOf maps the keys of a struct to its fields, inlined structs included.
func fieldsOf(t reflect.Type) map[string][]int {
	fields := map[string][]int{}
	for f := range t.Fields() {
		name, option, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		switch {
		case option == "inline":
			for key, at := range fieldsOf(f.Type) {
				fields[key] = slices.Concat(f.Index, at)
			}
		case name != "" && name != "-":
			fields[name] = f.Index
		}
	}
	return fields
}
