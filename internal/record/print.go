package record

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/internal/text"
)

// Told is the line for people, without its time and its reference: what happened, and then why, who answered, and with
// which params, a line each.
//
//	✗ deny · exec · agent:main:main · external → untrusted
func (l *Line) Told() (what string, more []string) {
	var p phrases
	p.add("%s", l.mark())
	p.add("%s", both(l.Tool, " (sent as "+l.Sent+")", l.Sent))
	p.add("%s", l.Session)
	p.add("%s", both(l.Level, " → "+l.RaisedTo, l.RaisedTo))
	p.add("by %s", l.By)
	p.add("%s", l.Scope)
	p.add("waited %s", duration(l.WaitedMs))
	p.add("error %s", l.Error)
	p.add("%s", l.own())
	if l.Replay {
		p.add("%s", "given again")
	}
	return strings.Join(p, " · "), l.more()
}

func (l *Line) more() (p phrases) {
	for _, s := range slices.Concat(l.Why, l.Origins) {
		p.add("%s", s)
	}
	for _, who := range l.People {
		p = append(p, who.sentence())
	}
	p.add("a person changed the arguments; asked about was the call with the digest %s", l.Asked)
	p.add("with other arguments: the call with the digest %s", l.Edited)
	p.add("agent read: %s", l.Reason)
	p.add("note: %s", l.Note)
	hidden := ""
	if l.Hidden > 0 {
		hidden = fmt.Sprintf(" (%d hidden)", l.Hidden)
	}
	p.add("params %s"+hidden, string(l.Params))
	return p
}

// phrases are what is said of a line.
type phrases []string

// add says something of a value, if there is one. Nothing of it can act on a terminal or hide; the file has all of it.
func (p *phrases) add(format, value string) {
	if value != "" {
		*p = append(*p, fmt.Sprintf(format, text.Visible(value, 400)))
	}
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

// both is a value, and more of another one where that differs.
func both(one, more, other string) string {
	if other == "" || other == one {
		return one
	}
	return one + more
}

// own tells what the log's own lines hold, and what came of a call: nothing else says that it ran.
func (l *Line) own() string {
	switch {
	case l.Begin != nil:
		return "file " + strconv.Itoa(l.Begin.File) + " of " + l.Begin.Chain
	case l.Removed > 0:
		return "file " + strconv.Itoa(l.Removed)
	case l.Part == nil || l.Part.What != PartReturned:
		return ""
	case l.Part.Failed:
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
