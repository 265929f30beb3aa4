package redact

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// walk is one walk over params. It writes them anew, without what is hidden.
type walk struct {
	r    *Redactor
	tool string
	only only
	f    finder

	text   string // the params
	dec    *jsontext.Decoder
	err    error
	out    []byte
	result Result
}

// only is all that a walk does, if it does not hide everything.
type only uint8

const (
	_      only = iota
	names       // it writes the names of members and the types of values
	bodies      // it hides file bodies and looks for nothing else
)

// all walks over the params, and reports whether they could be read.
func (w *walk) all(params jsontext.Value) bool {
	w.text, w.dec = string(params), jsontext.NewDecoder(bytes.NewBuffer(params))
	w.out = make([]byte, 0, min(len(params), 1<<10)+16)
	w.value()
	if w.err == nil {
		if _, err := w.dec.ReadToken(); !errors.Is(err, io.EOF) {
			w.err = errors.New("more than one value")
		}
	}
	w.result.Params = w.out
	return w.err == nil
}

// read returns the next value or name as it is written.
func (w *walk) read() string {
	v, err := w.dec.ReadValue()
	if err != nil {
		w.err = err
		return "null"
	}
	end := int(w.dec.InputOffset())
	return w.text[end-len(v) : end]
}

func (w *walk) value() {
	switch w.dec.PeekKind() {
	case jsontext.KindBeginObject:
		w.object()
	case jsontext.KindBeginArray:
		w.array(arguments{}, false)
	default:
		w.scalar(w.read(), nil)
	}
}

// bracket passes one.
func (w *walk) bracket(bracket byte) {
	if w.err == nil {
		_, w.err = w.dec.ReadToken()
	}
	w.out = append(w.out, bracket)
}

// more reports whether another element or member follows, and separates it from the one before.
func (w *walk) more(i int) bool {
	if w.err != nil || w.dec.PeekKind() == jsontext.KindEndObject || w.dec.PeekKind() == jsontext.KindEndArray {
		return false
	}
	if i > 0 {
		w.out = append(w.out, ',')
	}
	return true
}

// scalar writes a value without the secrets in it, some of which are known.
func (w *walk) scalar(raw string, known []span) {
	kind := jsontext.Value(raw).Kind()
	switch {
	case w.only == names:
		w.out = append(append(append(w.out, '"'), typeNames[kind]...), '"')
		return
	case w.only == bodies || kind != '"' && (kind != '0' || w.f.words != nil && !w.r.numbers):
		w.out = append(w.out, raw...)
		return
	}
	s := raw
	if kind == '"' {
		s = unquoted(raw)
	}
	if shown, hidden := w.f.text(s, known, &w.result); hidden {
		w.quote(shown)
	} else {
		w.out = append(w.out, raw...)
	}
}

var typeNames = map[jsontext.Kind]string{'"': "string", '0': "number", 't': "boolean", 'f': "boolean", 'n': "null"}

// quote writes a string. Where the text has become no text by what was cut out of it, nothing of it is shown.
func (w *walk) quote(s string) {
	out, err := jsontext.AppendQuote(w.out, s)
	if err != nil {
		out = appendMask(w.out, utf8.RuneCountInString(s))
	}
	w.out = out
}

// unquoted returns what a string reads.
func unquoted(raw string) string {
	if strings.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	s, err := jsontext.AppendUnquote(make([]byte, 0, len(raw)), raw)
	if err != nil {
		return raw
	}
	return string(s)
}

func (w *walk) object() {
	var p pair
	w.bracket('{')
	base := len(w.result.path)
	var masks map[string]int
	for i := 0; w.more(i); i++ {
		raw := w.read()
		if w.err != nil {
			return
		}
		if base > 0 {
			w.result.path = append(w.result.path, '.')
		}
		name := unquoted(raw)
		w.name(&masks, raw, name)
		w.member(name, &p)
		w.result.path = w.result.path[:base]
	}
	w.bracket('}')
}

// name writes the name of a member, or its replacement. Hidden names get a mask of their own, so a name that looks like
// one gives way.
func (w *walk) name(masks *map[string]int, raw, name string) {
	kind := ""
	switch {
	case w.only == bodies:
	case strings.HasPrefix(name, maskStart):
		kind = SecretField
	case w.f.words == nil && !isPlain(name):
		kind = NotReady
	case w.f.words != nil && (len(name) >= 6 || len(w.r.patterns) > 0):
		var hidden Result
		if _, is := w.f.text(name, nil, &hidden); is {
			kind = hidden.Findings[len(hidden.Findings)-1].Kind
		}
	}
	if kind == "" {
		w.out = append(append(w.out, raw...), ':')
		w.result.path = append(w.result.path, name...)
		return
	}
	n := utf8.RuneCountInString(name)
	shown := mask(n)
	if *masks == nil {
		*masks = map[string]int{}
	}
	if (*masks)[shown]++; (*masks)[shown] > 1 {
		shown += " (" + strconv.Itoa((*masks)[shown]) + ")"
	}
	w.quote(shown)
	w.out = append(w.out, ':')
	w.result.path = append(w.result.path, shown...)
	if w.only != names {
		w.result.found(kind, n)
	}
}

// isPlain is for names that are too short, and too plain, to be a secret.
func isPlain(s string) bool {
	return len(s) <= 16 && !strings.ContainsFunc(s, func(c rune) bool {
		return c != '_' && (c > 'z' || !isLetter(byte(c))) //nolint:gosec // no more than z
	})
}

