package redact

import (
	"strings"
)

// schemes are words that stand before the secret in an Authorization header.
var schemes = map[string]bool{"bearer": true, "basic": true, "token": true, "bot": true, "apikey": true, "digest": true, "negotiate": true, "aws4-hmac-sha256": true, "key": true}

// header hides the value of Authorization and Cookie: all of the line, or up to
// the quote that the header is in. The scheme stays.
func (f *finder) header(start, i int) {
	w := word{s: f.s, quote: quoteAt(f.s, start)}
	a, b := w.at(i)
	bare := a == i // not in quotes of its own
	if bare {
		b = f.lineEnd(i, w.quote)
	}
	scheme, rest, ok := strings.Cut(f.s[a:b], " ")
	if ok && schemes[strings.ToLower(scheme)] {
		a = b - len(strings.TrimLeft(rest, " "))
		if bare && w.quote == 0 && !lists[strings.ToLower(scheme)] {
			b = w.bare(a) // what follows is the rest of a command
		}
	}
	if !f.harmless(w, a, f.s[a:b]) {
		f.add(headerKind, a, b)
	}
}

// lists are schemes that are followed by more than one word.
var lists = map[string]bool{"digest": true, "aws4-hmac-sha256": true}

// lineEnd returns the end of the line, or of the quotes that it is in. Asked for
// places in order, it looks for the end of each line once.
func (f *finder) lineEnd(i int, quote byte) int {
	if i > f.seen.line || f.seen.line == 0 {
		f.seen.line = lineEnd(f.s, i)
	}
	if quote != 0 {
		if n := strings.IndexByte(f.s[i:f.seen.line], quote); n >= 0 {
			return i + n
		}
	}
	return f.seen.line
}

// bearer looks at "Bearer x" without a header around it.
func (f *finder) bearer(start, end int) {
	a, b := f.credential(start, end)
	if b-a >= 16 || b-a >= 8 && strings.ContainsAny(f.s[a:b], digits) {
		if strings.Trim(f.s[a:b], "abcdefghijklmnopqrstuvwxyz") != "" {
			f.add(headerKind, a, b)
		}
	}
}

// basic looks at "Basic x": base64 of name:password.
func (f *finder) basic(start, end int) {
	a, b := f.credential(start, end)
	if b-a < 6 {
		return
	}
	for _, plain := range decoded(strings.TrimRight(f.s[a:b], "="), 0) {
		if strings.IndexByte(plain, ':') >= 0 {
			f.add(headerKind, a, b)
			return
		}
	}
	// Too short, or not ASCII, to be told by its text: base64 with padding is
	// no word of a sentence.
	if f.s[b-1] == '=' {
		f.add(headerKind, a, b)
	}
}

// credential returns the token68 after a scheme that stands as a word.
func (f *finder) credential(start, end int) (int, int) {
	if start > 0 && isWord(f.s[start-1]) {
		return end, end
	}
	a := skip(f.s, end, " ", maxGap)
	b := a
	for b < len(f.s) && (isToken64(f.s[b]) || f.s[b] == '.' || f.s[b] == '~') {
		b++
	}
	return a, b
}
