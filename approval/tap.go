package approval

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
)

// buttons takes taps on the buttons of cards.
type buttons struct {
	*cardStore

	votes    *votes
	edits    *edits
	openings *openings
	consents *Consents
}

// Action is what a button on a card does.
type Action byte

// The buttons. On a card with several calls an allow or a deny is for all of
// them, and Details shows the list.
const (
	AllowOnce    Action = 'a'
	AllowMinutes Action = 'm' // for as long as the answer's scope says, else [Card.Minutes]
	DenyCall     Action = 'd' // with a reason that the agent reads, where one comes with it
	Details      Action = 'i' // all there is to see, and then [AllowSeen]
	AllowSeen    Action = 's' // allow once, offered only beside the details
	AllowFile    Action = 'f' // the same, where the details are in a file that the person may not have opened
	AllowExactly Action = 'e' // exactly this call, as often as it comes, for as long as AllowMinutes
	AllowTurn    Action = 't' // the same tool until the run ends; for a shell, only commands that do the same
	AllowLike    Action = 'l' // calls like it for a while, offered only beside what that would have covered
	AllowAlways  Action = 'w' // allow once, and give the standing consent that comes with it: see [Always]. No chat has it
	EditCall     Action = 'c' // allow once with the params that come with it
)

// Allows reports whether the button lets a call pass.
func (a Action) Allows() bool {
	switch a {
	case AllowOnce, AllowMinutes, AllowExactly, AllowTurn, AllowSeen, AllowFile, AllowLike, AllowAlways:
		return true
	default:
		return false
	}
}

// Sizes of a handle, in bytes: 46 characters, or 48 for one call of a list, where Telegram takes 64.
const (
	cardIDSize = 17 // the bucket and 128 random bits
	handleSize = 1 + cardIDSize + sealSize
	sealSize   = 16
	maxReason  = 500 // characters that are kept of a reason: no client reads more
)

// Handle is what a button carries instead of the code: the action and the card,
// under a MAC of the server key. Nothing has to be remembered to take it, so a
// tap counts that comes before the send has returned, after a restart or in
// another process; and it does nothing once the card is settled. Only a card
// that a desk has opened has handles.
func (c *Card) Handle(a Action) string {
	id, err := hex.DecodeString(c.ID)
	mac, errMAC := hex.DecodeString(c.key.Seal("tap", sealedTap(tap{action: a, card: c.ID, entry: c.entry})...))
	if err != nil || errMAC != nil || len(id) != cardIDSize || len(mac) != sealSize {
		return ""
	}
	raw := append([]byte{byte(a)}, id...)
	if c.entry > 0 {
		raw = append(raw, byte(c.entry)) //nolint:gosec // a card has at most maxBatch calls
	}
	return base64.RawURLEncoding.EncodeToString(append(raw, mac...))
}

// sealedTap is what a handle says, for its MAC.
func sealedTap(t tap) []string {
	parts := []string{string(rune(t.action)), t.card}
	if t.entry > 0 {
		parts = append(parts, fmt.Sprint(t.entry))
	}
	return parts
}

// tap is what a handle says.
type tap struct {
	action Action
	card   string // its id
	entry  int    // the call of a list that it is for, from 1; 0: all
}

// readHandle says what a handle is about, if it is one of ours.
func (b *buttons) readHandle(handle string) (tap, bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(handle)
	if err != nil || base64.RawURLEncoding.EncodedLen(len(raw)) != len(handle) { // no line breaks
		return tap{}, false
	}
	if len(raw) != handleSize && len(raw) != handleSize+1 {
		return tap{}, false
	}
	t, mac := tap{action: Action(raw[0]), card: hex.EncodeToString(raw[1 : 1+cardIDSize])}, raw[1+cardIDSize:]
	if len(raw) > handleSize {
		if t.entry, mac = int(mac[0]), mac[1:]; t.entry == 0 {
			return tap{}, false
		}
	}
	return t, b.o.Key.Check(hex.EncodeToString(mac), "tap", sealedTap(t)...)
}

// Minutes is how long the button that allows for a while does so. On a list it
// is less.
func (c *Card) Minutes() int {
	most := tapMinutes
	if len(c.Questions) > 1 {
		most = allMinutes
	}
	if c.longest > 0 {
		most = min(most, c.longest)
	}
	return most
}