// pair is what is known of an object that may be {"name": …, "value": …} or {"command": …, "args": […]}.
type pair struct {
	kind    string // by the name: why the value is hidden
	program string
}

var (
	ofName    = setOf("name key header field k id variable env")
	ofValue   = setOf("value val v values")
	ofProgram = setOf("command cmd program executable file bin binary exe")
	ofArgs    = setOf("command cmd args argv arguments")
)

// member writes the value of the named member, or its replacement.
func (w *walk) member(name string, p *pair) {
	squashed, next := squash(name), w.dec.PeekKind()
	kind := ""
	switch {
	case w.only == 0:
		if kind = w.r.kind(w.tool, name, squashed, next); kind == "" && ofValue[squashed] {
			kind = p.kind
		}
	case w.only == bodies && isFileBody(w.tool, squashed, next):
		kind = FileBody
	}
	switch {
	case kind != "":
		w.hide(kind, w.read())
	case w.only == 0 && next == '[' && ofArgs[squashed]:
		var a arguments
		a.of(p.program)
		w.array(a, true)
	case w.only == 0 && (next == '"' || next == '0'):
		w.telling(squashed, w.read(), p)
	default:
		w.value()
	}
}

// telling writes a value that may tell something of the members after it, or is hidden whole for what it reads: a
// code, a login, or base64 of a text with a secret.
func (w *walk) telling(squashed, raw string, p *pair) {
	if isSecretValue(squashed, raw) {
		w.hide(SecretField, raw)
		return
	}
	if raw[0] == '"' && ofName[squashed] && p.kind == "" {
		name := unquoted(raw)
		p.kind = w.r.kind("", name, squash(name), '"')
	}
	if raw[0] == '"' && ofProgram[squashed] {
		p.program = unquoted(raw)
	}
	if plain, ok := decoded(strings.Trim(raw, `"`)); ok && w.f.words != nil && strings.HasSuffix(squashed, "base64") {
		if spans := w.f.find(plain); w.f.failed || len(spans) > 0 {
			w.hide(append(spans, span{kind: TooMuch})[0].kind, raw)
			return
		}
	}
	w.scalar(raw, nil)
}

// hide writes a mask for a value, unless it has nothing to hide or is a mask itself. A value that only contains a
// mask is still hidden for its own reason: the agent can write a mask into any text.
func (w *walk) hide(kind, raw string) {
	s, first := raw, raw[0]
	escapes := 0
	if first == '"' && len(raw) > 1<<10 && !strings.Contains(raw, `\u`) { // a body can be counted as it is written
		s, escapes = raw[1:len(raw)-1], strings.Count(raw, `\`)-strings.Count(raw, `\\`)
	} else if first == '"' {
		s = unquoted(raw)
	} else if v := jsontext.Value(raw); v.Compact() == nil {
		raw, s = string(v), string(v)
	}
	n := utf8.RuneCountInString(s) - escapes
	masked, empty := isMask(s), first != '"' && (s == "[]" || s == "{}" || strings.IndexByte("ntf", first) >= 0)
	if s == "" || masked || empty {
		w.out = append(w.out, raw...)
		if masked && w.only == 0 {
			w.result.found(AlreadyRedacted, n)
		}
		return
	}
	w.result.preRedacted = w.result.preRedacted || HasMask(s) || first != '"' && strings.Contains(s, `"[REDACTED`)
	w.out = appendMask(w.out, n)
	w.result.found(kind, n)
}

// array writes an array, whose elements may be the arguments of a program.
func (w *walk) array(a arguments, argv bool) {
	w.bracket('[')
	base := len(w.result.path)
	secret := false // the next element is hidden
	for i := 0; w.more(i); i++ {
		w.result.path = append(strconv.AppendInt(append(w.result.path, '['), int64(i), 10), ']')
		switch {
		case w.only == 0 && secret:
			w.hide(SecretField, w.read())
			secret = false
		case w.only == 0 && w.dec.PeekKind() == '"':
			secret = w.argument(&a, w.read(), i == 0 && !argv)
		default:
			w.value()
		}
		w.result.path = w.result.path[:base]
	}
	w.bracket(']')
}

// argument writes a string that may be a flag, a name or an argument, and reports whether the next element is a secret.
func (w *walk) argument(a *arguments, raw string, first bool) bool {
	s := unquoted(raw)
	var known []span
	if a.rows == nil {
		a.of(s)
	} else if at := a.next(s); at >= 0 && at < len(s) && w.f.words != nil {
		known = []span{{at, len(s), flagKind}}
	}
	w.scalar(raw, known)
	name := strings.TrimLeft(s, "-")
	if name == "" || len(name) > maxName || strings.ContainsFunc(name, func(c rune) bool {
		return c > 'z' || !isName(byte(c)) //nolint:gosec // no more than z
	}) {
		return false
	}
	squashed, flag := squash(name), len(name) < len(s)
	named := flag || headers[squashed] || first && !strings.HasSuffix(name, "passwd") // a program
	return named && w.r.kind("", name, squashed, '"') == SecretField || flag && codes[squashed]
}

// headers are names that are recognised wherever they are in a list.
var headers = setOf("authorization proxyauthorization cookie setcookie xapikey xauthtoken")
