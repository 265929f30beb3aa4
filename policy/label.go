package policy

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxLabel is how many characters a source's label has at most.
const maxLabel = 80

// hostParams and pathParams hold what a source is best known by.
var (
	hostParams = []string{"url", "targetUrl", "uri"}
	pathParams = []string{"path", "file_path", "filePath", "file"}
)

// label names a call as a source: the tool, and the host or the file it reads. It never holds more of an address than
// its host: what else is in it may be a password, a token or a message.
func (s *said) label() string {
	if v := s.top(hostParams...); v != "" {
		return bounded(s.Tool, hostOf(v))
	}
	if v := s.top(pathParams...); v != "" && !strings.Contains(v, "://") {
		return bounded(s.Tool, v[strings.LastIndexAny(strings.TrimRight(v, `/\`), `/\`)+1:])
	}
	for i := range s.args {
		if strings.Contains(s.args[i].value, "://") {
			return bounded(s.Tool, hostOf(s.args[i].value))
		}
	}
	return bounded(s.Tool, "")
}

// hostOf is the host of the first address in a text, or of the text itself.
func hostOf(text string) string {
	if _, after, found := strings.Cut(text, "://"); found {
		text = after
	}
	text, _, _ = strings.Cut(strings.TrimLeft(text, "/"), "/")
	if end := strings.IndexAny(text, "?#\\ \"'<>\n"); end >= 0 {
		text = text[:end]
	}
	u, err := url.Parse("//" + text)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// bounded joins the words, shows what would not print, and keeps to the limit.
func bounded(tool, hint string) string {
	s := strings.TrimSpace(tool + " " + hint[:min(len(hint), 4*maxLabel)])
	s = strings.TrimSpace(strings.Map(func(r rune) rune {
		if r == ' ' || unicode.IsPrint(r) && r != utf8.RuneError {
			return r
		}
		return '?'
	}, s))
	if utf8.RuneCountInString(s) <= maxLabel {
		return s
	}
	return string([]rune(s)[:maxLabel-1]) + "…"
}

// SourceLabel names what a tool returned, as a call's own label does.
func SourceLabel(tool, origin string) string { return bounded(tool, origin) }
