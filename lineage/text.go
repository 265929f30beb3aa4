package lineage

import "strings"

// folded is a text in the one form in which it is compared.
type folded struct {
	chars []rune
	low   []rune // the same, in lower case
	cut   bool   // the text was longer
}

func (f *folded) slice(from, to int) string   { return string(f.chars[from:to]) }
func (f *folded) lowered(from, to int) string { return string(f.low[from:to]) }

// fold reads the first characters of a text.
func fold(text string) *folded { return foldUpTo(text, MaxChars) }

func foldUpTo(text string, most int) *folded {
	all, cut := first(text, most)
	f := &folded{chars: make([]rune, 0, len(all)), cut: cut}
	for i := 0; i < len(all); {
		c, used := unescaped(all[i:])
		i += used
		if c < 0x80 || !between(c, invisible) {
			f.chars = append(f.chars, plain(c))
		}
	}
	f.low = make([]rune, len(f.chars))
	for i, c := range f.chars {
		f.low[i] = lower(c)
	}
	return f
}

func first(text string, most int) (chars []rune, cut bool) {
	for _, c := range text {
		if len(chars) == most {
			return chars, true
		}
		chars = append(chars, c)
	}
	return chars, false
}

// unescaped reads one character, or an escape of JSON: tools return JSON as
// text.
func unescaped(all []rune) (c rune, used int) {
	if all[0] != '\\' || len(all) < 2 {
		return all[0], 1
	}
	switch all[1] {
	case 'n', 'r', 't':
		return ' ', 2
	case '"':
		return '"', 2
	case '/', '\\':
		return '/', 2
	case 'u':
		return unescapedHex(all)
	}
	return all[0], 1
}

func unescapedHex(all []rune) (c rune, used int) {
	if len(all) < 6 {
		return all[0], 1
	}
	for _, d := range all[2:6] {
		switch {
		case isDigit(d):
			c = c<<4 | (d - '0')
		case isLetter(d) && lower(d) <= 'f':
			c = c<<4 | (lower(d) - 'a' + 10)
		default:
			return all[0], 1
		}
	}
	if 0xd800 <= c && c <= 0xdfff {
		c = 0xfffd
	}
	return c, 6
}

func plain(c rune) rune {
	switch {
	case c == '\\':
		return '/'
	case ' ' < c && c < 0x7f:
		return c
	case between(c, spaces):
		return ' '
	case 0xff01 <= c && c <= 0xff5e:
		return c - 0xfee0
	case between(c, dashes):
		return '-'
	}
	return c
}

func lower(c rune) rune {
	switch {
	case 'A' <= c && c <= 'Z',
		0xc0 <= c && c <= 0xde && c != 0xd7,
		0x391 <= c && c <= 0x3a9 && c != 0x3a2,
		0x410 <= c && c <= 0x42f:
		return c + 32
	case 0x400 <= c && c <= 0x40f:
		return c + 80
	}
	return c
}

// The classes of characters are given by number, not by a version of Unicode,
// so that every implementation agrees forever.
type span struct{ from, to rune }

var (
	invisible = []span{{0xad, 0xad}, {0x34f, 0x34f}, {0x61c, 0x61c}, {0x180e, 0x180e}, {0x200b, 0x200f}, {0x202a, 0x202e}, {0x2060, 0x2069}, {0xfe00, 0xfe0f}, {0xfeff, 0xfeff}, {0xe0000, 0xe007f}}
	spaces    = []span{{0, 0x20}, {0x7f, 0xa0}, {0x1680, 0x1680}, {0x2000, 0x200a}, {0x2028, 0x2029}, {0x202f, 0x202f}, {0x205f, 0x205f}, {0x3000, 0x3000}}
	dashes    = []span{{0x2010, 0x2015}, {0x2212, 0x2212}}
	quotes    = []span{{0xab, 0xab}, {0xbb, 0xbb}, {0x2018, 0x201f}, {0x2039, 0x203a}, {0x3001, 0x3003}, {0x3008, 0x3011}, {0xfffd, 0xfffd}}
	symbols   = []span{
		{0x80, 0xa9}, {0xab, 0xb4}, {0xb6, 0xb9}, {0xbb, 0xbf}, {0xd7, 0xd7}, {0xf7, 0xf7}, {0x2000, 0x206f}, {0x20a0, 0x20cf}, {0x2190, 0x2bff},
		{0x2e00, 0x2e7f}, {0x3000, 0x3004}, {0x3008, 0x3020}, {0x3030, 0x3030}, {0xfe10, 0xfe1f}, {0xfe30, 0xfe6f}, {0xff00, 0xff0f}, {0xff5f, 0xff65},
		{0xfff0, 0xffff}, {0x1f000, 0x1faff},
	}
	cjk = []span{{0xe00, 0xeff}, {0x1000, 0x109f}, {0x1780, 0x17ff}, {0x2e80, 0x2fdf}, {0x3005, 0x3007}, {0x3040, 0x30ff}, {0x3400, 0x4dbf}, {0x4e00, 0x9fff}, {0xf900, 0xfaff}, {0x20000, 0x3ffff}}
)

func between(c rune, spans []span) bool {
	for _, s := range spans {
		if s.from <= c && c <= s.to {
			return true
		}
	}
	return false
}

func isDigit(c rune) bool      { return '0' <= c && c <= '9' }
func isLetter(c rune) bool     { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
func isAlnum(c rune) bool      { return isLetter(c) || isDigit(c) }
func isWordChar(c rune) bool   { return isAlnum(c) || c >= 0x80 && !between(c, symbols) }
func isName(c rune) bool       { return c == '_' || isWordChar(c) }
func isCJK(c rune) bool        { return c >= 0xe00 && between(c, cjk) }
func in(c rune, s string) bool { return strings.ContainsRune(s, c) }

// isSeparator is what ends a chunk.
func isSeparator(c rune) bool {
	return in(c, " \"'`<>()[]{}|,;*^") || c >= 0x80 && between(c, quotes)
}
