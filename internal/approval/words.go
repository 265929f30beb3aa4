package approval

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/openclaw-verifier/verifier/redact"
)

// Count is a number of things in words.
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// maxQuoted is how many characters of a name fit into a sentence.
const maxQuoted = 80

// quote shows an untrusted name in a sentence: no secret, and nothing beyond ASCII as itself.
func quote(s string) string {
	s = redact.Line(s)
	if r := []rune(s); len(r) > maxQuoted {
		return strconv.QuoteToASCII(string(r[:maxQuoted])) + "…"
	}
	return strconv.QuoteToASCII(s)
}

func quoted(all []string) string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = quote(s)
	}
	return strings.Join(out, ", ")
}

// maybeCode is what could be a code, or hold one.
var maybeCode = regexp.MustCompile(`[0-9A-Fa-f]{8,}`)

// harmless is a person's text that others may read, the agent too: no secret, no code (they may have written two
// lines as one), in one line, without what can't be seen. Such characters go first, so that they break up no secret;
// then secrets, since a part of one would not be known for it.
func (o *Options) harmless(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsGraphic(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	s = maybeCode.ReplaceAllString(o.Hide(strings.TrimSpace(s)), "…")
	if r := []rune(s); len(r) > most {
		return strings.TrimSpace(string(r[:most]))
	}
	return s
}
