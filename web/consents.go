package web

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/channels"
	"github.com/openclaw-verifier/verifier/replay"
	"github.com/openclaw-verifier/verifier/session"
)

// consentView is a standing consent that can be given: for questions that were always answered yes.
type consentView struct {
	Name, Tool, Agent, Only, Level string
	Times                          int
}

// Bounds of looking for them.
const (
	consentDays  = 7
	consentLines = 100_000
	clockSlack   = time.Minute // by how much lines may be out of order: what happens at once is not written in order
	offersKept   = 2 * time.Second
)

// consents are what the record says for and against standing consents.
type consents struct {
	*site
	reader *recordReader
	lately kept[[]offered] // what the page offers; what is given is worked out anew
}

// offered is a standing consent that the record speaks for.
type offered struct {
	grant session.Grant
	times int
}

// answers are the questions of the last days and what people said, from the record; nil where that is too long to be looked through, or
// where its times go back: then a line that looks old says nothing of those before it. So lines are looked at beyond the first old one.
func (r *recordReader) answers(ctx context.Context, days int) (*replay.Loading, error) {
	look, done, err := r.scan(ctx, consentLines)
	if err != nil {
		return nil, err
	}
	defer done()
	now := r.o.Now()
	all := &replay.Loading{Policy: r.o.Policy(), Since: now.AddDate(0, 0, -days), Until: now.Add(time.Minute)}
	lately := recentLines{since: all.Since, earliest: now}
	for l, err := range r.o.Ledger.Backward(func(raw []byte) bool {
		return look.over() || bytes.Contains(raw, []byte(`"kind":"asked"`)) || bytes.Contains(raw, []byte(`"kind":"answer"`))
	}) {
		if err != nil {
			return nil, err
		}
		if look.done() && lately.old && ctx.Err() == nil {
			break
		}
		if look.done() || !lately.take(&l.Entry) { // what was denied may be further back
			return nil, nil
		}
	}
	for _, e := range slices.Backward(lately.found) {
		all.Add(&e)
	}
	return all, nil
}

// recentLines are those of the last days, read from the end of the record.
type recentLines struct {
	since, earliest time.Time
	old             bool // there was one from before
	found           []audit.Entry
}

// take takes the line before. It is false where that is later than one after it: the clock was set back.
func (l *recentLines) take(e *audit.Entry) bool {
	switch {
	case e.At.Before(l.since):
		l.old = true
	case e.At.After(l.earliest.Add(clockSlack)):
		return false
	default:
		l.found = append(l.found, *e)
	}
	if e.At.Before(l.earliest) {
		l.earliest = e.At
	}
	return true
}

// offers are the standing consents that would have covered what was always allowed in the last days, and nothing that was not. They are
// worked out from the record each time: what the page said before decides nothing.
func (c *consents) offers(ctx context.Context) (out []offered, err error) {
	all, err := c.reader.answers(ctx, consentDays)
	if err != nil || all == nil {
		return nil, err
	}
	for _, item := range all.Always() {
		g, can := item.Consent()
		if !can {
			continue
		}
		refused, err := c.o.Rooms.Consents.Refused(ctx, item.Tool, item.Spelled()) // also what is in the records of other gateways
		if err != nil {
			return nil, err
		}
		if !refused.Same && !refused.Full {
			out = append(out, offered{g, item.Times})
		}
	}
	return out, nil
}

// consentViews are the offers that are not given yet.
func (c *consents) consentViews(ctx context.Context, open approval.Granting) (out []consentView) {
	offers, err := c.lately.get(c.o.Now(), offersKept, func() ([]offered, error) { return c.offers(ctx) })
	if err != nil {
		c.o.Log.WarnContext(ctx, "the page could not look for what was always allowed", "err", err)
		return nil
	}
	for i := range offers {
		g := &offers[i].grant
		if slices.ContainsFunc(open.Grants, func(x session.Grant) bool { return x.Name() == g.Name() }) {
			continue
		}
		out = append(out, consentView{
			Name: g.Name(), Tool: toolName(g.Tool), Agent: foreign(c.o.Hide(g.Agent)), Only: foreign(approval.LikeOnly(g)), Level: g.Level.String(), Times: offers[i].times,
		})
	}
	return out
}

// consent gives a standing consent, if the record still speaks for it.
func (g *grants) consent(w http.ResponseWriter, r *http.Request, m *member) {
	offers, err := g.consents.offers(r.Context())
	if err != nil {
		g.unreachable(w, r, err)
		return
	}
	g.consents.lately.put(g.o.Now(), offers)
	days, err := strconv.Atoi(r.PostFormValue("days"))
	at := slices.IndexFunc(offers, func(o offered) bool {
		return o.grant.Name() == r.PostFormValue("consent") && o.grant.Level.String() == r.PostFormValue("level")
	})
	if at < 0 || err != nil {
		g.list(w, r, m, said{Text: "Your answers have changed since this page was drawn, so this is not offered any more. Nothing was changed.", Tone: odd})
		return
	}
	o, err := g.o.Rooms.Consents.Give(r.Context(), approval.Answer{ID: m.id(), Via: Via}, offers[at].grant, days)
	g.fault(r.Context(), "a standing consent could not be given", err)
	g.list(w, r, m, told(o))
}

// alwaysView is a standing consent before it is given on a card: what it would let pass, until when, and what it would have covered so far.
type alwaysView struct {
	Card    cardView
	Handle  string
	Exactly bool     // one command; otherwise calls to the same destinations
	Only    []string // where these go, an argument each
	In      string   // the directory; empty where the agent names none
	Agent   string
	Talk    string
	Covered []coveredView
	Times   int // how many it would have covered
	Here    int // of them, those in this conversation
	Silent  int
	Ends    []endView
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
		Talk: talkName(session.Conversation{Key: q.o.Hide(a.Conversation.Key)}), Times: len(found.Allowed), Silent: found.Silent,
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
