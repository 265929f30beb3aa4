package approval

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"regexp"
	"strings"
	"time"
	"unicode"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/internal/store"
)

// Answer is what someone said, typed or tapped.
type Answer struct {
	ID   string // who: platform:id, by the platform's immutable user id
	Via  string // where: the channel's name
	Name string // what the platform calls them: only shown; the ID says who they are
	Text string // a typed line; if set, nothing below counts but Message and Sent

	// what the platform calls the message of the line: it may bring the same one again; empty: each is another
	Message string
	Sent    time.Time // when the line was written, by the platform's clock; zero: now

	// of the button that was tapped; with it only what comes after Scope, and the minutes and days of Scope, count
	Handle string
	Ref    string // the card, by its short name
	Tool   string // the tool on it; empty means whichever it is
	Allow  bool
	Scope  Scope
	Reason string // for a deny: what the agent may read

	// what the call is to run with instead of its own arguments, as the person wrote them; empty: it runs as it was
	// asked about. It counts once Confirm is the digest that [Outcome.Edit] had, when the person was shown what it
	// changes.
	Params  string
	Confirm string

	Carrier *Carrier // of a typed line that an agent's runtime passed on; nil: it came here directly
}

// answering is an answer of someone who may give one, on its way.
type answering struct {
	*Desk
	*Answer
	person string
	seen   bool  // all of the call was in view: the button was beside the details
	made   *Edit // what Params make of the call
}

// Answer takes an answer from any channel. It is the only place where approver and code are checked. The error is for
// the log; the outcome for the person.
func (d *Desk) Answer(ctx context.Context, a Answer) (Outcome, error) { //nolint:gocritic // a channel's answer
	an := &answering{Desk: d, Answer: &a, person: d.terms().people[a.ID]}
	switch {
	case an.person == "":
		return Outcome{Kind: Unauthorised, Text: NotAuthorised}, nil
	case a.Carrier != nil || a.Text != "":
		return told(an.typed(ctx))
	case a.Handle != "":
		return told(an.tapped(ctx))
	}
	return told(an.named(ctx))
}

// told is what the person reads instead where an answer met a fault.
func told(o Outcome, err error) (Outcome, error) {
	if err != nil {
		o = Outcome{Text: "The store can't be reached, or the record can't be written. Nothing was approved unless " +
			"the card says so. Try again."}
	}
	return o, err
}

// named takes an answer to a card by its short name. Short names may meet; then the code decides.
func (an *answering) named(ctx context.Context) (Outcome, error) {
	an.Scope.Days = 0 // only a button gives them
	found, err := an.byRef(ctx, an.Ref)
	switch {
	case len(found) == 0:
		return notFound("No open question has the reference " + quote(an.o.Hide(an.Ref)) +
			". `verifier pending` lists them."), err
	case len(found) > 1:
		return misunderstood(nil, "Two open questions have this reference. Answer with the code on the card."), err
	case an.Params != "":
		return an.edited(ctx, found[0])
	}
	return an.count(ctx, found[0])
}

func misunderstood(c *Card, text string) Outcome {
	return Outcome{Kind: Misunderstood, Card: c, Text: text}
}

func notFound(text string) Outcome { return Outcome{Kind: NotFound, Text: text} }

func replied(text string) Outcome { return Outcome{Kind: Replied, Text: text} }

// How many characters are kept of a reason, which is more than any client reads, and of a name.
const mostReason, mostCalled = 500, 40

