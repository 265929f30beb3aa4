package redacttest_test

import (
	"encoding/ascii85"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html"
	"net/url"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/redact/redacttest"
)

const secret = `Tr4p<&"+/>door-Secret`

// written are ways in which a program may write a secret down.
func written() map[string]string {
	b := []byte(secret)
	std := base64.StdEncoding.EncodeToString(b)
	buf := make([]byte, ascii85.MaxEncodedLen(len(b)))
	return map[string]string{
		"plain": secret, "capitals": strings.ToUpper(secret), "small": strings.ToLower(secret), "case turned around": turned(secret),
		"query": url.QueryEscape(secret), "path": url.PathEscape(secret), "query twice": url.QueryEscape(url.QueryEscape(secret)), "small percent": strings.ToLower(url.QueryEscape(secret)),
		"json": fmt.Sprintf("%q", secret), "html": html.EscapeString(secret), "hex": hex.EncodeToString(b), "capital hex": strings.ToUpper(hex.EncodeToString(b)), "hex dump": fmt.Sprintf("% x", b), "bytes": fmt.Sprintf("%d", b),
		"base64": std, "base64 url": base64.URLEncoding.EncodeToString(b), "base64 after one": base64.StdEncoding.EncodeToString([]byte("x" + secret + "y")), "base64 after two": base64.RawURLEncoding.EncodeToString([]byte("xy" + secret)),
		"base64 in lines": std[:9] + "\n" + std[9:], "base64 twice": base64.StdEncoding.EncodeToString([]byte(std)), "base32": base32.StdEncoding.EncodeToString(b), "ascii85": string(buf[:ascii85.Encode(buf, b)]),
		"backwards": "terceS-rood>/+\"&<p4rT", "in lines": secret[:8] + "\r\n" + secret[8:], "on a card": secret[:8] + "\n  │ " + secret[8:], "on a card in JSON": secret[:8] + `\n      ` + secret[8:], "escaped": `\u0054\u0072\u0034\u0070\u003c\u0026\u0022\u002b\u002f\u003e\u0064\u006f\u006f\u0072\u002d\u0053\u0065\u0063\u0072\u0065\u0074`,
	}
}

func turned(s string) string {
	return strings.Map(func(r rune) rune {
		if l := strings.ToLower(string(r)); l != string(r) {
			return rune(l[0])
		}
		return rune(strings.ToUpper(string(r))[0])
	}, s)
}

func TestATrapSeesASecretInEveryForm(t *testing.T) {
	for form, text := range written() {
		trap := &redacttest.Trap{}
		trap.Plant("another one", "SomethingElse-42")
		trap.Plant("the secret", secret)
		leaks := trap.Scan(map[string]string{"log": "before " + text + " after", "screen": "nothing here"})
		if len(leaks) != 1 || leaks[0].What != "the secret" || leaks[0].Output != "log" || leaks[0].Form == "" {
			t.Errorf("%s, %s: %v", form, text, leaks)
		}
	}
}
