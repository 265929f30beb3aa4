package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/internal/text"
)

// Told is the line for people, without its time and its reference: what happened, and then why, who answered, and with
// which params, a line each.
//
//	✗ deny · exec · agent:main:main · external → untrusted
func (l *Line) Told() (what string, more []string) {
	tool, level, given := l.Tool, l.Level, ""
	if l.Sent != "" {
		tool += " (sent as " + l.Sent + ")"
	}
	if l.RaisedTo != "" {
		level += " → " + l.RaisedTo
	}
	if l.Replay {
		given = "given again"
	}
	p := say("%s", l.mark(), "%s", tool, "%s", l.Session, "%s", level, "by %s", l.By, "%s", l.Scope,
		"waited %s", duration(l.WaitedMs), "error %s", l.Error, "%s", l.own(), "%s", given)
	return strings.Join(p, " · "), l.more()
}

func (l *Line) more() (all []string) {
	for _, s := range slices.Concat(l.Why, l.Origins) {
		all = append(all, say("%s", s)...)
	}
	for _, p := range l.People {
		at, says := "", cmp.Or(p.Says, "answered")
		if p.Says != "" {
			says = "said " + says
		}
		if !p.At.IsZero() {
			at = p.At.UTC().Format("15:04:05Z")
		}
		all = append(all, strings.Join(say("%s", p.Name, "%s", says, "on %s", p.Via, "at %s", at,
			"after %s", duration(p.TookMs), "with the passkey %s", p.Passkey), " "))
	}
	params := "params %s"
	if l.Hidden > 0 {
		params += fmt.Sprintf(" (%d hidden)", l.Hidden)
	}
	return append(all, say(
		"a person changed the arguments; asked about was the call with the digest %s", l.Asked,
		"with other arguments: the call with the digest %s", l.Edited,
		"agent read: %s", l.Reason,
		"note: %s", l.Note,
		params, string(l.Params))...)
}

// say is given phrases, each with its value, and gives those that have one. Nothing of it can act on a terminal or
// hide; the file has all of it.
func say(phrases ...string) (said []string) {
	for p := range slices.Chunk(phrases, 2) {
		if p[1] != "" {
			said = append(said, fmt.Sprintf(p[0], text.Visible(p[1], 400)))
		}
	}
	return said
}

func (l *Line) mark() string {
	switch {
	case l.Decision == Allow:
		return "✓ allow"
	case l.Decision == Deny:
		return "✗ deny"
	case l.Kind == KindAsked:
		return "? asked"
	case l.Kind == kindRepair || l.Kind == KindLock || l.Kind == KindPause:
		return "! " + string(l.Kind)
	}
	return "- " + string(l.Kind)
}

// own tells what the log's own lines hold, and what came of a call: nothing else says that it ran.
func (l *Line) own() string {
	switch {
	case l.Begin != nil:
		return fmt.Sprintf("file %d of %s", l.Begin.File, l.Begin.Chain)
	case l.Removed > 0:
		return fmt.Sprintf("file %d", l.Removed)
	case len(l.Parts) == 0 || l.Parts[0].What != PartReturned:
		return ""
	case l.Parts[0].Failed:
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
