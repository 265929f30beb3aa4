package approval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/openclaw-verifier/verifier/codes"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/redact"
)

// placer puts up cards: one for a call, one for the calls of a turn, or one for what MaxOpen kept out.
type placer struct {
	*cardStore

	announcer *announcer
	sweeper   *sweeper
	endings   *endings
	together  together
}

// announce records that a card asks, then shows it to people. A card that
// reaches no one is taken back at once: nothing may wait for it.
func (pl *placer) announce(ctx context.Context, id string) error {
	c, now, err := pl.load(ctx, id)
	if err != nil {
		return err
	}
	pl.recentCards.note(c.Ref(), c.ID)
	if err := pl.recordAsked(c); err != nil {
		_, taking := pl.announcer.withdraw(ctx, id, "the record could not be written")
		return fmt.Errorf("%w: %w", ErrRecord, errors.Join(err, taking))
	}
	if !pl.announcer.deliver(ctx, c) {
		taken, err := pl.announcer.withdraw(ctx, id, unshown)
		switch {
		case (taken || err != nil) && pl.ctx.Err() != nil:
			return ErrStopped
		case taken || err != nil:
			return ErrNobody
		}
	}
	pl.sweeper.follow(c, now)
	return nil
}

// show announces a new card within the time that the caller has. Only channels
// are limited so: the store has limits of its own.
func (pl *placer) show(ctx context.Context, id string) error {
	showing := ctx
	if end, ok := ctx.Deadline(); ok { // a card that reaches no one is taken back in what is left
		var cancel context.CancelFunc
		showing, cancel = context.WithDeadline(ctx, end.Add(-askSlack))
		defer cancel()
	}
	return pl.announce(showing, id)
}

func (pl *placer) recordAsked(c *Card) error {
	for i := range c.Questions {
		q := &c.Questions[i]
		e := entryFor(record.KindAsked, c, q)
		kept, bodies := redact.WithoutBodies(q.Ask.Tool, q.Ask.Shown) // they are for people, not for the record
		e.Params, e.Hidden, e.Why, e.Mode = kept, q.Ask.Hidden+bodies, q.Ask.Why, "confirm"
		e.By, e.Directory = q.Ask.Rule, q.Ask.Directory
		if pl.terms().Names {
			e.Params, e.Directory = redact.Names(q.Ask.Shown), ""
		}
		if err := pl.o.Record.Append(e); err != nil {
			return err
		}
		pl.o.Observe(Event{Kind: EventAsked})
	}
	return nil
}

// place makes a new card for calls of one turn, instead of one that can't serve. Calls that go another way than the first are not on it. A
// batch card collects more; any other is frozen from the start.
func (pl *placer) place(ctx context.Context, requests []*Request, instead string, batch bool) (p Placement, on []*Request, err error) {
	t, first := pl.terms(), requests[0]
	for range 5 { // a code that another live card has is drawn again
		random, err := codes.NewID(pl.o.Rand)
		if err != nil {
			return Placement{}, nil, fmt.Errorf("draw a card id: %w", err)
		}
		c := &Card{ID: first.Ask.Conversation.Hash()[:2] + random, Frozen: !batch}
		if on, err = pl.compose(t, c, requests); err != nil {
			return Placement{}, nil, err
		}
		if c.Batch = batch || len(c.Questions) > 1; c.Batch && c.Frozen {
			c.Listed = pl.o.Key.Seal("list", c.list()...)
		}
		blob, err := c.encode()
		if err != nil {
			return Placement{}, nil, err
		}
		draft := Draft{
			ID: c.ID, Conversation: first.Ask.Conversation, Instead: instead, Blob: blob, CodeSeal: pl.codeSeal(codes.Code(pl.o.Key, c.ID)),
			Live: t.TTL, MaxOpen: t.MaxOpen, Batch: batch,
		}
		for _, q := range c.all() {
			draft.Digests = append(draft.Digests, q.Ask.Digest)
		}
		if p, err = pl.o.Store.Place(ctx, draft); !errors.Is(err, ErrCodeTaken) {
			return p, on, err
		}
	}
	return Placement{}, nil, ErrCodeTaken
}

// pose fixes what the question is bound to: who may answer and the clock included.
func (pl *placer) pose(t *terms, id string, r *Request) (Question, error) {
	a := r.Ask
	a.Created = r.Now.UTC().Truncate(time.Millisecond)
	a.Until = a.Created.Add(t.TTL)
	a.hide = pl.o.Hide
	t.bind(&a)
	return pose(pl.o.Key, id, a, pl.process.holder(r.ID))
}

// join puts the request on a card that asks about the same call. It reports
// false when that card can no longer serve: then a new one is due.
func (pl *placer) join(ctx context.Context, id string, r *Request) (bool, error) {
	_, err := pl.change(ctx, id, func(c *Card, now time.Time) (Change, error) {
		q := c.question(r.Ask.Digest)
		switch {
		case q == nil:
			return Change{}, ErrGone
		case q.state(now) != Open:
			if !pl.stillAnswers(ctx, c, q, r, now) {
				return Change{}, ErrGone
			}
			return Change{}, errUnchanged
		case pl.announcer.stranded(c, now):
			return Change{}, errStranded
		case !q.join(pl.process.holder(r.ID)):
			return Change{}, errUnchanged
		}
		return Change{}, nil
	})
	if errors.Is(err, errStranded) {
		if _, err = pl.announcer.withdraw(ctx, id, unshown); err == nil {
			return false, nil
		}
	}
	switch {
	case err == nil || errors.Is(err, errUnchanged):
		return true, nil
	case errors.Is(err, ErrGone):
		return false, nil
	}
	return false, err
}

// errStranded says that a card was never shown, and that the process that was to show it has died.
var errStranded = errors.New("approval: the card was never shown")

// stillAnswers reports whether a question that has an answer, or was left without one, counts for a request. A no and silence end with
// the user's next message: the call may be what they want now.
func (pl *placer) stillAnswers(ctx context.Context, c *Card, q *Question, r *Request, now time.Time) bool {
	switch q.state(now) {
	case Denied:
		return slices.Equal(q.Ask.Said, r.Ask.Said) && now.Before(q.Denial().At.Add(noHolds))
	case Expired:
		return slices.Equal(q.Ask.Said, r.Ask.Said) && now.Before(q.Ask.Until.Add(noHolds))
	case Allowed:
		yes := q.last()
		return (pl.claimable(c, q, r.ID, now) || yes.For != "" && yes.Edited == "" && q.Used == "") && !pl.endings.outlivedBy(ctx, &r.Ask, yes)
	}
	return false
}
