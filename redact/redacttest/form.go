package redacttest

import (
	"encoding/ascii85"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html"
	"net/url"
	"strconv"
	"strings"
)

// form is a way to write a secret down.
type form struct {
	name, text string
	fold       bool // case does not matter
}

// forms are all the ways that are looked for. Case does not matter but in
// base64: a secret in capitals, or with its case turned around, is the secret.
func forms(secret string) []form {
	escaped := url.QueryEscape(secret)
	out := []form{
		{"plain", secret, true},
		{"backwards", backwards(secret), true},
		{"percent", escaped, true},
		{"percent in a path", url.PathEscape(secret), true},
		{"percent twice", url.QueryEscape(escaped), true},
		{"percent, every character", every(secret, "%%%02x"), true},
		{"JSON", strings.Trim(quote(secret), `"`), true},
		{"quoted", strings.Trim(strconv.Quote(secret), `"`), true},
		{"JSON, every character", every(secret, `\u%04x`), true},
		{"Go", every(secret, `\x%02x`), true},
		{"HTML", html.EscapeString(secret), true},
		{"HTML, every character", every(secret, "&#%d;"), true},
		{"hex", hex.EncodeToString([]byte(secret)), true},
		{"hex, apart", strings.TrimSpace(every(secret, "%02x ")), true},
		{"bytes", strings.TrimSpace(every(secret, "%d ")), true},
		{"base32", strings.TrimRight(base32.StdEncoding.EncodeToString([]byte(secret)), "="), true},
		{"ascii85", ascii85Of(secret), false},
	}
	for shift := range 3 {
		core := base64Core(secret, shift)
		out = append(out, form{"base64", core, false}, form{"base64", strings.NewReplacer("+", "-", "/", "_").Replace(core), false})
	}
	twice := base64.StdEncoding.EncodeToString([]byte(secret))
	for shift := range 3 {
		out = append(out, form{"base64 twice", base64Core(strings.TrimRight(twice, "="), shift), false})
	}
	return out
}

// Leaks says in which form the secret is in the output, or "".
func Leaks(output, secret string) string {
	small := folded(output)
	for _, f := range forms(secret) {
		if f.fold && strings.Contains(small, folded(f.text)) || !f.fold && strings.Contains(output, f.text) {
			return f.name
		}
	}
	return ""
}

func every(s, format string) string {
	var out strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&out, format, s[i])
	}
	return out.String()
}

func backwards(s string) string {
	b := []byte(s)
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
	return string(b)
}

// ascii85Of leaves out the last group, which depends on what follows.
func ascii85Of(s string) string {
	whole := s[:len(s)/4*4]
	out := make([]byte, ascii85.MaxEncodedLen(len(whole)))
	return string(out[:ascii85.Encode(out, []byte(whole))])
}

// base64Core is what base64 of a text has wherever the secret is in it, at
// this offset of three: the letters that depend on the secret alone.
func base64Core(secret string, shift int) string {
	all := base64.RawStdEncoding.EncodeToString([]byte("\x00\x00"[:shift] + secret))
	from := (shift*8 + 5) / 6
	return all[from : (shift+len(secret))*8/6]
}
