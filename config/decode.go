package config

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"

	"github.com/openclaw-verifier/verifier/internal/auditor"
	"github.com/openclaw-verifier/verifier/internal/text"
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
	near, far := text.Nearest(key, known)
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
				if _, own := fields[key]; !own { // the outer one counts
					fields[key] = slices.Concat(f.Index, at)
				}
			}
		case name != "" && name != "-":
			fields[name] = f.Index
		}
	}
	return fields
}

// kindOf names the kind of a value, in the words of someone who wrote it.
func kindOf(n ast.Node) string {
	switch n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a group of keys"
	case *ast.SequenceNode:
		return "a list"
	case *ast.BoolNode:
		return "true or false"
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "a number"
	case *ast.StringNode, *ast.LiteralNode:
		return "text"
	}
	return "this"
}

func stringOf(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	}
	return "", false
}

func (d *decoder) text(s spot, v reflect.Value) {
	if text, ok := d.resolved(s, stringOf); ok {
		v.SetString(text)
	}
}

// resolved is a text, with references resolved where they may be in any text. It reports what is wrong with it.
func (d *decoder) resolved(s spot, textOf func(ast.Node) (string, bool)) (string, bool) {
	text, ok := textOf(s.node)
	if !ok {
		d.notText(s)
		return "", false
	}
	if !d.expand {
		return text, true
	}
	text, _, err := d.resolve(text)
	if err != nil {
		d.unresolved(s, err)
	}
	return text, err == nil
}

func (d *decoder) notText(s spot) {
	d.wrong(s, "text")
	last := d.errs[len(d.errs)-1]
	switch kindOf(s.node) {
	case "a number", "true or false":
		last.Hint = "put quotes around it"
		if s.path == "listen" {
			last.Hint = "write an address and a port, such as 127.0.0.1:8787"
		}
	case "a group of keys":
		last.Hint = `if it is meant as text with a colon in it, put quotes around it: "telegram:123456789"`
	}
}

func (d *decoder) secret(s spot, v reflect.Value) {
	text, ok := stringOf(s.node)
	if !ok {
		d.notText(s)
		return
	}
	resolved, literal, err := d.resolve(text)
	if err != nil {
		d.unresolved(s, err)
		return
	}
	if literal && d.secretAt == nil && (s.path != "store.url" || !isBareAddress(resolved)) {
		d.literals, d.secretAt = true, s.token()
	}
	v.Set(reflect.ValueOf(NewSecret(resolved)))
}

// isBareAddress reports whether an address has no password, and nothing that may be one.
func isBareAddress(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && u.User == nil && u.RawQuery == "" && u.Fragment == ""
}

func (d *decoder) unresolved(s spot, err error) {
	if p, ok := errors.AsType[*problem](err); ok {
		d.fail(s.token(), s.path, p.text, p.hint)
		return
	}
	d.fail(s.token(), s.path, err.Error(), "")
}

func (d *decoder) truth(s spot, v reflect.Value) {
	b, ok := s.node.(*ast.BoolNode)
	if !ok {
		d.wrong(s, "true or false")
		return
	}
	v.SetBool(b.Value)
}

func (d *decoder) number(s spot, v reflect.Value) {
	i, ok := s.node.(*ast.IntegerNode)
	if !ok {
		d.wrong(s, "a whole number")
		return
	}
	n, ok := whole(i)
	if !ok || v.OverflowInt(n) {
		d.fail(s.token(), s.path, "is too large a number", "")
		return
	}
	v.SetInt(n)
}

func whole(i *ast.IntegerNode) (int64, bool) {
	switch n := i.Value.(type) {
	case int64:
		return n, true
	case uint64:
		return int64(n), n <= math.MaxInt64 //nolint:gosec // not used unless it fits
	}
	return 0, false
}

const aDuration = "a duration such as 25s or 5m, or a number of seconds"

func (d *decoder) duration(s spot, v reflect.Value) {
	out, ok := durationOf(s.node)
	switch {
	case !ok && kindOf(s.node) == "text":
		d.fail(s.token(), s.path, "is not "+aDuration, "")
	case !ok:
		d.wrong(s, aDuration)
	case out < 0:
		d.fail(s.token(), s.path, "must not be negative", "")
	default:
		v.SetInt(int64(out))
	}
}

// maxSeconds keeps a plain number from overflowing; a century is enough.
const maxSeconds = 100 * 365 * 24 * 60 * 60

func durationOf(n ast.Node) (time.Duration, bool) {
	switch n := n.(type) {
	case *ast.IntegerNode:
		i, ok := whole(n)
		return time.Duration(i) * time.Second, ok && i >= -1 && i <= maxSeconds
	case *ast.FloatNode:
		return time.Duration(n.Value * float64(time.Second)), n.Value >= -1 && n.Value <= maxSeconds
	}
	text, ok := stringOf(n)
	if !ok {
		return 0, false
	}
	out, err := time.ParseDuration(text)
	return out, err == nil
}

// numeric is a text that may stand in the file as a number.
type numeric interface{ MayBeNumber() }

// word reads a value that its own type understands, such as one of a few names.
func (d *decoder) word(s spot, u encoding.TextUnmarshaler) {
	textOf := stringOf
	if _, number := u.(numeric); number {
		textOf = idText
	}
	text, ok := d.resolved(s, textOf)
	if !ok {
		return
	}
	if err := u.UnmarshalText([]byte(text)); err != nil {
		what, hint, _ := strings.Cut(err.Error(), ": ")
		d.fail(s.token(), s.path, visible(what), hint)
	}
}

// wordsOf are the only values of our own types that are one of a few words.
var wordsOf = map[reflect.Type][]string{
	reflect.TypeFor[AuditParams](): {string(ParamsRedacted), string(ParamsNames)},
	reflect.TypeFor[AuditSync]():   {string(SyncNone), string(SyncEach)},
	reflect.TypeFor[AuditorFailMode](): {string(auditor.FailBlock), string(auditor.FailWarn),
		string(auditor.FailAllow)},
	reflect.TypeFor[AuditorMode](): {string(auditor.Advise), string(auditor.Escalate), string(auditor.AutoApprove)},
	reflect.TypeFor[LogFormat]():   {string(LogText), string(LogJSON)},
	reflect.TypeFor[LogLevel]():    {string(LogDebug), string(LogInfo), string(LogWarn), string(LogError)},
}

// oneOf reads one of a few words.
func (d *decoder) oneOf(s spot, v reflect.Value, words []string) {
	text, ok := d.resolved(s, stringOf)
	switch last := len(words) - 1; {
	case !ok:
	case slices.Contains(words, text):
		v.SetString(text)
	default:
		d.fail(s.token(), s.path, visible(fmt.Sprintf("unknown word %q", text)), "use "+strings.Join(words[:last], ", ")+" or "+words[last])
	}
}
