package approval

import (
	"context"
	"sync/atomic"

	"github.com/openclaw-verifier/verifier/audit"
)

// core is what every part of the desk needs: the options, the terms in force, the record and a word to everyone.
type core struct {
	*tasks

	o       Options
	inForce atomic.Pointer[terms]
}

// note records what does not hold anything up; a failure shows in health.
func (c *core) note(ctx context.Context, e audit.Entry) {
	if err := c.o.Record.Append(e); err != nil {
		c.o.Log.ErrorContext(ctx, "the record could not be written", "kind", e.Kind, "ref", e.Ref, "err", err)
	}
}

// Notice is a card that asks nothing and tells something.
func (c *Card) Notice() string { return c.notice }

// Tell shows a notice on every channel.
func (c *core) Tell(ctx context.Context, text string) {
	for name, ch := range c.o.Channels {
		c.runFor(ctx, func(ctx context.Context) {
			ctx, cancel := context.WithTimeout(ctx, sendDeadline)
			defer cancel()
			if _, err := ch.Send(ctx, &Card{notice: text}); err != nil {
				c.o.Log.ErrorContext(ctx, "a notice could not be sent", "channel", name, "err", err)
			}
		})
	}
}

// entryFor is a record entry about one question.
func entryFor(kind audit.Kind, c *Card, q *Question) audit.Entry {
	a := &q.Ask
	e := audit.Entry{
		Kind: kind, Ref: c.Ref(), Card: c.ID, Client: a.Conversation.Client, Session: a.SessionKey, SessionID: a.SessionID,
		Agent: a.Agent, Run: a.Run, Tool: a.Tool, Sent: a.Sent, Digest: a.CallDigest(), Level: a.Level.String(),
	}
	if a.Test {
		e.Note = testNote
	}
	return e
}
