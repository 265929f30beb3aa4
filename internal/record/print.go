package record

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/internal/text"
)

// longest is how many characters of one value are printed; the file has all.
const longest = 400

// Sentence renders the entry as one line without its newline:
//
//	2026-10-03 14:02:11Z ✗ deny · exec · agent:main:main · external → untrusted · ref 7Q4K
//
// Nothing in it can move the cursor, start a line or hide: see visible.
func (e Entry) Sentence() string {
	parts := []string{e.At.UTC().Format("2006-01-02 15:04:05Z") + " " + e.mark()}
	for _, p := range []string{
		e.tool(), visible(e.Session), e.levels(), labelled("by", e.By), e.grant(),
		waited(e.WaitedMs), labelled("error", e.Error), labelled("ref", e.Ref), e.own(),
	} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	if e.Replay {
		parts = append(parts, "given again")
	}
	return strings.Join(parts, " · ")
}

// Print writes the entry for people: its sentence, then indented why, who
// answered, and with which params.
func Print(w io.Writer, e Entry) error {
	var b strings.Builder
	b.WriteString(e.Sentence())
	b.WriteByte('\n')
	for _, s := range e.details() {
		b.WriteString("    " + s + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (e Entry) details() []string {
	var d []string
	for _, w := range e.Why {
		d = append(d, visible(w))
	}
	for _, o := range e.Origins {
		d = append(d, visible(o))
	}
	for _, p := range e.People {
		d = append(d, p.sentence())
	}
	for _, s := range []string{e.changed(), labelled("agent read:", e.Reason), labelled("note:", e.Note), e.params()} {
		if s != "" {
			d = append(d, s)
		}
	}
	return d
}

// changed says that the arguments are not those that were asked about, and how to find these.
func (e Entry) changed() string {
	switch {
	case e.Asked != "":
		return "a person changed the arguments; asked about was the call with the digest " + visible(e.Asked)
	case e.Edited != "":
		return "with other arguments: the call with the digest " + visible(e.Edited)
	}
	return ""
}

func (p Person) sentence() string {
	s := visible(p.Name) + " answered"
	if p.Says != "" {
		s = visible(p.Name) + " said " + visible(p.Says)
	}
	if p.Via != "" {
		s += " on " + visible(p.Via)
	}
	if !p.At.IsZero() {
		s += " at " + p.At.UTC().Format("15:04:05Z")
	}
	if p.TookMs > 0 {
		s += " after " + seconds(p.TookMs)
	}
	if p.Passkey != "" {
		s += " with the passkey " + visible(p.Passkey)
	}
	return s
}

func (e Entry) mark() string {
	switch {
	case e.Decision == Allow:
		return "✓ allow"
	case e.Decision == Deny:
		return "✗ deny"
	case e.Kind == KindAsked:
		return "? asked"
	case e.Kind == KindRepair || e.Kind == KindLock || e.Kind == KindPause:
		return "! " + string(e.Kind)
	}
	return "- " + visible(string(e.Kind))
}

func (e Entry) tool() string {
	if e.Sent == "" || e.Sent == e.Tool {
		return visible(e.Tool)
	}
	return visible(e.Tool) + " (sent as " + visible(e.Sent) + ")"
}

func (e Entry) levels() string {
	if e.RaisedTo == "" || e.RaisedTo == e.Level {
		return visible(e.Level)
	}
	return visible(e.Level) + " → " + visible(e.RaisedTo)
}

func (e Entry) grant() string {
	if e.Minutes == 0 || strings.Contains(e.Scope, strconv.Itoa(e.Minutes)+" minute") { // the scope says it
		return visible(e.Scope)
	}
	return strings.TrimSpace(visible(e.Scope) + " for " + strconv.Itoa(e.Minutes) + " min")
}

// own tells what the log's own lines hold, and what a result was: nothing else says that a call ran.
func (e Entry) own() string {
	switch {
	case e.Begin != nil && e.Begin.Prev != "":
		return "file " + strconv.Itoa(e.Begin.File) + " of " + visible(e.Begin.Chain)
	case e.Begin != nil:
		return "record " + visible(e.Begin.Chain)
	case e.Removed > 0:
		return "file " + strconv.Itoa(e.Removed)
	case e.Part == nil || e.Part.What != PartReturned:
		return ""
	case e.Part.Failed:
		return "the runtime reported an error"
	}
	return "ran: the runtime reported its result"
}

func (e Entry) params() string {
	if len(e.Params) == 0 {
		return ""
	}
	s := "params " + visible(string(e.Params))
	if e.Hidden > 0 {
		s += fmt.Sprintf(" (%d hidden)", e.Hidden)
	}
	return s
}

func labelled(label, value string) string {
	if value == "" {
		return ""
	}
	return label + " " + visible(value)
}

func waited(ms int64) string {
	if ms == 0 {
		return ""
	}
	return "waited " + seconds(ms)
}

func seconds(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	if d > time.Second {
		d = d.Round(100 * time.Millisecond)
	}
	return d.String()
}

// visible is a value as it may be shown: nothing of it can act on a terminal or hide.
func visible(s string) string { return text.Visible(s, longest) }
