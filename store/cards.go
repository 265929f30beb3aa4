package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/store/state"
)

// card reads what is kept of a card, to be changed; nil if there is none.
func (t *tx) card(k Key) *state.Card {
	found := get[state.Card](t, k)
	if found == nil {
		return nil
	}
	card := *found
	return &card
}

func (t *tx) putCard(p place, id string, k *state.Card, blob []byte) {
	keep := time.UnixMilli(k.Keep)
	t.put(p.card(id), k, keep)
	t.set(p.blob(id), string(blob)+"\n", nil, keep) // no record is empty
}

// cardPlace finds a card by its id alone: it begins with its bucket.
func cardPlace(id string) (place, bool) {
	if len(id) < 2 || !isHex(id[:2]) {
		return place{}, false
	}
	return place{bucket: id[:2]}, true
}

func isHex(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return (r < '0' || r > '9') && (r < 'a' || r > 'f') }) < 0
}

// openCards reads the list of cards that wait in a bucket.
func (t *tx) openCards(p place) state.OpenCards {
	if open := get[state.OpenCards](t, p.open()); open != nil {
		return *open
	}
	return nil
}

// Place implements approval.Store. The code is claimed first, in a bucket of its own, and given back if the card does not go up.
func (s *cards) Place(ctx context.Context, d approval.Draft) (approval.Placement, error) {
	ctx, cancel, err := s.begin(ctx, "place")
	if err != nil {
		return approval.Placement{}, err
	}
	defer cancel()
	p := placeOf(d.Conversation)
	if !strings.HasPrefix(d.ID, p.bucket) {
		return approval.Placement{}, fmt.Errorf("store: place: the card's id %q does not begin with its conversation's bucket %q", d.ID, p.bucket)
	}
	if err := s.claimCode(ctx, &d); err != nil {
		return approval.Placement{}, wrap("place", err)
	}
	var out approval.Placement
	_, err = s.change(ctx, "place", func(t *tx) (err error) {
		out, err = t.place(s, p, &d)
		return err
	})
	if err == nil && out.State == approval.New {
		return out, nil
	}
	_, dropped := s.change(ctx, "place", func(t *tx) error {
		if c := get[claimedCode](t, codeKey(d.CodeSeal)); c != nil && c.Card == d.ID {
			t.remove(codeKey(d.CodeSeal))
		}
		return nil
	})
	if err != nil {
		return approval.Placement{}, err
	}
	return out, dropped
}

func (t *tx) place(s *cards, p place, d *approval.Draft) (approval.Placement, error) {
	c, open := t.conversation(p), t.openCards(p)
	if c == nil {
		return approval.Placement{}, approval.ErrUnknown
	}
	if id, asked := c.Asked(d, t.isBefore); asked {
		out := approval.Placement{State: approval.Shared, ID: id}
		if k := t.card(p.card(id)); k != nil {
			out.Until = time.UnixMilli(k.Until)
		}
		return out, nil
	}
	if full, batch := open.Room(d, t.isBefore); full {
		out := approval.Placement{State: approval.Full, ID: batch.ID}
		if batch.ID != "" {
			out.Until = time.UnixMilli(batch.Until)
		}
		return out, nil
	}
	until := t.now.Add(max(d.Live, time.Millisecond))
	ms := until.UnixMilli()
	t.putCard(p, d.ID, &state.Card{Conversation: p.hash, Version: 1, Until: ms, Keep: until.Add(approval.Retention).UnixMilli()}, d.Blob)
	entry := state.OpenCard{ID: d.ID, Conversation: p.hash, Batch: d.Batch, Placed: s.next(t.now), Until: ms}
	t.putOpen(p, append(open.Live(t.now), entry))
	waiting := map[string]int64{}
	for _, digest := range d.Digests {
		waiting[digest] = ms
	}
	c.Ask(d.ID, waiting, t.now)
	t.save(p, c)
	return approval.Placement{State: approval.New, ID: d.ID, Until: until}, nil
}

// putOpen writes the list of cards that wait, for as long as one of them does.
func (t *tx) putOpen(p place, open state.OpenCards) {
	until := int64(0)
	for _, k := range open {
		until = max(until, k.Until)
	}
	if until == 0 {
		t.remove(p.open())
		return
	}
	t.put(p.open(), &open, time.UnixMilli(until))
}

// next orders the cards that this process places, also within a millisecond.
func (s *cards) next(now time.Time) int64 {
	for {
		last := s.placed.Load()
		if at := max(now.UnixMicro(), last+1); s.placed.CompareAndSwap(last, at) {
			return at
		}
	}
}

