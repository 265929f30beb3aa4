package redact

import (
	"bytes"
	"errors"
	"io"
	"strconv"
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

// pass is one walk over the params. Its methods say whether the text was good so
// far; after a false, nothing of the output is used.
type pass struct {
	redactor *Redactor
	seek     *seeker
	tool     string
	input    jsontext.Value
	dec      *jsontext.Decoder
	out      []byte
	path     []byte
	result   Result
	program  *program // whose arguments the next value holds, if it does
}

func newPass(r *Redactor, tool string, params jsontext.Value) *pass {
	return &pass{
		redactor: r,
		seek:     newSeeker(r),
		tool:     tool,
		input:    params,
		dec:      jsontext.NewDecoder(bytes.NewBuffer(params)), // a Buffer is read in place, a Reader is copied
		out:      make([]byte, 0, len(params)+64),
	}
}

// whole walks one value that nothing may follow.
func (p *pass) whole() bool {
	if !p.value() {
		return false
	}
	_, err := p.dec.ReadToken()
	return errors.Is(err, io.EOF)
}

func (p *pass) value() bool {
	switch p.dec.PeekKind() {
	case jsontext.KindBeginObject:
		return p.object()
	case jsontext.KindBeginArray:
		return p.array()
	}
	v, err := p.dec.ReadValue()
	if err != nil {
		return false
	}
	p.show(v)
	return true
}

// show writes a scalar, without the secrets in it.
func (p *pass) show(v jsontext.Value) {
	if v.Kind() != jsontext.KindString {
		p.out = append(p.out, v...)
		return
	}
	p.showAs(v, text(v), nil)
}

// showAs writes a string that reads s, without the secrets in it, some of which
// are known.
func (p *pass) showAs(v jsontext.Value, s string, known []span) {
	s, hidden := p.seek.text(s, known, p.found)
	if !hidden {
		p.out = append(p.out, v...)
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

// name writes the name of a member, or what stands for it.
func (p *pass) name(names *shownNames, raw jsontext.Value, name string) {
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

func (p *pass) object() bool {
	pair := pair{program: program{object: p.dec.InputOffset()}}
	if !p.bracket('{') {
		return false
	}
	base := len(p.path)
	var names shownNames
	for i := 0; p.dec.PeekKind() != jsontext.KindEndObject; i++ {
		p.comma(i)
		raw, err := p.dec.ReadValue()
		if err != nil {
			return false
		}
		name := text(raw)
		if base > 0 {
			p.path = append(p.path, '.')
		}
		p.name(&names, raw, name)
		if !p.member(name, &pair) {
			return false
		}
		p.path = p.path[:base]
	}
	return p.bracket('}')
}

// member writes the value of the named member, or what stands for it.
func (p *pass) member(name string, pair *pair) bool {
	kind := p.redactor.kind(p.tool, name, p.dec.PeekKind())
	if kind == "" {
		return p.pairMember(name, pair)
	}
	return p.hidden(kind)
}

// hidden writes what stands for the next value.
func (p *pass) hidden(kind string) bool {
	v, err := p.dec.ReadValue()
	if err != nil {
		return false
	}
	p.hide(kind, v)
	return true
}

// hide writes a mask for v, unless v has nothing to hide or is a mask itself.
func (p *pass) hide(kind string, v jsontext.Value) {
	if v.Kind() == jsontext.KindString {
		p.hideText(kind, v)
		return
	}
	v = v.Clone()
	if v.Compact() == nil && holdsNothing(v) {
		p.out = append(p.out, v...)
		return
	}
	if holdsMask(v) {
		kind = AlreadyRedacted
	}
	p.mask(kind, runes(v))
}

func (p *pass) hideText(kind string, v jsontext.Value) {
	s := text(v)
	n := utf8.RuneCountInString(s)
	switch {
	case s == "":
		p.out = append(p.out, v...)
	case isMask(s):
		p.out = append(p.out, v...)
		p.found(AlreadyRedacted, n)
	case isRedacted(s):
		p.mask(AlreadyRedacted, n)
	default:
		p.mask(kind, n)
	}
}

func (p *pass) mask(kind string, n int) {
	p.out = appendMask(p.out, n)
	p.found(kind, n)
}

func (p *pass) array() bool {
	args := p.argList()
	if !p.bracket('[') {
		return false
	}
	base := len(p.path)
	for i := 0; p.dec.PeekKind() != jsontext.KindEndArray; i++ {
		p.comma(i)
		p.path = append(strconv.AppendInt(append(p.path, '['), int64(i), 10), ']')
		if !p.element(&args) {
			return false
		}
		p.path = p.path[:base]
	}
	return p.bracket(']')
}

// bracket writes and reads one that opens or closes.
func (p *pass) bracket(b byte) bool {
	p.out = append(p.out, b)
	_, err := p.dec.ReadToken()
	return err == nil
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

func escaped(v jsontext.Value) bool { return bytes.IndexByte(v, '\\') >= 0 }

// text returns the decoded form of a JSON string that a decoder has accepted.
func text(v jsontext.Value) string {
	if !escaped(v) {
		return string(v[1 : len(v)-1])
	}
	s, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		return string(v)
	}
	return string(s)
}

func runes(v jsontext.Value) int { return utf8.RuneCount(v) }

func appendMask(out []byte, n int) []byte {
	out = append(out, `"`+maskStart...)
	out = strconv.AppendInt(out, int64(n), 10)
	return append(out, maskEnd+`"`...)
}
