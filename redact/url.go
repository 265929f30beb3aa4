package redact

import "strings"

// queryNames are secrets in the query of a URL only: elsewhere they are words
// like any other.
var queryNames = []string{"key", "sig", "signature", "code", "auth", "session", "sid", "ticket", "assertion", "otp", "hash", "hmac", "x-amz-credential", "x-goog-credential"}

// query looks at name= where it may be part of a query.
func (f *finder) query(start, end int) {
	for n := 0; start > 0 && n < maxName && isName(f.s[start-1]); n++ {
		start--
	}
	if start == 0 || strings.IndexByte("?&#;", f.s[start-1]) < 0 {
		return
	}
	w := word{s: f.s, quote: quoteAt(f.s, start), equal: true, query: true}
	b := w.bare(end)
	if b-end >= 6 && !f.harmless(w, end, f.s[end:b]) {
		f.add(queryKind, end, b)
	}
}

// url looks at what stands after ://, up to the host: user:password@.
func (f *finder) url(_, end int) {
	stop := end
	for stop < len(f.s) && strings.IndexByte("/?#\"'`<>\\ \t\r\n", f.s[stop]) < 0 {
		stop++
	}
	at := strings.LastIndexByte(f.s[end:stop], '@')
	if at < 0 {
		at = f.lateAt(end, stop)
	}
	if at < 0 {
		return
	}
	f.userInfo(end, end+at)
}

// lateAt finds the @ behind a password that holds a slash, a question mark or a
// hash. What stands before must look like user:password, not like host:port.
func (f *finder) lateAt(from, stop int) int {
	_, port, ok := strings.Cut(f.s[from:stop], ":")
	if !ok || port != "" && strings.Trim(port, digits) == "" {
		return -1
	}
	rest := f.s[from:min(len(f.s), from+maxLookBack)]
	if i := strings.IndexAny(rest, "\"'`<> \t\r\n"); i >= 0 {
		rest = rest[:i]
	}
	return strings.LastIndexByte(rest, '@')
}

// userInfo hides the password, and a name that is a token itself.
func (f *finder) userInfo(start, at int) {
	user, password, ok := strings.Cut(f.s[start:at], ":")
	if looksRandom(user) {
		f.add(urlKind, start, start+len(user))
	}
	if w := (word{s: f.s}); ok && !f.harmless(w, 0, password) && password != "x-oauth-basic" {
		f.add(urlKind, at-len(password), at)
	}
}

// looksRandom is for names that no person has.
func looksRandom(s string) bool {
	return len(s) >= 16 && strings.ContainsAny(s, digits) && strings.Trim(s, digits) != ""
}

// dsn looks at user:password@tcp(host), as the drivers of Go have it.
func (f *finder) dsn(at, _ int) {
	start := at
	for n := 0; start > 0 && n < maxLookBack && !isSpace(f.s[start-1]) && !isQuote(f.s[start-1]); n++ {
		start--
	}
	if eq := strings.IndexByte(f.s[start:at], '='); eq >= 0 {
		start += eq + 1
	}
	if i := strings.LastIndex(f.s[start:at], "//"); i >= 0 {
		return // a URL
	}
	f.userInfo(start, at)
}
