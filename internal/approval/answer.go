package approval

import (
	"cmp"
	"context"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"regexp"
	"strings"
	"time"
	"unicode"

	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/internal/store"
)

// answers takes what people answer, and shows what came of it.
type answers struct {
	*shows

	pauses *Pauses
	grants *Grants
}

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

	seen bool   // all of the call was in view: the button was beside the details
	made *Edit  // what Params make of the call
	code string // that was typed
}

// Answer takes an answer from any channel. It is the only place where approver and code are checked. The error is for
// the log; the outcome for the person.
func (d *Desk) Answer(ctx context.Context, a Answer) (Outcome, error) { //nolint:gocritic // a channel's answer
	an := d.answers
	person := an.terms().people[a.ID]
	switch {
	case person == "":
		return Outcome{Kind: Unauthorised, Text: NotAuthorised}, nil
	case a.Carrier != nil || a.Text != "":
		return an.typed(ctx, person, &a)
	case a.Handle != "":
		return an.tapped(ctx, person, &a)
	}
	a.Scope.Days = 0 // only a button gives them
	c, err := an.byRef(ctx, a.Ref)
	switch {
	case errors.Is(err, errTwoCards):
		return misunderstood(nil, "Two open questions have this reference. Answer with the code on the card."), nil
	case err != nil && !errors.Is(err, store.ErrGone):
		return Outcome{Text: storeGone}, err
	case c == nil:
		return notFound("No open question has the reference " + quote(an.o.Hide(a.Ref)) +
			". `verifier pending` lists them."), nil
	case a.Params != "":
		return an.edited(ctx, person, c, &a)
	}
	return an.count(ctx, person, c, &a)
}

func misunderstood(c *Card, text string) Outcome {
	return Outcome{Kind: Misunderstood, Card: c, Text: text}
}

func notFound(text string) Outcome { return Outcome{Kind: NotFound, Text: text} }

func replied(text string) Outcome { return Outcome{Kind: Replied, Text: text} }

// How many characters are kept of a reason, which is more than any client reads, and of a name.
const mostReason, mostCalled = 500, 40

// count puts a person's vote on a card.
func (an *answers) count(ctx context.Context, person string, c *Card, a *Answer) (out Outcome, err error) {
	vote := Vote{Person: person, ID: a.ID, Via: a.Via, Allow: a.Allow, Reason: an.harmless(a.Reason, mostReason)}
	if an.terms().bare[a.ID] { // anyone can choose what the platform calls them, so that nothing is decided by it
		vote.Called = an.harmless(a.Name, mostCalled)
	}
	if a.Scope.Target != AnyCall && !a.Scope.Turn {
		a.Scope.Minutes = cmp.Or(a.Scope.Minutes, tapMinutes)
	}
	said := ""
	c, err = an.change(ctx, c, func(t *store.Tx, c *Card) (bool, error) {
		v := vote
		v.At, said = t.Now, ""
		if out = an.refuse(c, person, a, t.Now); out.Text != "" {
			return false, nil
		}
		if v.Allow {
			v.Scope, said = c.Ask.limit(a.Scope, c.longest)
			v.Seen = a.seen || an.o.inFull(c)
			if a.made != nil {
				v.Edited, v.Seen = a.made.Ask.Digest, a.made.Ask.Hidden == 0
			}
		}
		if !c.vote(v, an.terms()) {
			out = misunderstood(c, person+", your answer is counted already. "+c.outcome(t.Now).Text)
			return false, nil
		}
		out = c.outcome(t.Now)
		if c.State != Allowed {
			return true, nil
		}
		more, err := an.gives(t, c)
		said += more
		return true, err
	})
	switch {
	case errors.Is(err, store.ErrGone):
		return forgotten, nil
	case err != nil:
		return Outcome{Text: "The store can't be reached. Nothing was approved; try again."}, err
	case c != nil:
		an.answered(ctx, c)
		out.Kind, out.Card, out.Text = Counted, c, out.Text+said
	}
	return out, nil
}

// gives adds the grant that goes with an allowed card, and says what people might not expect of their yes.
func (an *answers) gives(t *store.Tx, c *Card) (said string, err error) {
	g, days := an.o.grant(c), c.scope().Days > 0
	switch {
	case g == nil:
	case days:
		same := func(old *store.Grant) bool { return old.Tool == g.Tool && old.Target == g.Target }
		err = keepAlways(t, g.Agent, same, *g)
		said = " Such calls of " + quote(g.Agent) + " pass without a question until " +
			g.Until.Format(time.DateOnly) + "."
	default:
		t.C.Grant(*g)
	}
	if c.Ask.Unseen && (g == nil || days) {
		said += " If the agent no longer waits, it asks again: files were written that you have not seen."
	}
	if t.Paused(c.Ask.Agent) != nil {
		said += " The agent is paused: nothing of it runs until `.resume`."
	}
	return said, err
}

