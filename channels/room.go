package channels

import "github.com/openclaw-verifier/verifier/approval"

// room is how much of a card is shown, in columns. What does not fit is cut, and
// says so.
type room struct {
	name  int  // of a tool or an argument
	main  int  // of each argument that says what the call does
	arg   int  // of each other one
	other int  // of all the others together
	field int  // of an identifier
	said  int  // of a sentence
	mains int  // how many arguments that say what the call does; 0 is all
	calls int  // how many calls of a list; 0 is all
	ended bool // nothing is asked any more: who voted is shown above
	terse bool // without what a model says about the call
	roomy bool // each call of a list may say where it comes from, who voted on it and what is not visible of it
}

// normal is what one screen and one look can take: about 30 lines. What fits it
// is fully visible; the policy counts on that, see [FullyVisible].
var normal = room{name: 120, main: 2400, arg: 480, other: 2400, field: 600, said: 400, roomy: true}

// unbounded leaves nothing out.
var unbounded = room{roomy: true}

// rooms are tried in this order until a platform has room for one.
var rooms = []room{
	normal,
	{name: 80, main: 1200, arg: 240, other: 600, field: 200, said: 300, roomy: true},
	{name: 60, main: 600, arg: 120, other: 240, field: 120, said: 200, roomy: true},
	{name: 40, main: 240, arg: 80, other: 80, field: 80, said: 120},
	{name: 30, main: 60, arg: 40, other: 40, field: 60, said: 80, mains: 3},
	{name: 20, main: 40, other: none, field: 40, said: 60, mains: 1, calls: 5, terse: true},
}

// tries are this room with the summary that a card may have, and without it: the
// literal call is never cut to make room for that.
func (r *room) tries(c *approval.Card) []room {
	if r.terse || !summarised(c) {
		return []room{*r}
	}
	without := *r
	without.terse = true
	return []room{*r, without}
}

// none is a limit that lets nothing through; 0 would be no limit.
const none = -1

// brief is the room for a card that asks nothing any more.
func (r *room) brief() room {
	b := *r
	b.main, b.arg, b.other = atMost(r.main, 600), atMost(r.arg, 120), atMost(r.other, 240)
	b.field, b.said, b.ended = atMost(r.field, 200), atMost(r.said, 200), true
	return b
}

func atMost(limit, most int) int {
	if limit == 0 {
		return most
	}
	return min(limit, most)
}

// inline is Safe for a sentence around a call. What is cut there says so in its
// place; it does not run.
func (r *room) inline(s string) string { return inline(s, r.said) }

// id is Safe for an identifier around a call. A secret may be in it, too.
func (r *room) id(a *approval.Ask, s string) string { return inline(a.Name(s), r.field) }

func inline(s string, limit int) string {
	text, _ := Safe(s, Form{Limit: limit})
	return text
}
