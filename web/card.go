package web

import (
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/channels"
	"github.com/openclaw-verifier/verifier/internal/approval"
)

// cardView is a question as the page draws it.
type cardView struct {
	ID, Ref  string
	Title    string            // the first line as one text
	Head     channels.Headline // and in its parts
	Risks    []string
	Level    string
	Tool     string
	Main     []blockView // what will run
	Asked    []blockView // the owner's own words, to compare with
	Why      []string
	Facts    []blockView
	Notes    []blockView
	Scope    []blockView // what a longer yes covers
	Until    time.Time
	Created  time.Time
	Open     bool
	Whole    bool // all there is to see
	Full     bool // all that will run can be read here
	Ended    *channels.Fate
	Tone     string
	OneTap   bool         // a tap on Allow is enough, and all of the call was in sight before: a key may stand for it
	Allow    string       // handles
	Longer   []longerView // the narrowest first
	Turn     string       // until the run ends
	TurnOf   string       // what that button says
	Minutes  []int
	Deny     string
	Hidden   int  // values that redaction hides, where they can be shown
	Unread   bool // of them, what the person has to read before they can allow the call
	Revealed bool // the arguments are shown as they came
	Edit     bool // the arguments can be changed
	Always   bool // an always grant can be given
	Stamp    string
	Me       *member
}

// longerView is a yes for a while.
type longerView struct{ Handle, Says string }

// blockView is a block of a document, by the kind that the template knows.
type blockView struct{ Kind, Label, Text string }

var kinds = map[channels.Kind]string{
	channels.Field: "field", channels.Quote: "quote", channels.Note: "note", channels.Warning: "warning",
}

// shown is a card in the room that one look can take, with the answers behind More.
func shown(c *approval.Card, o *approval.Outcome, now time.Time, m *member) cardView {
	doc := channels.Show(c, o, now, func(d *channels.Document) (*channels.Document, bool) { return d, true })
	v := newCard(c, doc, o, m)
	if v.Open {
		all := channels.Details(c, now)
		v.more(all.Blocks)
		v.buttons(slices.DeleteFunc(all.Buttons, func(b channels.Button) bool { return b.First() }), c)
	}
	return v
}

// whole is a card with nothing left out, and with what became of it.
func whole(c *approval.Card, o approval.Outcome, now time.Time, m *member) cardView {
	if o.State != approval.Open {
		return shown(c, &o, now, m)
	}
	doc := channels.Details(c, now)
	v := newCard(c, doc, nil, m)
	v.more(doc.Blocks)
	v.Whole = true
	v.Unread = c.Ask.Bodies > 0
	if v.Hidden = c.Ask.Bodies; !c.Ask.HeldOnly {
		v.Hidden = c.Ask.Hidden
	}
	return v
}

func newCard(c *approval.Card, doc *channels.Document, o *approval.Outcome, m *member) cardView {
	a := &c.Ask
	v := cardView{
		ID: c.ID, Ref: c.Ref(), Title: doc.FirstLine(), Head: channels.Headline{Says: doc.Title, Of: doc.Of, Then: doc.Then}, Level: a.Level.String(), Tool: toolName(a.Tool),
		Until: c.Ask.Until, Created: a.Created, Open: len(doc.Buttons) > 0, Full: doc.Full, Me: m,
		Stamp: digest([]*approval.Card{c}),
	}
	if o != nil && o.State != approval.Open {
		fate := channels.FateOf(c, o)
		v.Ended, v.Tone = &fate, told(approval.Outcome{Kind: approval.Counted, State: o.State}).Tone
		v.sort(channels.Call(c))
	} else {
		v.sort(doc.Blocks)
	}
	v.buttons(doc.Buttons, c)
	return v
}

