// Package redact hides what must not leave the process: the params of a call, and any other text, before they are
// shown to a person, an auditor, a log or the record. What is hidden becomes "[REDACTED: N chars]". It is found
//
//   - by the name of a member, at any depth, without regard to case, hyphens, underscores, dots and spaces: file
//     bodies (content, edits, patch and contentBase64; of a tool that writes files every text but those that say
//     where and how) and secrets (password, token, apiKey and their like, and the names the owner adds). The name
//     may also be a value, as in {"name": "Authorization", "value": "…"}, or the argument before, as in
//     ["--password", "…"]. What holds nothing stays: null, a boolean, an empty value, a number of tokens;
//   - by shape, in every string and member name: NAME=x, flags, headers, URLs, PEM blocks, the arguments in
//     arguments.txt, the rules of gitleaks and the owner's patterns. Only the secret part of a longer text is
//     hidden. References such as $TOKEN stay, they are not the secret;
//   - by value: the secrets that the program itself has ([Config.Known]), also in hex and base64.
//
// The last two also in what is percent-encoded. All words at which something may be are found in one walk.
//
// The package refuses to guess: params it can't read are hidden as a whole, and so is a text that would take too long
// to search. It keeps nothing it has hidden, and says only how much that is.
package redact

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/internal/protocol"
)

// Config says what to hide. The zero Config hides file bodies and all that is secret by itself.
type Config struct {
	// ShowFileBodies shows file bodies; secrets in them stay hidden. The owner sets it for cards: the record never
	// has them.
	ShowFileBodies bool      `yaml:"showFileBodies"`
	Fields         []string  `yaml:"fields"`   // more names to hide, in any tool
	Patterns       []Pattern `yaml:"patterns"` // more shapes to hide, in any text
	Known          []string  `yaml:"-"`        // secrets by their value, those of the program itself; see minKnown
}

// Redactor hides. It is safe for concurrent use.
type Redactor struct {
	showFileBodies bool
	fields         map[string]bool // squashed
	patterns       []*rule
	numbers        bool // a number may be a secret
	words          *words
}

// New returns a Redactor. It refuses a field name that would match nothing, and a pattern that is wrong: the error is
// [Faults].
func New(c Config) (*Redactor, error) {
	r := &Redactor{showFileBodies: c.ShowFileBodies, fields: map[string]bool{}, words: newWords(c.Known)}
	var faults Faults
	for i, name := range c.Fields {
		s := squash(name)
		if s == "" {
			faults = append(faults, &Fault{fmt.Sprintf("fields[%d]", i),
				fmt.Sprintf("%q has no letter or digit to compare", name)})
		}
		r.fields[s] = true
	}
	for i, p := range c.Patterns {
		made, err := p.compile()
		if err != nil {
			faults = append(faults, &Fault{fmt.Sprintf("patterns[%d].regex", i), err.Error()})
		}
		r.patterns = append(r.patterns, made)
	}
	if len(faults) > 0 {
		return nil, faults
	}
	r.numbers = len(r.patterns) > 0
	for _, s := range c.Known {
		r.numbers = r.numbers || len(s) >= minKnown && strings.Trim(s, digits) == ""
	}
	return r, nil
}

func (r *Redactor) finder() finder {
	return finder{words: r.words, patterns: r.patterns, work: maxWork}
}

// Params returns the params of a call to tool, by its canonical name, as they may be shown.
func (r *Redactor) Params(tool string, params jsontext.Value) Result {
	w := walk{r: r, tool: tool, f: r.finder()}
	return w.read(params)
}

// Walked is Params for params that were found valid and walked over.
func (r *Redactor) Walked(tool string, params jsontext.Value, all protocol.Values) Result {
	w := walk{r: r, tool: tool, f: r.finder()}
	return w.do(params, all)
}

// Names returns params with the same shape and member names, each scalar replaced by the name of its type: "string",
// "number", "boolean" or "null". A name that holds a secret is hidden. Params it can't read become "unreadable". It
// is for a record that is to hold no values at all.
func (r *Redactor) Names(params jsontext.Value) jsontext.Value {
	w := walk{r: r, f: r.finder(), only: names}
	return w.read(params).Params
}

