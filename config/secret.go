package config

import (
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"reflect"
	"slices"
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
	return variety(plain) == 1 || slices.ContainsFunc(placeholders, func(p string) bool { return strings.Contains(plain, p) })
}

// SecretTexts are the values of all secrets in the config, those of the chats and
// the store's password included, so that they can be hidden wherever they turn up.
func (c *Config) SecretTexts() []string {
	var out []string
	collectSecrets(reflect.ValueOf(c).Elem(), &out)
	if c.Store.URL.Set() {
		out = append(out, passwordIn(c.Store.URL.Reveal())...)
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == "" })
}

// collectSecrets looks at all exported fields, so that no new one is forgotten.
func collectSecrets(v reflect.Value, out *[]string) {
	switch is := v.Interface().(type) {
	case Secret:
		*out = append(*out, is.text)
		return
	case Raw:
		*out = append(*out, is.secrets()...)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				collectSecrets(v.Field(i), out)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			collectSecrets(v.Index(i), out)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			collectSecrets(v.MapIndex(key), out)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			collectSecrets(v.Elem(), out)
		}
	default: // no other kind holds a Secret
	}
}

// secrets are the texts under keys that are named like secrets, at any depth.
func (r Raw) secrets() (out []string) {
	if r.s.node == nil {
		return nil
	}
	for _, e := range entries(r.s.node) {
		key, _ := keyText(e.Key)
		at := Raw{s: spot{key: e.Key.GetToken(), node: e.Value}, d: r.d}
		if _, ok := stringOf(e.Value); !ok {
			out = append(out, at.secrets()...)
			continue
		}
		var text string
		if namesSecret(key) && at.Decode(&text) == nil {
			out = append(out, text)
		}
	}
	return out
}

func namesSecret(key string) bool {
	return slices.ContainsFunc(secretWords, func(w string) bool { return strings.HasSuffix(strings.ToLower(key), w) })
}

// passwordIn is the password in an address, as it is written there and as it is.
func passwordIn(address string) []string {
	_, rest, _ := strings.Cut(address, "://")
	at := strings.LastIndexByte(rest, '@')
	if at < 0 {
		return nil
	}
	_, password, found := strings.Cut(rest[:at], ":")
	if !found {
		return nil
	}
	plain, err := url.PathUnescape(password)
	if err != nil {
		plain = password
	}
	return []string{password, plain}
}
