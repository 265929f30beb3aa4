package approval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/codes"
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
// reaches nobody is taken back at once: nobody is told to wait for it.
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
	stage, reached := pl.announcer.reach(ctx, c)
	if !reached {
		taken, err := pl.announcer.withdraw(ctx, id, "the question could not be shown to anyone")
		switch {
		case (taken || err != nil) && pl.ctx.Err() != nil:
			return ErrStopped
		case taken || err != nil:
			return ErrNobody
		}
	}
	pl.sweeper.follow(c, stage, now)
	// A list gets no summary: its buttons would move under a finger that is about to tap one of them.
	if pl.o.Summarise != nil && len(c.Questions) == 1 && !c.Questions[0].Ask.Test {
		pl.runFor(ctx, func(ctx context.Context) { pl.announcer.summarise(ctx, c) })
	}
	return nil
}

// show announces a new card within the time that the caller has. Only channels
// are limited so: the store has limits of its own.
func (pl *placer) show(ctx context.Context, id string) error {
	showing := ctx
	if end, ok := ctx.Deadline(); ok { // a card that reaches nobody is taken back in what is left
		var cancel context.CancelFunc
		showing, cancel = context.WithDeadline(ctx, end.Add(-askSlack))
		defer cancel()
	}
	return pl.announce(showing, id)
}

func (pl *placer) recordAsked(c *Card) error {
	for i := range c.Questions {
		q := &c.Questions[i]
		e := entryFor(audit.KindAsked, c, q)
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

// place makes a new card with one question, instead of one that can't serve.
func (pl *placer) place(ctx context.Context, r *Request, instead string, batch bool) (Placement, error) {
	t := pl.terms()
	for range 5 { // a code that another live card has is drawn again
		random, err := codes.NewID(pl.o.Rand)
		if err != nil {
			return Placement{}, fmt.Errorf("draw a card id: %w", err)
		}
		id := r.Ask.Conversation.Hash()[:2] + random
		blob, err := pl.compose(t, id, r, batch)
		if err != nil {
			return Placement{}, err
		}
		p, err := pl.o.Store.Place(ctx, Draft{
			ID: id, Conversation: r.Ask.Conversation, Digests: []string{r.Ask.Digest}, Instead: instead, Blob: blob,
			CodeSeal: pl.codeSeal(codes.Code(pl.o.Key, id)), Live: t.TTL, MaxOpen: t.MaxOpen, Batch: batch,
		})
		if !errors.Is(err, ErrCodeTaken) {
			return p, err
		}
	}
	return Placement{}, ErrCodeTaken
}

func (pl *placer) compose(t *terms, id string, r *Request, batch bool) ([]byte, error) {
	q, err := pl.pose(t, id, r)
	if err != nil {
		return nil, err
	}
	c := Card{ID: id, Batch: batch, Frozen: !batch, Questions: []Question{q}}
	return c.encode()
}

// pose fixes what the question is bound to: its route and the clock included.
func (pl *placer) pose(t *terms, id string, r *Request) (Question, error) {
	a := r.Ask
	a.Created = r.Now.UTC().Truncate(time.Millisecond)
	a.Until = a.Created.Add(t.TTL)
	a.hide = pl.o.Hide
	t.bind(&a)
	r.there.hasten(&a)
	return pose(pl.o.Key, id, a, pl.process.holder(r.ID))
}

// join puts the request on a card that asks about the same call. It reports
// false when that card can no longer serve: then a new one is due.
func (pl *placer) join(ctx context.Context, id string, r *Request) (bool, error) {
	for range swapTries {
		c, now, err := pl.load(ctx, id)
		if errors.Is(err, ErrGone) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		q := c.question(r.Ask.Digest)
		if q == nil {
			return false, nil
		}
		if state := q.state(now); state != Open {
			return pl.stillAnswers(ctx, c, q, state, r, now), nil
		}
		if r.unattended() { // what it asks may still be answered, for a retry
			return false, nil
		}
		if pl.announcer.stranded(c, now) {
			if _, err := pl.announcer.withdraw(ctx, id, "the question could not be shown to anyone"); !errors.Is(err, ErrGone) {
				return false, err
			}
			return false, nil
		}
		if !q.join(pl.process.holder(r.ID)) {
			return true, nil
		}
		if err := pl.swap(ctx, c, Change{}); !errors.Is(err, ErrStale) {
			return err == nil, err
		}
	}
	return false, ErrStale
}

// stillAnswers reports whether a question that has an answer, or was left without one, counts for a request. A no and silence end with
// the user's next message: the call may be what they want now.
func (pl *placer) stillAnswers(ctx context.Context, c *Card, q *Question, state State, r *Request, now time.Time) bool {
	switch state {
	case Denied:
		return slices.Equal(q.Ask.Said, r.Ask.Said) && now.Before(q.deniedAt().Add(noHolds))
	case Expired:
		return slices.Equal(q.Ask.Said, r.Ask.Said) && now.Before(q.Ask.Until.Add(noHolds))
	case Allowed:
		yes := q.last()
		return (pl.claimable(c, q, r.ID, now) || yes.For != "" && yes.Edited == "" && q.Used == "") && !pl.endings.outlivedBy(ctx, &r.Ask, yes)
	}
	return false
}
