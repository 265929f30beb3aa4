package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"html/template"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/openclaw-verifier/verifier/channels"
)

//go:embed templates/*.html
var templateFiles embed.FS

// templates are read at the first request: a gateway starts without them.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"asset": assetURL, "marked": marked, "words": words, "lines": lines, "changed": changedLines, "stamp": stamp, "clock": clock, "day": day,
	}).ParseFS(templateFiles, "templates/*.html"))
})

// view is what a template is drawn from.
type view struct {
	Title  string
	At     string // the view that is open, for the navigation
	Me     *member
	Paused []string
	Said   said // what became of the answer that was just given

	Waiting waitingView
	Card    cardView
	Edit    editView
	Always  alwaysView

	Passkeys      passkeysView
	Notifications notificationsView

	Grants  grantsView
	History historyView
	Record  recordView
	Pauses  pauseView // for those who may say something about them

}

// said is what the page says to a person about what they just did.
type said struct {
	Text string
	Fate *channels.Fate // instead of the text: what became of the call
	Late bool           // before the person answered
	Tone string         // good, bad or odd
}

func draw(name string, v any) ([]byte, error) {
	var b bytes.Buffer
	err := templates().ExecuteTemplate(&b, name, v)
	return b.Bytes(), err
}

// span is a piece of a text; a mark is one of ours, in place of what can't be
// shown as it is.
type span struct {
	Text  string
	Mark  bool
	Break bool // a line that has to break may do so behind it
}

// marked cuts a text at our marks, which nothing else looks like: channels.Safe
// escapes their brackets everywhere else.
func marked(s string) []span {
	var out []span
	for s != "" {
		i := strings.Index(s, "⟨")
		end := -1
		if i >= 0 {
			end = strings.Index(s[i:], "⟩")
		}
		if end < 0 {
			return append(out, span{Text: s})
		}
		end += i + len("⟩")
		if i > 0 {
			out = append(out, span{Text: s[:i]})
		}
		out = append(out, span{Text: s[i:end], Mark: true})
		s = s[end:]
	}
	return out
}

// word is a piece of a command. A line may break before and after one that is whole, and within it only where it is longer than a line.
type word struct {
	Spans []span
	Whole bool
}

// maxWords is how long a text may be that is cut into words; a longer one breaks wherever the browser likes.
const maxWords = 8000

// words cuts a command at white space, outside our marks, so that no line breaks inside a flag: browsers break lines after hyphens. What
// has nothing but letters and digits breaks nowhere as it is.
func words(s string) []word {
	if len(s) > maxWords {
		return []word{{Spans: marked(s)}}
	}
	var out []word
	plain := 0 // where what needs no care begins
	for at := 0; at < len(s); {
		n := wordEnd(s[at:])
		if strings.ContainsFunc(s[at:at+n], func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			if at > plain {
				out = append(out, word{Spans: marked(s[plain:at])})
			}
			out = append(out, word{Spans: breakable(marked(s[at : at+n])), Whole: true})
			plain = at + n
		}
		at += n
		at += len(s[at:]) - len(strings.TrimLeftFunc(s[at:], unicode.IsSpace))
	}
	if plain < len(s) {
		out = append(out, word{Spans: marked(s[plain:])})
	}
	return out
}

// breakable lets a long address or path break behind its slashes, where it has to break.
func breakable(spans []span) (out []span) {
	const short = 24
	for _, s := range spans {
		for !s.Mark && len(s.Text) > short {
			i := strings.IndexByte(strings.TrimLeft(s.Text, "/"), '/')
			if i < 0 {
				break
			}
			end := len(s.Text) - len(strings.TrimLeft(s.Text[len(s.Text)-len(strings.TrimLeft(s.Text, "/"))+i:], "/"))
			out = append(out, span{Text: s.Text[:end], Break: true})
			s.Text = s.Text[end:]
		}
		out = append(out, s)
	}
	return out
}

// wordEnd is where the white space behind the first word begins; 0 if that comes first.
func wordEnd(s string) int {
	inMark := false
	for i, r := range s {
		if unicode.IsSpace(r) && !inMark {
			return i
		}
		inMark = r == '⟨' || inMark && r != '⟩'
	}
	return len(s)
}

func lines(s string) []string { return strings.Split(s, "\n") }

// stamp is a time for machines.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// day is a day for people.
func day(t time.Time) string { return t.UTC().Format("2 Jan 2006") }

// clock is a time for people. The page's script puts it into their own.
func clock(t time.Time) string { return t.UTC().Format("Jan 2 15:04:05") + " UTC" }

//go:embed assets/*.css assets/*.js assets/*.svg assets/*.png
var assetFiles embed.FS

// file is an asset as it is sent. Nothing in it depends on who asks.
type file struct {
	body, packed []byte // packed: with gzip; nil where that is no shorter
	kind, sum    string
}

// assets are read and packed at the first request.
var assets = sync.OnceValue(func() map[string]file {
	out := make(map[string]file)
	entries, err := assetFiles.ReadDir("assets")
	if err != nil {
		panic(err) // it is built in
	}
	for _, e := range entries {
		if body, err := assetFiles.ReadFile("assets/" + e.Name()); err == nil {
			out[e.Name()] = newFile(e.Name(), body)
		}
	}
	return out
})

func newFile(name string, body []byte) file {
	sum := sha256.Sum256(body)
	f := file{body: body, kind: mime.TypeByExtension(path.Ext(name)), sum: hex.EncodeToString(sum[:6])}
	switch path.Ext(name) { // a machine's own table may know fewer
	case ".js":
		f.kind = "text/javascript; charset=utf-8"
	case ".svg":
		f.kind = "image/svg+xml"
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(body); err == nil && z.Close() == nil && b.Len() < len(body) {
		f.packed = b.Bytes()
	}
	return f
}

// assetURL names an asset by what is in it, so that it can be kept for ever.
func assetURL(name string) string { return Root + "assets/" + name + "?v=" + assets()[name].sum }

func (s *site) file(w http.ResponseWriter, r *http.Request, name string) {
	f, ok := assets()[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Vary", "Accept-Encoding")
	if r.URL.Query().Get("v") == f.sum {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	body := f.body
	if f.packed != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		body = f.packed
		h.Set("Content-Encoding", "gzip")
	}
	s.send(w, r, f.kind, body)
}

// manifest lets a phone put the page on its home screen.
func (s *site) manifest(w http.ResponseWriter, r *http.Request) {
	body, err := draw("manifest", nil)
	s.fault(r.Context(), "the manifest could not be drawn", err)
	s.send(w, r, "application/manifest+json", body)
}
