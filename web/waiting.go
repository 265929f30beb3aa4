package web

import (
	"cmp"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/channels"
	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/redact"
)

// maxListed is how many questions the list names; the rest is counted.
const maxListed = 50

// waitingView is the oldest question, open, and the others in a line each.
type waitingView struct {
	Now       *cardView
	Rest      []lineView
	More      int // beyond the list
	Behind    int // the oldest, with those
	Count     int
	NowStamp  string // changes when Now does
	RestStamp string // changes when Rest does
	Me        *member
}

// lineView is a question in the list.
type lineView struct {
	ID, Text, Level, Agent string
	Risks                  []string
	Until                  time.Time
}

// questions are the views of what waits, and the buttons that answer it.
type questions struct {
	*site
	reader *recordReader
	grants *grants
}

// list shows what waits.
func (q *questions) list(w http.ResponseWriter, r *http.Request, m *member, s said) {
	cards, now, err := q.o.Desk.Waiting(r.Context())
	if err != nil {
		q.unreachable(w, r, err)
		return
	}
	q.show(w, r, m, "waiting", view{Title: "Waiting", At: "waiting", Said: s, Waiting: listed(cards, now, m)})
}

func listed(cards []*approval.Card, now time.Time, m *member) waitingView {
	v := waitingView{Count: len(cards), Me: m}
	v.NowStamp, v.RestStamp = stamps(cards)
	if len(cards) == 0 {
		return v
	}
	first := shown(cards[0], nil, now, m)
	v.Now = &first
	rest := cards[1:]
	v.Behind = len(rest)
	if len(rest) > maxListed {
		v.More, rest = len(rest)-maxListed, rest[:maxListed]
	}
	for _, c := range rest {
		v.Rest = append(v.Rest, line(c))
	}
	return v
}

// stamps change when the first question does, and when the others or their
// number do.
func stamps(cards []*approval.Card) (now, rest string) {
	if len(cards) == 0 {
		return "-", "-"
	}
	return digest(cards[:1]), digest(cards[1:])
}

// card shows one question with all there is to see, and what became of it.
func (q *questions) card(w http.ResponseWriter, r *http.Request, m *member) {
	q.one(w, r, m, r.PathValue("id"), said{})
}

func (q *questions) one(w http.ResponseWriter, r *http.Request, m *member, id string, s said) {
	c, o, now, err := q.o.Desk.Look(r.Context(), id)
	if errors.Is(err, store.ErrGone) {
		q.list(w, r, m, said{Text: "That question is not here any more. Nothing was approved.", Tone: odd})
		return
	}
	if err != nil {
		q.unreachable(w, r, err)
		return
	}
	v := whole(c, o, now, m)
	if _, why := q.o.Desk.Draft(c); why == "" && v.Open && m.Approver {
		v.Edit = true
	}
	v.Always = v.Open && m.Approver && q.o.Desk.MayAlways(m.id(), c)
	q.show(w, r, m, "card", view{Title: c.Ref(), At: "waiting", Said: s, Card: v})
}

// named finds the open question that a form names. Where there is none, it shows what there is.
func (q *questions) named(
	w http.ResponseWriter,
	r *http.Request,
	m *member,
) (c *approval.Card, o approval.Outcome, now time.Time, ok bool) {
	id := r.PostFormValue("card")
	c, o, now, err := q.o.Desk.Look(r.Context(), id)
	switch {
	case errors.Is(err, store.ErrGone) || err == nil && o.State != approval.Open:
		q.one(w, r, m, id, said{})
	case err != nil:
		q.unreachable(w, r, err)
	default:
		return c, o, now, true
	}
	return nil, o, now, false
}

// Tones of what the page says.
const (
	good = "good"
	bad  = "bad"
	odd  = "odd"
)

// answer takes a tap. It reads the form and passes it on; the desk decides.
func (q *questions) answer(w http.ResponseWriter, r *http.Request, m *member) {
	a := approval.Answer{
		ID:     m.id(),
		Via:    Via,
		Handle: r.PostFormValue("handle"),
		Reason: r.PostFormValue("reason"),
		Params: r.PostFormValue("params"), Confirm: r.PostFormValue("confirm"),
	}
	if minutes, err := strconv.Atoi(r.PostFormValue("minutes")); err == nil && minutes > 0 {
		a.Scope.Minutes = minutes
	}
	a.Scope.Days, _ = strconv.Atoi(r.PostFormValue("days")) // where it is none, the button for it does nothing
	if a.Handle == "" {
		q.list(w, r, m, said{Text: "The form was empty. Nothing was changed.", Tone: odd})
		return
	}
	o, err := q.o.Desk.Answer(r.Context(), a)
	q.fault(r.Context(), "an answer could not be taken", err)
	switch {
	case o.Kind == approval.WantsConfirm:
		q.confirmEdit(w, r, m, a, &o)
	case a.Params != "" && o.Kind == approval.Misunderstood && o.Card != nil:
		q.editAgain(w, r, m, a, &o)
	case (o.Kind == approval.Misunderstood || o.Kind == approval.TooLate) && o.Card != nil: // nothing was changed: how it is
		q.one(w, r, m, o.Card.ID, told(o))
	case a.Scope.Days > 0 && o.Kind == approval.Counted && o.State == approval.Allowed:
		// the call was allowed, and the text says what became of the standing consent
		s := said{Text: o.Text, Tone: good}
		if err != nil {
			s.Tone = odd
		}
		q.grants.list(w, r, m, s)
	default:
		q.list(w, r, m, told(o))
	}
}

