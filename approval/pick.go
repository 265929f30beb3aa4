package approval

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
)

// picks asks a person what a call does, before a button allows it.
type picks struct{ *core }

// What a person is asked before a button allows something that outside content could drive, or that can't be undone: to pick what the
// call does among other things that calls of its kind do. A hand that taps by habit can't. It is the same on the page and in every chat.

// Choices are what a call does, among other things.
type Choices struct {
	Question string
	Offered  []string // to be read; empty: there are too few wrong answers to ask
	Right    int      // which of them it is
}

// Pick is that question, for a channel that has to put it.
type Pick struct {
	Question string
	Offers   []Offer
	Gives    string // what the right pick allows: how long, and for what
	At       int    // which call of the card it is about
	Missed   bool   // the last pick was wrong
	Again    bool   // it was a pick that was tapped: this question takes the place of that one
}

// Offer is one answer to it.
type Offer struct{ Text, Handle string }

const (
	maxMisses = 2 // then buttons no longer allow the card for this person
	nonceSize = 8

	// pickSize is the size of a pick's handle in bytes: 62 characters, where Telegram takes 64.
	pickSize = 1 + cardIDSize + 4 + nonceSize + sealSize
)

// picked is a pick that was tapped.
type picked struct {
	at     int // the call that it is about
	choice int
	nonce  string
}

// tap is what a handle says.
type tap struct {
	action Action // of a pick: what the button does that asked for it
	card   string // its id
	entry  int    // the call of a list that it is for, from 1; 0: all
	pick   *picked
}

// pickHandle is what an offer carries. Only the person who was asked can tap it: the same letters mean something else to others.
func (pk *picks) pickHandle(person string, t tap, p picked) string {
	id, err := hex.DecodeString(t.card)
	mac, errMAC := hex.DecodeString(pk.o.Key.Seal("pick", sealedPick(person, t, p)...))
	if err != nil || errMAC != nil || len(id) != cardIDSize || len(mac) != sealSize || len(p.nonce) != nonceSize {
		return ""
	}
	raw := append([]byte{byte(PickOne)}, id...)
	raw = append(raw, byte(t.action), byte(t.entry), byte(p.at), byte(p.choice)) //nolint:gosec // a card has at most maxBatch calls, and a question few answers
	return base64.RawURLEncoding.EncodeToString(append(append(raw, p.nonce...), mac...))
}

func sealedPick(person string, t tap, p picked) []string {
	return []string{person, t.card, string(rune(t.action)), fmt.Sprint(t.entry), fmt.Sprint(p.at), fmt.Sprint(p.choice), hex.EncodeToString([]byte(p.nonce))}
}

// readPick says what a pick's handle is about, if it is one of ours and for this person.
func (pk *picks) readPick(person string, raw []byte) (tap, bool) {
	rest := raw[1+cardIDSize:]
	p := picked{at: int(rest[2]), choice: int(rest[3]), nonce: string(rest[4 : 4+nonceSize])}
	t := tap{action: Action(rest[0]), card: hex.EncodeToString(raw[1 : 1+cardIDSize]), entry: int(rest[1]), pick: &p}
	return t, pk.o.Key.Check(hex.EncodeToString(rest[4+nonceSize:]), "pick", sealedPick(person, t, p)...)
}

// choices are what the nonce gives, so that nothing has to be remembered between the question and the pick.
func (pk *picks) choices(person string, c *Card, at int, nonce string) Choices {
	if pk.o.Choices == nil {
		return Choices{}
	}
	return pk.o.Choices(&c.Questions[at].Ask, []byte(pk.o.Key.Seal("choices", person, c.ID, fmt.Sprint(c.entry, at), hex.EncodeToString([]byte(nonce)))))
}

// Said where no pick allows.
const (
	missedTwice = "That was not it, twice. Nothing was approved, and no button allows this call for you any more. Deny it, or read it to its end and type its code."
	tooFew      = "This call is full of what would be wrong answers to the question what it does, so no pick can allow it. Nothing was approved. " +
		"Deny it, or read it to its end and type its code in a chat or `verifier approve` with its reference in a terminal."
)

