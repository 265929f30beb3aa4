package approval

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/internal/store"
)

// Action is what a button on a card does.
type Action byte

// The buttons.
const (
	AllowOnce    Action = 'a'
	AllowMinutes Action = 'm' // see [Ask.Bound]; for as long as the answer's scope says, else [Card.Minutes]
	AllowTurn    Action = 't' // the same until the run ends
	AllowExactly Action = 'e' // exactly this call, as often as it comes, for as long as AllowMinutes
	AllowSame    Action = 'l' // calls to the same recipients, for as long as AllowMinutes
	AllowAlways  Action = 'w' // for the answer's days, see [Desk.MayAlways]. No chat has it
	DenyCall     Action = 'd' // with a reason that the agent reads, where one comes with it
	Details      Action = 'i' // all there is to see, and then [AllowSeen]
	AllowSeen    Action = 's' // allow once, offered only beside the details
	AllowFile    Action = 'f' // the same, where the details are in a file that the person may not have opened
	EditCall     Action = 'c' // allow once with the params that come with it
)

// buttons are those that let a call pass, with what they give. Minutes and days are the answer's.
var buttons = map[Action]Scope{
	AllowOnce: {}, AllowSeen: {}, AllowFile: {}, AllowAlways: {Days: 1}, AllowTurn: {Turn: true},
	AllowMinutes: {Minutes: 1}, AllowExactly: {Target: Exactly, Minutes: 1}, AllowSame: {Target: Same, Minutes: 1},
}

// Allows reports whether the button lets a call pass.
func (a Action) Allows() bool {
	_, allows := buttons[a]
	return allows
}

// Sizes of a handle, in bytes: 44 characters, where Telegram takes 64.
const cardIDSize, sealSize = 16, 16

// Handle is what a button carries instead of the code: the action and the card, under a MAC of the server key.
// Nothing has to be remembered to take it, so a tap counts that comes before the send has returned, after a restart
// or in another process; and it does nothing once the card is settled. Only a card that a desk has opened has
// handles.
func (c *Card) Handle(a Action) string {
	id, err := hex.DecodeString(c.ID)
	mac, errMAC := hex.DecodeString(c.key.Seal("tap", string(rune(a)), c.ID))
	if err != nil || errMAC != nil || len(id) != cardIDSize || len(mac) != sealSize {
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(append(append([]byte{byte(a)}, id...), mac...))
}

// readHandle says what a handle is about, if it is one of ours.
func readHandle(key hmac.Key, handle string) (a Action, id string, ours bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(handle)
	if err != nil || len(raw) != 1+cardIDSize+sealSize || base64.RawURLEncoding.EncodedLen(len(raw)) != len(handle) {
		return 0, "", false
	}
	a, id = Action(raw[0]), hex.EncodeToString(raw[1:1+cardIDSize])
	return a, id, key.Check(hex.EncodeToString(raw[1+cardIDSize:]), "tap", string(rune(a)), id)
}

// tapped takes a tap. Who taps was checked before.
func (an *answering) tapped(ctx context.Context) (Outcome, error) {
	action, id, ours := readHandle(an.o.Key, an.Handle)
	if !ours {
		return notFound("This button belongs to no question of this gateway. Nothing was approved."), nil
	}
	c, now, err := an.load(ctx, id)
	scope, allows := buttons[action], action.Allows()
	beside := action == AllowSeen || action == AllowFile // the details, and not what the card shows
	switch {
	case errors.Is(err, store.ErrGone):
		return forgotten, nil
	case err != nil:
		return Outcome{Text: "The question can't be read. Nothing was approved."}, err
	case c.at(now) != Open:
		return c.tooLate(now), nil
	case action == Details:
		return an.showAll(ctx, c), nil
	case allows && !beside && !an.o.Visible(&c.Ask):
		return misunderstood(c, "Not all of this call is on the card. Tap More first, or type the code."), nil
	case action == EditCall:
		an.Allow, an.Scope = true, Scope{}
		return an.edited(ctx, c)
	case action == AllowAlways && (an.Scope.Days < 1 || an.Scope.Days > MaxAlwaysDays || !an.MayAlways(an.ID, c)):
		return misunderstood(c, "Such a call can't be allowed for days here. Nothing was approved."), nil
	case !allows && action != DenyCall:
		return notFound("This button does nothing. Nothing was approved."), nil
	}
	if scope.Minutes > 0 {
		scope.Minutes = cmp.Or(max(an.Scope.Minutes, 0), c.Minutes())
	}
	if scope.Days > 0 {
		scope.Days = an.Scope.Days
	}
	an.Tool, an.Allow, an.Scope = "", allows, scope
	an.seen = action == AllowSeen && (c.Readers[an.person] || an.o.Detailed(&c.Ask))
	return an.count(ctx, c)
}