// say takes one of the few lines that the page has buttons for.
func (q *questions) say(w http.ResponseWriter, r *http.Request, m *member) {
	line := spoken(r.PostFormValue)
	if line == "" {
		http.Error(w, "The page has no such button. Nothing was changed.", http.StatusUnprocessableEntity)
		return
	}
	o, err := q.o.Desk.Answer(r.Context(), approval.Answer{ID: m.id(), Via: Via, Text: line})
	q.fault(r.Context(), "a word of the owner's could not be taken", err)
	q.grants.list(w, r, m, told(o))
}

// told puts an outcome into the words and the colour it is shown in. Only what
// the store has committed is shown as done.
func told(o approval.Outcome) said {
	s := said{Text: o.Text, Tone: odd}
	if (o.Kind == approval.Counted || o.Kind == approval.TooLate) && o.Card != nil && o.State != approval.Open {
		fate := channels.FateOf(o.Card, &o)
		s.Fate, s.Late = &fate, o.Kind == approval.TooLate
	}
	switch {
	case o.Kind == approval.Counted && o.State == approval.Allowed, o.Kind == approval.Replied:
		s.Tone = good
	case o.Kind == approval.Counted && o.State == approval.Denied:
		s.Tone = bad
	}
	return s
}

// editView is where a person changes a call's arguments, and what they make of it.
type editView struct {
	ID      string // of the card
	Tool    string
	Handle  string
	Text    string // the arguments, as JSON
	Confirm string // what confirms the change
	Masked  bool   // some of them are hidden
	Changes []approval.EditedMember
	Main    []blockView // the changed call
	Risks   []string
}

// edit shows a call's arguments for a person to change: as they are on the card, or as the person wrote them before.
func (q *questions) edit(w http.ResponseWriter, r *http.Request, m *member) {
	c, _, _, ok := q.named(w, r, m)
	if !ok {
		return
	}
	text, why := q.o.Desk.Draft(c)
	if why != "" {
		q.one(w, r, m, c.ID, said{Text: why, Tone: odd})
		return
	}
	v := editView{
		ID: c.ID, Handle: c.Handle(approval.EditCall), Tool: toolName(c.Ask.Tool),
		Text: cmp.Or(r.PostFormValue("params"), text), Masked: redact.HasMask(text) || c.Ask.Hidden > 0,
	}
	q.show(w, r, m, "edit", view{Title: "Change it", At: "waiting", Edit: v})
}

// editAgain shows what a person wrote with why it can't be taken.
func (q *questions) editAgain(
	w http.ResponseWriter,
	r *http.Request,
	m *member,
	a approval.Answer,
	o *approval.Outcome,
) {
	v := editView{
		ID:     o.Card.ID,
		Tool:   toolName(o.Card.Ask.Tool),
		Handle: a.Handle,
		Text:   a.Params,
		Masked: redact.HasMask(a.Params),
	}
	q.show(w, r, m, "edit", view{Title: "Change it", At: "waiting", Said: told(*o), Edit: v})
}

// confirmEdit shows what a person makes of a call, all of it, before it counts.
func (q *questions) confirmEdit(
	w http.ResponseWriter,
	r *http.Request,
	m *member,
	a approval.Answer,
	o *approval.Outcome,
) {
	v := editView{
		ID: o.Card.ID, Handle: a.Handle, Text: a.Params, Confirm: o.Edit.Ask.Digest, Risks: o.Edit.Ask.Risks,
	}
	for _, c := range o.Edit.Changes {
		for _, text := range []*string{&c.Name, &c.Was, &c.Is} {
			*text, _ = channels.Safe(*text, channels.Form{})
		}
		v.Changes = append(v.Changes, c)
	}
	var all cardView
	all.sort(channels.Details(changed(o), q.o.Now()).Blocks)
	v.Main = all.Main
	q.show(w, r, m, "edited", view{Title: "Look once more", At: "waiting", Edit: v})
}

// changed is a card as if it asked about the changed call.
func changed(o *approval.Outcome) *approval.Card {
	c := *o.Card
	created, until := c.Ask.Created, c.Ask.Until
	c.Ask = o.Edit.Ask
	c.Ask.Created, c.Ask.Until = created, until
	return &c
}

// changedLine is a line of a change: it goes, comes or stays.
type changedLine struct{ Kind, Text string }

// changedLines tells the lines of a change or a patch apart by their first character.
func changedLines(text string) (out []changedLine) {
	for _, line := range lines(text) {
		kind := "same"
		switch {
		case strings.HasPrefix(line, "+"):
			kind = "add"
		case strings.HasPrefix(line, "-"):
			kind = "del"
		case strings.HasPrefix(line, "@@"), strings.HasPrefix(line, "***"), strings.HasPrefix(line, "edit "):
			kind = "gap"
		}
		out = append(out, changedLine{kind, line})
	}
	return out
}
