package record

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/internal/text"
)

// Print writes the entry for people: one line, then indented why, who answered, and with which params.
//
//	2026-10-03 14:02:11Z ✗ deny · exec · agent:main:main · external → untrusted · ref 7Q4K
func Print(w io.Writer, e Entry) error {
	lines := append(phrases{strings.Join(e.inShort(), " · ")}, e.details()...)
	_, err := io.WriteString(w, strings.Join(lines, "\n    ")+"\n")
	return err
}

// phrases are what is said of an entry.
type phrases []string

// add says something of a value, if there is one. Nothing of it can act on a terminal or hide; the file has all of it.
func (p *phrases) add(format, value string) {
	if value != "" {
		*p = append(*p, fmt.Sprintf(format, text.Visible(value, 400)))
	}
}

func (e Entry) inShort() (p phrases) {
	p.add("%s", e.At.UTC().Format("2006-01-02 15:04:05Z")+" "+e.mark())
	p.add("%s", both(e.Tool, " (sent as "+e.Sent+")", e.Sent))
	p.add("%s", e.Session)
	p.add("%s", both(e.Level, " → "+e.RaisedTo, e.RaisedTo))
	p.add("by %s", e.By)
	p.add("%s", e.Scope)
	p.add("waited %s", duration(e.WaitedMs))
	p.add("error %s", e.Error)
	p.add("ref %s", e.Ref)
	p.add("%s", e.own())
	if e.Replay {
		p.add("%s", "given again")
	}
	return p
}

func (e Entry) details() (p phrases) {
	for _, s := range slices.Concat(e.Why, e.Origins) {
		p.add("%s", s)
	}
	for _, who := range e.People {
		p = append(p, who.sentence())
	}
	p.add("a person changed the arguments; asked about was the call with the digest %s", e.Asked)
	p.add("with other arguments: the call with the digest %s", e.Edited)
	p.add("agent read: %s", e.Reason)
	p.add("note: %s", e.Note)
	hidden := ""
	if e.Hidden > 0 {
		hidden = fmt.Sprintf(" (%d hidden)", e.Hidden)
	}
	p.add("params %s"+hidden, string(e.Params))
	return p
}

func (p Person) sentence() string {
	var words phrases
	words.add("%s", p.Name)
	if p.Says == "" {
		words.add("%s", "answered")
	}
	words.add("said %s", p.Says)
	words.add("on %s", p.Via)
	if !p.At.IsZero() {
		words.add("at %s", p.At.UTC().Format("15:04:05Z"))
	}
	words.add("after %s", duration(p.TookMs))
	words.add("with the passkey %s", p.Passkey)
	return strings.Join(words, " ")
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
	return "- " + string(e.Kind)
}

// both is a value, and more of another one where that differs.
func both(one, more, other string) string {
	if other == "" || other == one {
		return one
	}
	return one + more
}

// own tells what the log's own lines hold, and what came of a call: nothing else says that it ran.
func (e Entry) own() string {
	switch {
	case e.Begin != nil:
		return "file " + strconv.Itoa(e.Begin.File) + " of " + e.Begin.Chain
	case e.Removed > 0:
		return "file " + strconv.Itoa(e.Removed)
	case e.Part == nil || e.Part.What != PartReturned:
		return ""
	case e.Part.Failed:
		return "the runtime reported an error"
	}
	return "ran: the runtime reported its result"
}

func duration(ms int64) string {
	if ms <= 0 {
		return ""
	}
	return (time.Duration(ms) * time.Millisecond).String()
}
