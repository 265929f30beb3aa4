package web

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/channels"
	"github.com/openclaw-verifier/verifier/replay"
	"github.com/openclaw-verifier/verifier/session"
)

// alwaysView is a standing consent before it is given on a card: what it would let pass, until when, and what it would have covered so far.
type alwaysView struct {
	Card     cardView
	Handle   string
	Exactly  bool     // one command; otherwise calls to the same destinations
	Only     []string // where these go, an argument each
	In       string   // the directory; empty where the agent names none
	Agent    string
	Talk     string
	TalkHash string
	Covered  []coveredView
	Times    int // how many it would have covered
	Here     int // of them, those in this conversation
	Silent   int
	Ends     []endView
}

// coveredView is a question that it would have covered.
type coveredView struct {
	At   time.Time
	What string // its arguments, as the record has them
}

// endView is a day on which it may end.
type endView struct {
	Days  int
	Until time.Time
}

const mostCovered = 5 // questions that are named

// Why the record speaks against a standing consent.
const (
	recordTooLong = "Your record of the last 30 days is too long, or its times go back, so it can't be looked through for what you denied, and such calls can't be allowed for days."
	recordHides   = "Your record hides a part of this call, so it can't be compared with what you denied, and such calls can't be allowed for days."
	deniedBefore  = "In the last 30 days you denied or changed a call like this one, so such calls can't be allowed for days."
	deniedOften   = "In the last 30 days you denied so many calls of this tool that not all of them are remembered. One may have been like this one, so such calls can't be allowed for days."
	deniedUnseen  = "In the last 30 days you denied or changed a call of this tool of which your record hides a part. It may have been like this one, so such calls can't be allowed for days."
)

// precedents are what the record says of questions like the one on a card, and why that speaks against a standing consent; empty: it does not.
func (c *consents) precedents(ctx context.Context, card *approval.Card) (found replay.Precedents, why string, err error) {
	all, err := c.reader.answers(ctx, approval.MaxConsentDays)
	if err != nil {
		return found, "", err
	}
	if all == nil {
		return found, recordTooLong, nil
	}
	a := &card.Questions[0].Ask
	found = all.Precedents(card.ID, a.CallDigest())
	refused, err := c.o.Rooms.Consents.Refused(ctx, a.Tool, a.Spelled) // also what is in the records of other gateways
	switch {
	case err != nil:
		return found, "", err
	case !found.Known:
		return found, recordHides, nil
	case found.Denied > 0:
		return found, deniedBefore, nil
	case found.Hidden > 0:
		return found, deniedUnseen, nil
	case refused.Same:
		return found, deniedBefore, nil
	case refused.Full:
		return found, deniedOften, nil
	}
	return found, "", nil
}

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
	found, why, err := q.consents.precedents(r.Context(), c)
	switch {
	case err != nil:
		q.unreachable(w, r, err)
	case why != "":
		q.one(w, r, m, c.ID, said{Text: why, Tone: odd})
	default:
		q.show(w, r, m, "always", view{Title: "Always allow this?", At: "waiting", Always: q.alwaysView(c, &g, &found, now, m)})
	}
}

func (q *questions) alwaysView(c *approval.Card, g *session.Grant, found *replay.Precedents, now time.Time, m *member) alwaysView {
	a := &c.Questions[0].Ask
	v := alwaysView{
		Card: whole(c, approval.Outcome{}, now, m), Handle: c.Handle(approval.AllowAlways), Exactly: g.IsExactly(), Agent: foreign(q.o.Hide(g.Agent)),
		Talk: talkName(session.Conversation{Key: q.o.Hide(a.Conversation.Key)}), TalkHash: a.Conversation.Hash(), Times: len(found.Allowed), Silent: found.Silent,
	}
	v.In, _ = channels.Safe(a.Directory, channels.Form{})
	for _, where := range a.Targets {
		text, _ := channels.Safe(where, channels.Form{})
		v.Only = append(v.Only, text)
	}
	for i := range found.Allowed {
		e := &found.Allowed[i]
		if e.Session == a.SessionKey {
			v.Here++
		}
		if i < mostCovered {
			v.Covered = append(v.Covered, coveredView{e.At, foreignText(string(e.Params))})
		}
	}
	for _, days := range []int{consentDays, approval.MaxConsentDays} {
		v.Ends = append(v.Ends, endView{days, q.o.Now().UTC().AddDate(0, 0, days)})
	}
	return v
}

// alwaysOf is the standing consent that a form asks for; nil where it asks for none.
func (q *questions) alwaysOf(r *http.Request) *approval.Always {
	days, err := strconv.Atoi(r.PostFormValue("days"))
	if err != nil {
		return nil
	}
	return &approval.Always{Days: days, Here: r.PostFormValue("where") != "agent", Denied: func(ctx context.Context, c *approval.Card) (string, error) {
		_, why, err := q.consents.precedents(ctx, c)
		return why, err
	}}
}
