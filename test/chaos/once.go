package main

import (
	"slices"
	"time"
)

// use is a yes on a card to one of its calls.
type use struct{ card, mark string }

// onlyOnce: one yes lets one request through. What is sent again is still that
// request; what was allowed again and never for the first time has taken a yes
// that no other request has.
func (v *evidence) onlyOnce(fetched map[int]time.Time) {
	uses, first := map[use]string{}, map[string]string{} // requests by the yes that they took; marks by request
	v.entries(func(e *entry) {
		if e.allows() && e.ground() != byReplay {
			first[e.RequestID] = e.mark()
		}
		if !e.allowsByPerson() {
			return
		}
		u := use{e.Card, e.mark()}
		if id, used := uses[u]; used && id != e.RequestID {
			v.accuse(wronglyAllowed, "one yes to %s on card %s was used by %s and by %s", u.mark, u.card, id, e.RequestID)
		}
		uses[u] = e.RequestID
	})
	v.entries(func(e *entry) {
		if !e.allows() || e.ground() != byReplay {
			return
		}
		switch mark, known := first[e.RequestID]; {
		case known && mark != e.mark():
			v.accuse(wronglyAllowed, "%s was allowed for %s, and again for %s", e.RequestID, mark, e.mark())
		case !known && !v.taken(e, uses, fetched):
			v.accuse(wronglyAllowed, "%s (%s) was allowed again, but never before, and no yes to it is left", e.RequestID, e.mark())
		}
		first[e.RequestID] = e.mark()
	})
}

func (e *entry) allows() bool { return e.Kind == "decision" && e.Decision == "allow" }

func (e *entry) allowsByPerson() bool { return e.allows() && e.ground() == byPerson }

// taken finds what let a request pass whose first allow is in no record, because
// its gateway died before that was written: the policy, a grant, or a yes that is
// left, which it takes.
func (v *evidence) taken(e *entry, uses map[use]string, fetched map[int]time.Time) bool {
	return slices.ContainsFunc(v.calls, func(c *call) bool {
		if c.id != e.RequestID || c.mark != e.mark() {
			return false
		}
		tainted, known := fetched[c.conversation]
		return !known || !tainted.Before(c.first) || v.granted(c) || v.take(c, uses)
	})
}

// take uses up a yes to a call, if one is left.
func (v *evidence) take(c *call, uses map[use]string) (found bool) {
	v.entries(func(e *entry) {
		u := use{e.Card, c.mark}
		if !found && e.Kind == "asked" && e.mark() == c.mark && uses[u] == "" && v.tapped(c, e.Card) {
			uses[u], found = c.id, true
		}
	})
	return found
}
