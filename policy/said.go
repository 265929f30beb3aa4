package policy

import (
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/internal/protocol"
)

// said is a call, what its params say, and where it works.
type said struct {
	*protocol.Call
	ground // of the call, until its command is read; then of that

	base     string   // where the call starts, before its command goes elsewhere
	files    []string // that it names, where it runs no command
	args     []argument
	names    []string // of the members at the top, as they are written
	all      string   // each value, then each name, then the tool's, with a zero byte between them
	readable bool     // the params are one JSON value
	long     bool     // its commands are longer than [mostCommands]
}

// argument is a string among the params, or another plain value as it is written.
type argument struct {
	path   string // "edits[0].newText"
	name   string // of the member that it is in, in small letters and without the characters that set words apart
	value  string
	isText bool
	top    bool // it is a member of the params themselves
}

// read reads the params of a call.
func (p *Policy) read(c *protocol.Call) said {
	values, err := c.Values()
	s := said{Call: c, readable: err == nil, args: make([]argument, 0, len(values)), names: make([]string, 0, 8)}
	var all strings.Builder
	all.Grow(len(c.Params) + len(c.Sent) + 16)
	keys := make([]byte, 0, 64)
	for i := range values {
		v := &values[i]
		name := v.Name
		for up := v.Up; name == "" && up > 0; up = values[up].Up {
			name = values[up].Name
		}
		if v.Name != "" {
			keys = append(append(keys, v.Name...), 0)
			if v.Up == 0 {
				s.names = append(s.names, v.Name)
			}
		}
		if v.Kind == jsontext.KindBeginObject || v.Kind == jsontext.KindBeginArray || v.Kind == jsontext.KindNull {
			continue
		}
		a := argument{values.Path(i), plainKey(name), v.Text, v.Kind == jsontext.KindString, v.Up == 0}
		s.args = append(s.args, a)
		all.WriteString(v.Text)
		all.WriteByte(0)
	}
	all.Write(keys)
	all.WriteString(c.Sent)
	s.all, s.ground = all.String(), p.groundOf(c, s.args)
	return s
}

// plainKey is a member's name in small letters and without the characters that set words apart.
func plainKey(name string) string {
	for i := range len(name) {
		if c := name[i]; c < 'a' || c > 'z' {
			return strings.ToLower(separators.Replace(name))
		}
	}
	return name
}

var separators = strings.NewReplacer("_", "", "-", "", " ", "")

// top is the text of the first member at the top with one of these names; "" where there is none.
func (s *said) top(names ...string) string {
	for _, name := range names {
		for i := range s.args {
			if a := &s.args[i]; a.path == name && a.isText {
				return a.value
			}
		}
	}
	return ""
}

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
		return SourceLabel(s.Tool, hostOf(v))
	}
	if v := s.top(pathParams...); v != "" && !strings.Contains(v, "://") {
		return SourceLabel(s.Tool, v[strings.LastIndexAny(strings.TrimRight(v, `/\`), `/\`)+1:])
	}
	for i := range s.args {
		if strings.Contains(s.args[i].value, "://") {
			return SourceLabel(s.Tool, hostOf(s.args[i].value))
		}
	}
	return SourceLabel(s.Tool, "")
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

// SourceLabel names what a tool returned, as a call's own label does: in one line that prints, and within the limit.
func SourceLabel(tool, hint string) string {
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

// destructive finds the word of an action that can't be undone: tools name theirs channel-delete, role_remove or
// removeParticipant. A word begins after what is no letter, or with a capital, and no small letter goes on with it.
var destructive = func() *regexp.Regexp {
	words := strings.Fields("Delete Remove Purge Wipe Destroy Uninstall Reset Kill Ban Kick Unsend")
	one := "(?:" + strings.Join(words, "|") + ")"
	return regexp.MustCompile(`(?:^|\PL)(?i:` + one + `)(?:\P{Ll}|$)|` + one + `(?:\P{Ll}|$)`)
}()

// saysMore reports whether a text is more than what is said: a line of it begins with MEDIA:, after which OpenClaw
// attaches a file, or it is a subject of more than one line, of which a mail program may take the second for a header.
func saysMore(a argument) bool {
	return a.name == "subject" && strings.ContainsAny(a.value, "\r\n") || attaches(a.value)
}

// attaches looks at what stands before a colon first: the pattern takes long.
func attaches(text string) bool {
	for before, after, more := strings.Cut(text, ":"); more; before, after, more = strings.Cut(after, ":") {
		if n := len(before) - len("media"); n >= 0 && strings.EqualFold(before[n:], "media") {
			return attachment.MatchString(text)
		}
	}
	return false
}

var attachment = regexp.MustCompile(`(?i)(?:^|[\n\r])[\s\v\x{85}\p{Z}\x60*_>"'-]*media:`)
