package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/codes"
)

// ground looks for what may have allowed a call: the policy, an answer for that very call, or a grant that lives.
func (v *evidence) ground(c *call, e *entry, fetched map[int]time.Time) {
	tainted, known := fetched[c.conversation]
	clean := !known || !tainted.Before(c.first)
	switch {
	case !fresh(c):
		v.accuse(wronglyAllowed, "%s: its timestamp was beyond the tolerance", c.id)
	case c.mark == "" && e.ground() == byPolicy: // read and web_fetch pass at every level
	case e.ground() == byPolicy && clean:
	case e.ground() == byReplay && (v.tapped(c, "") || v.granted(c) || clean):
	case e.ground() == byPerson && v.tapped(c, e.Card):
	case e.ground() == byGrant && v.granted(c):
	default:
		v.accuse(wronglyAllowed, "%s (%s %s) by %s; tainted %v before it was first sent; %s",
			c.id, c.tool, c.mark, e.By, c.first.Sub(tainted), v.meanwhile(tainted, c.ended))
	}
}

// fresh reports whether a call's timestamp was within the tolerance while the gateway had the call.
func fresh(c *call) bool {
	return !c.stamp.Before(c.sent.Add(-tolerance)) && !c.stamp.After(c.ended.Add(tolerance))
}

// latest is when a tap can have counted at the latest. One that was delivered twice is done with the first; when the
// second was is not known, so that a jump of the store's clock says nothing of these.
func (t *tap) latest() time.Time {
	if t.done.IsZero() || t.twice {
		return t.sent.Add(time.Minute)
	}
	return t.done
}

// cameInTime reports whether a card could still be answered when a tap came, by the store's clock. It was asked for at
// most so long before it was seen as a gateway tries to send it.
func (v *evidence) cameInTime(t *tap) bool {
	if t.sent.IsZero() {
		return false // it never left the phone
	}
	came, _ := v.store.between(t.sent, t.latest())
	_, asked := v.store.between(t.seen.Add(-ttl), t.seen)
	return !came.After(asked.Add(ttl))
}

// holds reports whether a yes could let a call pass: it came before the call was answered, in its time, and its own
// time was not over when the call was made.
func (v *evidence) holds(t *tap, c *call, most time.Duration) bool {
	_, from := v.store.between(t.sent, t.latest())
	earliest, _ := v.store.between(c.sent, c.ended)
	return t.owner && v.cameInTime(t) && t.sent.Before(c.ended) && !earliest.After(from.Add(most))
}

// tapped looks for the owner's yes to that very call, on a card or on any.
func (v *evidence) tapped(c *call, card string) bool {
	return slices.ContainsFunc(v.taps, func(t tap) bool {
		return allows[t.label] && slices.Contains(t.calls, c.mark) &&
			(card == "" || strings.Contains(t.head, codes.Ref(card))) && v.holds(&t, c, ttl)
	})
}

// allows are the buttons that do. Cards about commands have exactly instead of longer.
var allows = map[string]bool{"Allow once": true, longer: true, exactly: true}

const longer, exactly = "Allow 30 min", "Exactly this, 30 min"

// granted looks for a lasting yes to a call of the same tool in the same conversation, or to the very call.
func (v *evidence) granted(c *call) bool {
	here := fmt.Sprintf("c%dn", c.conversation)
	covers := func(m string) bool { return strings.HasPrefix(m, here) && v.toolOf[m] == c.tool }
	return slices.ContainsFunc(v.taps, func(t tap) bool {
		covered := t.label == longer && slices.ContainsFunc(t.calls, covers) ||
			t.label == exactly && slices.Contains(t.calls, c.mark)
		return covered && v.holds(&t, c, 30*time.Minute)
	})
}

// entries are the lines of both records.
func (v *evidence) entries(each func(e *entry)) {
	for _, g := range v.gateways {
		for i := range g.record {
			each(&g.record[i])
		}
	}
}

// digests: what was approved is what was called. One digest for each call, and none for two.
func (v *evidence) digests() {
	marks, digests := map[string]string{}, map[string]string{}
	v.entries(func(e *entry) {
		m := e.mark()
		if e.Kind != "decision" || e.Digest == "" || m == "" {
			return
		}
		if seen, known := digests[m]; known && seen != e.Digest {
			v.accuse("digest", "%s has two: %s and %s", m, seen, e.Digest)
		}
		if seen, known := marks[e.Digest]; known && seen != m {
			v.accuse("digest", "%s is that of %s and of %s", e.Digest, seen, m)
		}
		digests[m], marks[e.Digest] = e.Digest, m
	})
}

// answers: a call that a person let pass has the digest that the card was about, and the record has no refusal beside
// it. A line about a card may be missing where its gateway was killed; what is there must agree.
func (v *evidence) answers() {
	about, no := map[string][]string{}, map[string]bool{} // digests by card; card and digest
	v.entries(func(e *entry) {
		if e.Kind == "asked" || e.Kind == "answer" {
			about[e.Card] = append(about[e.Card], e.Digest)
		}
		if e.Kind == "answer" && e.Decision == "deny" {
			no[e.Card+e.Digest] = true
		}
	})
	v.entries(func(e *entry) {
		switch {
		case !e.allowsByPerson():
		case e.Card == "":
			v.accuse(wronglyAllowed, "%s by a person, on no card", e.RequestID)
		case len(about[e.Card]) > 0 && !slices.Contains(about[e.Card], e.Digest):
			v.accuse(wronglyAllowed, "%s by card %s, which was about other calls", e.RequestID, e.Card)
		case no[e.Card+e.Digest]:
			v.accuse(wronglyAllowed, "%s by card %s, on which it was denied", e.RequestID, e.Card)
		}
	})
}

// use is a yes on a card to one of its calls.
type use struct{ card, mark string }

// onlyOnce: one yes lets one request through. What is sent again is still that request; what was allowed again and
// never for the first time has taken a yes that no other request has.
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
			v.accuse(wronglyAllowed, "a yes to %s on card %s was used by %s and by %s", u.mark, u.card, id, e.RequestID)
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
			v.accuse(wronglyAllowed, "%s (%s) was allowed again, but by no yes that is left", e.RequestID, e.mark())
		}
		first[e.RequestID] = e.mark()
	})
}

func (e *entry) allows() bool { return e.Kind == "decision" && e.Decision == "allow" }

func (e *entry) allowsByPerson() bool { return e.allows() && e.ground() == byPerson }

// taken finds what let a request pass whose first allow is in no record, because its gateway died before that was
// written: the policy, a grant, or a yes that is left, which it takes.
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

// history is when a clock was moved, and by how much it was off from then on.
type history []move

type move struct {
	began, at time.Time // between them it may show either
	shift     time.Duration
}

// shifts are by how much it was off at any moment of a time.
func (h history) shifts(from, to time.Time) []time.Duration {
	out := []time.Duration{0}
	for _, m := range h {
		switch {
		case !m.at.After(from):
			out = []time.Duration{m.shift}
		case !m.began.After(to):
			out = append(out, m.shift)
		}
	}
	return out
}

// between is the least and the most that it showed in a time.
func (h history) between(from, to time.Time) (least, most time.Time) {
	shifts := h.shifts(from, to)
	return from.Add(slices.Min(shifts)), to.Add(slices.Max(shifts))
}
