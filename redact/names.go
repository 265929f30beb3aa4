package redact

import (
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// Names returns params with the same shape and member names, each scalar
// replaced by the name of its type: "string", "number", "boolean" or "null".
// Params it can't read become "unreadable". It is for a record that is to hold
// no values at all.
func Names(params jsontext.Value) jsontext.Value {
	var out bytes.Buffer
	dec, enc := jsontext.NewDecoder(bytes.NewReader(params)), jsontext.NewEncoder(&out)
	for {
		err := copyName(dec, enc)
		if errors.Is(err, io.EOF) && enc.StackDepth() == 0 && out.Len() > 0 {
			return bytes.TrimSuffix(out.Bytes(), []byte{'\n'})
		}
		if err != nil {
			return jsontext.Value(`"` + Unreadable + `"`)
		}
	}
}

// copyName writes the next token, or what stands for it.
func copyName(dec *jsontext.Decoder, enc *jsontext.Encoder) error {
	if dec.StackDepth() == 0 && enc.OutputOffset() > 0 && dec.PeekKind() != jsontext.KindInvalid {
		return errors.New("more than one value")
	}
	tok, err := dec.ReadToken()
	if err != nil {
		return err
	}
	if name := typeName(tok.Kind()); name != "" && !isMemberName(dec) {
		tok = jsontext.String(name)
	}
	return enc.WriteToken(tok)
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
