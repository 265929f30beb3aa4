package web

import (
	"net/http"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/channels"
	"github.com/openclaw-verifier/verifier/internal/approval"
)

// alwaysView is an always grant before it is given on a card: what it would let pass, and until when.
type alwaysView struct {
	Card    cardView
	Handle  string
	Exactly bool     // one call; otherwise calls to the same recipients
	Only    []string // who these are
	In      string   // the directory; empty where the agent names none
	Agent   string
	Ends    []endView
}

// endView is a day on which it may end.
type endView struct {
	Days  int
	Until time.Time
}

// shortAlwaysDays is the shorter of the two times for which it can be given.
const shortAlwaysDays = 7

// showAlways shows what an always grant that is given on a card would cover. It gives none.
func (q *questions) showAlways(w http.ResponseWriter, r *http.Request, m *member) {
	c, _, now, ok := q.named(w, r, m)
	if !ok {
		return
	}
	if !q.o.Desk.MayAlways(m.id(), c) {
		q.one(w, r, m, c.ID, said{Text: "Such a call can't be allowed for days: each one is asked about.", Tone: odd})
		return
	}
	a := &c.Ask
	v := alwaysView{
		Card: whole(c, approval.Outcome{}, now, m), Handle: c.Handle(approval.AllowAlways),
		Exactly: !strings.HasPrefix(a.Always, "same "), Agent: foreign(q.o.Hide(a.Agent)),
	}
	v.In, _ = channels.Safe(a.Directory, channels.Form{})
	for _, where := range a.Goes {
		text, _ := channels.Safe(where, channels.Form{})
		v.Only = append(v.Only, text)
	}
	for _, days := range []int{shortAlwaysDays, approval.MaxAlwaysDays} {
		v.Ends = append(v.Ends, endView{days, q.o.Now().UTC().AddDate(0, 0, days)})
	}
	q.show(w, r, m, "always", view{Title: "Always allow this?", At: "waiting", Always: v})
}
