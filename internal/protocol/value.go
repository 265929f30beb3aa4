package protocol

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// value is a member's value and what it is called.
type value struct {
	what string
	raw  jsontext.Value
}

// plain is a string as it is meant.
func (v value) plain() (string, error) {
	if v.raw.Kind() != jsontext.KindString {
		return "", malformed(v.what + " must be a string.")
	}
	text, err := jsontext.AppendUnquote(nil, v.raw)
	if err != nil {
		return "", malformed(v.what + " must be a string.")
	}
	return string(text), nil
}

// text is a short string that may become part of a key, a prompt or a log line.
func (v value) text(most int) (string, error) {
	s, err := v.plain()
	if err != nil {
		return "", err
	}
	if len(s) > most || strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) >= 0 {
		return "", malformed(v.what + " must be at most " + strconv.Itoa(most) + " bytes without control characters.")
	}
	return s, nil
}

// count is a whole number that is not negative.
func (v value) count() (int64, error) { return v.countOf(64) }

// smallCount is one of at most 32 bits.
func (v value) smallCount() (int64, error) { return v.countOf(32) }

// iteration is the number of an iteration.
func (v value) iteration() (*int, error) {
	n, err := v.smallCount()
	i := int(n)
	return &i, err
}

func (v value) countOf(bits int) (int64, error) {
	n, err := strconv.ParseInt(string(v.raw), 10, bits)
	if err != nil || n < 0 {
		return 0, malformed(v.what + " must be a whole number that is not negative.")
	}
	return n, nil
}

func (v value) flag() (bool, error) {
	switch string(v.raw) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, malformed(v.what + " must be true or false.")
}

// hash is a hash that the runtime made.
func (v value) hash() (Hash, error) {
	s, err := v.plain()
	digits, ok := strings.CutPrefix(s, hashPrefix)
	if err != nil || !ok || len(digits) != 2*sha256.Size || strings.Trim(digits, "0123456789abcdef") != "" {
		return "", malformed(v.what + " must be sha256: and 64 hex digits.")
	}
	return Hash(s), nil
}

const hashPrefix = "sha256:"

// HashOf is the hash of a text.
func HashOf(text string) Hash { return sum([]byte(text)) }

func sum(b []byte) Hash {
	s := sha256.Sum256(b)
	return Hash(hashPrefix + hex.EncodeToString(s[:]))
}

// hashed is the hash of a string's text, with the text, or of anything else as it was sent.
func (v value) hashed() (Hash, string) {
	if text, err := v.plain(); err == nil {
		return HashOf(text), text
	}
	return sum(v.raw), ""
}

// hashOfAny is hashed without the text.
func (v value) hashOfAny() (Hash, error) {
	h, _ := v.hashed()
	return h, nil
}

// hashedText is a string with its hash.
func (v value) hashedText() (*Text, error) {
	text, err := v.plain()
	return &Text{HashOf(text), text}, err
}

// object is an object as it was sent.
func (v value) object() (jsontext.Value, error) {
	if v.raw.Kind() != jsontext.KindBeginObject {
		return nil, malformed(v.what + " must be an object.")
	}
	return bytes.Clone(v.raw), nil
}

// each reads a list.
func (v value) each(most int, read func(v value) error) error {
	dec := jsontext.NewDecoder(bytes.NewBuffer(v.raw), jsontext.AllowDuplicateNames(true))
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != jsontext.KindBeginArray {
		return malformed(v.what + " must be a list.")
	}
	for n := 0; dec.PeekKind() != jsontext.KindEndArray; n++ {
		if n == most {
			return malformed(v.what + " must have at most " + strconv.Itoa(most) + " entries.")
		}
		raw, err := dec.ReadValue()
		if err != nil {
			return malformed(v.what + " could not be read.")
		}
		if err := read(value{v.what + "[]", raw}); err != nil {
			return err
		}
	}
	return nil
}

// name is the name of a tool.
func (v value) name() (string, error) {
	s, err := v.text(MaxToolName)
	if err == nil && Canonical(s) == "" {
		return "", malformed(v.what + " must not be empty.")
	}
	return s, err
}

// id is an identifier, as in the context.
func (v value) id() (string, error) { return v.text(MaxText) }

// at is a member of an object that others wrote for others. What is missing, or no object, is the zero value.
func (v value) at(name string) (found value) {
	err := v.members(optional(name, func(v value) error {
		found = value{v.what, bytes.Clone(v.raw)}
		return nil
	}))
	if err != nil {
		return value{}
	}
	return found
}