// forgotten answers for a card that is gone. It may have been approved long ago, so the text does not say what became
// of it.
var forgotten = Outcome{
	Kind: TooLate, State: Expired,
	Text: "This question has expired and can no longer be answered. The record says what became of it.",
}

// refuse says why a person's answer can't count; no text: it can.
func (an *answers) refuse(c *Card, person string, a *Answer, now time.Time) Outcome {
	_, read := c.Readers[person]
	switch why := c.Ask.bars(person); {
	case a.code != "" && subtle.ConstantTimeCompare([]byte(a.code), []byte(c.Code)) != 1:
		return notFound("No question has this code.")
	case why != "":
		return Outcome{Kind: Unauthorised, State: c.at(now), Text: why, Card: c}
	case c.at(now) != Open:
		return c.tooLate(now)
	case a.Tool != "" && a.Tool != c.Ask.Tool:
		return misunderstood(c, "The card does not ask about this tool. It asks about: "+quote(c.Ask.Tool)+".")
	case a.Allow && c.Ask.Bodies > 0 && !read:
		return misunderstood(c, unread)
	}
	return Outcome{}
}

// answered records a vote that was counted and shows on every copy what became of the card.
func (an *answers) answered(ctx context.Context, c *Card) {
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
	an.waiters.wake(c.ID)
	an.runFor(ctx, func(ctx context.Context) { an.showCopies(ctx, c) })
}

// maybeCode is what could be a code, or hold one.
var maybeCode = regexp.MustCompile(`[0-9A-Fa-f]{8,}`)

// harmless is a person's text that others may read, the agent too: no secret, no code (they may have written two
// lines as one), in one line. Secrets go first: a part of one would not be known for it.
func (an *answers) harmless(s string, most int) string {
	s = maybeCode.ReplaceAllString(an.o.Hide(oneLine(s)), "…")
	if r := []rune(s); len(r) > most {
		return strings.TrimSpace(string(r[:most]))
	}
	return s
}

// oneLine is a reason as a typed line could give it: in one line, without what can't be seen. What is to be hidden in
// it can't be broken up by such characters.
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

// onCard reports whether the button allows by what the card shows, and not by the details.
func (a Action) onCard() bool { return a.Allows() && a != AllowSeen && a != AllowFile }

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
func (c *core) readHandle(handle string) (a Action, id string, ours bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(handle)
	if err != nil || len(raw) != 1+cardIDSize+sealSize || base64.RawURLEncoding.EncodedLen(len(raw)) != len(handle) {
		return 0, "", false
	}
	a, id = Action(raw[0]), hex.EncodeToString(raw[1:1+cardIDSize])
	return a, id, c.o.Key.Check(hex.EncodeToString(raw[1+cardIDSize:]), "tap", string(rune(a)), id)
}

// tapped takes a tap. Who taps was checked before.
func (an *answers) tapped(ctx context.Context, person string, a *Answer) (Outcome, error) {
	action, id, ours := an.readHandle(a.Handle)
	if !ours {
		return notFound("This button belongs to no question of this gateway. Nothing was approved."), nil
	}
	c, now, err := an.load(ctx, id)
	switch {
	case errors.Is(err, store.ErrGone):
		return forgotten, nil
	case err != nil:
		return Outcome{Text: "The question can't be read. Nothing was approved."}, err
	case c.at(now) != Open:
		return c.tooLate(now), nil
	case action == Details:
		return an.showAll(ctx, a, c), nil
	case action.onCard() && !an.o.inFull(c):
		return misunderstood(c, "Not all of this call is on the card. Tap More first, or type the code."), nil
	case action == EditCall:
		a.Allow, a.Scope = true, Scope{}
		return an.edited(ctx, person, c, a)
	case action == AllowAlways && (a.Scope.Days < 1 || a.Scope.Days > MaxAlwaysDays || !an.MayAlways(a.ID, c)):
		return misunderstood(c, "Such a call can't be allowed for days here. Nothing was approved."), nil
	case !action.Allows() && action != DenyCall:
		return notFound("This button does nothing. Nothing was approved."), nil
	}
	vote := Answer{ID: a.ID, Name: a.Name, Via: a.Via, Allow: action.Allows(), Scope: buttons[action], Reason: a.Reason}
	if vote.Scope.Minutes > 0 {
		vote.Scope.Minutes = cmp.Or(max(a.Scope.Minutes, 0), c.Minutes())
	}
	if vote.Scope.Days > 0 {
		vote.Scope.Days = a.Scope.Days
	}
	if action == AllowSeen {
		vote.seen = c.Readers[person] || an.o.Detailed != nil && an.o.Detailed(&c.Ask)
	}
	return an.count(ctx, person, c, &vote)
}
