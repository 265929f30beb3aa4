package channels

import (
	"unicode"
	"unicode/utf8"
)

// open and shut are around everything that we say inside a text.
const (
	open = "⟨"
	shut = "⟩"
)

// brackets are ours and those that look like them.
var brackets = table('\u27E8', '\u27E9', '\u2329', '\u232A', '\u3008', '\u3009', '\u276C', '\u276D', '\u2770', '\u2771',
	'\u29FC', '\u29FD', '\u2039', '\u203A', '\uFE3F', '\uFE40')

// blankSigns have no ink although Unicode counts them as letters, marks or
// symbols.
var blankSigns = table('\u2800', '\U0001D159', '\U00016FE4')

// overlays are combining marks that strike their letter out.
var overlays = &unicode.RangeTable{R16: []unicode.Range16{{Lo: 0x0334, Hi: 0x0338, Stride: 1}, {Lo: 0x20D0, Hi: 0x20F0, Stride: 1}}}

func table(runes ...rune) map[rune]bool {
	t := make(map[rune]bool, len(runes))
	for _, r := range runes {
		t[r] = true
	}
	return t
}

// visible reports whether a character shows as itself and moves nothing.
// Unassigned and private characters do not: how they look is not known.
func visible(r rune) bool {
	if r <= '~' {
		return r >= ' '
	}
	return unicode.IsGraphic(r) && !unicode.Is(unicode.Zs, r) && !brackets[r] && !blankSigns[r] &&
		!unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

func isMark(r rune) bool { return r > '~' && unicode.Is(unicode.M, r) }

func isOverlay(r rune) bool { return unicode.Is(unicode.Me, r) || unicode.Is(overlays, r) }

func isLetterLike(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

func isASCIILetter(r rune) bool { return 'a' <= r|0x20 && r|0x20 <= 'z' && r <= 'z' }

// inWord takes what a reader sees as part of a word or a host. What can't be
// seen does not end a word.
func inWord(r rune) bool {
	switch {
	case r == '.' || r == '-' || r == '_':
		return true
	case r <= '~':
		return isLetterLike(r)
	}
	return isLetterLike(r) || unicode.Is(unicode.M, r) || !visible(r) && !brackets[r] || r == utf8.RuneError
}

// kindOf is the kind of a character that shows as itself.
func kindOf(r rune) kind {
	switch {
	case r <= '~':
		return plain
	case isMark(r):
		return combining
	case unicode.In(r, rtl...):
		return rightToLeft
	}
	return plain
}

// rtl are the alphabets in use that are written from right to left.
var rtl = []*unicode.RangeTable{
	unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko, unicode.Samaritan, unicode.Mandaic,
	unicode.Adlam, unicode.Hanifi_Rohingya, unicode.Mende_Kikakui,
}

// wide are the characters that take two columns of a terminal, near enough.
var wide = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo, unicode.Yi,
	{R16: []unicode.Range16{{Lo: 0x3000, Hi: 0x303E, Stride: 1}, {Lo: 0xFF01, Hi: 0xFF60, Stride: 1}}, R32: []unicode.Range32{{Lo: 0x1F300, Hi: 0x1FAFF, Stride: 1}}},
}

// columns is how many columns a character takes.
func columns(r rune) int {
	switch {
	case r <= '~':
		return 1
	case unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Me, r):
		return 0
	case unicode.In(r, wide...):
		return 2
	}
	return 1
}

// Columns is how many columns of a terminal a line takes.
func Columns(line string) int { return width(line) }

func width(s string) int {
	n := 0
	for _, r := range s {
		n += columns(r)
	}
	return n
}
