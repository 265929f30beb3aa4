package redact

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Finding is one place where something can't be seen.
type Finding struct {
	Path   string // such as edits[0].newText; cut after 256 bytes
	Kind   string
	Length int // characters: of what is hidden, or of the compact JSON of a value that is no string
}

const (
	maxFindings = 256 // bounds the list, not the count: see [Result.Hidden]
	maxPath     = 256 // bytes: else a long key above a long array would be copied once for each element
)

// Result is what may be shown.
type Result struct {
	Params   jsontext.Value // the same shape, compact, hidden parts replaced
	Findings []Finding      // the first 256

	path           []byte // of what is being looked at
	hidden, bodies int
	preRedacted    bool
}

// Hidden returns the number of places the reader can't see, those that the client had already redacted included.
func (r Result) Hidden() int { return r.hidden }

// Bodies returns the number of file bodies that are hidden.
func (r Result) Bodies() int { return r.bodies }

// PreRedacted reports whether params arrived with parts already redacted by the client: what will run is then known
// to the client alone.
func (r Result) PreRedacted() bool { return r.preRedacted }

// found adds a finding at the path.
func (r *Result) found(kind string, n int) {
	r.hidden++
	if kind == FileBody {
		r.bodies++
	}
	r.preRedacted = r.preRedacted || kind == AlreadyRedacted
	if len(r.Findings) == maxFindings {
		return
	}
	path := string(r.path[:min(len(r.path), maxPath)])
	if len(r.path) > maxPath {
		path = strings.ToValidUTF8(path, "") + "…"
	}
	r.Findings = append(r.Findings, Finding{path, kind, n})
}
