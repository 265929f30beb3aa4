// Package redact hides what must not leave the process: the params of a call,
// and any other text, before they are shown to a person, an auditor, a log or
// the record. All of them use one call, so that none shows more than another.
//
// What is hidden becomes "[REDACTED: N chars]". It is found in three ways.
//
// By the name of a member, at any depth:
//
//   - file bodies: content, edits, patch and contentBase64 of every tool; of a
//     tool that writes files (write, edit, apply_patch, file_write, or one whose
//     name says so, such as create_file) every text but those that say where and
//     how it writes, such as path and mode;
//   - secrets: a name that is, or ends in, a word such as password, token or
//     apiKey, and the names the owner adds. The name may also be a value, as in
//     {"name": "Authorization", "value": "…"}, or the argument before, as in
//     ["--password", "…"].
//
// Names are compared without regard to case, hyphens, underscores, dots and
// spaces. A value that holds nothing (null, a boolean, an empty string, array or
// object) stays, and so does a short number under a name that ends in token: it
// counts them. Under names such as pin and otp only short numbers are hidden.
//
// By shape, in every string and every member name: KEY=value, flags, headers,
// user:password@ and query tokens in URLs, connection strings, PEM blocks, JWTs
// and the tokens of well-known services; what the programs of a table take as
// arguments or from a pipe; passwords in SQL, XML, YAML and calls of functions;
// the rules of gitleaks; the owner's patterns. Only the secret part of a longer
// text is hidden. References such as $TOKEN stay, they are not the secret; what
// the variable is given in the same text is.
//
// By value: the secrets that the program itself has ([Config.Known]), wherever
// they stand in a text, also in hex.
//
// In disguise: the same, percent-encoded, in base64 or written with the escapes of
// a shell (\x41, \u0041, \101), also one in the other, and with characters or codes
// of a terminal in it that can't be seen.
//
// The package refuses to guess: params it can't read are hidden as a whole, and
// so is a text that would take too long to search. Until the rules are compiled,
// a tenth of a second after the first New, everything is hidden. It keeps
// nothing it has hidden, and says for each only where, what kind and how long.
package redact

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// The kinds of a [Finding]. Those of secrets found by their shape are short
// words such as "token", the name of a rule of gitleaks, or the name of the
// owner's pattern.
const (
	FileBody        = "file body"
	SecretField     = "secret field"
	AlreadyRedacted = "already redacted" // hidden by the client, before it reached us
	Unreadable      = "unreadable"       // not JSON, or not only one value: all of it is hidden
	NotReady        = "not ready yet"    // the rules are not compiled: all texts are hidden
	TooMuch         = "too much to search"
	OwnSecret       = "secret of the verifier"
)

// Config says what to hide. The zero Config hides file bodies and all that is
// secret by itself.
type Config struct {
	ShowFileBodies bool      `yaml:"showFileBodies"` // true shows file bodies; secrets in them stay hidden. The owner sets it for cards: the record never has them
	Fields         []string  `yaml:"fields"`         // more names to hide, in any tool
	Patterns       []Pattern `yaml:"patterns"`       // more shapes to hide, in any text
	Known          []string  `yaml:"-"`              // secrets by their value, those of the program itself; see minKnown
}

// Redactor hides. It is safe for concurrent use.
type Redactor struct {
	showFileBodies bool
	fields         map[string]bool // squashed
	patterns       []pattern
	known          known
	making         *making
}

// New returns a Redactor, at once: see [Redactor.Ready]. It refuses a field name
// that would match nothing, and a pattern that is wrong or does not hide its own
// example: the error is [Faults].
func New(c Config) (*Redactor, error) {
	r := &Redactor{showFileBodies: c.ShowFileBodies, fields: make(map[string]bool, len(c.Fields)), making: shared}
	var faults Faults
	for i, name := range c.Fields {
		s := squash(name)
		if s == "" {
			faults = append(faults, &Fault{fmt.Sprintf("fields[%d]", i), fmt.Sprintf("%q has no letter or digit to compare", name)})
		}
		r.fields[s] = true
	}
	r.known = newKnown(c.Known)
	r.patterns, faults = c.compile(faults)
	if len(faults) > 0 {
		return nil, faults
	}
	r.making.start()
	return r, nil
}

// Params returns the params of a call to tool, by its canonical name, as they
// may be shown.
func (r *Redactor) Params(tool string, params jsontext.Value) Result {
	if !params.IsValid() {
		return unreadable(params)
	}
	p := pass{redactor: r, tool: tool, in: scan{text: string(params), literal: bytes.IndexByte(params, '\\') < 0}}
	p.seek.begin(r)
	p.value()
	p.result.Params = p.out
	return p.result
}

// Text returns a text of any other kind, such as a person's words or a reason,
// as it may be shown. The findings have no path.
func (r *Redactor) Text(s string) (string, []Finding) {
	p := pass{redactor: r}
	p.seek.begin(r)
	out, _ := p.seek.text(s, nil, &p)
	return out, p.result.Findings
}

// unreadable hides everything, and what a pass found before it failed as well.
func unreadable(params jsontext.Value) Result {
	n := runes(params)
	r := Result{Params: appendMask(nil, n)}
	r.add(Finding{Kind: Unreadable, Length: n})
	return r
}

// Bears reports whether a text holds something that only secrets look like: a token of a known form, a private key, a
// password in an address, a secret of the verifier or of the owner's patterns. What is given to a name such as password does
// not count for that alone: code and manuals are full of it. A text that can't be searched counts.
func (r *Redactor) Bears(text string) bool {
	apart := strings.Join(strings.FieldsFunc(text, func(c rune) bool { return c <= ' ' || strings.ContainsRune("=:\"'`,;", c) }), "\n\n") // without the names
	return r.bears(text) || r.bears(apart)
}

func (r *Redactor) bears(text string) bool {
	_, found := r.Text(text)
	return len(found) == maxFindings || slices.ContainsFunc(found, func(f Finding) bool {
		return !namedKinds[f.Kind] && (f.Kind != pemKind || strings.Contains(text, "PRIVATE KEY"))
	})
}

// namedKinds are found by a name beside them.
var namedKinds = map[string]bool{
	assignedKind: true, headerKind: true, queryKind: true, flagKind: true, "generic-api-key": true, AlreadyRedacted: true,
}

// Lines hides the secrets in short texts that are around a call, such as its
// name and where it comes from, in place.
func (r *Redactor) Lines(texts ...*string) {
	var k seeker
	k.begin(r)
	for _, s := range texts {
		if k.d != nil || !isPlain(*s) {
			*s, _ = k.text(*s, nil, &k.why)
		}
	}
}

// Line is the same for one text and without the owner's patterns, for a caller who
// has no Redactor at hand. It waits until the rules are ready: a tenth of a
// second, once.
func Line(s string) string {
	shared.start()
	<-shared.done
	bare.Lines(&s)
	return s
}

// bare knows nothing of the owner's.
var bare = &Redactor{making: shared}
