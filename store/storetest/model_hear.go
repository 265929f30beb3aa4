package storetest

import (
	"context"
	"time"

	"pgregory.net/rapid"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// Hear implements verifier.Store.
func (m *Model) Hear(_ context.Context, r session.Report) (session.Heard, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	h := session.Heard{Now: m.Now()}
	c := m.convs[r.Conversation.Hash()]
	if c != nil && c.root != nil {
		h.Moved, h.Root = true, *c.root
		return h, nil
	}
	if before := m.replayed(r.Conversation, r.RequestID); before != nil {
		if before.body != r.Body {
			h.Conflict = true
			return h, nil
		}
		h.Replayed = true
	}
	if !h.Replayed {
		m.replays[replayKey(r.Conversation, r.RequestID)] = &replay{body: r.Body, mark: session.MarkDenied, until: m.Now().Add(r.Keep)}
		m.halt(r)
	}
	if c == nil && (h.Replayed || !r.Brings()) {
		if h.Lost = m.lost || m.known[r.Conversation.Hash()]; h.Lost {
			h.Before, h.Level = taint.Untrusted, taint.Untrusted
		}
		return h, nil
	}
	if c == nil {
		c, h.Lost = m.born(r.Conversation)
	} else {
		_, h.Known = c.levels[r.Session]
		h.Known = h.Known || r.Session == ""
	}
	h.Before = c.level(r.Session)
	if !h.Replayed {
		c.hear(r, h.Known, m.Now())
	}
	h.Level, h.Step, h.Version, h.Generation, h.Worst = c.level(r.Session), c.step, c.version, c.generation, c.source
	return h, nil
}

func (m *Model) halt(r session.Report) {
	if r.Halted != "" {
		m.runs[r.Conversation.Hash()+"\x00"+r.Halted] = session.HaltedCalls
	}
}

func (c *conversation) hear(r session.Report, known bool, now time.Time) {
	if r.Brings() {
		own := r.Raise
		if !known {
			own = taint.Worse(own, r.Birth)
		}
		if own > c.level(r.Session) {
			c.source = session.Source{Label: r.Source, Level: own, Step: c.step}
		}
		c.influence(r.Session, session.Influence{Label: r.Source, Level: own}, now)
		c.raise(r.Session, own)
	}
	c.expose(r.Session, r.Secret)
	if level := c.level(r.Session); r.Next != "" && level > taint.System {
		c.raiseBy(r.Next, level, now)
	}
	if r.Next != "" {
		c.expose(r.Next, c.secrets.Of(r.Session))
	}
	before := len(c.grants)
	for field := range c.grants {
		if r.Closed && field[:session.MarkSize] == session.GrantMark(r.Window) ||
			r.Ended != "" && field[session.MarkSize:2*session.MarkSize] == session.GrantMark(r.Ended) {
			delete(c.grants, field)
		}
	}
	if len(c.grants) < before {
		c.version++
	}
}

// hear compares what a report does.
func (m *machine) hear(t *rapid.T) {
	a := drawAdmission(t)
	r := session.Report{
		Conversation: a.Conversation, Session: a.Session, RequestID: a.RequestID, Body: body("event " + a.RequestID), Keep: a.Keep,
		Start: rapid.Bool().Draw(t, "start"), Raise: drawLevel(t, "raise"), Source: a.Source, Birth: drawLevel(t, "birth"),
		Secret: rapid.SampledFrom([]string{"", "", "", "a secret that came in"}).Draw(t, "secret"),
		Next:   rapid.SampledFrom([]string{"", "", "s2", "s3"}).Draw(t, "next"),
		Ended:  rapid.SampledFrom([]string{"", "run1"}).Draw(t, "ended"),
		Closed: rapid.Bool().Draw(t, "closed"), Window: rapid.SampledFrom([]string{"", "s1"}).Draw(t, "window"),
	}
	if rapid.Bool().Draw(t, "brings nothing") {
		r.Start, r.Raise = false, taint.System
	}
	if rapid.IntRange(0, 4).Draw(t, "halts") == 0 {
		r.Halted = "run2"
	}
	got, errGot := m.Store.Hear(m.ctx, r)
	want, errWant := m.model.Hear(m.ctx, r)
	m.same(t, "hear", got, want, errGot, errWant)
}
