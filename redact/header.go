package redact

import (
	"strings"
)

// schemes are words that are before the secret in an Authorization header.
var schemes = map[string]bool{"bearer": true, "basic": true, "token": true, "bot": true, "apikey": true, "digest": true, "negotiate": true, "aws4-hmac-sha256": true, "key": true}

// header hides the value of Authorization and Cookie: all of the line, or up to
// the quote that the header is in. The scheme stays.
func (k *looks) header(start, i int) {
	w := word{s: k.s, quote: quoteAt(k.s, start)}
	a, b := w.at(i)
	bare := a == i // not in quotes of its own
	if bare {
		b = k.lineEnd(i, w.quote)
	}
	scheme, rest, ok := strings.Cut(k.s[a:b], " ")
	if ok && schemes[strings.ToLower(scheme)] {
		a = b - len(strings.TrimLeft(rest, " "))
		if bare && w.quote == 0 && !lists[strings.ToLower(scheme)] {
			b = w.bare(a) // what follows is the rest of a command
		}
	}
	if !k.harmless(w, a, k.s[a:b]) {
		k.add(headerKind, a, b)
	}
}

// lists are schemes that are followed by more than one word.
var lists = map[string]bool{"digest": true, "aws4-hmac-sha256": true}

// bearer looks at "Bearer x" without a header around it.
func (k *looks) bearer(start, end int) {
	a, b := credential(k.s, start, end)
	if b-a >= 16 || b-a >= 8 && strings.ContainsAny(k.s[a:b], digits) {
		if strings.Trim(k.s[a:b], "abcdefghijklmnopqrstuvwxyz") != "" {
			k.add(headerKind, a, b)
		}
	}
}

// basic looks at "Basic x": base64 of name:password.
func (k *looks) basic(start, end int) {
	a, b := credential(k.s, start, end)
	if b-a < 6 {
		return
	}
	for _, plain := range decoded(strings.TrimRight(k.s[a:b], "="), 0) {
		if strings.IndexByte(plain, ':') >= 0 {
			k.add(headerKind, a, b)
			return
		}
	}
	// Too short, or not ASCII, to be told by its text: base64 with padding is
	// no word of a sentence.
	if k.s[b-1] == '=' {
		k.add(headerKind, a, b)
	}
}

// credential returns the token68 after a scheme that is a word of its own.
func credential(s string, start, end int) (int, int) {
	if start > 0 && isWord(s[start-1]) {
		return end, end
	}
	a := skip(s, end, " ", maxGap)
	b := a
	for b < len(s) && (isToken64(s[b]) || s[b] == '.' || s[b] == '~') {
		b++
	}
	return a, b
}
