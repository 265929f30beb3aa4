package redact

import (
	"slices"
	"strings"
)

// spaced looks at a name that is followed by a space: in a sentence, a file or
// a command that takes names and values as words.
func (k *looks) spaced(n named, i int) {
	if i == len(k.s) || strings.IndexByte("-<>|&;", k.s[i]) >= 0 || isVerb(n.name) {
		return
	}
	given, short := isGiven(k.s, n, i), isPasswordName(n.name)
	if !given && isDigit(k.s[i]) && k.runEnd(i) == i+1 && (n.name == "password" || n.name == "secret") {
		i, short = skip(k.s, i+1, " ", 1), true // enable secret 0 x
	}
	if !given && k.runEnd(i)-i < minPassword {
		return
	}
	w := word{s: k.s, quote: quoteAt(k.s, i), equal: true}
	a, b := w.at(i)
	v := k.s[a:b]
	switch {
	case strings.HasSuffix(n.name, "auth") && !isLogin(v):
	case (given || looksLikeToken(v) || short && looksLikePassword(v)) && !k.harmless(w, a, v):
		k.add(assignedKind, a, b)
	}
}

// isGiven reports whether what is before the name makes the next word its
// value.
func isGiven(s string, n named, i int) bool {
	if directives[n.name] || isProtocol(s, n) || isSQL(s, n, i) {
		return true
	}
	before := wordsBefore(s, n.start)
	return sets(s, n, before) || n.name == "password" && (before[1] == "login" || before[1] == "machine") // a line of .netrc
}

// directives are settings whose value is the rest of the line.
var directives = map[string]bool{"requirepass": true, "masterauth": true, "rootpw": true}

// isVerb is for words such as get-credentials: what follows is about a secret,
// but is none.
func isVerb(squashed string) bool {
	return slices.ContainsFunc(verbs, func(v string) bool { return strings.HasPrefix(squashed, v) })
}

var verbs = []string{
	"get", "list", "create", "delete", "rotate", "revoke", "show", "is", "has", "validate", "check", "verify", "parse", "find", "read", "load", "fetch", "generate", "setcredential",
}

// nameRunes are what [isName] is for.
const nameRunes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."

// wordsBefore are the last words of the line before i, the nearest first.
func wordsBefore(s string, i int) (out [4]string) {
	line := s[max(0, i-maxName):i]
	line = line[strings.LastIndexAny(line, "\n;|")+1:]
	line = strings.TrimRight(line, "\"'`/:")
	for k := range out {
		line = strings.TrimRight(line, " \t")
		at := strings.LastIndexAny(line, " \t") + 1
		out[k] = strings.ToLower(strings.TrimLeftFunc(line[at:], func(r rune) bool { return !strings.ContainsRune(nameRunes, r) }))
		line = line[:at]
	}
	return out
}

// sets reports whether the words before a name give it a value: setx, git
// config --global, set -gx.
func sets(s string, n named, before [4]string) bool {
	if before[0] == "--set" {
		return true
	}
	after := ""
	for _, w := range before {
		switch {
		case w == "setx" || w == "setenv" || w == "set" && strings.HasPrefix(after, "-"):
			return true
		case w == "config" || w == "configure":
			return after == "set" || strings.IndexByte(s[n.start:n.end], '.') > 0
		}
		after = w
	}
	return false
}

// isProtocol is for PASS x, as FTP, POP3 and IRC have it.
func isProtocol(s string, n named) bool {
	return s[n.start:n.end] == "PASS" && (n.start == 0 || strings.IndexByte("\n\"'`", s[n.start-1]) >= 0)
}

// isSQL is for: ALTER USER bob WITH PASSWORD 'x'.
func isSQL(s string, n named, i int) bool {
	if n.name != "password" || s[i] != '\'' && s[i] != '"' {
		return false
	}
	before := strings.ToLower(s[max(0, n.start-128):n.start])
	return slices.ContainsFunc([]string{"user ", "role ", "login "}, func(w string) bool { return strings.Contains(before, w) })
}

// How long a word must be to be a token, or a password, by its looks.
const (
	minToken    = 12
	minPassword = 6
)

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

// isPasswordName is for names of what people think up themselves.
func isPasswordName(squashed string) bool {
	return slices.ContainsFunc([]string{"password", "passwd", "passphrase", "passwort", "kennwort"}, func(n string) bool { return strings.HasSuffix(squashed, n) })
}

// looksLikePassword is for a short word with letters and digits, as hunter2,
// that is not the name of an algorithm or a version.
func looksLikePassword(v string) bool {
	if len(v) < minPassword || len(v) > 64 || strings.ContainsAny(v, "/.()=:,<>[]{}") || strings.Trim(v[:2], digits) == "" {
		return false
	}
	if v[0] == 'v' && isDigit(v[1]) || technical[strings.ToLower(strings.TrimRight(v, digits))] {
		return false
	}
	return strings.ContainsAny(v, digits) && strings.ContainsAny(strings.ToLower(v), "abcdefghijklmnopqrstuvwxyz")
}

// technical are words that a number follows.
var technical = map[string]bool{
	"sha": true, "md": true, "base": true, "utf": true, "oauth": true, "argon": true, "pbkdf": true, "bcrypt": true, "scrypt": true, "aes": true, "aes-": true, "sha-": true,
	"ed": true, "rsa": true, "win": true, "python": true, "step": true, "test": true, "line": true, "page": true, "chapter": true, "version": true, "issue": true, "example": true,
	"field": true, "level": true, "type": true, "rule": true, "case": true,
}
