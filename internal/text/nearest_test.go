package text_test

import (
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/internal/text"
)

func TestNearest(t *testing.T) {
	for _, c := range []struct {
		word, known, want string
		far               int
	}{
		{"pth", "secret path", "path", 1},
		{"listen_addr", "listen listenAddr", "listenAddr", 0},
		{"WEB-FETCH", "web_search web_fetch", "web_fetch", 0},
		{"", "a bc", "a", 1},
		{"kitten", "sitting", "sitting", 3},
		{"same", "same same", "same", 0},
		{strings.Repeat("x", 10_000), "y", "y", 64},
		{"nothing", "", "", 0},
	} {
		if got, far := text.Nearest(c.word, strings.Fields(c.known)); got != c.want || far != c.far {
			t.Errorf("nearest to %.20q of %q is %q at %d, want %q at %d", c.word, c.known, got, far, c.want, c.far)
		}
	}
}
