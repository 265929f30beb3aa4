package redact

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Finding is one place where something can't be seen.
type Finding struct {
	Path   string // such as edits[0].newText; cut after 256 bytes
	Kind   string
	Length int // characters: of what is hidden, or of the compact JSON of a value that is no string
}

// maxFindings bounds the list, not the count: see [Result.Hidden].
const maxFindings = 256

// Result is what may be shown.
type Result struct {
	Params   jsontext.Value // the same shape, compact, hidden parts replaced; the very params if they are that already
	Findings []Finding      // the first 256

	more        int // findings beyond those
	moreBodies  int // of them, file bodies
	preRedacted bool
}

// Hidden returns the number of places the reader can't see, those that the
// client had already redacted included.
func (r Result) Hidden() int { return len(r.Findings) + r.more }

// Bodies returns the number of file bodies that are hidden.
func (r Result) Bodies() int {
	n := r.moreBodies
	for _, f := range r.Findings {
		if f.Kind == FileBody {
			n++
		}
	}
	return n
}

// PreRedacted reports whether params arrived with parts already redacted by the
// client: what will run is then known to the client alone.
func (r Result) PreRedacted() bool {
	if r.preRedacted {
		return true
	}
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Kind == AlreadyRedacted })
}

func (r *Result) add(f Finding) {
	r.preRedacted = r.preRedacted || f.Kind == AlreadyRedacted
	if len(r.Findings) == maxFindings {
		r.more++
		if f.Kind == FileBody {
			r.moreBodies++
		}
		return
	}
	r.Findings = append(r.Findings, f)
}

// mark is a moment in the making of a result.
type mark struct{ kept, more int }

func (r *Result) mark() mark { return mark{len(r.Findings), r.more} }

// cut forgets what was found between two marks, and returns what was found
// since, to be added again.
func (r *Result) cut(from, to mark) []Finding {
	later := slices.Clone(r.Findings[to.kept:])
	r.Findings = r.Findings[:from.kept]
	r.more -= to.more - from.more
	return later
}
