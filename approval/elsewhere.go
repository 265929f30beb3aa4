package approval

import (
	"context"
	"errors"
	"time"

	"github.com/openclaw-verifier/verifier/audit"
)

// Elsewhere is why a question is closed that people did not answer here. People read it.
type Elsewhere string

// Why a question is closed.
const (
	AllowedThere Elsewhere = "it was allowed at the agent's own terminal"
	ClosedThere  Elsewhere = "it was answered at the agent's own terminal"
	Replaced     Elsewhere = "what it asked about has changed since"
)

// WithdrawnNote is what the record says of a question that was closed so.
func WithdrawnNote(why Elsewhere) string { return "withdrawn: " + string(why) }

// AnsweredElsewhere closes a question that its user has answered at the agent's own terminal, or that is out of date. It
// allows nothing: whether the call runs there was the user's to say. A question that people have answered here stays as
// they left it, and so does one whose ticket is not this client's.
func (d *Desk) AnsweredElsewhere(ctx context.Context, client, ticket string, why Elsewhere) error {
	card, digest, ok := d.readTicket(client, ticket)
	if !ok {
		return nil
	}
	for range swapTries {
		c, now, err := d.load(ctx, card)
		if errors.Is(err, ErrGone) {
			return nil
		}
		if err != nil {
			return err
		}
		q := c.question(digest)
		if q == nil || q.state(now) != Open {
			return nil
		}
		q.Votes = append(q.Votes, Vote{Via: "verifier", Reason: string(why), At: now})
		ch := Change{Closed: c.closed(now), Waiting: map[string]time.Time{digest: now}} // the next such call asks again
		if err := d.swap(ctx, c, ch); errors.Is(err, ErrStale) {
			continue
		} else if err != nil {
			return err
		}
		entry := entryFor(audit.KindAnswer, c, q)
		entry.Note = WithdrawnNote(why)
		d.note(ctx, entry)
		if why == ClosedThere {
			d.noteRefused(ctx, &q.Ask)
		}
		d.runFor(ctx, func(ctx context.Context) { d.showCopies(ctx, c) })
		return nil
	}
	return ErrStale
}
