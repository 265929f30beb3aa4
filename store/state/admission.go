package state

import (
	"time"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// Request is a request that was admitted before and is still remembered.
type Request struct {
	Body [32]byte
	Mark string
}

// PausesDiffer reports that the pauses are not what a call says, and gives them.
func PausesDiffer(pauses map[string]string, b *session.PauseView) (stand [2]string, differ bool) {
	stand = [2]string{pauses[session.AllAgents], pauses[b.Agent]}
	return stand, stand != [2]string{b.All, b.Own}
}

// Admit lets a call that was not met before enter the conversation, and says how its request is to be remembered. Calls is how many
// the run has made with this one. Lost says that the conversation was born for this call, in the place of one that is gone. The
// caller adds what could still let a held call pass: see Consents.
func (c *Conversation) Admit(a *session.Admission, calls int64, lost bool, now time.Time) (v session.View, mark string) {
	c.arrive(a, lost, now)
	level := c.Level(a.Session)
	v = c.View(a.Session)
	v.Lost = lost
	least := a.Counted(calls)
	v.Mode, v.Capped = max(a.Modes[level], least), least > taint.Allow
	if a.Pauses.On {
		v.Mode = taint.Restrict
	}
	mark = session.MarkPending
	switch {
	case v.Mode == taint.Restrict:
		v.Entry, mark = session.Refused, session.MarkDenied
	case v.Mode == taint.Allow && a.Final && (!a.Leaves || c.Secrets.Of(a.Session) == "" && c.Generation == 0):
		v.Entry, mark = session.Passed, a.Decision
		if keeps(c, a) || a.Raise > c.Levels[a.Session] {
			c.influence(a.Session, session.Influence{Label: a.Source, Level: a.Raise}, now)
		}
		c.bringIn(a.Session, a.Raise, a.Source)
	}
	v.After, v.Version, v.Worst = c.Level(a.Session), c.Version, c.Source
	return v, mark
}

// arrive ratchets the level to the worst of what was there, what started the run, and what anyone has seen.
func (c *Conversation) arrive(a *session.Admission, lost bool, now time.Time) {
	own := taint.Worse(c.Levels[a.Session], a.Initial)
	if !c.Called {
		own = taint.Worse(own, a.Birth)
		c.Called, c.changed = true, true
	}
	if a.Floor.Generation >= c.Generation && a.Floor.Level > c.Level(a.Session) {
		own = taint.Worse(own, a.Floor.Level)
	}
	if lost {
		own = taint.Untrusted
	}
	c.Step++
	c.Touch(now)
	if a.Initial > c.Level(a.Session) {
		c.blame(a.Sender, a.Initial)
	}
	if keeps(c, a) || a.Initial > c.Levels[a.Session] {
		c.influence(a.Session, session.Influence{Label: a.Sender, Level: a.Initial}, now)
	}
	c.raiseUnnamed(a.Session, own, now)
}

// keeps reports whether it is noted who had a say, though that makes nothing worse.
func keeps(c *Conversation, a *session.Admission) bool {
	return a.Note || a.Floor.Generation != c.Generation
}

// Consents are what could still let a held call pass: the values of its grants, and the card that asks about it.
func (c *Conversation) Consents(a *session.Admission, before func(ms int64) bool) (grants []string, card string) {
	for _, f := range a.Grants {
		if v, ok := c.Grants[f]; ok {
			grants = append(grants, v)
		}
	}
	if w, ok := c.Waiting[a.Digest]; ok && before(w.Until) {
		card = w.Card
	}
	return grants, card
}

// Again answers a request that was admitted before; nothing is counted twice. Calls is how many the run has made.
func (c *Conversation) Again(r *Request, a *session.Admission, calls int64) session.View {
	if r.Body != a.Body {
		return session.View{Entry: session.Conflict}
	}
	if c == nil { // the state went away under the request: nothing it said holds
		v := Gone()
		v.Replayed, v.Mode = true, a.Modes[taint.Untrusted]
		return v
	}
	v := c.View(a.Session)
	v.Replayed, v.Mode = true, a.Modes[v.Level]
	switch r.Mark {
	case session.MarkPending:
		least := a.Counted(calls)
		v.Mode, v.Capped = max(v.Mode, least), least > taint.Allow
	case session.MarkDenied:
		v.Entry, v.PriorDecision = session.Refused, r.Mark
	default:
		v.Entry, v.PriorDecision = session.Passed, r.Mark
	}
	return v
}

// Gone is the view of a conversation that is not there.
func Gone() session.View {
	return session.View{Lost: true, Level: taint.Untrusted, After: taint.Untrusted}
}

// Settle says what becomes of a settlement, as far as the conversation and the request decide. Where it is Done the card is still to
// be claimed, and then Commit makes the change.
func (c *Conversation) Settle(s *session.Settlement, r *Request) session.Settled {
	if c == nil || c.Root != nil { // gone, or it lives elsewhere since it was judged
		return session.Settled{State: session.Stale, View: Gone()}
	}
	v := c.View(s.Session)
	switch {
	case r != nil && r.Body != s.Body:
		v.PriorDecision = session.MarkDenied
		return session.Settled{State: session.Decided, View: v}
	case r != nil && r.Mark != session.MarkPending:
		v.PriorDecision = r.Mark
		return session.Settled{State: session.Decided, View: v}
	case c.Version != s.Version:
		v.Secret = c.Secrets.Of(s.Session)
		return session.Settled{State: session.Stale, View: v}
	}
	return session.Settled{State: session.Done, View: v}
}

// Commit is what an allowed call that was settled does to the conversation.
func (c *Conversation) Commit(s *session.Settlement, v *session.View, now time.Time) {
	c.influence(s.Session, session.Influence{Label: s.Source, Level: s.Raise}, now)
	c.bringIn(s.Session, s.Raise, s.Source)
	c.expose(s.Session, s.Secret)
	c.Touch(now)
	v.After, v.Version, v.Worst = c.Level(s.Session), c.Version, c.Source
}

// Hear takes in what an event tells. Known says that the session id had been met before.
func (c *Conversation) Hear(r *session.Report, known bool, now time.Time) {
	if r.Brings() {
		own := r.Raise
		if !known {
			own = taint.Worse(own, r.Birth)
		}
		if own > c.Level(r.Session) {
			c.blame(r.Source, own)
		}
		c.influence(r.Session, session.Influence{Label: r.Source, Level: own}, now)
		c.raise(r.Session, own)
	}
	c.expose(r.Session, r.Secret)
	if level := c.Level(r.Session); r.Next != "" && level > taint.System {
		c.raiseUnnamed(r.Next, level, now)
	}
	if r.Next != "" {
		c.expose(r.Next, c.Secrets.Of(r.Session))
	}
	c.endGrants(func(field string) bool {
		if len(field) < 2*session.MarkSize { // no grant of ours
			return true
		}
		return r.Closed && field[:session.MarkSize] == session.GrantMark(r.Window) ||
			r.Ended != "" && field[session.MarkSize:2*session.MarkSize] == session.GrantMark(r.Ended)
	})
	c.Touch(now)
}

// Met reports whether a session id is known here.
func (c *Conversation) Met(sessionID string) bool {
	_, known := c.Levels[sessionID]
	return known || sessionID == ""
}
