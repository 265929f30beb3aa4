package text_test

import (
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/internal/text"
)

func TestNothingIsShownThatActsOrHides(t *testing.T) {
	for s, want := range map[string]string{
		"a\x1b[2J\r\n\t\u202eb\u200b\u00a0\u3164\ufe0f\u2800\U000e0041\x00\xff\ufeff\u0085é漢": "" +
			`a\u001b[2J\u000d\n\t\u202eb\u200b\u00a0\u3164\ufe0f\u2800\U000e0041\u0000\xff\ufeff\u0085é漢`,
		`\u202e`:                 `\u202e`,
		"\ufffd":                 "\ufffd",
		strings.Repeat("é", 400): strings.Repeat("é", 400),
		strings.Repeat("é", 401): strings.Repeat("é", 400) + "… (802 bytes in all)",
		"":                       "",
	} {
		if got := text.Visible(s, 400); got != want {
			t.Errorf("%q is shown as %s, want %s", s, got, want)
		}
	}
}