// count puts the person's vote on a card.
func (an *answering) count(ctx context.Context, c *Card) (out Outcome, err error) {
	vote := Vote{
		Person: an.person, ID: an.ID, Via: an.Via, Allow: an.Allow, Reason: an.o.harmless(an.Reason, mostReason),
	}
	if an.terms().bare[an.ID] { // anyone can choose what the platform calls them, so that nothing is decided by it
		vote.Called = an.o.harmless(an.Name, mostCalled)
	}
	if an.Scope.Target != AnyCall && !an.Scope.Turn {
		an.Scope.Minutes = cmp.Or(an.Scope.Minutes, tapMinutes)
	}
	said := ""
	c, err = an.change(ctx, c, func(t *store.Tx, c *Card) bool {
		v := vote
		v.At, said = t.Now, ""
		if out = an.refuse(c, t.Now); out.Text != "" {
			return false
		}
		if v.Allow {
			v.Scope, said = c.Ask.limit(an.Scope, c.longest)
			v.Seen = an.seen || an.o.Visible(&c.Ask)
			if an.made != nil {
				v.Edited, v.Seen = an.made.Ask.Digest, an.made.Ask.Hidden == 0
			}
		}
		if !c.vote(v, an.terms()) {
			out = misunderstood(c, an.person+", your answer is counted already. "+c.outcome(t.Now).Text)
			return false
		}
		if out = c.outcome(t.Now); c.State == Allowed {
			said += an.o.give(t, c)
		}
		return true
	})
	switch {
	case errors.Is(err, store.ErrGone):
		return forgotten, nil
	case c != nil && err == nil:
		an.counted(ctx, c)
		out.Kind, out.Card, out.Text = Counted, c, out.Text+said
	}
	return out, err
}

// forgotten answers for a card that is gone. It may have been approved long ago, so the text does not say what became
// of it.
var forgotten = Outcome{
	Kind: TooLate, State: Expired,
	Text: "This question has expired and can no longer be answered. The record says what became of it.",
}

// unread answers a yes to a call whose file text the person has not read.
const unread = "Your config hides what this call writes, and you have not read it. While the agent waits, open More… " +
	"on the card, *Show what is hidden* on the page, or `verifier pending` with the reference. Nothing was approved."

// refuse says why the answer can't count; no text: it can.
func (an *answering) refuse(c *Card, now time.Time) Outcome {
	_, read := c.Readers[an.person]
	switch why := c.Ask.bars(an.person); {
	case why != "":
		return Outcome{Kind: Unauthorised, State: c.at(now), Text: why, Card: c}
	case c.at(now) != Open:
		return c.tooLate(now)
	case an.Tool != "" && an.Tool != c.Ask.Tool:
		return misunderstood(c, "The card does not ask about this tool. It asks about: "+quote(c.Ask.Tool)+".")
	case an.Allow && c.Ask.Bodies > 0 && !read:
		return misunderstood(c, unread)
	}
	return Outcome{}
}

// counted records a vote, and shows on every copy what became of the card.
func (an *answering) counted(ctx context.Context, c *Card) {
	v, e := c.last(), entryFor(record.KindAnswer, c)
	took := v.At.Sub(c.Ask.Created)
	e.Decision, e.Reason = record.Deny, v.Reason
	if v.Allow {
		e.Decision, e.Reason, e.Edited = record.Allow, "", v.Edited
		e.Scope = c.Ask.Reach(v.Scope)
	}
	e.People = []record.Person{{Name: v.Person, Via: v.Via, At: v.At, TookMs: took.Milliseconds()}}
	an.note(ctx, e)
	an.o.Observe(Event{Kind: EventAnswered, Allow: v.Allow, Took: took})
	an.closed(ctx, c)
}

// maybeCode is what could be a code, or hold one.
var maybeCode = regexp.MustCompile(`[0-9A-Fa-f]{8,}`)

// harmless is a person's text that others may read, the agent too: no secret, no code (they may have written two
// lines as one), in one line, without what can't be seen. Such characters go first, so that they break up no secret;
// then secrets, since a part of one would not be known for it.
func (o *Options) harmless(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsGraphic(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	s = maybeCode.ReplaceAllString(o.Hide(strings.TrimSpace(s)), "…")
	if r := []rune(s); len(r) > most {
		return strings.TrimSpace(string(r[:most]))
	}
	return s
}

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
		return Outcome{}, err
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
