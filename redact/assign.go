package redact

import (
	"slices"
	"strings"
)

const (
	maxName     = 64  // how far a name is followed to either side
	maxLookBack = 256 // for the quote that a place is in
	maxGap      = 8   // spaces around an operator
)

// name looks at a word that may be, or end, the name of a secret: DB_PASSWORD=x,
// "apiKey": "x", --token x, Authorization: Bearer x.
func (k *looks) name(start, end int) {
	if start < k.seen.name {
		return // of a name that was looked at
	}
	start, end = around(k.s, start, end)
	k.seen.name = end
	raw := k.s[start:end]
	name := strings.TrimLeft(raw, "-.")
	flag := len(raw) > len(name) && raw[0] == '-'
	squashed := squash(name)
	switch {
	case squashed == "nopasswd": // of sudoers
		return
	case isSecret(squashed) || isToken(squashed, '"') || endsInPass(name) || isCode(squashed):
	case squashed == "key" && keyOf(k.s, start):
	case strings.HasSuffix(squashed, "key") && isHeader(k.s, start):
	case strings.HasSuffix(squashed, "auth"), flag && (squashed == "passin" || squashed == "passout"):
	default:
		return
	}
	k.value(named{start: start, end: end, name: squashed, flag: flag})
}

// named is a name that may be given a secret.
type named struct {
	start, end int
	name       string // squashed
	flag       bool   // -name, --name
}

func (n named) isToken() bool { return strings.HasSuffix(strings.TrimSuffix(n.name, "s"), "token") }

// around widens a word to the name it is in. A bracket or a quote may follow a
// name, as in env["TOKEN"].
func around(s string, start, end int) (int, int) {
	for n := 0; start > 0 && n < maxName && isName(s[start-1]); n++ {
		start--
	}
	for n := 0; end < len(s) && n < maxName && isName(s[end]); n++ {
		end++
	}
	for end > start && (s[end-1] == '.' || s[end-1] == '-') {
		end-- // the end of a sentence
	}
	return start, end
}

func isName(c byte) bool { return isWord(c) || c == '-' || c == '.' }

// keyOf reports whether the word before makes "key" a secret: "API key: x".
func keyOf(s string, start int) bool {
	before := strings.TrimRight(s[max(0, start-16):start], " ")
	i := len(before)
	for i > 0 && isAlnum(before[i-1]) {
		i--
	}
	return isSecret(squash(before[i:]) + "key")
}

// isHeader reports whether the place is the beginning of curl's -H "…".
func isHeader(s string, start int) bool {
	before := strings.TrimRight(s[max(0, start-16):start], " \t='\"")
	return strings.HasSuffix(before, "-H") || strings.HasSuffix(before, "--header")
}

// value hides what is given to the name.
func (k *looks) value(n named) {
	i, op := operator(k.s, n)
	start := n.start
	if start > 0 && n.end < len(k.s) && isQuote(k.s[start-1]) && k.s[n.end] == k.s[start-1] {
		start-- // the name is in quotes of its own
	}
	switch {
	case op == opNone:
	case op == opSpace && n.flag:
		k.argument(n, i)
	case op == opSpace:
		k.spaced(n, i)
	case op == opElement:
		k.element(i)
	case strings.HasSuffix(n.name, "authorization") || strings.HasSuffix(strings.TrimSuffix(n.name, "s"), "cookie"):
		k.header(start, i)
	default:
		k.assigned(n, start, i, op)
	}
}

// op is what is between a name and its value.
type op int

const (
	opNone op = iota
	opEqual
	opColon
	opSpace
	opIs
	opElement // <name>value<
)

// operator returns where the value starts, and what led there.
func operator(s string, n named) (int, op) {
	i := skip(s, n.end, "\\\"'`])", 4)
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
	case i > n.end && strings.HasPrefix(rest, "value="): // <add key="name" value="x">
		return spaced + len("value="), opEqual
	case pairedAt(s, i) > 0:
		return pairedAt(s, i), opColon
	case strings.HasPrefix(rest, ">") && n.start > 0 && (i > n.end && isQuote(s[n.start-1]) || s[n.start-1] == '<'):
		return spaced + 1, opElement
	case strings.HasPrefix(rest, ",") && n.start > 1 && isQuote(s[n.start-1]) && s[n.start-2] == '(':
		return second(s, spaced+1)
	case i == n.end && strings.HasPrefix(rest, "(") && !isVerb(n.name) && !strings.Contains(n.name, "credential"):
		return second(s, spaced+1) // password("x")
	case spaced > i && (strings.HasPrefix(rest, "is ") || strings.HasPrefix(rest, "is: ") || strings.HasPrefix(rest, "was ")):
		return skip(s, spaced+strings.IndexByte(rest, ' '), " \t:", maxGap), opIs
	case spaced > i:
		return spaced, opSpace
	}
	return 0, opNone
}

