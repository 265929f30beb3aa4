package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// wrong is something that must not be.
type wrong struct{ kind, text string }

// The kinds of wrongs that are counted; whatever else is wrong is reported as it is.
const (
	wronglyAllowed = "wrongly allowed"
	unanswered     = "unanswered"
	lostRecord     = "lost record"
)

// entry is a line of a record, as far as it matters here.
type entry struct {
	Kind      string         `json:"kind"`
	RequestID string         `json:"requestId"`
	Tool      string         `json:"tool"`
	Decision  string         `json:"decision"`
	By        string         `json:"by"`
	Digest    string         `json:"digest"`
	Card      string         `json:"card"`
	Params    jsontext.Value `json:"params"`
	People    []struct {
		Via string `json:"via"`
	} `json:"people"`
}

func (e *entry) mark() string { return mark.FindString(string(e.Params)) }

// What a call can be allowed by.
const (
	byPolicy = "policy"
	byPerson = "person"
	byGrant  = "grant"
	byReplay = "replay" // by any of them, when the same request came first
)

// ground is what the record says let a call pass. Whatever is neither a person's answer nor a grant is a rule of the
// policy, by its name.
func (e *entry) ground() string {
	switch e.By {
	case byPerson, byGrant, byReplay:
		return e.By
	case "destination": // a grant, too
		return byGrant
	}
	return byPolicy
}

// evidence is what was seen from the outside.
type evidence struct {
	calls    []*call
	taps     []tap
	gateways [2]witness
	late     spans
	store    history // of its clock
	faults   map[string]spans
	wrongs   []wrong

	toolOf map[string]string // by the marks of the calls
}

// witness is what is known of a gateway.
type witness struct {
	down, held spans
	record     []entry
}

func (v *evidence) accuse(kind, format string, args ...any) {
	v.wrongs = append(v.wrongs, wrong{kind, fmt.Sprintf(format, args...)})
}

// meanwhile tells what was done to the parts in a time.
func (v *evidence) meanwhile(from, to time.Time) string {
	var done []string
	for name, when := range v.faults {
		if when.touches(from, to) {
			done = append(done, name)
		}
	}
	slices.Sort(done)
	return fmt.Sprintf("meanwhile: %q, and the machine was late by %v", done, v.late.overlap(from, to))
}

// judge holds everything that was seen against each other.
func (w *world) judge() (result, error) {
	v := &evidence{calls: w.agents.calls, taps: w.chats.taps, late: w.late, faults: w.tally.when}
	v.store = w.redis.knobs.moves
	for i, g := range w.gateways {
		record, err := readRecord(g.state)
		if err != nil {
			return result{}, err
		}
		v.gateways[i] = witness{g.down, g.held, record}
		verify := []string{"audit", "verify", "--config", g.config, "--state", g.state}
		if err := command(context.Background(), w.tools.verifier, verify...); err != nil {
			v.accuse("record not intact", "%s: %v", g.name, err)
		}
		v.look(g.name, g.log)
	}
	r := v.verdict()
	r.kind, r.cards, r.faults = w.redis.kind, w.chats.cards, w.tally.when
	for _, room := range w.chats.rooms {
		if r.yes[room.name] == 0 {
			r.wrongs = append(r.wrongs, wrong{"no yes", "the record has none by " + room.name})
		}
	}
	for _, err := range w.tally.errs {
		r.wrongs = append(r.wrongs, wrong{"the run itself", err.Error()})
	}
	return r, nil
}

func readRecord(state string) (out []entry, err error) {
	files, err := filepath.Glob(filepath.Join(state, "record*.jsonl"))
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		for line := range bytes.Lines(text) {
			var e entry
			if err := json.Unmarshal(line, &e); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			out = append(out, e)
		}
	}
	return out, err
}

// look searches a gateway's log for what never happens in a sound program.
func (v *evidence) look(name, log string) {
	text, err := os.ReadFile(log)
	if err != nil {
		v.accuse("no log", "%v", err)
	}
	for line := range bytes.Lines(text) {
		if bytes.Contains(line, []byte("panic")) || bytes.Contains(line, []byte("DATA RACE")) {
			v.accuse("a crash", "%s: %s", name, line)
		}
	}
}

// verdict is the invariant.
func (v *evidence) verdict() result {
	r := result{calls: len(v.calls), taps: len(v.taps), grounds: map[string]int{}, yes: map[string]int{}}
	v.entries(func(e *entry) {
		if e.Kind == "answer" && e.Decision == "allow" && len(e.People) > 0 {
			r.yes[e.People[len(e.People)-1].Via]++
		}
	})
	fetched := v.fetched()
	v.toolOf = map[string]string{}
	for _, c := range v.calls {
		v.toolOf[c.mark] = c.tool
	}
	for _, c := range v.calls {
		switch {
		case c.answered:
			r.answered++
			r.slowest = max(r.slowest, v.inTime(c))
		case v.gateways[c.to].down.touches(c.sent, c.ended):
			r.cut++
		default:
			v.accuse(unanswered, "%s to gateway %d after %v: %v; %s",
				c.id, c.to, c.ended.Sub(c.sent), c.fault, v.meanwhile(c.sent, c.ended))
		}
		if !c.allowed {
			continue
		}
		e := v.recorded(c)
		if e == nil {
			v.accuse(lostRecord, "%s was allowed by gateway %d, whose record does not say so", c.id, c.to)
			continue
		}
		r.grounds[e.ground()]++
		v.ground(c, e, fetched)
	}
	v.onlyOnce(fetched)
	v.digests()
	v.answers()
	r.wrongs = v.wrongs
	return r
}

// fetched is when each conversation was known to be tainted: when an agent had read that its fetch was allowed.
func (v *evidence) fetched() map[int]time.Time {
	out := map[int]time.Time{}
	for _, c := range v.calls {
		if at, known := out[c.conversation]; c.tool == "web_fetch" && c.allowed && (!known || c.ended.Before(at)) {
			out[c.conversation] = c.ended
		}
	}
	return out
}

// inTime says how long an answer took beyond its hold, from when its gateway was there. What the gateway was stopped
// for, and what the machine was late by, is not counted.
func (v *evidence) inTime(c *call) time.Duration {
	g := &v.gateways[c.to]
	from := g.down.end(c.sent, c.ended)
	over := c.ended.Sub(from) - g.held.overlap(from, c.ended) - v.late.overlap(from, c.ended) - hold
	if over > patience {
		v.accuse(unanswered, "%s (%s) to gateway %d was answered %v after its hold: %v %s; %s",
			c.id, c.tool, c.to, over, c.allowed, c.reason, v.meanwhile(c.sent, c.ended))
	}
	return over
}

// recorded is the entry of an allow, in the record of the gateway that gave it.
func (v *evidence) recorded(c *call) *entry {
	record := v.gateways[c.to].record
	i := slices.IndexFunc(record, func(e entry) bool {
		return e.allows() && e.RequestID == c.id && e.Tool == c.tool && e.mark() == c.mark
	})
	if i < 0 {
		return nil
	}
	return &record[i]
}