// WithoutBodies hides the file bodies in params that were redacted already, and says how many it hid. A card may show
// what is written to a file; what is kept of the card may not. Params that it can't read are hidden whole.
func WithoutBodies(tool string, shown jsontext.Value) (kept jsontext.Value, hidden int) {
	w := walk{r: &Redactor{}, tool: tool, only: bodies}
	result := w.read(shown)
	return result.Params, result.Hidden()
}

// Text returns a text of any other kind, such as a person's words or a reason, as it may be shown, and whether
// something is hidden in it, by us or by the client.
func (r *Redactor) Text(s string) (shown string, hidden bool) {
	f := r.finder()
	shown, n := f.text(s, nil)
	return shown, n > 0 || HasMask(s)
}

// Lines hides the secrets in short texts that are around a call, such as its name and where it comes from, in place.
func (r *Redactor) Lines(texts ...*string) {
	f := r.finder()
	for _, s := range texts {
		*s, _ = f.text(*s, nil)
	}
}

// Liner is Lines for texts that come one after the other: together they may take no longer than one call.
func (r *Redactor) Liner() func(text string) string {
	f := r.finder()
	return func(text string) string {
		shown, _ := f.text(text, nil)
		return shown
	}
}

// bare knows nothing of the owner's.
var bare = sync.OnceValue(func() *Redactor {
	r, err := New(Config{})
	if err != nil {
		panic(err) // an empty config has no fault
	}
	return r
})

// Line hides the secrets in one text, but not what only the owner's config gives away: for a caller who has no
// Redactor at hand.
func Line(s string) string {
	bare().Lines(&s)
	return s
}

// Names is [Redactor.Names] in the same way.
func Names(params jsontext.Value) jsontext.Value { return bare().Names(params) }

// Bears reports whether a text holds something that only secrets look like: a token of a known form, a private key, a
// secret of the verifier or of the owner's patterns. What is given to a name such as password does not count for that
// alone: code and manuals are full of it. A text that can't be searched counts.
func (r *Redactor) Bears(text string) bool {
	f := r.finder()
	return f.bears(text)
}

// BearsIn reports whether a name or a value anywhere in params does.
func (r *Redactor) BearsIn(params protocol.Values) bool {
	f := r.finder()
	for i := range params {
		v := &params[i]
		if f.bears(v.Name) || (v.Kind == '"' || r.numbers && v.Kind == '0') && f.bears(v.Text) {
			return true
		}
	}
	return false
}

func (f *finder) bears(text string) bool {
	f.sure = true
	return len(f.find(text)) > 0
}

// text returns s as it may be shown, and in how many places something was hidden. Some secrets in it are known.
func (f *finder) text(s string, known []span) (shown string, hidden int) {
	spans := merge(append(f.find(s), known...))
	if len(spans) == 0 || isMask(s) {
		return s, 0
	}
	var out strings.Builder
	from := 0
	for _, p := range spans {
		out.WriteString(s[from:p.start])
		out.WriteString(mask(s[p.start:p.end]))
		from = p.end
	}
	out.WriteString(s[from:])
	return out.String(), len(spans)
}

const maskStart = "[REDACTED: "

// mask stands for what is hidden.
func mask(hidden string) string {
	return maskStart + strconv.Itoa(utf8.RuneCountInString(hidden)) + " chars]"
}

var (
	masks = regexp.MustCompile(`\[REDACTED: [0-9]+ chars\]`)
	aMask = regexp.MustCompile(`^` + masks.String())
)

// HasMask reports whether something is hidden in a text: by us, or by the client before it reached us.
func HasMask(s string) bool {
	return strings.HasPrefix(s, "[REDACTED") || strings.Contains(s, maskStart) && masks.MatchString(s)
}

// isMask reports whether s is a mask and nothing else, so that showing it shows nothing.
func isMask(s string) bool { return s != "" && maskLength(s) == len(s) }

// maskLength returns the length of the mask that s begins with, or 0.
func maskLength(s string) int {
	if !strings.HasPrefix(s, maskStart) { // as nearly always
		return 0
	}
	return len(aMask.FindString(s))
}
