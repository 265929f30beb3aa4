package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/codes"
)

var noon = time.Date(2026, 10, 3, 12, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time { return noon.Add(time.Duration(seconds * float64(time.Second))) }

// seen makes evidence of one conversation: fetched at 1, and a command sent at 2
// and allowed at 3 by gateway 0, as its record says.
func seen(by string) *evidence {
	fetch := &call{id: "f", conversation: 7, tool: "web_fetch", stamp: at(0), sent: at(0), first: at(0), ended: at(1), answered: true, allowed: true}
	run := &call{id: "x", conversation: 7, tool: "exec", mark: "c7n1z", stamp: at(2), sent: at(2), first: at(2), ended: at(3), answered: true, allowed: true}
	other := &call{id: "m", conversation: 7, tool: "message", mark: "c7n9z", stamp: at(2), sent: at(2), first: at(2), ended: at(2), answered: true}
	more := &call{id: "o", conversation: 7, tool: "exec", mark: "c7n5z", stamp: at(2), sent: at(2), first: at(2), ended: at(2), answered: true}
	v := &evidence{calls: []*call{fetch, run, other, more}}
	v.gateways[0].record = []entry{allowed(fetch, "safe"), allowed(run, by)}
	return v
}

func allowed(c *call, by string) entry {
	e := entry{Kind: "decision", RequestID: c.id, Tool: c.tool, Decision: "allow", By: by, Params: jsontext.Value(`{"command":"uname ` + c.mark + `"}`)}
	if by == byPerson {
		e.Card = "card"
	}
	return e
}

// asked is the line of a card about a call.
func asked(card, mark string) entry {
	return entry{Kind: "asked", Card: card, Params: jsontext.Value(`{"command":"uname ` + mark + `"}`)}
}

func yes(label string, seconds float64, marks ...string) tap {
	head := "ref: " + codes.Ref("card") + ","
	return tap{card: card{head: head, calls: marks, seen: at(seconds - 1)}, label: label, owner: true, at: at(seconds), sent: at(seconds), done: at(seconds + 0.1)}
}

// TestTheJudgeBites: each case is something that must not be, and its twin that
// may.
func TestTheJudgeBites(t *testing.T) {
	add := func(taps ...tap) func(*evidence) { return func(v *evidence) { v.taps = taps } }
	for _, c := range []struct {
		name, by, want string
		change         func(v *evidence)
	}{
		{"a person's yes", "person", "", add(yes("Allow once", 2.5, "c7n1z"))},
		{"nobody's yes", "person", wronglyAllowed, add()},
		{"a yes to another call", "person", wronglyAllowed, add(yes("Allow once", 2.5, "c7n2z"))},
		{"a yes that came after", "person", wronglyAllowed, add(yes("Allow once", 3.5, "c7n1z"))},
		{"a yes long ago", "person", wronglyAllowed, add(yes("Allow once", -60, "c7n1z"))},
		{"a no", "person", wronglyAllowed, add(yes("Deny", 2.5, "c7n1z"))},
		{"a stranger's yes", "person", wronglyAllowed, func(v *evidence) {
			v.taps = []tap{yes("Allow once", 2.5, "c7n1z")}
			v.taps[0].owner = false
		}},
		{"a grant", "grant", "", add(yes("Allow 30 min", 2.5, "c7n5z"))},
		{"a grant for exactly this", "grant", "", add(yes("Exactly this, 30 min", 2.5, "c7n1z"))},
		{"a grant for exactly another command", "grant", wronglyAllowed, add(yes("Exactly this, 30 min", 2.5, "c7n5z"))},
		{"a grant for another conversation", "grant", wronglyAllowed, add(yes("Allow 30 min", 2.5, "c71n5z"))},
		{"a grant that is over", "grant", wronglyAllowed, add(yes("Allow 30 min", -1900, "c7n5z"))},
		{"one yes is no grant", "grant", wronglyAllowed, add(yes("Allow once", 2.5, "c7n5z"))},
		{"a grant that the store's clock has ended", "grant", wronglyAllowed, func(v *evidence) {
			v.taps = []tap{yes("Allow 30 min", 1.5, "c7n5z")}
			v.store = history{{at(1.9), at(1.9), 31 * time.Minute}}
		}},
		{"the policy of a tainted conversation", "taintPolicy", wronglyAllowed, nil},
		{"the policy of a clean one", "taintPolicy", "", func(v *evidence) { v.calls[0].allowed = false }},
		{"the policy beside a fetch", "taintPolicy", "", func(v *evidence) { v.calls[1].first = at(0.5) }},
		{"again, of what nobody allowed", "replay", wronglyAllowed, nil},
		{"again, and its first allow died with its gateway", "replay", "", func(v *evidence) {
			v.taps = []tap{yes("Allow once", 2.5, "c7n1z")}
			v.gateways[1].record = []entry{asked("card", "c7n1z")}
		}},
		{"again, by a yes to no card", "replay", wronglyAllowed, add(yes("Allow once", 2.5, "c7n1z"))},
		{"again, after a person's yes to the same request", "replay", "", func(v *evidence) {
			v.taps = []tap{yes("Allow once", 2.5, "c7n1z")}
			v.gateways[1].record = []entry{asked("card", "c7n1z"), allowed(v.calls[1], byPerson)}
		}},
		{"again, by the yes that another request took", "replay", wronglyAllowed, func(v *evidence) {
			v.taps = []tap{yes("Allow once", 2.5, "c7n1z")}
			other := *v.calls[1]
			other.id = "y"
			v.gateways[1].record = []entry{asked("card", "c7n1z"), allowed(&other, byPerson)}
		}},
		{"again, by a second yes on a card of its own", "replay", "", func(v *evidence) {
			v.taps = []tap{yes("Allow once", 2.2, "c7n1z"), yes("Allow once", 2.5, "c7n1z")}
			v.taps[1].head = "ref: " + codes.Ref("second") + ","
			other := *v.calls[1]
			other.id = "y"
			v.gateways[1].record = []entry{asked("card", "c7n1z"), allowed(&other, byPerson), asked("second", "c7n1z")}
		}},
		{"again, by a second card that nobody has tapped", "replay", wronglyAllowed, func(v *evidence) {
			v.taps = []tap{yes("Allow once", 2.2, "c7n1z")}
			other := *v.calls[1]
			other.id = "y"
			v.gateways[1].record = []entry{asked("card", "c7n1z"), allowed(&other, byPerson), asked("second", "c7n1z")}
		}},
		{"two requests again, by one yes whose first allow is lost", "replay", wronglyAllowed, func(v *evidence) {
			v.taps = []tap{yes("Allow once", 2.5, "c7n1z")}
			other := *v.calls[1]
			other.id = "y"
			v.calls = append(v.calls, &other)
			v.gateways[1].record = []entry{asked("card", "c7n1z"), allowed(&other, byReplay)}
		}},
		{"again, as another call than before", "replay", wronglyAllowed, func(v *evidence) {
			v.taps = []tap{yes("Allow once", 2.5, "c7n1z", "c7n5z")}
			other := *v.calls[1]
			other.mark = "c7n5z"
			v.gateways[1].record = []entry{asked("card", "c7n5z"), allowed(&other, byPerson)}
		}},
		{"again, of a grant whose first allow is lost", "replay", "", add(yes("Allow 30 min", 2.5, "c7n5z"))},
		{"a yes on another card about the same call", "person", wronglyAllowed, func(v *evidence) {
			v.taps = []tap{yes("Allow once", 2.5, "c7n1z")}
			v.gateways[0].record[1].Card = "second"
		}},
		{"a grant for another tool", "grant", wronglyAllowed, add(yes("Allow 30 min", 2.5, "c7n9z"))},
		{"a yes to a card whose time was over", "person", wronglyAllowed, func(v *evidence) {
			v.taps = []tap{yes("Allow once", 2.5, "c7n1z")}
			v.taps[0].seen = at(-14)
		}},
		{"a yes to a card whose time the store's clock has ended", "person", wronglyAllowed, func(v *evidence) {
			v.taps = []tap{yes("Allow once", 2.5, "c7n1z")}
			v.store = history{{at(1.9), at(1.9), 31 * time.Minute}}
		}},
		{"a yes that never left the phone", "person", wronglyAllowed, func(v *evidence) {
			v.taps = []tap{yes("Allow once", 2.5, "c7n1z")}
			v.taps[0].sent, v.taps[0].done = time.Time{}, time.Time{}
		}},
		{"a yes that was passed on too late", "person", wronglyAllowed, func(v *evidence) {
			v.taps = []tap{yes("Allow once", 2.5, "c7n1z")}
			v.taps[0].sent, v.taps[0].done = at(3.1), at(3.2)
		}},
		{"a runtime's wrong clock", "taintPolicy", wronglyAllowed, func(v *evidence) { v.calls[0].allowed, v.calls[1].stamp = false, at(400) }},
		{"a yes on no card", "person", wronglyAllowed, func(v *evidence) {
			v.taps = []tap{yes("Allow once", 2.5, "c7n1z")}
			v.gateways[0].record[1].Card = ""
		}},
		{"a yes whose card was about another digest", "person", wronglyAllowed, func(v *evidence) {
			v.taps = []tap{yes("Allow once", 2.5, "c7n1z")}
			v.gateways[0].record[1].Digest = "one"
			v.gateways[1].record = []entry{{Kind: "asked", Card: "card", Digest: "other"}}
		}},
		{"a yes to what somebody had denied", "person", wronglyAllowed, func(v *evidence) {
			v.taps = []tap{yes("Allow once", 2.5, "c7n1z")}
			v.gateways[0].record[1].Digest = "one"
			v.gateways[1].record = []entry{{Kind: "answer", Card: "card", Digest: "one", Decision: "deny"}}
		}},
		{"no record", "person", lostRecord, func(v *evidence) { v.gateways[0].record = v.gateways[0].record[:1] }},
		{"the other's record", "person", lostRecord, func(v *evidence) {
			v.gateways[1].record = v.gateways[0].record[1:]
			v.gateways[0].record = v.gateways[0].record[:1]
		}},
		{"one yes for two", "person", wronglyAllowed, func(v *evidence) {
			v.taps = []tap{yes("Allow once", 2.5, "c7n1z")}
			twin := v.gateways[0].record[1]
			twin.RequestID = "y"
			v.gateways[1].record = []entry{twin}
		}},
		{"no answer", "", unanswered, func(v *evidence) { v.calls[1].answered, v.calls[1].allowed = false, false }},
		{"no answer from a gateway that was killed", "", "", func(v *evidence) {
			v.calls[1].answered, v.calls[1].allowed = false, false
			v.gateways[0].down = spans{{at(2.5), at(4)}}
		}},
		{"no answer long after a kill", "", unanswered, func(v *evidence) {
			v.calls[1].answered, v.calls[1].allowed = false, false
			v.gateways[0].down = spans{{at(0), at(1.5)}}
		}},
		{"a late answer", "", unanswered, func(v *evidence) { v.calls[1].allowed, v.calls[1].ended = false, at(4.6) }},
		{"a late answer of a gateway that was stopped", "", "", func(v *evidence) {
			v.calls[1].allowed, v.calls[1].ended = false, at(4.6)
			v.gateways[0].held = spans{{at(2.1), at(2.5)}}
		}},
		{"a late answer to a call that came while its gateway started", "", "", func(v *evidence) {
			v.calls[1].allowed, v.calls[1].ended = false, at(4.6)
			v.gateways[0].down = spans{{at(1.5), at(2.4)}}
		}},
		{"a late answer of a gateway that was told to stop meanwhile", "", unanswered, func(v *evidence) {
			v.calls[1].allowed, v.calls[1].ended = false, at(4.6)
			v.gateways[0].down = spans{{at(2.1), at(2.5)}}
		}},
		{"a late answer before its gateway was there again", "", unanswered, func(v *evidence) {
			v.calls[1].allowed, v.calls[1].ended = false, at(8)
			v.gateways[0].down = spans{{at(1.9), at(9)}}
		}},
		{"two calls of one digest", "person", "digest", func(v *evidence) {
			v.taps = []tap{yes("Allow once", 2.5, "c7n1z")}
			twin := v.gateways[0].record[1]
			twin.Params, twin.Decision = jsontext.Value(`{"command":"uname c7n2z"}`), "deny"
			v.gateways[0].record[1].Digest, twin.Digest = "d", "d"
			v.gateways[1].record = []entry{twin}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := seen(c.by)
			if c.change != nil {
				c.change(v)
			}
			r := v.verdict()
			found := fmt.Sprint(r.wrongs)
			if c.want == "" && len(r.wrongs) > 0 || c.want != "" && (len(r.wrongs) == 0 || !strings.Contains(found, c.want)) {
				t.Errorf("want %q, found %s", c.want, found)
			}
			if (r.faulty() == nil) != (c.want == "") {
				t.Errorf("the run is called %v", r.faulty())
			}
		})
	}
}

// TestTapsAreCountedByWhatThePlatformsMadeOfThem: one that came twice, one that
// overtook another on its card, and one that never left.
func TestTapsAreCountedByWhatThePlatformsMadeOfThem(t *testing.T) {
	rooms := openRooms()
	for _, r := range rooms {
		defer r.Close()
	}
	tapped := func(r room, id string, made, sent float64) tap {
		return tap{card: card{room: r, id: id}, at: at(made), sent: at(sent)}
	}
	taps := []tap{tapped(rooms[0], "1", 1, 3), tapped(rooms[0], "1", 2, 2.5), tapped(rooms[1], "1", 2, 2.5), tapped(rooms[2], "7", 1, 1), tapped(rooms[2], "7", 2, 3)}
	taps[3].twice = true
	taps = append(taps, tap{card: card{room: rooms[2], id: "8"}, at: at(4), twice: true})
	var r result
	r.count(taps)
	if got := fmt.Sprint(r.taps, r.rooms["telegram"], r.rooms["slack"], r.rooms["discord"], r.twice, r.mixed); got != "6 2 1 3 1 1" {
		t.Errorf("taps, on each, twice, out of order: %s", got)
	}
}