// careful asks a person what each call of a card does that no reflex may allow, one after the other. It reports whether they have said so
// of all; where they have not, the outcome asks, or says why it doesn't.
func (pk *picks) careful(ctx context.Context, person string, c *Card, t tap, minutes int) (done bool, out Outcome, err error) {
	at := c.nextCareful(person, 0)
	if at < 0 {
		return true, Outcome{}, nil
	}
	missed := false
	name := "pick:" + person + ":" + c.ID
	misses, err := pk.o.Store.Count(ctx, name, Retention, false)
	if p := t.pick; err == nil && p != nil && p.at < len(c.Questions) && misses < maxMisses {
		at = p.at
		if offered := pk.choices(person, c, at, p.nonce); len(offered.Offered) > 0 && offered.Right == p.choice {
			if at = c.nextCareful(person, at+1); at < 0 {
				return true, Outcome{}, nil
			}
		} else {
			missed = true
			misses, err = pk.o.Store.Count(ctx, name, Retention, true)
		}
	}
	switch {
	case err != nil:
		return false, Outcome{Text: "The store can't be reached. Nothing was approved; try again."}, err
	case misses >= maxMisses:
		return false, Outcome{Kind: Misunderstood, Card: c, Text: missedTwice}, nil
	}
	out, err = pk.asksToPick(person, c, t, at, minutes)
	if out.Pick != nil {
		out.Pick.Missed, out.Pick.Again = missed, t.pick != nil
		switch {
		case missed:
			out.Text = "That was not it. Nothing was approved. Look again."
		case t.pick != nil:
			out.Text = "Right. The next call needs a look, too."
		}
	}
	return false, out, err
}

// asksToPick puts the question, each time anew.
func (pk *picks) asksToPick(person string, c *Card, t tap, at, minutes int) (Outcome, error) {
	var raw [nonceSize]byte
	if _, err := io.ReadFull(pk.o.Rand, raw[:]); err != nil {
		return Outcome{Text: "Nothing was approved; try again."}, err
	}
	nonce := string(raw[:])
	offered := pk.choices(person, c, at, nonce)
	if len(offered.Offered) == 0 {
		return Outcome{Kind: Misunderstood, Card: c, Text: tooFew}, nil
	}
	p := &Pick{Question: offered.Question, At: at, Gives: c.gives(t.action, &c.Questions[at].Ask, minutes)}
	for i, text := range offered.Offered {
		p.Offers = append(p.Offers, Offer{Text: text, Handle: pk.pickHandle(person, t, picked{at: at, choice: i, nonce: nonce})})
	}
	return Outcome{Kind: WantsPick, Card: c, Pick: p}, nil
}

// nextCareful is the first call from a place on that no reflex of this person may allow; -1 if there is none. What they may not allow is
// not asked: their vote on it is refused.
func (c *Card) nextCareful(person string, from int) int {
	for i := from; i < len(c.Questions); i++ {
		if _, barred := c.Questions[i].Ask.bars(person, true); c.Questions[i].Ask.Careful && !barred {
			return i
		}
	}
	return -1
}

// gives says what the right pick allows, by the button that was tapped.
func (c *Card) gives(action Action, a *Ask, minutes int) string {
	what, scope := "it", Scope{Minutes: minutes}
	if minutes <= 0 {
		scope.Minutes = c.Minutes()
	}
	switch action {
	case AllowMinutes:
	case AllowExactly:
		what = "exactly this call"
	case AllowTurn:
		if scope = a.Bound(Scope{Turn: true}); scope.Like {
			return "calls " + a.Reach(scope) + ", in this conversation"
		}
	case AllowAlways:
		return "it, and from now on such calls without a question"
	case AllowLike:
		what, scope.Minutes = "calls like it to the same destination", c.Minutes()
	default:
		return "it once"
	}
	if what == "it" {
		return what + " " + a.Reach(scope) + ", in this conversation"
	}
	return what + " " + scope.String() + ", in this conversation"
}
