// Package text shows what others wrote: names, arguments, whatever a program or a page chose.
package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible returns s with everything that a terminal would obey or not show written out: control characters,
// bidirectional and other format characters, odd spaces, blanks that pass for letters, bytes that are not UTF-8. The
// rest stays readable; a backslash is left alone, since a made-up escape can only make a value look worse than it is.
// What is longer than so many characters is shortened, and says so.
func Visible(s string, longest int) string {
	var b strings.Builder
	n := 0
	for i, r := range s {
		if n++; n > longest {
			fmt.Fprintf(&b, "… (%d bytes in all)", len(s))
			break
		}
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case Shows(r):
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r > 0xFFFF:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// Shows reports whether r leaves ink, or is the plain space. Some letters and marks do not, whatever their category
// says.
func Shows(r rune) bool {
	const brailleBlank = '\u2800'
	return unicode.IsPrint(r) && r != brailleBlank &&
		!unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Lower is a text in small letters, but leaves everything beyond ASCII alone: no other letter turns into one of a name
// or a command that we know, such as the Kelvin sign into a k.
func Lower(s string) string {
	isLarge := func(c byte) bool { return 'A' <= c && c <= 'Z' }
	for i := range len(s) {
		if isLarge(s[i]) {
			b := []byte(s)
			for ; i < len(b); i++ {
				if isLarge(b[i]) {
					b[i] |= 0x20
				}
			}
			return string(b)
		}
	}
	return s
}
