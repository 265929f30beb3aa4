package lineage

import "strings"

// longWord is how long a word may be that nobody said: longer ones carry more
// than a word.
const longWord = 32

// foreign reports whether a text holds a value that is not the owner's. A number
// or a date within a sentence is content like its words; one that is all of an
// argument says when or how much, and so does count.
func (o *Own) foreign(f *folded) bool {
	rest, whole := &folded{chars: append([]rune(nil), f.chars...), low: f.low}, strings.TrimSpace(string(f.chars))
	for _, d := range findDates(string(f.chars)) {
		if len(d.text) == len(whole) && !o.dates.has(d.day) {
			return true
		}
		for i := d.from; i < d.to; i++ {
			rest.chars[i] = ' '
		}
	}
	if n := readAmount(whole); n != "" {
		return len(n) >= 3 && !o.numbers[n]
	}
	return o.hasForeignValue(rest) || o.hasLongWord(f)
}

func (o *Own) hasForeignValue(f *folded) bool {
	whole := item{from: -1}
	for _, i := range scanValues(f) {
		switch {
		case i.kind == Amount, i.kind == Path && isEither(i.value), i.kind == Host && i.from == whole.from && i.to == whole.to:
		case i.kind == URL:
			whole = i
			if !o.saidLink(f.slice(i.from, i.to)) {
				return true
			}
		default:
			if i.kind == Email {
				whole = i
			}
			if !o.values[thing{i.kind, i.value}] {
				return true
			}
		}
	}
	return false
}

// isEither reports whether a path is two words with a slash between them, as in
// "sandals/shoes".
func isEither(path string) bool {
	a, b, ok := strings.Cut(path, "/")
	isWord := func(s string) bool {
		return s != "" && !strings.ContainsFunc(s, func(c rune) bool { return !isLetter(c) && c != '-' })
	}
	return ok && isWord(a) && isWord(b)
}

func (o *Own) hasLongWord(f *folded) bool {
	for _, word := range strings.FieldsFunc(string(f.low), isSeparator) {
		if chars := []rune(word); len(chars) > longWord && !standsIn(o.lowered, chars) {
			return true
		}
	}
	return false
}

// saidWords reports whether an argument is nothing but what the owner said: words
// in their order, a number, a date.
func (o *Own) saidWords(f *folded) bool {
	text := strings.Trim(string(collapsed(f.low)), " .!?\"'")
	if text == "" || standsIn(o.lowered, []rune(text)) {
		return true
	}
	if n := readAmount(text); n != "" {
		return o.numbers[n]
	}
	for _, d := range findDates(string(f.low)) {
		if len(d.text) == len(text) {
			return o.dates.has(d.day)
		}
	}
	return false
}

// standsIn reports whether needle stands in one of the texts and is no part of
// something longer.
func standsIn(texts [][]rune, needle []rune) bool {
	if len(needle) == 0 {
		return false
	}
	for _, text := range texts {
		for at := 0; at+len(needle) <= len(text); at++ {
			if text[at] == needle[0] && string(text[at:at+len(needle)]) == string(needle) && standsAlone(text, at, at+len(needle)) {
				return true
			}
		}
	}
	return false
}

func standsAlone(text []rune, from, to int) bool {
	return !goesOn(text, from-1, -1) && !goesOn(text, to, 1)
}

// goesOn reports whether the character beside a stretch makes it part of more: of
// a word, an address, a path. A mark that ends a sentence or begins a name does
// not, unless something follows at once.
func goesOn(text []rune, i, step int) bool {
	switch c := at(text, i); {
	case c == 0:
		return false
	case isName(c):
		return true
	case in(c, "/-+&=?%~$*|"):
		return c != '?' || isName(at(text, i+step)) // a question ends with it
	case in(c, ".:@#'"):
		return isName(at(text, i+step))
	}
	return false
}

func at(text []rune, i int) rune {
	if i < 0 || i >= len(text) {
		return 0
	}
	return text[i]
}
