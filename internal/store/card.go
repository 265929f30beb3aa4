package store

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/codes"
)

// keepCard is how long a card is kept after its end, so that a late answer is told what became of it.
const keepCard = 10 * time.Minute

// codeKey is where the card with a code is: whoever can read the store can't tell the code from it.
func (t *Tx) codeKey(code string) string { return keyOf(t.of, "card/"+t.engine.key.Seal("card", code)) }

func (t *Tx) cardKey(id string) string { return t.codeKey(codes.Code(t.engine.key, id)) }

// Card is a card of the client's; ErrGone: there is none, or it no longer counts. Put it back to change it: what it
// points to is not to be written to.
func (t *Tx) Card(id string) (*Card, error) {
	c, err := cardAt(t, t.cardKey(id))
	if err == nil && c.ID != id {
		err = ErrGone
	}
	return c, err
}

func cardAt(t *Tx, key string) (*Card, error) {
	c, err := get[Card](t, key)
	if err != nil {
		return nil, err
	}
	if c == nil || c.Era != t.Era || t.entry(key).known.lost {
		return nil, ErrGone
	}
	card := *c
	return &card, nil
}

// PutCard writes a card, lists it where people look as long as it is not closed, and in its conversation until its
// Until. Watchers hear "card <id>" of one that is closed. It stays closed. ErrTaken: another card has its code.
func (t *Tx) PutCard(c *Card) error {
	key := t.cardKey(c.ID)
	was, err := get[Card](t, key)
	card := *c
	card.Era, card.Data = t.Era, slices.Clone(c.Data)
	switch {
	case err != nil:
		return err
	case t.entry(key).known.lost, was != nil && was.Era != t.Era:
		return ErrGone
	case was != nil && was.ID != c.ID:
		return ErrTaken
	case was != nil:
		card.Closed = card.Closed || was.Closed
	}
	put(t, key, &card, later(card.Until, card.Keep).Add(keepCard))
	if card.Closed {
		tell(t, "card "+card.ID)
	}
	if was != nil && was.Closed == card.Closed && was.Until.Equal(card.Until) {
		return nil
	}
	conv := t.Other(c.Conversation)
	conv.Changed()
	conv.Open = slices.DeleteFunc(conv.Open, func(o OpenCard) bool { return o.ID == c.ID })
	if c.Until.After(t.Now) {
		conv.Open = append(conv.Open, OpenCard{
			ID: c.ID, Digest: c.Digest, Until: c.Until, Closed: card.Closed, Era: t.Era,
		})
	}
	return enlist(t, spreadKey(t.of, openCards, c.ID), c.ID, pick(card.Closed, time.Time{}, c.Until))
}

// Card is the card with this code, and the time; ErrGone: there is none.
func (s *Store) Card(ctx context.Context, code string) (*Card, time.Time, error) {
	cards, now, err := ofAll(ctx, s.engine, func(t *Tx) ([]*Card, error) {
		return counting(cardAt(t, t.codeKey(strings.ToLower(code))))
	})
	if err == nil && len(cards) == 0 {
		err = ErrGone
	}
	if err != nil {
		return nil, now, err
	}
	return cards[0], now, nil
}

// counting is a list of what does not only seem to be there.
func counting(c *Card, err error) ([]*Card, error) {
	if errors.Is(err, ErrGone) {
		return nil, nil
	}
	return []*Card{c}, err
}

// Cards are those of all clients that wait, oldest first, and the time.
func (s *Store) Cards(ctx context.Context) ([]*Card, time.Time, error) {
	all, now, err := ofListed(ctx, s.engine, openCards, func(t *Tx, id string) ([]*Card, error) {
		return counting(t.Card(id))
	})
	all = slices.DeleteFunc(all, func(c *Card) bool { return c.Closed || !c.Until.After(now) })
	slices.SortFunc(all, func(a, b *Card) int { return cmp.Or(a.Until.Compare(b.Until), strings.Compare(a.ID, b.ID)) })
	return all, now, err
}

// Open are the cards that wait, as the index has them, and the time: much less to read than the cards.
func (s *Store) Open(ctx context.Context) ([]OpenCard, time.Time, error) {
	return ofAll(ctx, s.engine, func(t *Tx) (open []OpenCard, err error) {
		all, err := listed(t, openCards)
		for _, one := range all {
			open = append(open, OpenCard{ID: one.Name, Until: one.Until})
		}
		return open, err
	})
}
