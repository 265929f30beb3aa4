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
	"sync"
)

// form is a way to write a secret down.
type form struct {
	name, text string
	fold       bool // case does not matter
}

// forms are all the ways that are looked for. Case does not matter but in
// base64: a secret in capitals, or with its case turned around, is the secret.
func forms(secret string) []form {
	query := url.QueryEscape(secret)
	out := []form{
		{"plain", secret, true},
		{"backwards", backwards(secret), true},
		{"percent", query, true},
		{"percent in a path", url.PathEscape(secret), true},
		{"percent twice", url.QueryEscape(query), true},
		{"percent, every character", everyPercent(secret), true},
		{"JSON", strings.Trim(quote(secret), `"`), true},
		{"quoted", strings.Trim(strconv.Quote(secret), `"`), true},
		{"JSON, every character", everyUnicode(secret), true},
		{"Go", everyEscape(secret), true},
		{"HTML", html.EscapeString(secret), true},
		{"HTML, every character", everyEntity(secret), true},
		{"hex", hex.EncodeToString([]byte(secret)), true},
		{"hex, apart", strings.TrimSpace(everyHex(secret)), true},
		{"bytes", strings.TrimSpace(everyDecimal(secret)), true},
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

// speller returns a function that writes every byte of a text in a format.
func speller(format string) func(string) string {
	bytes := sync.OnceValue(func() *[256]string {
		var all [256]string
		for i := range all {
			all[i] = fmt.Sprintf(format, i)
		}
		return &all
	})
	return func(s string) string {
		all := bytes()
		var out strings.Builder
		for i := range len(s) {
			out.WriteString(all[s[i]])
		}
		return out.String()
	}
}

var (
	everyPercent, everyUnicode, everyEscape = speller("%%%02x"), speller(`\u%04x`), speller(`\x%02x`)
	everyEntity, everyHex, everyDecimal     = speller("&#%d;"), speller("%02x "), speller("%d ")
)

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
