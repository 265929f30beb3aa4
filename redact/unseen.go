package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const escape = '\x1b'

// byUnseen looks at the text as a person reads it: what can't be seen in it would
// else keep a name from its shape, or a token from its rule.
func (f *finder) byUnseen() {
	if f.marks&notPlain != 0 {
		f.undone(asSeen(f.s))
	}
}

// asSeen leaves out characters and codes of a terminal that can't be seen, writes
// letters of full width and unusual spaces as plain ones, and says where each byte
// comes from, and the end.
func asSeen(s string) (plain string, from []int, changed bool) {
	if strings.IndexFunc(s, func(r rune) bool { return r == escape || seenAs(r) != r }) < 0 {
		return s, nil, false
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch to := seenAs(r); {
		case r == escape:
			n = codeLength(s[i:])
		case to == r:
			for k := range n {
				out, from = append(out, s[i+k]), append(from, i+k)
			}
		case to >= 0:
			out, from = utf8.AppendRune(out, to), append(from, i) // it is ASCII
		}
		i += n
	}
	return string(out), append(from, len(s)), true
}

// seenAs is the plain character that a reader takes r for, r itself, or -1 where
// there is nothing to see.
func seenAs(r rune) rune {
	const wide, wideEnd, narrower = '！', '～', '！' - '!'
	switch {
	case r < utf8.RuneSelf:
		return r
	case wide <= r && r <= wideEnd:
		return r - narrower
	case unicode.Is(unicode.Zs, r):
		return ' '
	case unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
		return -1
	}
	return r
}

// codeLength is the length of the terminal's code that s begins with: ESC [ 3 1 m.
func codeLength(s string) int {
	if !strings.HasPrefix(s[1:], "[") {
		return 1
	}
	i := 2
	for i < len(s) && ' ' <= s[i] && s[i] < '@' {
		i++
	}
	return min(len(s), i+1)
}

// isWide is for base64 that may stand for text of two bytes a character, as
// PowerShell takes its commands: every second byte is then zero.
func isWide(letters string) bool { return strings.Count(letters, "A")*5 >= len(letters) }

// narrowed returns the readable stretches of what letters[shift:] decode to,
// without the zeros.
func narrowed(letters string, shift int) (out []string) {
	var text []byte
	keep := func() {
		if len(text) >= minClear {
			out = append(out, string(text))
		}
		text = text[:0]
	}
	for i := shift; i < len(letters); i += 4 {
		bits, n := group(letters[i:])
		for j := range n {
			switch b := byte(bits >> (16 - 8*j) & 0xff); {
			case isClear(b):
				text = append(text, b)
			case b != 0:
				keep()
			}
		}
	}
	keep()
	return out
}
