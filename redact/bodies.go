package redact

import (
	"bytes"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// WithoutBodies hides the file bodies in params that were redacted already, and says how many it hid. A card may show what is
// written to a file; what is kept of the card may not. Params that it can't read are hidden whole.
func WithoutBodies(tool string, shown jsontext.Value) (kept jsontext.Value, hidden int) {
	if !shown.IsValid() {
		return appendMask(nil, runes(shown)), 1
	}
	var out bytes.Buffer
	dec, enc := jsontext.NewDecoder(bytes.NewReader(shown)), jsontext.NewEncoder(&out)
	for {
		err := copyWithout(dec, enc, tool, &hidden)
		if errors.Is(err, io.EOF) {
			return bytes.TrimSuffix(out.Bytes(), []byte{'\n'}), hidden
		}
		if err != nil {
			return appendMask(nil, runes(shown)), 1
		}
	}
}

// copyWithout copies a token, and after the name of a file body a mask.
func copyWithout(dec *jsontext.Decoder, enc *jsontext.Encoder, tool string, hidden *int) error {
	tok, err := dec.ReadToken()
	if err != nil {
		return err
	}
	isName, name := isMemberName(dec), tok.String()
	if err := enc.WriteToken(tok); err != nil || !isName {
		return err
	}
	if !isFileBody(tool, squash(name), dec.PeekKind()) {
		return nil
	}
	value, err := dec.ReadValue()
	if err != nil {
		return err
	}
	if value.Kind() == jsontext.KindString {
		s := text(string(value))
		if s == "" || isMask(s) {
			return enc.WriteValue(value)
		}
		*hidden++
		return enc.WriteValue(appendMask(nil, utf8.RuneCountInString(s)))
	}
	if value.Compact() == nil && holdsNothing(value) {
		return enc.WriteValue(value)
	}
	*hidden++
	return enc.WriteValue(appendMask(nil, runes(value)))
}
