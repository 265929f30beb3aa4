package web

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/channels"
	"github.com/openclaw-verifier/verifier/redact"
)

// editView is where a person changes a call's arguments, and what they make of it.
type editView struct {
	ID      string // of the card
	Entry   int    // which call of its list; 0: it has none
	Tool    string
	Handle  string
	Text    string // the arguments, as JSON
	Masked  bool   // some of them are hidden
	Changes []approval.EditedMember
	Main    []blockView // the changed call
	Risks   []string
}

// edit shows a call's arguments for a person to change: as they are on the card, or as the person wrote them before.
func (q *questions) edit(w http.ResponseWriter, r *http.Request, m *member) {
	c, o, _, ok := q.named(w, r, m)
	if !ok {
		return
	}
	v := editView{ID: c.ID, Entry: entryNamed(r.PostFormValue("call"), c, o)}
	if v.Entry > 0 {
		c = c.Entry(v.Entry - 1)
	}
	text, why := q.o.Desk.Draft(c)
	if why != "" {
		q.one(w, r, m, c.ID, said{Text: why, Tone: odd})
		return
	}
	v.Handle, v.Tool, v.Text = c.Handle(approval.EditCall), toolName(c.Questions[0].Ask.Tool), cmp.Or(r.PostFormValue("params"), text)
	v.Masked = redact.HasMask(text) || c.Questions[0].Ask.Hidden > 0
	q.show(w, r, m, "edit", view{Title: "Change it", At: "waiting", Edit: v})
}

// editAgain shows what a person wrote with why it can't be taken.
func (q *questions) editAgain(w http.ResponseWriter, r *http.Request, m *member, a approval.Answer, o *approval.Outcome) {
	v := editView{ID: o.Card.ID, Tool: toolName(o.Card.Questions[0].Ask.Tool), Handle: a.Handle, Text: a.Params, Masked: redact.HasMask(a.Params)}
	q.show(w, r, m, "edit", view{Title: "Change it", At: "waiting", Said: told(*o), Edit: v})
}

// confirmEdit shows what a person makes of a call, all of it, before it counts.
func (q *questions) confirmEdit(w http.ResponseWriter, r *http.Request, m *member, a approval.Answer, o *approval.Outcome) {
	v := editView{ID: o.Card.ID, Handle: a.Handle, Text: a.Params, Risks: o.Edit.Ask.Risks}
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
	ask := o.Edit.Ask
	ask.Created, ask.Until = c.Questions[0].Ask.Created, c.Questions[0].Ask.Until
	c.Questions = []approval.Question{{Ask: ask}}
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
