package policy

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxLabel is how many characters a source's label has at most.
const maxLabel = 80

// hostParams and fileParams hold what a source is best known by.
var (
	hostParams = []param{paramURL, paramTargetURL, paramURI}
	fileParams = []param{paramPath, paramFilePath, paramFilePathCamel, paramFile}
)

// label names a call as a source: the tool, and the host or the file it reads.
// It never holds more of an address than its host: what else is in it may be
// a password, a token or a message.
func label(tool string, t *text, fetcher string) string {
	return bounded(tool, hint(t, fetcher))
}

func hint(t *text, fetcher string) string {
	for _, p := range hostParams {
		if v := t.param(p); v != "" {
			return hostOf([]byte(v))
		}
	}
	for _, p := range fileParams {
		if v := t.param(p); v != "" && !strings.Contains(v, "://") {
			return v[strings.LastIndexAny(strings.TrimRight(v, `/\`), `/\`)+1:]
		}
	}
	if bytes.Contains(t.values, []byte("://")) {
		return hostOf(t.values)
	}
	return fetcher
}

// hostOf is the host of the first URL in b, or of b itself.
func hostOf(b []byte) string {
	if i := bytes.Index(b, []byte("://")); i >= 0 {
		b = b[i+3:]
	}
	host, _ := hostAt(b)
	return host
}

// maxHost is the longest name that is looked at.
const maxHost = 255

// hostAt reads the host at the start of an authority.
func hostAt(b []byte) (host string, rest []byte) {
	b = bytes.TrimLeft(b, "/")
	end := bytes.IndexAny(b, "/?#\\ \"'<>\x00")
	if end < 0 {
		end = len(b)
	}
	authority := b[:min(end, 2*maxHost)]
	authority = authority[bytes.LastIndexByte(authority, '@')+1:]
	if end := bytes.IndexByte(authority, ']'); end > 0 && authority[0] == '[' {
		return string(authority[1:end]), authority[end+1:]
	}
	name, port, found := bytes.Cut(authority, []byte{':'})
	if found {
		return string(name), append([]byte{':'}, port...)
	}
	return string(name), nil
}

// bounded joins the words, shows what would not print, and keeps to the limit.
func bounded(tool, hint string) string {
	s := tool
	if hint != "" {
		s = tool + " " + hint
	}
	if len(s) <= maxLabel && isPlain(s) {
		return strings.TrimSpace(s)
	}
	s = strings.TrimSpace(strings.Map(printable, s))
	if utf8.RuneCountInString(s) <= maxLabel {
		return s
	}
	return string([]rune(s)[:maxLabel-1]) + "…"
}

// isPlain reports whether s is nothing but ASCII that prints.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

func printable(r rune) rune {
	if r == ' ' || unicode.IsPrint(r) && r != utf8.RuneError {
		return r
	}
	return '?'
}
