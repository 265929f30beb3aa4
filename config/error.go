package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Error is one thing that is wrong, where, and what to do about it. It never
// repeats a secret.
type Error struct {
	File      string
	Line, Col int    // from one; 0 when there is no place
	Path      string // dotted: webhook.secrets[0]; may be empty
	Text      string
	Hint      string
}

// Error is the place and what is wrong there, in one line.
func (e *Error) Error() string {
	s := e.Text
	if e.Path != "" {
		s = visible(e.Path) + ": " + s
	}
	if e.Line > 0 {
		return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Col, s)
	}
	return e.File + ": " + s
}

// Errors is all that is wrong with a file, in the order of its lines.
type Errors []*Error

// Error lists them, one a line.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, one := range e {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives them to errors.As.
func (e Errors) Unwrap() []error {
	all := make([]error, len(e))
	for i, one := range e {
		all[i] = one
	}
	return all
}

func (e Errors) sort() {
	slices.SortStableFunc(e, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
	})
}

// Severity says how much a finding matters.
type Severity string

// The severities.
const (
	Note    Severity = "note"    // good to know
	Warning Severity = "warning" // the owner may not have meant this
)

// Finding is something valid that may not be meant, in words.
type Finding struct {
	Severity  Severity
	Line, Col int // 0 when the file says nothing about it
	Path      string
	Text      string
}

// String is the finding in one line, without the file's name.
func (f Finding) String() string {
	if f.Path == "" {
		return f.Text
	}
	return visible(f.Path) + ": " + f.Text
}

// visible keeps a key from moving the cursor or hiding: it was typed by
// someone, or pasted from somewhere.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}
