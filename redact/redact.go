// Package redact hides what must not leave the process: the params of a call
// before they are shown to a person, an auditor, a log or the record.
//
// It works by member name, at any depth. Two kinds of members are hidden:
//
//   - file bodies: content, edits, patch and contentBase64 of every tool; for
//     the tools that write files (write, edit, apply_patch, file_write) also
//     input, oldText, newText, oldString and newString, which elsewhere are
//     ordinary arguments that the reader needs;
//   - secrets: a name that is, or ends in, a word such as password, token or
//     apiKey, and the names the owner adds.
//
// Names are compared without regard to case, hyphens, underscores, dots and
// spaces. A hidden value becomes the string "[REDACTED: N chars]". A value
// that holds nothing (null, a boolean, an empty string, array or object) stays,
// and so does a number under a name that ends in token: it counts them.
//
// The package refuses to guess: params it can't read are hidden as a whole. It
// keeps nothing it has hidden, and says for each only where and how long.
package redact

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// The kinds of a [Finding].
const (
	FileBody        = "file body"
	SecretField     = "secret field"
	AlreadyRedacted = "already redacted" // hidden by the client, before it reached us
	Unreadable      = "unreadable"       // not JSON, or not only one value: all of it is hidden
)

// Config says what to hide. The zero Config hides file bodies and all names that
// are secret by themselves.
type Config struct {
	ShowFileBodies bool     `yaml:"showFileBodies"` // true shows file bodies; secrets in them by name stay hidden
	Fields         []string `yaml:"fields"`         // more names to hide, in any tool
}

// Redactor hides. It is safe for concurrent use.
type Redactor struct {
	showFileBodies bool
	fields         map[string]bool // squashed
}

// New returns a Redactor. It refuses a field name that would match nothing.
func New(c Config) (*Redactor, error) {
	r := &Redactor{showFileBodies: c.ShowFileBodies, fields: make(map[string]bool, len(c.Fields))}
	for i, name := range c.Fields {
		s := squash(name)
		if s == "" {
			return nil, fmt.Errorf("fields[%d]: %q has no letter or digit to compare", i, name)
		}
		r.fields[s] = true
	}
	return r, nil
}

// Finding is one place where something can't be seen.
type Finding struct {
	Path   string // such as edits[0].newText; cut after 256 bytes
	Kind   string
	Length int // characters: of the string, or of the compact JSON of another value
}

// maxFindings bounds the list, not the count: see [Result.Hidden].
const maxFindings = 256

// Result is what may be shown.
type Result struct {
	Params   jsontext.Value // the same shape, compact, hidden values replaced
	Findings []Finding      // the first 256

	more        int // findings beyond those
	preRedacted bool
}

// Hidden returns the number of places the reader can't see, those that the
// client had already redacted included.
func (r Result) Hidden() int { return len(r.Findings) + r.more }

// PreRedacted reports whether params arrived with parts already redacted by the
// client: what will run is then known to the client alone.
func (r Result) PreRedacted() bool {
	if r.preRedacted {
		return true
	}
	for _, f := range r.Findings {
		if f.Kind == AlreadyRedacted {
			return true
		}
	}
	return false
}

func (r *Result) add(f Finding) {
	r.preRedacted = r.preRedacted || f.Kind == AlreadyRedacted
	if len(r.Findings) == maxFindings {
		r.more++
		return
	}
	r.Findings = append(r.Findings, f)
}

// Params returns the params of a call to tool, by its canonical name, as they
// may be shown.
func (r *Redactor) Params(tool string, params jsontext.Value) Result {
	p := newPass(r, tool, params)
	if !p.whole() {
		return unreadable(params)
	}
	p.result.Params = p.out
	return p.result
}

// unreadable hides everything, and what a pass found before it failed as well.
func unreadable(params jsontext.Value) Result {
	n := runes(params)
	r := Result{Params: appendMask(nil, n)}
	r.add(Finding{Kind: Unreadable, Length: n})
	return r
}
