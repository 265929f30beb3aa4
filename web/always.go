package web

import (
	"net/http"
	"strconv"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/channels"
	"github.com/openclaw-verifier/verifier/session"
)

// alwaysView is a standing consent before it is given on a card: what it would let pass, and until when.
type alwaysView struct {
	Card    cardView
	Handle  string
	Exactly bool     // one command; otherwise calls to the same destinations
	Only    []string // where these go, an argument each
	In      string   // the directory; empty where the agent names none
	Agent   string
	Talk    string
	Ends    []endView
}

// endView is a day on which it may end.
type endView struct {
	Days  int
	Until time.Time
}

// shortConsentDays is the shorter of the two times for which a standing consent can be given.
const shortConsentDays = 7

// showAlways shows what a standing consent that is given on a card would cover. It gives none.
func (q *questions) showAlways(w http.ResponseWriter, r *http.Request, m *member) {
	c, o, now, ok := q.named(w, r, m)
	if !ok {
		return
	}
	if entry := entryNamed(r.PostFormValue("call"), c, o); entry > 0 {
		c = c.Entry(entry - 1)
	}
	g, can := q.o.Rooms.Consents.Offer(m.id(), c)
	if !can {
		q.one(w, r, m, c.ID, said{Text: "Such a call can't be allowed for days: each one is asked about.", Tone: odd})
		return
	}
	why, err := q.o.Rooms.Consents.Refused(r.Context(), c)
	switch {
	case err != nil:
		q.unreachable(w, r, err)
	case why != "":
		q.one(w, r, m, c.ID, said{Text: why, Tone: odd})
	default:
		q.show(w, r, m, "always", view{Title: "Always allow this?", At: "waiting", Always: q.alwaysView(c, &g, now, m)})
	}
}

func (q *questions) alwaysView(c *approval.Card, g *session.Grant, now time.Time, m *member) alwaysView {
	a := &c.Questions[0].Ask
	v := alwaysView{
		Card: whole(c, approval.Outcome{}, now, m), Handle: c.Handle(approval.AllowAlways), Exactly: g.IsExactly(), Agent: foreign(q.o.Hide(g.Agent)),
		Talk: talkName(session.Conversation{Key: q.o.Hide(a.Conversation.Key)}),
	}
	v.In, _ = channels.Safe(a.Directory, channels.Form{})
	for _, where := range a.Targets {
		text, _ := channels.Safe(where, channels.Form{})
		v.Only = append(v.Only, text)
	}
	for _, days := range []int{shortConsentDays, approval.MaxConsentDays} {
		v.Ends = append(v.Ends, endView{days, q.o.Now().UTC().AddDate(0, 0, days)})
	}
	return v
}

// alwaysOf is the standing consent that a form asks for; nil where it asks for none.
func alwaysOf(r *http.Request) *approval.Always {
	days, err := strconv.Atoi(r.PostFormValue("days"))
	if err != nil {
		return nil
	}
	return &approval.Always{Days: days, Here: r.PostFormValue("where") != "agent"}
}