// pairedAt returns where the value is of a name that is one itself and ends
// at i, or 0: "name": "TOKEN", "value": "x", and the same in lines of YAML.
func pairedAt(s string, i int) int {
	const value = "value"
	at := skip(s, i, ", \t\r\n\"'", maxName)
	if !strings.ContainsAny(s[i:at], ",\n") || len(s)-at <= len(value) || !strings.EqualFold(s[at:at+len(value)], value) {
		return 0
	}
	at = skip(s, at+len(value), "\"'", 1)
	at = skip(s, at, " \t", maxGap)
	if at == len(s) || s[at] != ':' {
		return 0
	}
	return skip(s, at+1, " \t", maxGap)
}

// second is the operator of set("name", "value"): the value is in quotes too.
func second(s string, i int) (int, op) {
	i = skip(s, i, " \t", maxGap)
	if i == len(s) || !isQuote(s[i]) {
		return 0, opNone
	}
	return i, opEqual
}

// skip passes at most n of the characters.
func skip(s string, i int, chars string, n int) int {
	for ; n > 0 && i < len(s) && strings.IndexByte(chars, s[i]) >= 0; n-- {
		i++
	}
	return i
}

// assigned hides the value at i.
func (k *looks) assigned(n named, start, i int, o op) {
	if n.isDirectory(k.s[i:]) || n.isShort() && k.runEnd(i)-i > maxAhead {
		return
	}
	w := word{s: k.s, quote: quoteAt(k.s, start), equal: o == opEqual, query: o == opEqual && start > 0 && strings.IndexByte("?&#", k.s[start-1]) >= 0}
	a, b := w.at(i)
	v := k.s[a:b]
	switch {
	case o == opColon && isBlock(v):
		k.block(n.start, b)
	case phrases[n.name]:
		k.add(assignedKind, a, k.lineEnd(a, w.quote))
	case k.harmless(w, a, v):
	case n.isToken() && strings.Trim(v, digits+"_.,kK") == "":
	case strings.HasSuffix(n.name, "auth") && !isLogin(v), isCode(n.name) && !isShortNumber(v):
	case o == opIs && strings.Trim(v, letters) == "":
	default:
		k.add(assignedKind, a, b)
	}
}

const digits = "0123456789"

// letters are what words of a sentence are made of.
const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.,!?'\")-"

// phrases are secrets of several words.
var phrases = map[string]bool{"mnemonic": true, "seedphrase": true, "recoveryphrase": true}

// isCode is for names of short numbers that are secrets.
func isCode(squashed string) bool {
	switch squashed {
	case "pin", "sopin", "userpin", "otp", "totp", "otpcode", "tokencode", "mfacode", "mfatoken":
		return true
	}
	return false
}

func isShortNumber(v string) bool {
	return len(v) >= 4 && len(v) <= 10 && strings.Trim(v, digits) == ""
}

// isLogin is for base64 of name:password, as in the files of docker and npm.
func isLogin(v string) bool {
	return slices.ContainsFunc(decoded(strings.TrimRight(v, "="), 0), func(plain string) bool { return strings.IndexByte(plain, ':') > 0 })
}

// isDirectory is for PWD=/home/bob, which is no password.
func (n named) isDirectory(v string) bool {
	return (n.name == "pwd" || n.name == "oldpwd") && v != "" && strings.IndexByte("/~.", v[0]) >= 0
}

// isShort is for names whose secrets are not long.
func (n named) isShort() bool { return isCode(n.name) || strings.HasSuffix(n.name, "auth") }

// argument hides the next word of a command, given to a flag.
func (k *looks) argument(n named, i int) {
	w := word{s: k.s, quote: quoteAt(k.s, i), equal: true}
	if i == len(k.s) || strings.IndexByte("-<>|&;", k.s[i]) >= 0 {
		return
	}
	a, b := w.at(i)
	source, _, ok := strings.Cut(k.s[a:b], ":")
	switch {
	case ok && source == "pass": // -passin pass:x, as openssl has it
		a += len("pass:")
	case ok && (source == "env" || source == "file" || source == "fd"), k.s[a:b] == "stdin":
		return
	case ok && n.name == "auth":
		a += len(source) + 1
	case isCode(n.name) && !isShortNumber(k.s[a:b]):
		return
	case strings.HasSuffix(n.name, "cookie") && !strings.Contains(k.s[a:b], "="):
		return // the name of a file
	case n.name == "secret" && strings.HasPrefix(k.s[a:b], "id="):
		return // where docker finds it
	}
	if !k.harmless(w, a, k.s[a:b]) {
		k.add(flagKind, a, b)
	}
}
