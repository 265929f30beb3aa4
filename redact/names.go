package redact

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Names returns params with the same shape and member names, each scalar
// replaced by the name of its type: "string", "number", "boolean" or "null". A
// name that holds a secret is hidden. Params it can't read become "unreadable".
// It is for a record that is to hold no values at all.
func (r *Redactor) Names(params jsontext.Value) jsontext.Value {
	var out bytes.Buffer
	n := namer{dec: jsontext.NewDecoder(bytes.NewBuffer(params)), enc: jsontext.NewEncoder(&out)}
	n.seek.begin(r)
	for {
		err := n.copy()
		if errors.Is(err, io.EOF) && n.enc.StackDepth() == 0 && out.Len() > 0 {
			return bytes.TrimSuffix(out.Bytes(), []byte{'\n'})
		}
		if err != nil {
			return jsontext.Value(`"` + Unreadable + `"`)
		}
	}
}

// Names is [Redactor.Names] without the owner's patterns.
func Names(params jsontext.Value) jsontext.Value {
	shared.start()
	return (&Redactor{making: shared}).Names(params)
}

// namer is one walk over the params.
type namer struct {
	seek  seeker
	dec   *jsontext.Decoder
	enc   *jsontext.Encoder
	names []shownNames // by depth
}

// copy writes the next token, or its replacement.
func (n *namer) copy() error {
	if n.dec.StackDepth() == 0 && n.enc.OutputOffset() > 0 && n.dec.PeekKind() != jsontext.KindInvalid {
		return errors.New("more than one value")
	}
	tok, err := n.dec.ReadToken()
	if err != nil {
		return err
	}
	switch {
	case tok.Kind() == jsontext.KindBeginObject:
		n.begin(n.dec.StackDepth())
	case isMemberName(n.dec):
		tok = n.member(tok)
	case typeName(tok.Kind()) != "":
		tok = jsontext.String(typeName(tok.Kind()))
	}
	return n.enc.WriteToken(tok)
}

// begin forgets the hidden names of the object that was at this depth before.
func (n *namer) begin(depth int) {
	for len(n.names) < depth {
		n.names = append(n.names, shownNames{})
	}
	n.names[depth-1] = shownNames{}
}

// member returns the name of a member, or its replacement.
func (n *namer) member(tok jsontext.Token) jsontext.Token {
	name := tok.String()
	if n.seek.name(name) == "" {
		return tok
	}
	return jsontext.String(n.names[n.dec.StackDepth()-1].unique(utf8.RuneCountInString(name)))
}

// isMemberName reports whether the token just read is the name of a member: in
// an object, every odd one is.
func isMemberName(dec *jsontext.Decoder) bool {
	in, n := dec.StackIndex(dec.StackDepth())
	return in == jsontext.KindBeginObject && n%2 == 1
}

// typeName is "" for a bracket.
func typeName(k jsontext.Kind) string {
	switch k {
	case jsontext.KindString:
		return "string"
	case jsontext.KindNumber:
		return "number"
	case jsontext.KindTrue, jsontext.KindFalse:
		return "boolean"
	case jsontext.KindNull:
		return "null"
	}
	return ""
}

// shownNames keeps the hidden names of one object apart.
type shownNames struct{ count map[int]int }

// unique returns a mask for n characters that the object does not have yet.
func (u *shownNames) unique(n int) string {
	if u.count == nil {
		u.count = map[int]int{}
	}
	u.count[n]++
	if i := u.count[n]; i > 1 {
		return mask(n) + " (" + strconv.Itoa(i) + ")"
	}
	return mask(n)
}
