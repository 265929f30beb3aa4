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

// Lists of cards that wait, and of those who have grants, are spread over so many documents of a client that puts at the
// same moment seldom meet.
const lists = 64

// waiting lists cards that wait; holders lists who has grants.
type (
	waiting struct {
		Cards []listed `json:"cards,omitzero"`
	}
	listed struct {
		ID    string    `json:"id"`
		Until time.Time `json:"until"`
	}
	holders struct {
		Of []holder `json:"of,omitzero"`
	}
	holder struct {
		Key    string    `json:"key,omitzero"`   // a conversation's
		Agent  string    `json:"agent,omitzero"` // or where Always
		Always bool      `json:"always,omitzero"`
		Until  time.Time `json:"until"`
	}
)

func listKey(client, list, of string) string {
	const digits = "0123456789abcdef"
	h := hash(of)
	n := (strings.IndexByte(digits, h[0])<<4 | strings.IndexByte(digits, h[1])) % lists
	return keyOf(client, list+"/"+digits[n>>4:n>>4+1]+digits[n&15:n&15+1])
}

func listKeys(clients []string, list string) (keys []string) {
	const digits = "0123456789abcdef"
	for _, id := range clients {
		for n := range lists {
			keys = append(keys, keyOf(id, list+"/"+digits[n>>4:n>>4+1]+digits[n&15:n&15+1]))
		}
	}
	return keys
}

func (t *Tx) cardKey(id string) string {
	return cardKey(t.engine.key, t.of, codes.Code(t.engine.key, id))
}

// Card is a card of the client's; ErrGone: there is none, or it no longer counts. Put it back to change it: what it points
// to is not to be written to.
func (t *Tx) Card(id string) (*Card, error) {
	key := t.cardKey(id)
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

// PutCard writes a card, lists it where people look as long as it is not closed, and in its conversation until its Until.
// Watchers hear "card <id>" of one that is closed. It stays closed. The update fails with ErrTaken where another card has
// its code.
func (t *Tx) PutCard(c *Card) {
	if err := t.putCard(c); err != nil {
		t.refused = cmp.Or(t.refused, err)
	}
}

func (t *Tx) putCard(c *Card) error {
	key := t.cardKey(c.ID)
	was, err := get[Card](t, key)
	card := *c
	card.Era, card.Data = t.Era, slices.Clone(c.Data)
	switch k := t.entry(key).known; {
	case err != nil:
		return err
	case k.lost:
		return ErrGone
	case was != nil && was.ID != c.ID:
		return ErrTaken
	case was != nil && was.Era != t.Era:
		return ErrGone
	case was != nil:
		card.Closed = card.Closed || was.Closed
	}
	until := card.Until
	if card.Keep.After(until) {
		until = card.Keep
	}
	t.put(key, &card, until.Add(keepCard))
	if card.Closed {
		t.tell("card " + card.ID)
	}
	if was != nil && was.Closed == card.Closed && was.Until.Equal(card.Until) {
		return nil
	}
	return errors.Join(t.listCard(&card), t.listInConversation(&card))
}

// listCard keeps the list in step of cards that wait.
func (t *Tx) listCard(c *Card) error {
	key := listKey(t.of, "open", c.ID)
	found, err := get[waiting](t, key)
	if err != nil {
		return err
	}
	var list waiting
	until := c.Until
	if found != nil {
		for _, o := range found.Cards {
			if o.ID != c.ID && o.Until.After(t.Now) {
				list.Cards = append(list.Cards, o)
				until = pick(o.Until.After(until), o.Until, until)
			}
		}
	}
	if !c.Closed {
		list.Cards = append(list.Cards, listed{c.ID, c.Until})
	}
	t.put(key, &list, until.Add(keepCard))
	return nil
}

func (t *Tx) listInConversation(c *Card) error {
	conv, err := t.Other(c.Conversation)
	if err != nil {
		return err
	}
	conv.Changed()
	conv.Open = slices.DeleteFunc(conv.Open, func(o OpenCard) bool { return o.ID == c.ID })
	if c.Until.After(t.Now) {
		conv.Open = append(conv.Open, OpenCard{ID: c.ID, Digest: c.Digest, Until: c.Until, Closed: c.Closed, Era: t.Era})
	}
	return nil
}

// Card is the card with this code, and the time; ErrGone: there is none.
func (s *Store) Card(ctx context.Context, code string) (*Card, time.Time, error) {
	clients := s.engine.clients()
	var keys []string
	for _, id := range clients {
		keys = append(keys, keyOf(id, "client"), cardKey(s.engine.key, id, strings.ToLower(code)))
	}
	found, now, err := s.engine.read(ctx, keys...)
	if err != nil {
		return nil, now, err
	}
	for ; len(found) > 0; found = found[2:] {
		client, errClient := decode[clientDoc](found[0])
		card, errCard := decode[Card](found[1])
		if err := errors.Join(errClient, errCard); err != nil {
			return nil, now, err
		}
		if card != nil && client != nil && card.Era == client.Era && !found[1].lost {
			return card, now, nil
		}
	}
	return nil, now, ErrGone
}

// Cards are those of all clients that wait, oldest first, and the time.
func (s *Store) Cards(ctx context.Context) ([]Card, time.Time, error) {
	clients, now, err := s.engine.clientDocs(ctx, s.engine.read)
	if err != nil {
		return nil, now, err
	}
	keys, err := listedIn(ctx, s.engine, "open", func(client string, list *waiting) (keys []string) {
		for _, o := range list.Cards {
			keys = append(keys, cardKey(s.engine.key, client, codes.Code(s.engine.key, o.ID)))
		}
		return keys
	})
	if err != nil || len(keys) == 0 {
		return nil, now, err
	}
	found, now, err := s.engine.read(ctx, keys...)
	if err != nil {
		return nil, now, err
	}
	var open []Card
	for _, k := range found {
		c, err := decode[Card](k)
		if err != nil {
			return nil, now, err
		}
		if c == nil || k.lost || c.Closed || !c.Until.After(now) || c.Era != clients[c.Conversation.Client].Era {
			continue
		}
		open = append(open, *c)
	}
	slices.SortFunc(open, func(a, b Card) int { return cmp.Or(a.Until.Compare(b.Until), strings.Compare(a.ID, b.ID)) })
	return open, now, nil
}

// Open are the cards that wait, as the lists have them, and the time: much less to read than the cards.
func (s *Store) Open(ctx context.Context) (open []OpenCard, now time.Time, err error) {
	found, now, err := s.engine.read(ctx, listKeys(s.engine.clients(), "open")...)
	for _, k := range found {
		list, errList := decode[waiting](k)
		if err = errors.Join(err, errList); err != nil || list == nil {
			continue
		}
		for _, o := range list.Cards {
			open = append(open, OpenCard{ID: o.ID, Until: o.Until})
		}
	}
	return open, now, err
}

// listedIn gives the keys of what the lists of all clients name.
func listedIn[T any](
	ctx context.Context, e *engine, list string, keysOf func(client string, list *T) []string,
) (keys []string, err error) {
	clients := e.clients()
	found, _, err := e.read(ctx, listKeys(clients, list)...)
	if err != nil {
		return nil, err
	}
	for i, k := range found {
		one, err := decode[T](k)
		if err != nil {
			return nil, err
		}
		if one != nil {
			keys = append(keys, keysOf(clients[i/lists], one)...)
		}
	}
	return keys, nil
}
