package redact

import (
	"strings"
)

const (
	maxName     = 64  // how far a name is followed to either side
	maxLookBack = 256 // for the quote that a place is in
	maxGap      = 8   // spaces around an operator
)

// name looks at a word that may be, or end, the name of a secret: DB_PASSWORD=x,
// "apiKey": "x", --token x, Authorization: Bearer x.
func (f *finder) name(start, end int) {
	if start < f.seen.name {
		return // of a name that was looked at
	}
	start, end = f.around(start, end)
	f.seen.name = end
	raw := f.s[start:end]
	name := strings.TrimLeft(raw, "-.")
	flag := len(raw) > len(name) && raw[0] == '-'
	squashed := squash(name)
	switch {
	case isSecret(squashed) || isToken(squashed, '"') || endsInPass(name):
	case squashed == "key" && f.keyOf(start):
	case strings.HasSuffix(squashed, "key") && f.isHeader(start):
	case flag && squashed == "auth":
	default:
		return
	}
	f.value(start, end, squashed, flag)
}

// around widens a word to the name it is in. A bracket or a quote may follow a
// name, as in env["TOKEN"].
func (f *finder) around(start, end int) (int, int) {
	for n := 0; start > 0 && n < maxName && isName(f.s[start-1]); n++ {
		start--
	}
	for n := 0; end < len(f.s) && n < maxName && isName(f.s[end]); n++ {
		end++
	}
	for end > start && (f.s[end-1] == '.' || f.s[end-1] == '-') {
		end-- // the end of a sentence
	}
	return start, end
}

func isName(c byte) bool { return isWord(c) || c == '-' || c == '.' }

// keyOf reports whether the word before makes "key" a secret: "API key: x".
func (f *finder) keyOf(start int) bool {
	before := strings.TrimRight(f.s[max(0, start-16):start], " ")
	i := len(before)
	for i > 0 && isAlnum(before[i-1]) {
		i--
	}
	return isSecret(squash(before[i:]) + "key")
}

// isHeader reports whether the place is the beginning of curl's -H "…".
func (f *finder) isHeader(start int) bool {
	before := strings.TrimRight(f.s[max(0, start-16):start], " \t='\"")
	return strings.HasSuffix(before, "-H") || strings.HasSuffix(before, "--header")
}

// value hides what is given to the name.
func (f *finder) value(start, end int, name string, flag bool) {
	i, op := operator(f.s, end)
	if start > 0 && end < len(f.s) && isQuote(f.s[start-1]) && f.s[end] == f.s[start-1] {
		start-- // the name is in quotes of its own
	}
	switch {
	case op == opNone:
		return
	case op == opSpace && flag:
		f.argument(i)
	case op == opSpace:
		f.tokenAfter(i, name)
	case strings.HasSuffix(name, "authorization") || strings.HasSuffix(strings.TrimSuffix(name, "s"), "cookie"):
		f.header(start, i)
	default:
		f.assigned(start, i, op, name)
	}
}

// op is what stands between a name and its value.
type op int

const (
	opNone op = iota
	opEqual
	opColon
	opSpace
	opIs
)

// operator returns where the value starts, and what led there.
func operator(s string, i int) (int, op) {
	i = skip(s, i, "\\\"'`])", 4)
	spaced := skip(s, i, " \t", maxGap)
	rest := s[spaced:]
	switch {
	case strings.HasPrefix(rest, "://"), strings.HasPrefix(rest, "::"):
		return 0, opNone
	case strings.HasPrefix(rest, "=>"), strings.HasPrefix(rest, "=="):
		return skip(s, spaced+2, " \t=", maxGap), opEqual
	case strings.HasPrefix(rest, ":="), strings.HasPrefix(rest, "?="), strings.HasPrefix(rest, "+="):
		return skip(s, spaced+2, " \t", maxGap), opEqual
	case strings.HasPrefix(rest, "="):
		return skip(s, spaced+1, " \t", maxGap), opEqual
	case strings.HasPrefix(rest, ":"):
		return skip(s, spaced+1, " \t", maxGap), opColon
	case spaced > i && (strings.HasPrefix(rest, "is ") || strings.HasPrefix(rest, "was ")):
		return skip(s, spaced+strings.IndexByte(rest, ' '), " \t:", maxGap), opIs
	case spaced > i:
		return spaced, opSpace
	}
	return 0, opNone
}

// skip passes at most n of the characters.
func skip(s string, i int, chars string, n int) int {
	for ; n > 0 && i < len(s) && strings.IndexByte(chars, s[i]) >= 0; n-- {
		i++
	}
	return i
}

// assigned hides the value at i.
func (f *finder) assigned(start, i int, o op, name string) {
	w := word{s: f.s, quote: quoteAt(f.s, start), equal: o == opEqual, query: start > 0 && strings.IndexByte("?&#", f.s[start-1]) >= 0}
	a, b := w.at(i)
	v := f.s[a:b]
	switch {
	case w.harmless(a, v):
	case strings.HasSuffix(strings.TrimSuffix(name, "s"), "token") && strings.Trim(v, digits+"_.,kK") == "":
	case o == opIs && strings.Trim(v, letters) == "":
	default:
		f.add(assignedKind, a, b)
	}
}

const digits = "0123456789"

// letters are what words of a sentence are made of.
const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.,!?'\")-"

// argument hides the next word of a command, given to a flag.
func (f *finder) argument(i int) {
	w := word{s: f.s, quote: quoteAt(f.s, i), equal: true}
	if i == len(f.s) || strings.IndexByte("-<>|&;", f.s[i]) >= 0 {
		return
	}
	if a, b := w.at(i); !w.harmless(a, f.s[a:b]) {
		f.add(flagKind, a, b)
	}
}

// minToken is how long a word must be to be a token by its looks.
const minToken = 12

// tokenAfter hides a word that looks like a token and follows the name of one,
// as in "set aws_secret_access_key wJalr…".
func (f *finder) tokenAfter(i int, name string) {
	if f.runEnd(i)-i < minToken || name == "auth" {
		return
	}
	w := word{s: f.s, quote: quoteAt(f.s, i), equal: true}
	a, b := w.at(i)
	if v := f.s[a:b]; looksLikeToken(v) && !w.harmless(a, v) {
		f.add(assignedKind, a, b)
	}
}

// looksLikeToken is for letters and digits that are no path, URL, number or
// word.
func looksLikeToken(v string) bool {
	if len(v) < minToken || strings.IndexByte("/.~-", v[0]) >= 0 || strings.Contains(v, "://") || !strings.ContainsAny(v, digits) {
		return false
	}
	for i := range len(v) {
		if !isToken64(v[i]) && v[i] != '.' && v[i] != '~' {
			return false
		}
	}
	return strings.Trim(v, digits+".-/:") != ""
}
