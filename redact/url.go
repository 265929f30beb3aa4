package redact

import "strings"

// queryNames are secrets in the query of a URL only: elsewhere they are words
// like any other.
var queryNames = []string{"key", "sig", "signature", "code", "auth", "session", "sid", "ticket", "assertion", "otp", "hash", "hmac", "x-amz-credential", "x-goog-credential"}

// query looks at name= where it may be part of a query.
func (k *looks) query(start, end int) {
	for n := 0; start > 0 && n < maxName && isName(k.s[start-1]); n++ {
		start--
	}
	if start == 0 || strings.IndexByte("?&#;", k.s[start-1]) < 0 {
		return
	}
	w := word{s: k.s, quote: quoteAt(k.s, start), equal: true, query: true}
	b := w.bare(end)
	if b-end >= 6 && !k.harmless(w, end, k.s[end:b]) {
		k.add(queryKind, end, b)
	}
}

// url looks at what is after ://, up to the host: user:password@.
func (k *looks) url(_, end int) {
	stop := end
	for stop < len(k.s) && strings.IndexByte("/?#\"'`<>\\ \t\r\n", k.s[stop]) < 0 {
		stop++
	}
	at := strings.LastIndexByte(k.s[end:stop], '@')
	if at < 0 {
		at = lateAt(k.s, end, stop)
	}
	if at < 0 {
		return
	}
	k.userInfo(end, end+at)
}

// lateAt finds the @ behind a password that holds a slash, a question mark or a
// hash. What is before must look like user:password, not like host:port.
func lateAt(s string, from, stop int) int {
	_, port, ok := strings.Cut(s[from:stop], ":")
	if !ok || port != "" && strings.Trim(port, digits) == "" {
		return -1
	}
	rest := s[from:min(len(s), from+maxLookBack)]
	if i := strings.IndexAny(rest, "\"'`<> \t\r\n"); i >= 0 {
		rest = rest[:i]
	}
	return strings.LastIndexByte(rest, '@')
}

// userInfo hides the password, and a name that is a token itself.
func (k *looks) userInfo(start, at int) {
	user, password, ok := strings.Cut(k.s[start:at], ":")
	if looksRandom(user) {
		k.add(urlKind, start, start+len(user))
	}
	if w := (word{s: k.s}); ok && !k.harmless(w, 0, password) && password != "x-oauth-basic" {
		k.add(urlKind, at-len(password), at)
	}
}

// looksRandom is for names that no person has.
func looksRandom(s string) bool {
	return len(s) >= 16 && strings.ContainsAny(s, digits) && strings.Trim(s, digits) != ""
}

// dsn looks at user:password@tcp(host), as the drivers of Go have it.
func (k *looks) dsn(at, _ int) {
	start := at
	for n := 0; start > 0 && n < maxLookBack && !isSpace(k.s[start-1]) && !isQuote(k.s[start-1]); n++ {
		start--
	}
	if eq := strings.IndexByte(k.s[start:at], '='); eq >= 0 {
		start += eq + 1
	}
	if i := strings.LastIndex(k.s[start:at], "//"); i >= 0 {
		return // a URL
	}
	k.userInfo(start, at)
}