// claimedCode is what a sealed code leads to.
type claimedCode struct {
	Card string `json:"card"`
	At   int64  `json:"at"` // Unix milliseconds
}

func codeKey(seal string) Key { return scattered("code:" + seal) }

// codeGrace is how long a claimed code without a card is left to the process that claimed it: the card may be on its way.
const codeGrace = drift + time.Second

// claimCode makes the code lead to the draft.
func (s *cards) claimCode(ctx context.Context, d *approval.Draft) error {
	free := "" // a card that a claim led to and that is gone
	for range 2 {
		var old *claimedCode
		var now time.Time
		_, err := s.change(ctx, "place", func(t *tx) error {
			if old = get[claimedCode](t, codeKey(d.CodeSeal)); old != nil && old.Card != free {
				now = t.now
				return nil
			}
			old = nil
			keep := t.now.Add(d.Live + approval.Retention + 24*time.Hour) // a card may be kept longer than it was placed for
			t.put(codeKey(d.CodeSeal), &claimedCode{Card: d.ID, At: t.now.UnixMilli()}, keep)
			return nil
		})
		if err != nil || old == nil {
			return err
		}
		cards, _, err := s.Versions(ctx, old.Card)
		if err != nil {
			return err
		}
		if len(cards) > 0 || now.Sub(time.UnixMilli(old.At)) <= codeGrace {
			return approval.ErrCodeTaken
		}
		free = old.Card
	}
	return approval.ErrCodeTaken
}

// Find implements approval.Store.
func (s *cards) Find(ctx context.Context, codeSeal string) (id string, err error) {
	err = s.ask(ctx, "find", func(t *tx) error {
		id = ""
		c := get[claimedCode](t, codeKey(codeSeal))
		if c == nil {
			return nil
		}
		if p, ok := cardPlace(c.Card); ok && t.card(p.card(c.Card)) != nil {
			id = c.Card
		}
		return nil
	})
	return id, err
}

// Load implements approval.Store.
func (s *cards) Load(ctx context.Context, ids ...string) ([]approval.Stored, time.Time, error) {
	return s.loadCards(ctx, true, ids)
}

// Versions implements approval.Store.
func (s *cards) Versions(ctx context.Context, ids ...string) ([]approval.Stored, time.Time, error) {
	return s.loadCards(ctx, false, ids)
}

// loadAtOnce is how many cards are read in the time of a method.
const loadAtOnce = 500

func (s *cards) loadCards(ctx context.Context, blobs bool, ids []string) (cards []approval.Stored, now time.Time, err error) {
	for first := true; first || len(ids) > 0; first = false {
		some := ids[:min(len(ids), loadAtOnce)]
		ids = ids[len(some):]
		var found []approval.Stored
		err := s.ask(ctx, "load", func(t *tx) error {
			t.read(TimeKey) // so that the store says what time it is
			found, now = nil, t.now
			for _, id := range some {
				if p, ok := cardPlace(id); ok {
					found = t.stored(found, p, id, blobs)
				}
			}
			return nil
		})
		if err != nil {
			return nil, time.Time{}, err
		}
		cards = append(cards, found...)
	}
	return cards, now, nil
}

func (t *tx) stored(to []approval.Stored, p place, id string, blobs bool) []approval.Stored {
	k, out := t.card(p.card(id)), approval.Stored{ID: id}
	if blobs {
		out.Blob = []byte(strings.TrimSuffix(t.read(p.blob(id)).Data, "\n"))
	}
	if k == nil {
		return to
	}
	out.Version, out.Until = k.Version, time.UnixMilli(k.Until)
	return append(to, out)
}

// Swap implements approval.Store.
func (s *cards) Swap(ctx context.Context, ch approval.Change) error {
	p, ok := cardPlace(ch.ID)
	if !ok {
		return approval.ErrGone
	}
	_, err := s.change(ctx, "swap", func(t *tx) error { return t.swap(p, &ch) })
	return err
}

func (t *tx) swap(p place, ch *approval.Change) error {
	k := t.card(p.card(ch.ID))
	if err := k.Change(ch, t.isBefore); err != nil {
		return err
	}
	t.putCard(p, ch.ID, k, ch.Blob)
	if open := t.openCards(p); ch.Closed && len(open) > 0 {
		t.putOpen(p, open.Without(ch.ID).Live(t.now))
	}
	t.commit.Announce = ch.ID
	if len(ch.Grants) == 0 && len(ch.Waiting) == 0 {
		return nil
	}
	// All of it is in the card's bucket: a conversation of another one is not found there, and its grants are refused.
	p.hash = ch.Conversation.Hash()
	c := t.conversation(p)
	if c == nil {
		return approval.ErrUnknown
	}
	waiting := map[string]int64{}
	for digest, until := range ch.Waiting {
		waiting[digest] = max(0, until.UnixMilli())
	}
	c.Ask(ch.ID, waiting, t.now)
	c.Grant(ch.Grants, t.now)
	t.granted(p, c)
	t.save(p, c)
	return nil
}

