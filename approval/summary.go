package approval

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/openclaw-verifier/verifier/audit"
)

// Summary is what a model says about the text of a call, in one line. It was
// written by others: the call's text may have told the model what to say.
type Summary struct {
	Text string    `json:"text"`
	At   time.Time `json:"at"` // when it was put on the card, by the store's clock
	Seal string    `json:"seal"`
}

// settles is how long after a summary came no button in a chat allows: the message grew, so a finger may meet another button than it aimed at.
const settles = 2 * time.Second

// moved reports whether a card has just got a summary.
func (c *Card) moved(now time.Time) bool {
	return len(c.Questions) > 0 && c.Questions[0].Summary != nil && now.Sub(c.Questions[0].Summary.At).Abs() < settles
}

// sealed is what the seal of a summary is about.
func (s *Summary) sealed(card, digest string) []string {
	return []string{card, digest, s.Text, strconv.FormatInt(s.At.UnixMilli(), 10)}
}

// summarise has a model sum up the text of a card that people have by now, and
// shows them the card again, with the summary below the text.
func (a *announcer) summarise(ctx context.Context, c *Card) {
	text := a.o.Hide(a.o.Summarise(ctx, &c.Questions[0].Ask))
	if text == "" || ctx.Err() != nil {
		return
	}
	if err := a.keepSummary(ctx, c.ID, text); err != nil {
		if !errors.Is(err, errAnswered) {
			a.o.Log.WarnContext(ctx, "a summary could not be put on a card", "ref", c.Ref(), "err", err)
		}
		return
	}
	if c, _, err := a.load(ctx, c.ID); err == nil {
		a.showCopies(ctx, c)
	}
}

// errAnswered says that a card needs no summary any more.
var errAnswered = errors.New("approval: the card has been answered")

// keepSummary puts a summary on a card that waits. The record says so first.
func (a *announcer) keepSummary(ctx context.Context, id, text string) error {
	noted := false
	_, err := a.change(ctx, id, func(c *Card, now time.Time) (Change, error) {
		if c.closed(now) {
			return Change{}, errAnswered
		}
		q := &c.Questions[0]
		if !noted {
			e := entryFor(audit.KindNote, c, q)
			e.Note = "a model's summary of its text was put on the card"
			if err := a.o.Record.Append(e); err != nil {
				return Change{}, err
			}
			noted = true
		}
		q.Summary = &Summary{Text: text, At: now.UTC().Truncate(time.Millisecond)}
		q.Summary.Seal = a.o.Key.Seal("summary", q.Summary.sealed(id, q.Ask.Digest)...)
		return Change{}, nil
	})
	return err
}
