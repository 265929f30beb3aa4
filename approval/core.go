package approval

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/session"
)

// core is what every part of the desk needs: the options, the terms in force, the record, notes and notices.
type core struct {
	*tasks

	o       Options
	inForce atomic.Pointer[terms]
}

// note records what does not hold anything up; a failure shows in health.
func (c *core) note(ctx context.Context, e record.Entry) {
	if err := c.o.Record.Append(e); err != nil {
		c.o.Log.ErrorContext(ctx, "the record could not be written", "kind", e.Kind, "ref", e.Ref, "err", err)
	}
}

// keepNote adds a text to a list of the store, under this server's seal.
func (c *core) keepNote(ctx context.Context, purpose string, n session.Note, text string) error {
	n.Entries = [][]byte{[]byte(c.o.Key.Seal(purpose, n.List, text) + text)}
	return c.o.Store.Note(ctx, n)
}

// sealLength is how long a seal is.
const sealLength = 32

// notes reads the texts of such a list, oldest first, and says how many entries it has: those of others are left out.
func (c *core) notes(ctx context.Context, purpose, list string) (texts [][]byte, all int, err error) {
	entries, err := c.o.Store.Notes(ctx, list)
	for _, e := range entries {
		if len(e) >= sealLength && c.o.Key.Check(string(e[:sealLength]), purpose, list, string(e[sealLength:])) {
			texts = append(texts, e[sealLength:])
		}
	}
	return texts, len(entries), err
}

const storeGone = "The store can't be reached. Nothing was changed; try again."

// noConversation says why no conversation was found by a reference.
func (c *core) noConversation(ref string, err error) (Outcome, error) {
	switch {
	case errors.Is(err, ErrUnknown):
		return Outcome{Kind: NotFound, Text: "No conversation has the reference " + quote(c.o.Hide(ref)) + "."}, nil
	case errors.Is(err, ErrAmbiguous):
		return Outcome{Kind: NotFound, Text: "Several conversations begin with " + quote(c.o.Hide(ref)) + ". Write more of it."}, nil
	}
	return Outcome{Text: storeGone}, err
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
func entryFor(kind record.Kind, c *Card, q *Question) record.Entry {
	a := &q.Ask
	return record.Entry{
		Kind: kind, Ref: c.Ref(), Card: c.ID, Client: a.Conversation.Client, Session: a.SessionKey, SessionID: a.SessionID,
		Agent: a.Agent, Run: a.Run, Tool: a.Tool, Sent: a.Sent, Digest: a.CallDigest(), Level: a.Level.String(),
	}
}
