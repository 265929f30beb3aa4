package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

var noon = time.Date(2026, 10, 3, 12, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time { return noon.Add(time.Duration(seconds * float64(time.Second))) }

// seen makes evidence of one conversation: fetched at 1, and a command sent at 2
// and allowed at 3 by gateway 0, as its record says.
func seen(by string) *evidence {
	fetch := &call{id: "f", conversation: 7, tool: "web_fetch", sent: at(0), first: at(0), ended: at(1), answered: true, allowed: true}
	run := &call{id: "x", conversation: 7, tool: "exec", mark: "c7n1z", sent: at(2), first: at(2), ended: at(3), answered: true, allowed: true}
	v := &evidence{calls: []*call{fetch, run}, clock: func(t time.Time) time.Time { return t }}
	v.gateways[0].record = []entry{allowed(fetch, "safe"), allowed(run, by)}
	return v
}

func allowed(c *call, by string) entry {
	e := entry{Kind: "decision", RequestID: c.id, Tool: c.tool, Decision: "allow", By: by}
	e.Params.Command = "echo " + c.mark
	return e
}

func yes(label string, seconds float64, marks ...string) tap {
	return tap{card: card{calls: marks}, label: label, owner: true, at: at(seconds), sent: at(seconds), done: at(seconds + 0.1)}
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
		{"a grant for another conversation", "grant", wronglyAllowed, add(yes("Allow 30 min", 2.5, "c71n5z"))},
		{"a grant that is over", "grant", wronglyAllowed, add(yes("Allow 30 min", -1900, "c7n5z"))},
		{"one yes is no grant", "grant", wronglyAllowed, add(yes("Allow once", 2.5, "c7n5z"))},
		{"a grant that the store's clock has ended", "grant", wronglyAllowed, func(v *evidence) {
			v.taps = []tap{yes("Allow 30 min", 1.5, "c7n5z")}
			v.clock = func(t time.Time) time.Time {
				if t.After(at(1.9)) {
					return t.Add(31 * time.Minute)
				}
				return t
			}
		}},
		{"the policy of a tainted conversation", "taintPolicy", wronglyAllowed, nil},
		{"the policy of a clean one", "taintPolicy", "", func(v *evidence) { v.calls[0].allowed = false }},
		{"the policy beside a fetch", "taintPolicy", "", func(v *evidence) { v.calls[1].first = at(0.5) }},
		{"again, of what nobody allowed", "replay", wronglyAllowed, nil},
		{"again", "replay", "", add(yes("Allow once", 2.5, "c7n1z"))},
		{"a wrong clock", "taintPolicy", wronglyAllowed, func(v *evidence) { v.calls[0].allowed, v.calls[1].stale = false, true }},
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
		{"two calls of one digest", "person", "digest", func(v *evidence) {
			v.taps = []tap{yes("Allow once", 2.5, "c7n1z")}
			twin := v.gateways[0].record[1]
			twin.Params.Command, twin.Decision = "echo c7n2z", "deny"
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
