// Package channels turns cards into what people read: the same words, the same
// order and the same warnings on every platform.
//
// All that a call says about itself was written by an agent, and perhaps by
// the author of the page that the agent read last. So nothing of it reaches a
// person but through [Safe], which leaves what can be read as it is and shows
// everything else as a mark between ⟨ and ⟩. Those two never come from the
// text itself, so a mark can't be forged, and two different texts never look
// the same unless one was cut, which then says so. A [Document] is the card as
// every platform shows it: [Show] fits it into the room that a platform has,
// [Details] leaves nothing out, [Text] is for a terminal. [OutcomeLine] is what
// became of it, [FullyVisible] whether a person who sees the card sees all that
// will run.
//
// The package decides nothing and sends nothing. It refuses to shorten, escape
// or leave out anything silently, to let a text break out of the place it was
// given on a card, and to offer an answer that could not be given.
package channels

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Form is how a text is to be shown. The zero Form is one line of any length.
type Form struct {
	Lines bool // line breaks stay; otherwise they are shown as ⟨\n⟩
	Limit int  // the most columns, roughly; a line break counts as lineWeight; 0 means no limit
}

// lineWeight is what a line break costs of a limit: a text of many short lines
// pushes its end off the screen as well as a long one does.
const lineWeight = 40

// Report counts what is not literally visible in a safe text. A single tab or
// line break that is shown as a mark counts for nothing: it hides nothing.
type Report struct {
	Escaped     int // characters shown by their number
	Lookalike   int // letters of another alphabet shown by their number
	Collapsed   int // runs of white space shown by their length
	Cut         int // characters not shown
	RightToLeft int // letters that may change the order on the screen
}

func (r *Report) add(o Report) {
	r.Escaped += o.Escaped
	r.Lookalike += o.Lookalike
	r.Collapsed += o.Collapsed
	r.Cut += o.Cut
	r.RightToLeft += o.RightToLeft
}

// Safe returns an untrusted text as a person can trust it:
//
//   - a character that can't be seen, moves others or passes for our marks as
//     ⟨U+202E⟩, one that is repeated as ⟨U+200B ×5000⟩, a byte that is no
//     UTF-8 as ⟨byte FF⟩, a tab as ⟨\t⟩;
//   - a letter of another alphabet in a word with ASCII letters, or any beyond
//     ASCII in a host, by its number too;
//   - more than 8 spaces as ⟨5000 spaces⟩, more than 2 line breaks as
//     ⟨3 newlines⟩; white space of more changes than that is not shown. Where
//     line breaks stay, code can be read: a line may begin with 40 spaces, 3 line
//     breaks may follow each other, and only one that ends the text is a mark;
//   - beyond the limit, the head and the tail around
//     ⟨… 90000 characters not shown …⟩.
func Safe(s string, f Form) (string, Report) {
	sc := scanner{s: s, lines: f.Lines, out: cutter{limit: f.Limit}}
	sc.all()
	return sc.out.result()
}

// Name is Safe for a tool's or an argument's name: no character beyond ASCII
// can show as itself, because it could pass for another.
func Name(s string) (string, Report) { return name(s, normal.name) }

func name(s string, limit int) (string, Report) {
	sc := scanner{s: s, strict: true, out: cutter{limit: limit}}
	sc.all()
	return sc.out.result()
}

const (
	maxSpaces   = 8
	maxIndent   = 40 // spaces at the start of a line
	maxNewlines = 2
	maxBlank    = 3 // line breaks where lines stay: code has two empty lines between functions
	maxRepeats  = 2 // of one escaped character, before they are counted
	maxMarks    = 3 // on one letter
	maxTurns    = 8 // from one kind of white space to another
)

// scanner walks over a text and hands over its pieces.
type scanner struct {
	s      string
	at     int
	lines  bool
	strict bool
	marks  int // combining marks that may still follow
	host   int // where the host ends that is being read
	out    cutter
}

