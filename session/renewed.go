package session

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
)

// Renewed says that the owner started a conversation anew, with OpenClaw's /new or
// /reset for example: the context is empty, and the session id is what it was.
type Renewed struct {
	Session string    `json:"session"` // by the runtime's own id
	Count   int       `json:"count"`   // how often the conversation began anew
	At      time.Time `json:"at"`
}

// RenewedList is where a store notes what was heard of a conversation's starts and
// ends, sealed: see [Renewals].
func RenewedList(c Conversation) string { return c.Hash() + ":renewed" }

// RenewedMark is between the runtime's own session id and how often the conversation
// began anew.
const RenewedMark = "#"

// RenewedName is the session id for runs that began when the conversation had begun
// anew so many times.
func RenewedName(id string, count int) string {
	if count == 0 || id == "" {
		return id
	}
	return id + RenewedMark + strconv.Itoa(count)
}

// Bounds of [Renewals].
const (
	MostRenewals = 64              // entries of the list
	mostOwners   = 8               // of a conversation
	askedFor     = 1 * time.Minute // from the owner's message to the end of the session
)

// Turn is one entry of the list.
type Turn struct {
	What    string    `json:"what,omitzero"` // TurnAsked, TurnEnded or TurnBegan
	Moment  time.Time `json:"moment,omitzero"`
	Who     string    `json:"who,omitzero"`    // asked: by whom; began: whom the runtime attests as the owner, if anyone
	ID      string    `json:"id,omitzero"`     // ended, began: the session, by the runtime's own id
	Afresh  bool      `json:"afresh,omitzero"` // ended: by /new or /reset, and the session goes on under the same id; began: it is the first of a new beginning, and that is in the record
	Run     string    `json:"run,omitzero"`    // began
	Owners  []string  `json:"owners,omitzero"` // began: who the owner was known to be before
	Renewed           // began: the last new beginning that was known before
}

// What an entry tells.
const (
	TurnAsked = "asked" // the owner's message asks for a new beginning
	TurnEnded = "ended" // a session has ended
	TurnBegan = "began" // a run has begun
)

// Renewals are what the list of a conversation comes to. Everyone who reads the list
// comes to the same: its order decides, and nothing else.
type Renewals struct {
	Last   Renewed  // the last new beginning
	Owners []string // who the owner is there, platform:id

	asked  time.Time // when the owner's message came; zero: none came, or a session has ended since
	ended  string    // the session that ended at the owner's word; empty: none waits for its next run
	latest time.Time
	runs   map[string]began
}

// began is under which session id a run counts. An empty name is that nothing is
// known.
type began struct{ id, name string }

// ReadRenewals reads a list, oldest first.
func ReadRenewals(entries [][]byte) (*Renewals, error) {
	r := &Renewals{runs: map[string]began{}}
	cut := len(entries) >= MostRenewals // then what came before the first entry is forgotten
	for _, e := range entries {
		var t Turn
		if err := json.Unmarshal(e, &t); err != nil {
			return nil, err
		}
		if cut && t.What != TurnBegan {
			continue
		}
		r.take(&t, cut)
		cut = false
	}
	return r, nil
}

// With is what the list comes to with one entry more.
func (r *Renewals) With(t *Turn) *Renewals {
	next := *r
	next.Owners = slices.Clone(r.Owners)
	next.runs = maps.Clone(r.runs)
	next.take(t, false)
	return &next
}

// take adds an entry.
func (r *Renewals) take(t *Turn, cut bool) {
	switch t.What {
	case TurnAsked:
		if slices.Contains(r.Owners, t.Who) && !t.Moment.Before(r.latest.Add(-askedFor)) { // an old one that is put at the end is none
			r.asked = t.Moment
		}
	case TurnEnded:
		soon := !r.asked.IsZero() && t.Moment.Sub(r.asked).Abs() <= askedFor
		r.asked, r.ended = time.Time{}, ""
		if soon && t.Afresh {
			r.ended = t.ID
		}
	case TurnBegan:
		r.begin(t, cut)
	}
	if t.Moment.After(r.latest) {
		r.latest = t.Moment
	}
}

// begin takes in that a run began. It says what its writer knew of the list before: where
// older entries have fallen out, that is what is left of them. Where the two differ,
// nothing is known of the run.
func (r *Renewals) begin(t *Turn, cut bool) {
	if len(r.Owners) == 0 {
		r.Owners = slices.Clone(t.Owners)
	}
	if t.Who != "" && !slices.Contains(r.Owners, t.Who) {
		r.Owners = append(r.Owners[max(0, len(r.Owners)-mostOwners+1):], t.Who)
	}
	unknown := cut || t.Count != r.Last.Count
	if t.Count > r.Last.Count {
		r.Last = t.Renewed
	}
	if _, begun := r.runs[t.Run]; begun {
		return
	}
	switch {
	case t.Afresh && !unknown && r.ended == t.ID:
		r.Last = Renewed{Session: t.ID, Count: r.Last.Count + 1, At: t.Moment}
	case t.Afresh:
		unknown = true
	}
	r.ended = ""
	b := began{id: t.ID}
	if !unknown {
		b.name = r.Current(t.ID)
	}
	r.runs[t.Run] = b
}

// Current is the session id under which runs count that begin now; empty if that
// can't be told.
func (r *Renewals) Current(id string) string {
	switch {
	case r.Last.Count == 0:
		return id
	case r.Last.Session == id:
		return RenewedName(id, r.Last.Count)
	case r.Last.Count == 1:
		return id
	}
	return "" // it may have begun anew before
}

// Of is the session id under which a run counts, and whether that stays so. It is
// empty if the run may be of before or of after a new beginning: then it sees the
// worst, and all see what it reads.
func (r *Renewals) Of(run, id string) (name string, stays bool) {
	if b, known := r.runs[run]; known && run != "" {
		if b.id == id {
			return b.name, true
		}
		return "", false
	}
	if r.ended != "" || r.Last.Count > 0 && (r.Last.Session == id || r.Last.Count > 1) {
		return "", false
	}
	return id, run != ""
}

// Awaits reports whether the end of a session, or the next run, may matter.
func (r *Renewals) Awaits() bool { return !r.asked.IsZero() || r.ended != "" }
