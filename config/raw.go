package config

import (
	"crypto/sha256"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// Raw is a section of the file that another package understands. The zero Raw
// is an empty section.
type Raw struct {
	s spot
	d decoder
}

// Decode fills what v points to, as strictly as the rest of the file: unknown
// keys, duplicates and wrong types are errors with their place. References to
// the environment and to files are resolved in every text, so that the other
// package needs no type of ours for its secrets.
func (r Raw) Decode(v any) error {
	to := reflect.ValueOf(v)
	if to.Kind() != reflect.Pointer || to.IsNil() {
		return fmt.Errorf("config: Raw.Decode needs a pointer, not %T", v)
	}
	if r.s.node == nil {
		return nil
	}
	d := decoder{resolver: r.d.resolver, file: r.d.file, expand: true}
	d.value(r.s, to.Elem())
	if len(d.errs) == 0 {
		return nil
	}
	d.errs.sort()
	return d.errs
}

// Wrong is an error of the package that understands the section, with the
// section's place in the file.
func (r Raw) Wrong(text, hint string) error {
	e := &Error{File: r.d.file, Text: text, Hint: hint}
	if at := r.s.key; at != nil {
		e.Line, e.Col = at.Position.Line, at.Position.Column
	}
	return Errors{e}
}

// Sum tells two sections apart without showing them.
func (r Raw) Sum() [sha256.Size]byte {
	if r.s.node == nil {
		return [sha256.Size]byte{}
	}
	return sha256.Sum256([]byte(r.s.node.String()))
}

// put is the section with one more key in a group of it.
func (r Raw) put(group, key string, value ast.Node) Raw {
	at := value.GetToken()
	text := func(s string) *ast.StringNode { return ast.String(token.String(s, s, at.Position)) }
	members := append(slices.Clone(entries(r.find(group))), ast.MappingValue(at, text(key), value))
	rest := append(without(r.s.node, group), ast.MappingValue(at, text(group), ast.Mapping(at, true, members...)))
	r.s.node = ast.Mapping(r.s.node.GetToken(), true, rest...)
	return r
}

// Off reports whether the section is switched off: `enabled: false`. Nothing else
// of it needs to be right then.
func (r Raw) Off() bool {
	on, ok := r.find("enabled").(*ast.BoolNode)
	return ok && !on.Value
}

func (d *decoder) raw(s spot, v reflect.Value) {
	if _, ok := s.node.(ast.MapNode); !ok {
		d.wrong(s, "a group of keys")
		return
	}
	d.findLiterals(s)
	v.Set(reflect.ValueOf(Raw{s: s, d: decoder{resolver: d.resolver, file: d.file}}))
}

// secretWords end the names of keys whose values are secrets, in sections
// whose types we do not know.
var secretWords = []string{"token", "secret", "password", "key"}

// findLiterals looks for secrets that stand in a raw section itself, and notes
// where it takes the others from.
func (d *decoder) findLiterals(s spot) {
	for _, e := range entries(s.node) {
		key, _ := keyText(e.Key)
		at := spot{key: e.Key.GetToken(), node: e.Value}
		text, ok := stringOf(e.Value)
		d.note(text)
		if ok && namesSecret(key) && d.secretAt == nil && literal(text) {
			d.literals, d.secretAt = true, at.token()
		}
		d.findLiterals(at)
	}
}

func literal(text string) bool {
	return !strings.HasPrefix(text, "file:") && reference.ReplaceAllString(text, "") != ""
}
