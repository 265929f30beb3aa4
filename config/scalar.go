package config

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/openclaw-verifier/verifier/intent"
)

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
	if literal && d.secretAt == nil {
		d.literals, d.secretAt = true, s.token()
	}
	v.Set(reflect.ValueOf(NewSecret(resolved)))
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
	reflect.TypeFor[AuditParams]():     {string(ParamsRedacted), string(ParamsNames)},
	reflect.TypeFor[AuditSync]():       {string(SyncNone), string(SyncEach)},
	reflect.TypeFor[AuditorFailMode](): {string(intent.FailBlock), string(intent.FailWarn), string(intent.FailAllow)},
	reflect.TypeFor[AuditorMode]():     {string(intent.Advise), string(intent.Escalate), string(intent.AutoApprove)},
	reflect.TypeFor[LogFormat]():       {string(LogText), string(LogJSON)},
	reflect.TypeFor[LogLevel]():        {string(LogDebug), string(LogInfo), string(LogWarn), string(LogError)},
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
