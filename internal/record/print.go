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

// Filter picks entries. Zero fields pick all.
type Filter struct {
	Since, Until time.Time // from Since, before Until
	Tool         string    // as judged or as sent
	Session      string    // session key or session id
	Agent        string
	Decision     string
	Ref          string // in any case: people type it
	Kind         string
	Person       string // in any case
}

// Match reports whether e is one to pick.
func (f Filter) Match(e Entry) bool {
	is := func(want string, have ...string) bool { return want == "" || slices.Contains(have, want) }
	named := func(p Person) bool { return strings.EqualFold(p.Name, f.Person) }
	return (f.Since.IsZero() || !e.At.Before(f.Since)) && (f.Until.IsZero() || e.At.Before(f.Until)) &&
		is(f.Tool, e.Tool, e.Sent) && is(f.Session, e.Session, e.SessionID) && is(f.Agent, e.Agent) &&
		is(f.Decision, e.Decision) && is(f.Kind, string(e.Kind)) && (f.Ref == "" || strings.EqualFold(f.Ref, e.Ref)) &&
		(f.Person == "" || slices.ContainsFunc(e.People, named))
}

// visible is a value as it may be shown: nothing of it can act on a terminal or hide. The file has all of it.
func visible(s string) string { return text.Visible(s, 400) }

// Sentence renders the entry as one line without its newline:
//
//	2026-10-03 14:02:11Z ✗ deny · exec · agent:main:main · external → untrusted · ref 7Q4K
func (e Entry) Sentence() string {
	s := e.At.UTC().Format("2006-01-02 15:04:05Z") + " " + e.mark()
	again := ""
	if e.Replay {
		again = "given again"
	}
	for _, p := range []string{
		both(e.Tool, " (sent as ", e.Sent, ")"), visible(e.Session), both(e.Level, " → ", e.RaisedTo, ""),
		labelled("by", e.By), visible(e.Scope), waited("waited ", e.WaitedMs), labelled("error", e.Error),
		labelled("ref", e.Ref), e.own(), again,
	} {
		if p != "" {
			s += " · " + p
		}
	}
	return s
}

// Print writes the entry for people: its sentence, then indented why, who answered, and with which params.
func Print(w io.Writer, e Entry) error {
	text := e.Sentence() + "\n"
	for _, s := range e.details() {
		if s != "" {
			text += "    " + s + "\n"
		}
	}
	_, err := io.WriteString(w, text)
	return err
}

func (e Entry) details() (d []string) {
	for _, s := range slices.Concat(e.Why, e.Origins) {
		d = append(d, visible(s))
	}
	for _, p := range e.People {
		d = append(d, p.sentence())
	}
	d = append(d, labelled("a person changed the arguments; asked about was the call with the digest", e.Asked),
		labelled("with other arguments: the call with the digest", e.Edited),
		labelled("agent read:", e.Reason), labelled("note:", e.Note))
	params := labelled("params", string(e.Params))
	if e.Hidden > 0 && params != "" {
		params += fmt.Sprintf(" (%d hidden)", e.Hidden)
	}
	return append(d, params)
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
	if s += waited(" after ", p.TookMs); p.Passkey != "" {
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

// both is a value, and another one behind it where that differs.
func both(one, open, other, closing string) string {
	if other == "" || other == one {
		return visible(one)
	}
	return visible(one) + open + visible(other) + closing
}

// own tells what the log's own lines hold, and what came of a call: nothing else says that it ran.
func (e Entry) own() string {
	switch {
	case e.Begin != nil:
		return "file " + strconv.Itoa(e.Begin.File) + " of " + visible(e.Begin.Chain)
	case e.Removed > 0:
		return "file " + strconv.Itoa(e.Removed)
	case e.Part == nil || e.Part.What != PartReturned:
		return ""
	case e.Part.Failed:
		return "the runtime reported an error"
	}
	return "ran: the runtime reported its result"
}

func labelled(label, value string) string {
	if value == "" {
		return ""
	}
	return label + " " + visible(value)
}

func waited(label string, ms int64) string {
	if ms <= 0 {
		return ""
	}
	return label + (time.Duration(ms) * time.Millisecond).String()
}
