package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/codes"
)

// keepCard is how long a card is kept after its end, so that a late answer is told what became of it.
const keepCard = 10 * time.Minute

// cardKey is where the card with a code is: whoever can read the store can't tell the code from it.
func cardKey(t *Tx, code string) string {
	return keyOf(t.client, "card/", t.engine.o.Key.Seal("card", code))
}

// Card is a card of the client's; ErrGone: there is none, or it no longer counts. Put it back to change it: what it
// points to is not to be written to.
func (t *Tx) Card(id string) (*Card, error) {
	for _, c := range withCode(t, codes.Code(t.engine.o.Key, id)) {
		if c.ID == id {
			return c, nil
		}
	}
	return nil, ErrGone
}

// withCode is the card with this code, if there is one that counts.
func withCode(t *Tx, code string) []*Card {
	key := cardKey(t, code)
	c := valueOf[Card](t, key)
	if c.ID == "" || c.Era != t.doc.Era || t.entry(key).known.lost {
		return nil
	}
	return []*Card{&c}
}

// PutCard writes a card, lists it where people look as long as it is not closed, and in its conversation until its
// Until. Watchers hear "card <id>" of one that is closed. It stays closed. ErrTaken: another card has its code.
func (t *Tx) PutCard(c *Card) error {
	key := cardKey(t, codes.Code(t.engine.o.Key, c.ID))
	was := get[Card](t, key)
	card := *c
	card.Era, card.Data = t.doc.Era, slices.Clone(c.Data)
	switch {
	case t.entry(key).known.lost, was != nil && was.Era != card.Era:
		return ErrGone
	case was != nil && was.ID != c.ID:
		return ErrTaken
	case was != nil:
		card.Closed = card.Closed || was.Closed
	}
	put(t, key, &card, card.Until.Add(keepCard))
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
		conv.Open = append(conv.Open, OpenCard{ID: c.ID, Digest: c.Digest, Until: c.Until, Closed: card.Closed})
	}
	list(t, ofCard+c.ID, pick(card.Closed, time.Time{}, c.Until))
	return nil
}

// Card is the card with this code, and the time; ErrGone: there is none.
func (s *Store) Card(ctx context.Context, code string) (*Card, time.Time, error) {
	cards, now, err := ofAll(ctx, s.engine, func(t *Tx) []*Card { return withCode(t, strings.ToLower(code)) })
	if err == nil && len(cards) == 0 {
		err = ErrGone
	}
	if err != nil {
		return nil, now, err
	}
	return cards[0], now, nil
}

// Cards are those of all clients that wait, oldest first, and the time.
func (s *Store) Cards(ctx context.Context) ([]*Card, time.Time, error) {
	all, now, err := ofListed(ctx, s.engine, func(t *Tx, name string) []*Card {
		if id, isCard := strings.CutPrefix(name, ofCard); isCard {
			return withCode(t, codes.Code(t.engine.o.Key, id))
		}
		return nil
	})
	all = slices.DeleteFunc(all, func(c *Card) bool { return c.Closed || !c.Until.After(now) })
	slices.SortFunc(all, func(a, b *Card) int { return cmp.Or(a.Until.Compare(b.Until), strings.Compare(a.ID, b.ID)) })
	return all, now, err
}

// Open are the cards that wait, as the index has them, and the time: much less to read than the cards.
func (s *Store) Open(ctx context.Context) ([]OpenCard, time.Time, error) {
	return ofAll(ctx, s.engine, func(t *Tx) (open []OpenCard) {
		for _, one := range listed(t) {
			if id, isCard := strings.CutPrefix(one.Name, ofCard); isCard {
				open = append(open, OpenCard{ID: id, Until: one.Until})
			}
		}
		return open
	})
}

// An index names documents, each until some time: the conversations with a short name, and for people who look the
// cards that wait and who has grants. That last one is spread over 64 documents of a client, so that puts at the same
// moment seldom meet.
type indexed struct {
	Name  string    `json:"name"`
	Until time.Time `json:"until"`
}

const (
	ofCard = "card " // its id
	ofKey  = "key "  // a conversation's
	spread = 64
)

func listKey(client string, n byte) string { return keyOf(client, fmt.Sprintf("list/%02x", n%spread)) }

// list puts a name where people look.
func list(t *Tx, name string, until time.Time) {
	enlist(t, listKey(t.client, sha256.Sum256([]byte(name))[0]), name, until)
}

// enlist puts a name into an index, in the place of what it was there; out of it where its time is over. What nobody
// has put anew stays listed for a while after that: someone has to tell people that it is over.
func enlist(t *Tx, key, name string, until time.Time) {
	all := slices.DeleteFunc(slices.Clone(valueOf[[]indexed](t, key)), func(o indexed) bool {
		return o.Name == name || !o.Until.Add(keepCard).After(t.Now)
	})
	if until.After(t.Now) {
		all = append(all, indexed{name, until})
	}
	keep := t.Now.Add(time.Minute)
	for _, o := range all {
		keep = later(keep, o.Until.Add(keepCard))
	}
	put(t, key, &all, keep)
}

func later(a, b time.Time) time.Time { return pick(a.After(b), a, b) }

// listed gives all that is listed for people.
func listed(t *Tx) (all []indexed) {
	for n := range byte(spread) {
		all = append(all, valueOf[[]indexed](t, listKey(t.client, n))...)
	}
	return all
}

// mostRead is how many documents a look rests on: a script of Redis takes no more than 8,000.
const mostRead = 500

// ofListed gives what a function finds for each listed name, together, and the time.
func ofListed[T any](
	ctx context.Context, e *engine, find func(t *Tx, name string) []T,
) (all []T, now time.Time, err error) {
	names, now, err := ofAll(ctx, e, func(t *Tx) (names []Name) {
		for _, one := range listed(t) {
			names = append(names, Name{t.client, one.Name})
		}
		return names
	})
	for some := range slices.Chunk(names, mostRead) {
		found, at, errFound := ofAll(ctx, e, func(t *Tx) (found []T) {
			for _, n := range some {
				if n.Client == t.client {
					found = append(found, find(t, n.Key)...)
				}
			}
			return found
		})
		all, now, err = append(all, found...), at, errors.Join(err, errFound)
	}
	return all, now, err
}
