package state

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
)

// Card is what is kept of a card beside its blob. Times are Unix milliseconds.
type Card struct {
	Conversation string `json:"conversation"` // its hash
	Version      int64  `json:"version"`
	Until        int64  `json:"until"` // it can't be answered after this
	Keep         int64  `json:"keep"`  // and is forgotten after this
	Closed       bool   `json:"closed,omitzero"`
}

// Change replaces a card if it is as it was read.
func (k *Card) Change(ch *approval.Change, before func(ms int64) bool) error {
	switch {
	case k == nil:
		return approval.ErrGone
	case k.Version != ch.Version:
		return approval.ErrStale
	case !ch.NotAfter.IsZero() && !before(ch.NotAfter.UnixMilli()+1):
		return approval.ErrLate
	}
	k.Version++
	k.Closed = k.Closed || ch.Closed
	for _, until := range ch.Waiting {
		k.Keep = max(k.Keep, until.Add(approval.Retention).UnixMilli())
	}
	return nil
}

// OpenCard is an entry in the list of cards that wait.
type OpenCard struct {
	ID           string `json:"id"`
	Conversation string `json:"conversation"`
	Batch        bool   `json:"batch,omitzero"`
	Placed       int64  `json:"placed"` // their order
	Until        int64  `json:"until"`
}

// OpenCards are those that wait. A change makes a new list.
type OpenCards []OpenCard

// Live are those that can still be answered.
func (o OpenCards) Live(now time.Time) OpenCards {
	return slices.DeleteFunc(slices.Clone(o), func(k OpenCard) bool { return k.Until <= now.UnixMilli() })
}

// Without leaves a card out.
func (o OpenCards) Without(id string) OpenCards {
	return slices.DeleteFunc(slices.Clone(o), func(k OpenCard) bool { return k.ID == id })
}

// Room says what there is room for in a conversation: nothing more where full. Its live batch card is not counted but given.
func (o OpenCards) Room(d *approval.Draft, before func(ms int64) bool) (full bool, batch OpenCard) {
	open, hash := 0, d.Conversation.Hash()
	for _, k := range o {
		switch {
		case k.Conversation != hash || !before(k.Until):
		case k.Batch:
			batch = k
		default:
			open++
		}
	}
	return d.Batch && batch.ID != "" || !d.Batch && open >= d.MaxOpen, batch
}

// Asked is the live card that asks about one of the draft's digests.
func (c *Conversation) Asked(d *approval.Draft, before func(ms int64) bool) (card string, found bool) {
	for _, digest := range d.Digests {
		if w, ok := c.Waiting[digest]; ok && w.Card != d.Instead && before(w.Until) {
			return w.Card, true
		}
	}
	return "", false
}

// Ask has digests find a card until then. What is over is forgotten with that.
func (c *Conversation) Ask(card string, until map[string]int64, now time.Time) {
	if len(until) == 0 {
		return
	}
	waiting := maps.Clone(c.Waiting)
	if waiting == nil {
		waiting = map[string]Waiting{}
	}
	maps.DeleteFunc(waiting, func(_ string, w Waiting) bool { return w.Until <= now.UnixMilli() })
	for digest, till := range until {
		waiting[digest] = Waiting{Card: card, Until: till}
	}
	c.Waiting, c.changed = waiting, true
	c.Touch(now)
}

// keepGrant is how long a grant is kept after its end: a reader sees that it is over.
const keepGrant = 24 * time.Hour

// Grant adds grants by their fields. What was over long ago is forgotten with that.
func (c *Conversation) Grant(add map[string]string, now time.Time) {
	if len(add) == 0 {
		return
	}
	grants := maps.Clone(c.Grants)
	if grants == nil {
		grants = map[string]string{}
	}
	maps.DeleteFunc(grants, func(_, value string) bool {
		end, says := EndOfGrant(value)
		return says && now.Sub(end) > keepGrant
	})
	maps.Copy(grants, add)
	c.Grants, c.changed = grants, true
	c.Touch(now)
}

// EndOfGrant is when a grant ends, by its value, if that says so.
func EndOfGrant(value string) (end time.Time, says bool) {
	second, _, _ := strings.Cut(value, "|")
	n, err := strconv.ParseInt(second, 10, 64)
	return time.Unix(n, 0), err == nil
}

// LastGrant is when the last of its grants ends, in Unix milliseconds.
func (c *Conversation) LastGrant() (last int64) {
	for _, value := range c.Grants {
		if end, says := EndOfGrant(value); says {
			last = max(last, end.UnixMilli())
		}
	}
	return last
}

// Unended lists its grants that have not ended.
func (c *Conversation) Unended(now time.Time) (out []approval.StoredGrant) {
	for field, value := range c.Grants {
		if end, says := EndOfGrant(value); says && end.After(now) {
			out = append(out, approval.StoredGrant{Conversation: c.Name.Hash(), Field: field, Value: value})
		}
	}
	return out
}

// Revoke ends the grants under these fields, or without any all of them, and says how many.
func (c *Conversation) Revoke(fields ...string) int {
	return c.endGrants(func(field string) bool { return len(fields) == 0 || slices.Contains(fields, field) })
}

func (c *Conversation) endGrants(over func(field string) bool) int {
	grants := maps.Clone(c.Grants)
	maps.DeleteFunc(grants, func(field, _ string) bool { return over(field) })
	ended := len(c.Grants) - len(grants)
	if ended > 0 {
		c.Grants, c.changed = grants, true
		c.Version++ // what was judged with one of them no longer holds
	}
	return ended
}

// EndGiven ends what people gave for a while, and takes off so much of what else has a time.
func (c *Conversation) EndGiven(by time.Duration) (grants int) {
	grants = len(c.Grants)
	c.Grants, c.Waiting = nil, nil
	c.Touched -= by.Milliseconds()
	c.Version++
	c.changed = true
	return grants
}
