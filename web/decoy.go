package web

import (
	"crypto/sha256"
	"net/http"
	"slices"
	"strconv"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/channels"
	"github.com/openclaw-verifier/verifier/codes"
)

// What a person is asked before something is allowed that outside content could drive, or that can't be undone: to pick what the call
// does among other things that calls of its kind do. A hand that taps by habit can't, and none of them is a misspelling of the right one.
const (
	choices   = 4
	maxMisses = 2   // then this session may not allow the card any more
	maxChoice = 160 // characters; what is longer is cut, not left out
)

// confirmView is that question.
type confirmView struct {
	Question string
	Grants   string // what the pick gives: how long, and for what
	Choices  []string
	Nonce    string
	Missed   bool
	Card     cardView
	Handle   string
	Minutes  string
}

// careful stops an allow that needs care until the right choice was picked. It
// reports whether the answer may go on to the desk; otherwise it has answered.
func (p *Page) careful(w http.ResponseWriter, r *http.Request, m *member, handle string) bool {
	c, action, err := p.o.Desk.Tapped(r.Context(), handle)
	if err != nil {
		p.unreachable(w, r, err)
		return false
	}
	if c == nil || !c.Careful() || !action.Allows() {
		return true
	}
	if several(c) {
		p.one(w, r, m, c.ID, said{Text: oneByOne + " Nothing was approved.", Tone: bad})
		return false
	}
	count := "page-pick:" + m.ID + c.ID[:16]
	misses, err := p.o.Tries.Miss(r.Context(), count, approval.Retention, false)
	right := false
	if pick := r.PostFormValue("pick"); err == nil && pick != "" && misses < maxMisses {
		n, errPick := strconv.Atoi(pick)
		offered, itself := p.choices(m, c, r.PostFormValue("nonce"))
		if right = errPick == nil && len(offered) == choices && n >= 0 && n < len(offered) && offered[n] == itself; !right {
			misses, err = p.o.Tries.Miss(r.Context(), count, approval.Retention, true)
		}
	}
	switch {
	case err != nil:
		p.unreachable(w, r, err)
	case right:
		return true
	case misses >= maxMisses:
		p.one(w, r, m, c.ID, said{Text: "That was not it, twice. Nothing was approved, and this login can't allow the call any more. Deny it, or look again and answer elsewhere.", Tone: bad})
	default:
		p.confirm(w, r, m, c, handle, misses > 0)
	}
	return false
}

// tooFew is said where the agent has written so many of the wrong answers into the call that a pick among the rest would prove nothing.
const tooFew = "This call is full of what would be wrong answers here, so no pick can allow it. Nothing was approved. " +
	"Deny it, or read it to its end and type its code in a chat or `verifier approve` with its reference in a terminal."

// confirm asks, each time anew. With too few wrong answers it doesn't: the right one would be easy to hit.
func (p *Page) confirm(w http.ResponseWriter, r *http.Request, m *member, c *approval.Card, handle string, missed bool) {
	nonce, err := codes.NewID(nil)
	if err != nil {
		p.unreachable(w, r, err)
		return
	}
	offered, _ := p.choices(m, c, nonce)
	if len(offered) < choices {
		p.one(w, r, m, c.ID, said{Text: tooFew, Tone: bad})
		return
	}
	_, o, now, err := p.o.Desk.Look(r.Context(), c.ID)
	if err != nil || o.State != approval.Open {
		p.one(w, r, m, c.ID, said{})
		return
	}
	v := confirmView{
		Question: meaning(carefulAsk(c)).question, Grants: p.gives(r, c, handle), Choices: offered, Nonce: nonce, Missed: missed,
		Handle: handle, Minutes: r.PostFormValue("minutes"), Card: shown(c, nil, now, m),
	}
	p.show(w, r, m, "confirm", view{Title: "Look once more", At: "waiting", Confirm: v})
}

// oneByOne is said where several cannot be allowed together.
const oneByOne = "More than one of these calls needs a close look, and one pick can't stand for several: they are not allowed together here. Deny them, and have the agent try them one at a time."

// several reports whether one pick would allow more than the call it was about.
func several(c *approval.Card) bool {
	n := 0
	for i := range c.Questions {
		if c.Questions[i].Ask.Careful {
			n++
		}
	}
	return n > 1
}

func carefulAsk(c *approval.Card) *approval.Ask {
	i := slices.IndexFunc(c.Questions, func(q approval.Question) bool { return q.Ask.Careful })
	return &c.Questions[max(i, 0)].Ask
}

// gives says what the right pick gives, by the button that was tapped.
func (p *Page) gives(r *http.Request, c *approval.Card, handle string) string {
	_, action, err := p.o.Desk.Tapped(r.Context(), handle)
	minutes := c.Minutes()
	if n, errMinutes := strconv.Atoi(r.PostFormValue("minutes")); errMinutes == nil && n > 0 {
		minutes = n
	}
	a, what, scope := carefulAsk(c), "it", approval.Scope{Minutes: minutes}
	switch action {
	case approval.AllowMinutes:
	case approval.AllowExactly:
		what = "exactly this call"
	case approval.AllowTurn:
		scope = approval.Scope{Turn: true}
	case approval.AllowLike:
		what, scope.Minutes = "calls like it to the same destination", c.Minutes()
	default:
		scope = approval.Scope{}
	}
	if err != nil || !scope.Lasting() {
		return "The right pick allows it once."
	}
	long := scope.String()
	if what == "it" {
		long = a.Reach(scope)
	}
	text, _ := channels.Safe("The right pick allows "+what+" "+long+", in this conversation.", channels.Form{})
	return text
}

// choices are the real one and others, in an order that only this server can tell from the nonce.
func (p *Page) choices(m *member, c *approval.Card, nonce string) (offered []string, right string) {
	by := &dice{seed: sha256.Sum256([]byte(p.o.Key.Seal("page-decoy", m.ID, c.ID, nonce)))}
	does := meaning(carefulAsk(c))
	all := append([]string{does.text}, does.others(by)...)
	for _, i := range by.order(len(all)) {
		offered = append(offered, all[i])
	}
	return offered, does.text
}
