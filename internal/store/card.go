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
func (e *engine) codeKey(client, code string) string {
	return keyOf(client, "card/"+e.key.Seal("card", code))
}

func (e *engine) cardKey(client, id string) string { return e.codeKey(client, codes.Code(e.key, id)) }

// Card is a card of the client's; ErrGone: there is none, or it no longer counts. Put it back to change it: what it
// points to is not to be written to.
func (t *Tx) Card(id string) (*Card, error) {
	key := t.engine.cardKey(t.of, id)
	c, err := get[Card](t, key)
	if err != nil {
		return nil, err
	}
	if c == nil || c.ID != id || c.Era != t.Era || t.entry(key).known.lost {
		return nil, ErrGone
	}
	card := *c
	return &card, nil
}

// PutCard writes a card, lists it where people look as long as it is not closed, and in its conversation until its
// Until. Watchers hear "card <id>" of one that is closed. It stays closed. The update fails with ErrTaken where another
// card has its code.
func (t *Tx) PutCard(c *Card) {
	if err := t.putCard(c); err != nil {
		t.refused = cmp.Or(t.refused, err)
	}
}

func (t *Tx) putCard(c *Card) error {
	key := t.engine.cardKey(t.of, c.ID)
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
	t.put(key, &card, later(card.Until, card.Keep).Add(keepCard))
	if card.Closed {
		t.tell("card " + card.ID)
	}
	if was != nil && was.Closed == card.Closed && was.Until.Equal(card.Until) {
		return nil
	}
	conv, err := t.Other(c.Conversation)
	if err != nil {
		return err
	}
	conv.Changed()
	conv.Open = slices.DeleteFunc(conv.Open, func(o OpenCard) bool { return o.ID == c.ID })
	if c.Until.After(t.Now) {
		conv.Open = append(conv.Open, OpenCard{
			ID: c.ID, Digest: c.Digest, Until: c.Until, Closed: card.Closed, Era: t.Era,
		})
	}
	return t.relist(listOpen, &listed{Card: c.ID, Until: pick(card.Closed, time.Time{}, c.Until)})
}

// Card is the card with this code, and the time; ErrGone: there is none.
func (s *Store) Card(ctx context.Context, code string) (*Card, time.Time, error) {
	var keys []string
	for _, id := range s.engine.clients() {
		keys = append(keys, s.engine.codeKey(id, strings.ToLower(code)))
	}
	cards, now, err := s.engine.cards(ctx, keys)
	if err == nil && len(cards) == 0 {
		err = ErrGone
	}
	if err != nil {
		return nil, now, err
	}
	return &cards[0], now, nil
}

// Cards are those of all clients that wait, oldest first, and the time.
func (s *Store) Cards(ctx context.Context) ([]Card, time.Time, error) {
	open, now, err := s.engine.listed(ctx, listOpen)
	if err != nil || len(open) == 0 {
		return nil, now, err
	}
	keys := make([]string, len(open))
	for i := range open {
		keys[i] = s.engine.cardKey(open[i].client, open[i].Card)
	}
	cards, now, err := s.engine.cards(ctx, keys)
	cards = slices.DeleteFunc(cards, func(c Card) bool { return c.Closed || !c.Until.After(now) })
	slices.SortFunc(cards, func(a, b Card) int { return cmp.Or(a.Until.Compare(b.Until), strings.Compare(a.ID, b.ID)) })
	return cards, now, err
}

// cards reads cards, without those that no longer count.
func (e *engine) cards(ctx context.Context, keys []string) (cards []Card, now time.Time, err error) {
	clients, found, now, err := e.readWithClients(ctx, e.read, keys...)
	for _, k := range found {
		c, errCard := decode[Card](k)
		err = errors.Join(err, errCard)
		if c != nil && !k.lost && c.Era == clients[c.Conversation.Client].Era {
			cards = append(cards, *c)
		}
	}
	return cards, now, err
}

// Open are the cards that wait, as the lists have them, and the time: much less to read than the cards.
func (s *Store) Open(ctx context.Context) (open []OpenCard, now time.Time, err error) {
	all, now, err := s.engine.listed(ctx, listOpen)
	for i := range all {
		open = append(open, OpenCard{ID: all[i].Card, Until: all[i].Until})
	}
	return open, now, err
}