// granted notes when the last grant of a conversation ends, so that it is found.
func (t *tx) granted(p place, c *state.Conversation) {
	last := c.LastGrant()
	all := map[string]int64{}
	if had := get[map[string]int64](t, p.granting()); had != nil {
		for hash, end := range *had {
			if end > t.now.UnixMilli() {
				all[hash] = end
			}
		}
	}
	if last <= t.now.UnixMilli() || all[p.hash] == last {
		return
	}
	all[p.hash] = last
	until := int64(0)
	for _, end := range all {
		until = max(until, end)
	}
	t.put(p.granting(), &all, time.UnixMilli(until))
}

// openKeys are the lists of cards that wait, one a bucket.
var openKeys = func() (keys []Key) {
	for n := range Buckets {
		keys = append(keys, place{bucket: Bucket(n)}.open())
	}
	return keys
}()

// Open implements approval.Store. It only reads, and most buckets have no list: a tx would note each of them.
func (s *cards) Open(ctx context.Context) (ids []string, err error) {
	ctx, cancel, err := s.begin(ctx, "open")
	if err != nil {
		return nil, err
	}
	defer cancel()
	lists, now, err := s.records.Load(ctx, openKeys...)
	if err != nil {
		return nil, wrap("open", err)
	}
	var live state.OpenCards
	for i, list := range lists {
		if list.Data == "" {
			continue
		}
		cards, err := unmarshal[state.OpenCards](openKeys[i], list.Data)
		if err != nil {
			return nil, wrap("open", err)
		}
		live = append(live, cards.Live(now)...)
	}
	slices.SortStableFunc(live, func(a, b state.OpenCard) int { return cmp.Compare(a.Placed, b.Placed) })
	for _, k := range live {
		ids = append(ids, k.ID)
	}
	return ids, nil
}

// Grants implements approval.Store.
func (s *cards) Grants(ctx context.Context, conversation string, most int) (grants []approval.StoredGrant, now time.Time, err error) {
	if conversation != "" && (len(conversation) < 2 || !isHex(conversation)) {
		return nil, time.Time{}, fmt.Errorf("store: grants: %q is no conversation", conversation)
	}
	err = s.ask(ctx, "grants", func(t *tx) error {
		t.read(TimeKey)
		grants, now = nil, t.now
		for _, hash := range t.granting(conversation) {
			if c := get[state.Conversation](t, place{hash[:2], hash}.state()); c != nil {
				grants = append(grants, c.Unended(t.now)...)
			}
		}
		return nil
	})
	if err != nil {
		return nil, time.Time{}, err
	}
	slices.SortFunc(grants, func(a, b approval.StoredGrant) int {
		endA, _ := state.EndOfGrant(a.Value)
		endB, _ := state.EndOfGrant(b.Value)
		return cmp.Or(endB.Compare(endA), cmp.Compare(a.Conversation, b.Conversation), cmp.Compare(a.Field, b.Field))
	})
	return grants[:min(most, len(grants))], now, nil
}

// granting lists the conversations that have grants: one, or all.
func (t *tx) granting(conversation string) (hashes []string) {
	if conversation != "" {
		return []string{conversation}
	}
	for n := range Buckets {
		if all := get[map[string]int64](t, place{bucket: Bucket(n)}.granting()); all != nil {
			for hash, end := range *all {
				if end > t.now.UnixMilli() && len(hash) > 2 {
					hashes = append(hashes, hash)
				}
			}
		}
	}
	return hashes
}

// Revoke implements approval.Store.
func (s *cards) Revoke(ctx context.Context, conversation string, fields ...string) (ended int, err error) {
	if len(conversation) < 2 || !isHex(conversation) {
		return 0, fmt.Errorf("store: revoke: %q is no conversation", conversation)
	}
	p := place{conversation[:2], conversation}
	_, err = s.change(ctx, "revoke", func(t *tx) error {
		c := t.conversation(p)
		if ended = 0; c == nil {
			return nil
		}
		ended = c.Revoke(fields...)
		t.save(p, c)
		return nil
	})
	return ended, err
}
