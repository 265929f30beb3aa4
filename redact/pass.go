package redact

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	maskStart = "[REDACTED: "
	maskEnd   = " chars]"
)

// maxPath bounds the path of a finding: without it, a long key above a long array
// would be copied once for each element.
const maxPath = 256

// pass is one walk over params that are valid JSON.
type pass struct {
	redactor *Redactor
	seek     seeker
	tool     string
	in       scan
	out      []byte
	path     []byte
	result   Result
}

func (p *pass) value() {
	switch p.in.kind() {
	case jsontext.KindBeginObject:
		p.object()
	case jsontext.KindBeginArray:
		p.array(nil)
	default:
		p.show(p.in.value())
	}
}

// show writes a scalar, without the secrets in it.
func (p *pass) show(raw string) {
	switch {
	case raw[0] == '"':
		p.showAs(raw, p.in.says(raw), nil)
	case jsontext.Value(raw).Kind() == jsontext.KindNumber && p.seek.minds():
		p.showAs(raw, raw, nil) // a card's number may come as a number
	default:
		p.out = append(p.out, raw...)
	}
}

// showAs writes a string that reads s, without the secrets in it, some of which
// are known.
func (p *pass) showAs(raw, s string, known []span) {
	s, hidden := p.seek.text(s, known, p)
	if !hidden {
		p.out = append(p.out, raw...)
		return
	}
	p.quote(s)
}

// quote writes a string. Where the text has become no text by what was cut out
// of it, nothing of it is shown.
func (p *pass) quote(s string) {
	out, err := jsontext.AppendQuote(p.out, s)
	if err != nil {
		out = appendMask(p.out, utf8.RuneCountInString(s))
	}
	p.out = out
}

// name writes the name of a member, or its replacement.
func (p *pass) name(names *shownNames, raw, name string) {
	kind := p.seek.name(name)
	if kind == "" {
		p.out = append(append(p.out, raw...), ':')
		p.path = append(p.path, name...)
		return
	}
	n := utf8.RuneCountInString(name)
	shown := names.unique(n)
	p.quote(shown)
	p.out = append(p.out, ':')
	p.path = append(p.path, shown...)
	p.found(kind, n)
}

func (p *pass) object() {
	pair := pair{program: program{object: p.in.at}}
	p.open('{')
	base := len(p.path)
	var names shownNames
	for i := 0; p.in.kind() != jsontext.KindEndObject; i++ {
		p.comma(i)
		raw := p.in.value()
		name := p.in.says(raw)
		if base > 0 {
			p.path = append(p.path, '.')
		}
		p.name(&names, raw, name)
		p.member(name, &pair)
		p.path = p.path[:base]
	}
	p.close('}')
}

// member writes the value of the named member, or its replacement.
func (p *pass) member(name string, pair *pair) {
	squashed := squash(name)
	kind := p.redactor.kindOf(p.tool, name, squashed, p.in.kind())
	if kind == "" && (isSecretNumber(squashed, p.in) || isLoginOf(squashed, p.in)) {
		kind = SecretField
	}
	if kind != "" {
		p.hide(kind, p.in.value())
		return
	}
	p.pairMember(roles[squashed], pair)
}

// hide writes a mask for a value, unless it has nothing to hide or is a mask itself. A value that only contains a mask is still hidden
// for its own reason: the agent can write a mask into any text.
func (p *pass) hide(kind, raw string) {
	if raw[0] == '"' {
		p.hideText(kind, raw)
		return
	}
	v := jsontext.Value(raw)
	if v.Compact() == nil && holdsNothing(v) {
		p.out = append(p.out, v...)
		return
	}
	p.result.preRedacted = p.result.preRedacted || holdsMask(v)
	p.mask(kind, runes(v))
}

func (p *pass) hideText(kind, raw string) {
	s := text(raw)
	n := utf8.RuneCountInString(s)
	switch {
	case s == "":
		p.out = append(p.out, raw...)
	case isMask(s):
		p.out = append(p.out, raw...)
		p.found(AlreadyRedacted, n)
	default:
		p.result.preRedacted = p.result.preRedacted || isRedacted(s)
		p.mask(kind, n)
	}
}

func (p *pass) mask(kind string, n int) {
	p.out = appendMask(p.out, n)
	p.found(kind, n)
}

// array writes an array, which holds the arguments of g if that is not nil.
func (p *pass) array(g *program) {
	args := p.argList(g)
	p.open('[')
	base := len(p.path)
	for i := 0; p.in.kind() != jsontext.KindEndArray; i++ {
		p.comma(i)
		p.path = append(strconv.AppendInt(append(p.path, '['), int64(i), 10), ']')
		p.element(&args)
		p.path = p.path[:base]
	}
	p.close(']')
}

func (p *pass) open(bracket byte) {
	p.in.enter()
	p.out = append(p.out, bracket)
}

func (p *pass) close(bracket byte) {
	p.in.leave()
	p.out = append(p.out, bracket)
}

func (p *pass) comma(i int) {
	if i > 0 {
		p.out = append(p.out, ',')
	}
}

func (p *pass) found(kind string, n int) {
	p.result.add(Finding{Path: p.place(), Kind: kind, Length: n})
}

func (p *pass) place() string {
	if len(p.path) <= maxPath {
		return string(p.path)
	}
	end := maxPath
	for !utf8.RuneStart(p.path[end]) {
		end--
	}
	return string(p.path[:end]) + "…"
}

// holdsNothing is for compact values other than strings.
func holdsNothing(v jsontext.Value) bool {
	switch v.Kind() {
	case jsontext.KindNull, jsontext.KindTrue, jsontext.KindFalse:
		return true
	case jsontext.KindBeginObject, jsontext.KindBeginArray:
		return len(v) == 2
	}
	return false
}

// holdsMask reports whether a string anywhere in v was redacted by the client.
func holdsMask(v jsontext.Value) bool {
	dec := jsontext.NewDecoder(bytes.NewReader(v))
	for {
		tok, err := dec.ReadToken()
		if err != nil {
			return false
		}
		if tok.Kind() == jsontext.KindString && isRedacted(tok.String()) {
			return true
		}
	}
}

// text returns what a valid JSON string reads.
func text(raw string) string {
	if strings.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	s, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return raw
	}
	return string(s)
}

func runes(v jsontext.Value) int { return utf8.RuneCount(v) }

func appendMask(out []byte, n int) []byte {
	out = append(out, `"`+maskStart...)
	out = strconv.AppendInt(out, int64(n), 10)
	return append(out, maskEnd+`"`...)
}
