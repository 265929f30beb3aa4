package config

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
	"unicode"
)

// Secret is a text that no format prints. The zero Secret is one that was not
// given.
type Secret struct {
	text string
	set  bool
}

// NewSecret makes a Secret of a text.
func NewSecret(text string) Secret { return Secret{text: text, set: true} }

const hidden = "[secret]"

// Reveal is the text itself. Its caller is responsible for where it goes.
func (s Secret) Reveal() string { return s.text }

// Set reports whether there is one, be it empty.
func (s Secret) Set() bool { return s.set }

// String hides the text.
func (Secret) String() string { return hidden }

// GoString hides the text.
func (Secret) GoString() string { return hidden }

// Format hides the text from every verb: %d would otherwise print the fields.
func (Secret) Format(f fmt.State, _ rune) {
	io.WriteString(f, hidden) //nolint:errcheck // fmt.State never fails
}

// LogValue hides the text.
func (Secret) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalText hides the text.
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// makeOne is the hint beside every secret that is refused.
const makeOne = "make one with `openssl rand -hex 32`, or let `verifier init` write a file with fresh ones"

// weakness says what is wrong with a secret, or "".
func (s Secret) weakness(least int) string {
	switch {
	case s.text == "":
		return "is empty"
	case isPlaceholder(s.text):
		return "is a placeholder that anyone could guess"
	case strings.ContainsFunc(s.text, unicode.IsControl) || strings.TrimSpace(s.text) != s.text:
		return "has a line break, a control character, or white space around it"
	case len(s.text) < least:
		return fmt.Sprintf("is too short: it has %d characters and needs %d", len(s.text), least)
	case variety(s.text) < leastVariety:
		return "repeats a few characters, so that anyone could guess it"
	}
	return ""
}

// leastVariety is how many different characters a secret must have. Sixteen
// random hex digits have fewer than five once in a hundred million times.
const leastVariety = 5

func variety(s string) int {
	seen := map[rune]bool{}
	for _, r := range s {
		seen[r] = true
	}
	return len(seen)
}

// placeholders are what people and examples write before they write a secret,
// our own documents' test vectors included. They are looked for anywhere in the
// value, in lower case and without separators, where no random text has them.
var placeholders = []string{
	"changeme", "changethis", "changeit", "replaceme", "replacethis", "placeholder", "example",
	"yoursecret", "yourtoken", "yourkey", "yourpassword", "mysecret", "mytoken", "supersecret", "topsecret",
	"secrethere", "tokenhere", "inserthere", "putyour", "hmacsecret", "webhooksecret", "ownertoken",
	"verifiersecret", "verifiertestsecret", "testsecret", "password", "passw0rd", "letmein", "qwerty",
	"xxxxxx", "12345678", "abcdefgh", "deadbeefdeadbeef", "0123456789abcdef",
}

// words are placeholders only as the whole value.
var words = map[string]bool{
	"secret": true, "token": true, "key": true, "test": true, "todo": true, "none": true, "null": true,
	"default": true, "admin": true, "dummy": true, "foo": true, "bar": true, "xxx": true, "tbd": true,
}

func isPlaceholder(s string) bool {
	plain := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
	if plain == "" || words[plain] {
		return true
	}
	for _, p := range placeholders {
		if strings.Contains(plain, p) {
			return true
		}
	}
	return variety(plain) == 1
}