// tapped takes a tap. Who taps was checked before.
func (b *buttons) tapped(ctx context.Context, person string, a Answer) (Outcome, error) {
	t, ours := b.readHandle(a.Handle)
	if !ours {
		return Outcome{Kind: NotFound, Text: "This button belongs to no question of this gateway. Nothing was approved."}, nil
	}
	c, out, err := b.tappedCard(ctx, t)
	if c == nil {
		return out, err
	}
	switch {
	case t.action == EditCall:
		vote := Answer{ID: a.ID, Name: a.Name, Via: a.Via, Allow: true, Params: a.Params}
		if t.entry > 0 {
			vote.entry = c.Questions[0].Ask.Digest
		}
		return b.edits.edited(ctx, person, t.card, vote, b.terms().MaxMinutes)
	case t.action == Details:
		return b.openings.showAll(ctx, person, a, c), nil
	case t.action.onCard() && !b.o.inFull(c):
		return Outcome{Kind: Misunderstood, Card: c, Text: "Not all of this call is on the card. Tap More first, or type the code."}, nil
	}
	vote, known := t.action.vote(c, a)
	if !known {
		return Outcome{Kind: NotFound, Text: "This button does nothing. Nothing was approved."}, nil
	}
	if t.entry > 0 {
		vote.entry = c.Questions[0].Ask.Digest
	}
	always := alwaysOn{b.consents, person, c}
	if out, err := always.barred(ctx, t.action, a.Always); out.Text != "" {
		return out, err
	}
	if vote.Allow {
		b.openings.onTheWay.wait(ctx, c.ID+person)
	}
	if out, err = b.votes.count(ctx, person, t.card, vote, b.terms().MaxMinutes); t.action != AllowAlways || err != nil {
		return out, err
	}
	return always.give(ctx, a, out)
}

// onCard reports whether the button allows by what the card shows, and not by the details.
func (a Action) onCard() bool {
	return a == AllowOnce || a == AllowMinutes || a == AllowExactly || a == AllowTurn
}

// vote is what a button says about a card; false where it says nothing.
func (a Action) vote(c *Card, by Answer) (Answer, bool) {
	vote := Answer{ID: by.ID, Name: by.Name, Via: by.Via, Allow: a.Allows()}
	switch a {
	case AllowOnce, AllowFile, AllowAlways:
	case AllowSeen:
		vote.inDetails = true
	case AllowTurn:
		vote.Scope = Scope{Turn: true}
	case AllowMinutes, AllowExactly:
		vote.Scope = Scope{Exactly: a == AllowExactly, Minutes: cmp.Or(max(by.Scope.Minutes, 0), c.Minutes())}
	case AllowLike:
		vote.Scope = Scope{Like: true, Minutes: c.Minutes()}
	case DenyCall:
		vote.Reason = oneLine(by.Reason)
	default:
		return Answer{}, false
	}
	return vote, true
}

// tappedCard is the card behind a button while it can be answered, or the one
// call of it that the button is for; otherwise what became of it.
func (b *buttons) tappedCard(ctx context.Context, t tap) (*Card, Outcome, error) {
	c, now, err := b.load(ctx, t.card)
	if err != nil {
		out, err := unreadable(err)
		return nil, out, err
	}
	if c.closed(now) {
		return nil, tooLate(c.outcome(c.all(), now)), nil
	}
	switch {
	case t.entry == 0:
		return c, Outcome{}, nil
	case t.entry > len(c.Questions):
		return nil, Outcome{Kind: NotFound, Text: "This card has no such call. Nothing was approved."}, nil
	}
	one := c.Entry(t.entry - 1)
	if one.closed(now) { // the others wait
		return nil, c.entryTooLate(one.all(), now), nil
	}
	return one, Outcome{}, nil
}

// entryTooLate says that one call of a list was answered before. The card itself is still open.
func (c *Card) entryTooLate(asked []*Question, now time.Time) Outcome {
	out := c.status(now)
	out.Kind, out.Text = TooLate, "Already answered: "+c.outcome(asked, now).Text
	return out
}

// inFull reports whether a person who sees the card sees all that will run.
func (o *Options) inFull(c *Card) bool {
	return o.Visible != nil && !slices.ContainsFunc(c.Questions, func(q Question) bool { return !o.Visible(&q.Ask) })
}

// oneLine is a reason as a typed line could give it: in one line, without what
// can't be seen. What is to be hidden in it can't be broken up by such characters.
func oneLine(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsGraphic(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "")))
}

// cutReason keeps what the agent is to read.
func cutReason(s string) string {
	if r := []rune(s); len(r) > maxReason {
		return strings.TrimSpace(string(r[:maxReason]))
	}
	return s
}