// sort puts the blocks where the eye looks for them: what will run, what was
// asked for, why a person is asked, and what to notice first.
func (v *cardView) sort(blocks []channels.Block) {
	for _, b := range blocks {
		w := blockView{kinds[b.Kind], b.Label, b.Text}
		if b.Diff {
			w.Kind = "diff"
		}
		switch b.Part {
		case channels.OfCall:
			v.Main = append(v.Main, w)
		case channels.OfAsked:
			v.Asked = append(v.Asked, w)
		case channels.OfWhy:
			v.Why = append(v.Why, cmp.Or(b.Text, b.Label))
		case channels.OfRisk:
			v.Risks = strings.Split(b.Label, " · ")
		case channels.OfFate:
			v.Notes = append(v.Notes, w)
		case channels.OfRest: // behind More
			if b.Kind == channels.Note && b.Label == "" {
				v.Notes = append(v.Notes, w)
			}
		case channels.OfTime, channels.OfScope, channels.OfTyped: // the page has its own ways to say these
		}
	}
}

// more takes over what is behind More.
func (v *cardView) more(blocks []channels.Block) {
	for _, b := range blocks {
		w := blockView{kinds[b.Kind], b.Label, b.Text}
		switch {
		case b.Part == channels.OfRest && b.Kind == channels.Field:
			v.Facts = append(v.Facts, w)
		case b.Part == channels.OfScope && b.Text == "":
			v.Scope = append(v.Scope, w)
		}
	}
}

// buttons takes over the handles that the document offers, for those who may use
// them.
func (v *cardView) buttons(buttons []channels.Button, c *approval.Card) {
	if v.Me == nil || !v.Me.Approver {
		return
	}
	v.Minutes = minutes(c.Minutes())
	for _, b := range buttons {
		switch b.Action {
		case approval.AllowOnce, approval.AllowSeen:
			v.Allow, v.OneTap = b.Handle, b.Action == approval.AllowOnce && v.Full
		case approval.AllowMinutes:
			v.Longer = append(v.Longer, longerView{b.Handle, "Allow any " + v.Tool})
		case approval.AllowSame:
			v.Longer = append(v.Longer, longerView{b.Handle, "Allow " + v.Tool + " to the same recipients"})
		case approval.AllowExactly:
			v.Longer = append(v.Longer, longerView{b.Handle, "Allow exactly this"})
		case approval.AllowTurn:
			v.Turn, v.TurnOf = b.Handle, b.Label
		case approval.DenyCall:
			v.Deny = b.Handle
		}
	}
}

// minutes are the choices up to the longest, the longest last.
func minutes(most int) []int {
	var out []int
	for _, n := range []int{5, 15} {
		if n < most {
			out = append(out, n)
		}
	}
	return append(out, most)
}

// line is a card in one line of the list.
func line(c *approval.Card) lineView {
	a := &c.Ask
	v := lineView{
		ID: c.ID, Level: a.Level.String(), Until: c.Ask.Until, Text: channels.Head(a).String(), Risks: a.Risks,
	}
	v.Agent, _ = channels.Safe(a.Name(a.Agent), channels.Form{Limit: 40})
	return v
}

// digest changes when what is shown of these cards does. Time alone changes
// nothing: that is what the clock on the page is for.
func digest(cards []*approval.Card) string {
	h := fnv.New64a()
	for _, c := range cards {
		fmt.Fprint(h, c.ID, "/", len(c.Votes)) //nolint:errcheck // a hash never fails
	}
	return fmt.Sprintf("%x", h.Sum64())
}

// reveal shows an approver a call with what redaction hides. It takes a form of
// its own, so that nothing secret is on the screen by chance; it is recorded, and
// it goes to this answer and nowhere else.
func (q *questions) reveal(w http.ResponseWriter, r *http.Request, m *member) {
	c, o, now, ok := q.named(w, r, m)
	if !ok {
		return
	}
	err := q.o.Desk.Open(r.Context(), approval.Answer{ID: m.id(), Via: Via}, c, true)
	switch {
	case errors.Is(err, approval.ErrNotHeld):
		q.one(w, r, m, c.ID, said{Text: "The call is not waiting here any more, and what was hidden in it is kept nowhere.", Tone: odd})
		return
	case err != nil:
		q.o.Log.ErrorContext(r.Context(), "what is hidden could not be shown", "err", err)
		q.one(w, r, m, c.ID, said{Text: "It can't be shown: the record can't be written.", Tone: odd})
		return
	}
	v := whole(c, o, now, m)
	v.Revealed = true
	q.show(w, r, m, "card", view{Title: c.Ref(), At: "waiting", Card: v})
}
