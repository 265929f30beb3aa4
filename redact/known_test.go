package redact_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/redact"
)

const (
	ownToken = "kq7-vw.zt/m3+xb_plain"                                            // has no shape of a secret
	ownKey   = "8f3a61c27be94d05a1f8c36e2b7d4059c8e1f2a3b4d5967810fedcba98765432" // 32 bytes
)

func written(s, format string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		fmt.Fprintf(&b, format, c)
	}
	return b.String()
}

// disguises are the forms in which a secret of ours may turn up.
func disguises() map[string]string {
	key, _ := hex.DecodeString(ownKey)
	return map[string]string{
		"plain": ownToken, "in words": "see " + ownToken + ", or not", "base64": base64.StdEncoding.EncodeToString([]byte("x" + ownToken + "yz")),
		"percent": written(ownToken, "%%%02x"), "a URL": url.QueryEscape(ownToken), "hex": hex.EncodeToString([]byte(ownToken)),
		"HEX": strings.ToUpper(hex.EncodeToString([]byte(ownToken))), `\x`: written(ownToken, `\x%02x`), `\u`: written(ownToken, `\u%04x`),
		"octal": written(ownToken, `\%03o`), "octal of printf": written(ownToken, `\0%03o`), "short octal": written(ownToken, `\%o`),
		"base64 in octal": written(base64.StdEncoding.EncodeToString([]byte(ownToken)), `\%03o`),
		"a key":           ownKey, "a KEY": strings.ToUpper(ownKey), "a key's bytes": "k=" + base64.StdEncoding.EncodeToString(key),
		"a key's bytes, further on": base64.URLEncoding.EncodeToString(append([]byte("ab"), key...)),
	}
}

func TestH126OurOwnSecretsAreHiddenByTheirValue(t *testing.T) {
	r, err := redact.New(redact.Config{Known: []string{ownToken, ownKey, "short"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Wait(context.Background()); err != nil {
		t.Fatal(err)
	}
	for name, text := range disguises() {
		t.Run(name, func(t *testing.T) {
			shown, found := r.Text("echo " + text)
			if !strings.HasPrefix(shown, "echo [REDACTED: ") && !strings.HasPrefix(shown, "echo see [REDACTED: ") && !strings.HasPrefix(shown, "echo k=[REDACTED: ") && !strings.HasPrefix(shown, "echo YWK[REDACTED: ") || len(found) == 0 {
				t.Errorf("shown as %q, found %v", shown, found)
			}
			for _, piece := range []string{text, text[len(text)/2:]} {
				if name != "in words" && strings.Contains(shown, piece) {
					t.Errorf("shown as %q", shown)
				}
			}
			line := text
			if r.Lines(&line); line == text {
				t.Errorf("%q stays in a line", line)
			}
		})
	}
	if shown, _ := r.Text("short, 1234567 and more"); shown != "short, 1234567 and more" {
		t.Errorf("a word is hidden: %q", shown)
	}
}

// A password of digits may come as a number.
func TestH126ANumberThatIsASecretOfOursIsHidden(t *testing.T) {
	r, err := redact.New(redact.Config{Known: []string{"4711081547"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Wait(context.Background()); err != nil {
		t.Fatal(err)
	}
	if out := r.Params("exec", []byte(`{"n":4711081547,"m":12}`)); strings.Contains(string(out.Params), "4711081547") || !strings.Contains(string(out.Params), "12") {
		t.Errorf("%s", out.Params)
	}
}

func TestOctalEscapesAreUndone(t *testing.T) {
	r, err := redact.New(redact.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Wait(context.Background()); err != nil {
		t.Fatal(err)
	}
	secret := "ghp_" + strings.Repeat("a1B2c3", 6)
	for _, text := range []string{written(secret, `\%03o`), written(secret, `\0%03o`), `printf '` + written(secret, `\%o`) + `'`} {
		if shown, _ := r.Text(text); !strings.Contains(shown, "[REDACTED: ") {
			t.Errorf("%s is shown", shown)
		}
	}
	for _, text := range []string{`C:\70s\music`, `s/\(a\)/\1\2/`, `\0`, `\777`, `a\`} {
		if shown, _ := r.Text(text); shown != text {
			t.Errorf("%q is shown as %q", text, shown)
		}
	}
}

func TestH126OurOwnSecretsAreHiddenInParts(t *testing.T) {
	t.Parallel()
	const secret = "84fdf441c09be27784fdf441c09be277"
	r, err := redact.New(redact.Config{Known: []string{secret}})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, between := range []string{`""`, "''", "\n", " ", "-", ":", "\\\n"} {
		text := "echo " + secret[:16] + between + secret[16:18] + between + secret[18:] + " end"
		if got, found := r.Text(text); len(found) != 1 || got[:15] != "echo [REDACTED:" || got[len(got)-4:] != " end" {
			t.Errorf("%q shows %q", text, got)
		}
	}
}