func (sc *scanner) all() {
	for sc.at < len(sc.s) {
		if isBlank(sc.s[sc.at]) {
			sc.blanks()
			continue
		}
		sc.word()
	}
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' || b == '\n' }

// blanks takes a run of white space, one kind after the other.
func (sc *scanner) blanks() {
	end := sc.at
	for end < len(sc.s) && isBlank(sc.s[end]) {
		end++
	}
	run := sc.s[sc.at:end]
	if turns(run) > maxTurns {
		text := blankMark(run)
		sc.out.add(piece{text: text, runes: len(run), width: width(text), kind: unseen})
		sc.at, sc.marks = end, 0
		return
	}
	padded := strings.Count(run, "\n") > sc.mostNewlines()
	last := sc.at + strings.LastIndexByte(run, '\n')
	for sc.at < end {
		b, n := sc.s[sc.at], 1
		for sc.at+n < end && sc.s[sc.at+n] == b {
			n++
		}
		switch b {
		case ' ':
			sc.spaces(n)
		case '\t':
			sc.tabs(n)
		default:
			sc.newlines(n, padded && sc.at < last)
		}
		sc.at += n
	}
	sc.marks = 0
}

// turns counts the runs of one kind in white space.
func turns(s string) int {
	n := 0
	for i := range len(s) {
		if i == 0 || s[i] != s[i-1] {
			n++
		}
	}
	return n
}

func (sc *scanner) mostNewlines() int {
	if sc.lines {
		return maxBlank
	}
	return maxNewlines
}

// indents reports whether a line begins here, or behind the sign of a change.
func (sc *scanner) indents() bool {
	at := sc.at
	if at > 0 && (sc.s[at-1] == '+' || sc.s[at-1] == '-') {
		at--
	}
	return sc.lines && (at == 0 || sc.s[at-1] == '\n')
}

func (sc *scanner) spaces(n int) {
	if n > maxSpaces && (n > maxIndent || !sc.indents()) {
		sc.out.mark(collapsed, n, "%d spaces", n)
		return
	}
	sc.out.plain(sc.s[sc.at:sc.at+n], n)
}

func (sc *scanner) tabs(n int) {
	if n > maxSpaces {
		sc.out.mark(collapsed, n, "%d tabs", n)
		return
	}
	for range n {
		sc.out.mark(plain, 1, `\t`)
	}
}

// newlines breaks the line, unless that would serve to push what follows off
// the screen.
func (sc *scanner) newlines(n int, padding bool) {
	if n > sc.mostNewlines() {
		sc.out.mark(collapsed, n, "%d newlines", n)
		if sc.lines {
			sc.out.add(piece{text: "\n", width: lineWeight})
		}
		return
	}
	for i := range n {
		switch {
		case padding:
			sc.out.mark(collapsed, 1, `\n`)
		case sc.lines && sc.at+i+1 == len(sc.s): // it could not be seen
			sc.out.mark(plain, 1, `\n`)
		case sc.lines:
			sc.out.add(piece{text: "\n", runes: 1, width: lineWeight})
		default:
			sc.out.mark(plain, 1, `\n`)
		}
	}
}

// word takes what can pass for one word, or one sign between words.
func (sc *scanner) word() {
	end := sc.at
	for end < len(sc.s) {
		r, size := utf8.DecodeRuneInString(sc.s[end:])
		if !inWord(r) {
			break
		}
		end += size
	}
	if sc.at >= sc.host {
		sc.host = hostEnd(sc.s, sc.at)
	}
	foreign := sc.strict || sc.inHost() || mixed(sc.s[sc.at:end])
	if end == sc.at {
		sc.rune(foreign)
	}
	for sc.at < end {
		sc.rune(foreign)
	}
}

func (sc *scanner) rune(foreign bool) {
	r, size := utf8.DecodeRuneInString(sc.s[sc.at:])
	switch {
	case r == utf8.RuneError && size == 1:
		sc.escape(fmt.Sprintf("byte %02X", sc.s[sc.at]), 1)
	case !visible(r) || isMark(r) && !sc.stacks(r):
		sc.escape(fmt.Sprintf("U+%04X", r), size)
	case foreign && r > '~' && (sc.strict || sc.inHost() || isLetterLike(r)):
		sc.out.mark(lookalike, 1, "U+%04X", r)
		sc.at, sc.marks = sc.at+size, 0
	default:
		sc.out.add(piece{text: sc.s[sc.at : sc.at+size], runes: 1, width: columns(r), kind: kindOf(r)})
		sc.at += size
		sc.follow(r)
	}
}

// inHost reports whether the next character is part of a host.
func (sc *scanner) inHost() bool { return sc.at < sc.host }

// stacks reports whether a combining mark may follow what came before. One
// on a sign, on nothing or on too many others covers it.
func (sc *scanner) stacks(r rune) bool { return sc.marks > 0 && !isOverlay(r) }

func (sc *scanner) follow(r rune) {
	switch {
	case isMark(r):
		sc.marks--
	case isLetterLike(r):
		sc.marks = maxMarks
	default:
		sc.marks = 0
	}
}

// escape shows a character, and those like it that follow, by its number.
func (sc *scanner) escape(code string, size int) {
	n := repeats(sc.s[sc.at:], size)
	if n > maxRepeats {
		sc.out.mark(escaped, n, "%s ×%d", code, n)
	} else {
		for range n {
			sc.out.mark(escaped, 1, "%s", code)
		}
	}
	sc.at, sc.marks = sc.at+n*size, 0
}

// repeats counts how often the first character of s, which has this size, comes
// in a row.
func repeats(s string, size int) int {
	first, n := s[:size], 1
	for strings.HasPrefix(s[n*size:], first) {
		// A byte that is no UTF-8 by itself may begin a character here.
		if _, next := utf8.DecodeRuneInString(s[n*size:]); next != size {
			break
		}
		n++
	}
	return n
}

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
