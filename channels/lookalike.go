package channels

import (
	"slices"
	"strings"
	"unicode"
)

// Lookalike reports whether the name of a tool or a host holds anything but
// visible ASCII. Such a name may look like one that a person knows and is
// another.
func Lookalike(name string) bool {
	return strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' })
}

// hostEnd returns where the host ends that is read at i, or i where none is. It
// goes up to the sign that ends one for a program, not to one that only looks so:
// in bank.example∕login.evil.example there is no slash.
func hostEnd(s string, i int) int {
	before := s[:i]
	scheme := strings.HasSuffix(before, "://")
	if !scheme && !strings.HasSuffix(before, "//") && !strings.HasSuffix(before, "@") {
		return i
	}
	end := len(s)
	if n := strings.IndexAny(s[i:], "/?#\\:@ \t\n\r\"'`<>()[]{},;|&"); n >= 0 {
		end = i + n
	}
	if !scheme && !strings.Contains(strings.Trim(s[i:end], "."), ".") {
		return i
	}
	return end
}

// twins are the alphabets that have letters which look like ASCII ones. Latin
// letters with accents are seen for what they are.
var twins = []*unicode.RangeTable{
	unicode.Cyrillic, unicode.Greek, unicode.Armenian, unicode.Cherokee, unicode.Coptic, unicode.Lisu, unicode.Georgian,
	unicode.Hebrew, unicode.Arabic, unicode.Nko, unicode.Tifinagh, unicode.Canadian_Aboriginal, unicode.Old_Italic,
	latinTwins,
}

// latinTwins are letters of no other alphabet that differ from ASCII ones by
// shape or name only: phonetic, small capital, full width, mathematical.
var latinTwins = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x017F, Hi: 0x017F, Stride: 1}, {Lo: 0x01C0, Hi: 0x01C3, Stride: 1},
		{Lo: 0x0237, Hi: 0x0237, Stride: 1}, {Lo: 0x0250, Hi: 0x02AF, Stride: 1},
		{Lo: 0x1D00, Hi: 0x1D7F, Stride: 1}, {Lo: 0x2100, Hi: 0x218F, Stride: 1}, {Lo: 0xA730, Hi: 0xA7FF, Stride: 1},
		{Lo: 0xFF10, Hi: 0xFF5A, Stride: 1},
	},
	R32: []unicode.Range32{{Lo: 0x1D400, Hi: 0x1D7FF, Stride: 1}},
}

// mixed reports whether a word mixes ASCII letters with some that look like
// them. A word in one alphabet is a word in a language.
func mixed(word string) bool {
	ascii, twin := false, false
	for _, r := range word {
		switch {
		case r <= '~':
			ascii = ascii || isASCIILetter(r)
		case isLetterLike(r):
			twin = twin || unicode.In(r, twins...)
		}
		if ascii && twin {
			return true
		}
	}
	return false
}

// alphabets names the scripts of the letters beyond ASCII, for a warning.
func alphabets(s string) []string {
	var found []string
	for _, r := range s {
		if r <= '~' || !unicode.IsLetter(r) {
			continue
		}
		if name := alphabet(r); !slices.Contains(found, name) && len(found) < 3 {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return found
}

func alphabet(r rune) string {
	for _, name := range []string{"Cyrillic", "Greek", "Armenian", "Cherokee", "Hebrew", "Arabic", "Han", "Latin"} {
		if unicode.Is(unicode.Scripts[name], r) {
			return name
		}
	}
	return "foreign"
}
