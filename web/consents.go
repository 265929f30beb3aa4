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
	for _, item := range all.Report().Always {
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
	if err != nil {
		g.o.Log.ErrorContext(r.Context(), "a standing consent could not be given", "err", err)
	}
	g.list(w, r, m, told(o))
}
