package approval

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/redact"
	"github.com/openclaw-verifier/verifier/session"
)

// votes counts people's votes on cards, records them and shows what came of them.
type votes struct {
	*cardStore

	announcer  *announcer
	pauses     *Pauses
	consents   *Consents
	likes      *likes
	previews   *previews
	heldParams *heldParams
}

// Answer is what someone said, typed or tapped.
type Answer struct {
	ID   string // who: platform:id, by the platform's immutable user id
	Via  string // where: the channel's name
	Name string // what the platform calls them: only shown; the ID says who they are
	Text string // a typed line; if set, nothing below counts but Message

	// what the platform calls the message of the line: it may bring the same one again; empty: each is another
	Message string

	Handle string // of the button that was tapped; with it only Reason and the minutes of Scope count
	Ref    string // the card, by its short name
	Tool   string // the tool on it; empty means all of the card
	Allow  bool
	Scope  Scope
	Reason string // for a deny: what the agent may read

	// what the call is to run with instead of its own arguments, as the person wrote them; empty: it runs as it was
	// asked about
	Params string

	Always *Always // with the button for that: the standing consent to give; nil: none

	Carrier *Carrier // of a typed line that an agent's runtime passed on; nil: it came here directly

	code string // the code that was typed, where one was
	all  bool   // the typed line said "all"

	entry string // the digest of the one call of a list that a button is for

	edit *Edit // what Params make of the call

	inDetails bool // the button that was tapped was beside the details
}

// Answer takes an answer from any channel. It is the only place where approver
// and code are checked. The error is for the log; the outcome for the person.
func (d *Desk) Answer(ctx context.Context, a Answer) (Outcome, error) {
	t := d.terms()
	person, listed := t.people[a.ID]
	if !listed {
		return Outcome{Kind: Unauthorised, Text: NotAuthorised}, nil
	}
	if a.Carrier != nil {
		return d.commands.relayed(ctx, person, a)
	}
	if a.Text != "" {
		return d.commands.typed(ctx, person, a)
	}
	if a.Handle != "" {
		return d.buttons.tapped(ctx, person, a)
	}
	id, err := d.byRef(ctx, a.Ref)
	if errors.Is(err, errTwoCards) {
		return Outcome{
			Kind: Misunderstood,
			Text: "Two open questions have this reference. Answer with the code on the card.",
		}, nil
	}
	if err != nil {
		return Outcome{Text: storeGone}, err
	}
	if id == "" {
		return Outcome{
			Kind: NotFound,
			Text: "No open question has the reference " + quote(d.o.Hide(a.Ref)) + ". `verifier pending` lists them.",
		}, nil
	}
	if a.Params != "" {
		return d.edited(ctx, person, id, a, t.MaxMinutes)
	}
	if a.Scope.Like || a.Scope.Exactly && !a.Scope.Turn {
		a.Scope.Minutes = cmp.Or(a.Scope.Minutes, tapMinutes)
	}
	return d.votes.countLike(ctx, person, id, a, t.MaxMinutes)
}

// count puts a person's vote on a card: all of it or one tool of it.
func (vs *votes) count(ctx context.Context, person, id string, a Answer, most int) (Outcome, error) {
	a.Reason = vs.hideCodes(ctx, vs.o.Hide(oneLine(a.Reason))) // secrets first: a part of one would not be known for it
	for range swapTries {
		c, now, err := vs.load(ctx, id)
		if err != nil {
			return unreadable(err)
		}
		if out, err := c.answerable(a.code); out.Text != "" {
			return out, err
		}
		picked, out := c.pick(a.Tool, a.entry)
		if picked == nil {
			return out, nil
		}
		if a.edit != nil { // the request that waits first gets the changed arguments
			if _, why := vs.heldParams.editorOf(picked[0]); why != "" { // it may have left, or another waits first now
				return Outcome{Kind: Misunderstood, Card: c, Text: why}, nil
			}
			vs.heldParams.put(picked[0].Ask.Digest, heldRequest(picked[0].Holders[0]), a.edit.Ask.Digest, a.edit.params)
		}
		if len(picked) > 1 {
			most = min(most, allMinutes)
		}
		out, ch, voted := vs.cast(c, picked, person, a, most, now)
		if len(voted) == 0 {
			return out, nil
		}
		err = vs.swap(ctx, c, ch)
		switch {
		case errors.Is(err, ErrStale):
			continue
		case errors.Is(err, ErrLate):
			return Outcome{Kind: TooLate, State: Expired, Text: "This question has expired. Nothing was approved."}, nil
		case err != nil:
			return Outcome{Text: "The store can't be reached. Nothing was approved; try again."}, err
		}
		vs.answered(ctx, c, voted, now)
		out.Text += vs.footnote(ctx, &out, voted, a, now)
		return out.only(c, a.entry), nil
	}
	return Outcome{Text: "The question is being answered by others at this moment. Try again."}, ErrStale
}

// only is an outcome that says nothing of the other calls, where an answer was for one call of a list.
func (o Outcome) only(c *Card, digest string) Outcome {
	if at := slices.IndexFunc(c.Questions, func(q Question) bool { return q.Ask.Digest == digest }); at >= 0 {
		o.Card = c.Entry(at)
	}
	return o
}

// footnote is what else a person should know whose answer was counted.
func (vs *votes) footnote(ctx context.Context, out *Outcome, voted []*Question, a Answer, now time.Time) (text string) {
	if out.State == Allowed && vs.pauses.View(voted[0].Ask.Agent).On {
		text = " The agent is paused: nothing of it runs until `.resume`."
	}
	if a.all || len(voted) > 1 || a.entry != "" {
		text += vs.named(ctx, voted, a, now)
	}
	return text
}

// answerable says why a card can't be answered, or nothing.
func (c *Card) answerable(code string) (Outcome, error) {
	switch {
	case c.Batch && !c.Frozen: // it was not shown yet: its calls are still being gathered
		return Outcome{Kind: Misunderstood, State: Open, Text: stillGathering}, nil
	case code != "" && subtle.ConstantTimeCompare([]byte(code), []byte(c.Code)) != 1, !c.whole():
		return Outcome{
			Kind: NotFound,
			Text: "What the store holds for this question is not what was asked. Nothing was approved.",
		}, errForged
	}
	return Outcome{}, nil
}

// stillGathering answers a tap on a list of calls that is not on the card yet.
const stillGathering = "Several calls are being put on one card. You see it in a moment: answer it then. Nothing was changed."

// unreadable is the outcome of an answer to a card that can't be loaded. A card that has been forgotten may have been
// approved long ago, so the text does not say what became of it.
func unreadable(err error) (Outcome, error) {
	if errors.Is(err, ErrGone) {
		return Outcome{
			Kind:  TooLate,
			State: Expired,
			Text: "This question has expired and can no longer be answered. This changed nothing; the record says " +
				"what became of it.",
		}, nil
	}
	return Outcome{Text: "The question can't be read. Nothing was approved."}, err
}

// pick finds the questions an answer is about: one by its digest, or those of a tool.
func (c *Card) pick(tool, digest string) ([]*Question, Outcome) {
	if digest != "" {
		if q := c.question(digest); q != nil {
			return []*Question{q}, Outcome{}
		}
		return nil, Outcome{Kind: NotFound, Text: "This card has no such call. Nothing was approved."}
	}
	var picked []*Question
	for i := range c.Questions {
		if tool == "" || tool == c.Questions[i].Ask.Tool {
			picked = append(picked, &c.Questions[i])
		}
	}
	switch {
	case len(picked) == 0:
		return nil, Outcome{
			Kind: Misunderstood,
			Text: "That code does not ask about this tool. It asks about: " + c.tools() + ".",
		}
	case tool != "" && len(picked) > 1:
		return nil, Outcome{
			Kind: Misunderstood,
			Text: fmt.Sprintf(
				"The card lists %d calls of this tool. Write `all` to approve the whole list.",
				len(picked),
			),
		}
	}
	return picked, Outcome{}
}

// all are the card's questions.
func (c *Card) all() []*Question {
	out := make([]*Question, len(c.Questions))
	for i := range c.Questions {
		out[i] = &c.Questions[i]
	}
	return out
}

func (c *Card) tools() string { return tools(c.all()) }

// tools names what questions ask about, each tool once.
func tools(asked []*Question) string {
	var names []string
	for _, q := range asked {
		if t := quote(q.Ask.Tool); !slices.Contains(names, t) {
			names = append(names, t)
		}
	}
	return strings.Join(names, ", ")
}

// cast votes on each question that is still open, in memory, and gives those it
// changed.
func (vs *votes) cast(
	c *Card,
	picked []*Question,
	person string,
	a Answer,
	most int,
	now time.Time,
) (_ Outcome, _ Change, voted []*Question) {
	ch := Change{NotAfter: c.Until(), Grants: map[string]string{}, Waiting: map[string]time.Time{}}
	t, said, barred := vs.terms(), "", 0
	reason := cutReason(hideCode(a.Reason, c.Code))
	for _, q := range picked {
		if why, not := q.Ask.bars(person); not {
			said, barred = " "+why, barred+1
			continue
		}
		v := Vote{
			Person: person,
			Called: t.called(a, vs.o.Hide, c.Code),
			ID:     a.ID,
			Via:    a.Via,
			Allow:  a.Allow,
			At:     now,
			Reason: reason,
		}
		if a.Allow && q.Ask.HeldOnly && len(q.Holders) == 0 {
			said = " The call is no longer waiting, and its arguments were hidden before they reached us, so it can't be released later. Let the agent ask again."
			continue
		}
		opening := q.openedBy(person)
		if a.Allow && q.Ask.Bodies > 0 && opening == nil {
			said = unopened
			continue
		}
		if a.Allow {
			v.Seen = a.inDetails && (vs.o.Detailed != nil && vs.o.Detailed(&q.Ask) || opening != nil && opening.Whole)
			said += v.allows(q, &a, most)
		}
		if q.vote(v) {
			voted = append(voted, q)
			t.effects(c, q, &ch, now)
		}
	}
	out := c.outcome(picked, now)
	out.Text += said
	switch {
	case barred == len(picked) && out.State == Open:
		return Outcome{Kind: Unauthorised, State: Open, Text: strings.TrimSpace(said), Card: c}, ch, nil
	case len(voted) == 0 && out.State != Open && !c.closed(now):
		return c.entryTooLate(picked, now), ch, nil
	case len(voted) == 0:
		return refuse(out, person, said), ch, nil
	}
	out.Kind, ch.Closed = Counted, c.closed(now)
	return out, ch, voted
}

// allows gives a vote the scope of a yes, and says what was cut off it.
func (v *Vote) allows(q *Question, a *Answer, most int) (cut string) {
	v.Scope, cut = q.limit(a.Scope, most)
	if a.edit != nil {
		v.Edited, v.Seen = a.edit.Ask.Digest, a.edit.Ask.Hidden == 0
	}
	return cut
}

// mostCalled is how many characters of a name are shown.
const mostCalled = 40

// called is what to call a person in what others read, where the config has no name for them: what the platform calls
// them. Anyone can choose such a name, so that nothing is decided by it.
func (t *terms) called(a Answer, hide func(string) string, code string) string {
	if !t.bare[a.ID] {
		return ""
	}
	name := []rune(hideCode(hide(oneLine(a.Name)), code))
	return strings.TrimSpace(string(name[:min(len(name), mostCalled)]))
}

// refuse says why a vote changed nothing.
func refuse(out Outcome, person, said string) Outcome {
	if out.State != Open {
		return tooLate(out)
	}
	out.Kind = Misunderstood
	if said == "" {
		out.Text = fmt.Sprintf("%s, your answer is counted already. %s", person, out.Text)
	}
	return out
}

// tooLate says that an answer changed nothing, since people gave one before.
func tooLate(out Outcome) Outcome {
	out.Kind = TooLate
	if out.By != "" && out.State != Expired {
		out.Text = "Already answered: " + out.Text
	}
	return out
}

// effects are what a settled question changes besides its card.
func (t *terms) effects(c *Card, q *Question, ch *Change, now time.Time) {
	if q.state(now) != Allowed {
		return
	}
	at := q.last().At
	ch.Waiting[q.Ask.Digest] = at.Add(t.TTL)
	if q.last().Edited != "" {
		ch.Waiting[q.Ask.Digest] = at // it is for the request that waits, and for no other
	}
	if g := t.grant(c, q); g != nil {
		ch.Grants[g.Field()] = g.Value(q.key)
		ch.Waiting[q.Ask.Digest] = at // who does not wait for the answer passes by the grant, as long as that holds
	}
}

// grant is the lasting consent an allowed question gives, if any. It holds only
// while the level is no worse than what the card showed.
func (t *terms) grant(c *Card, q *Question) *session.Grant {
	s := q.Ask.Bound(q.scope())
	by, ids := q.people(true), joinVotes(q.Votes, true, func(v *Vote) string { return v.ID })
	if !s.Lasting() || !q.Ask.Lasting || !t.covers(givers(by, ids), q.Ask) || s.Like && q.Ask.Like == "" {
		return nil
	}
	g := &session.Grant{
		Conversation: q.Ask.Conversation, Tool: q.Ask.Tool, Agent: q.Ask.Agent, Session: q.Ask.Window,
		ID: c.ID, By: by, IDs: ids, Level: q.Ask.Level,
	}
	switch {
	case s.Exactly || q.Ask.Shell && !q.Ask.Every:
		g.Like = session.Exactly(q.Ask.Digest)
	case s.Like:
		g.Like = q.Ask.Like
	}
	minutes := s.Minutes
	if s.Turn {
		g.Run = q.Ask.Run
	}
	if minutes == 0 {
		minutes = t.MaxMinutes
	}
	g.Until = q.last().At.Add(time.Duration(minutes) * time.Minute)
	return g
}

// people are those who said yes, or no.
func (q *Question) people(allow bool) string {
	return joinVotes(q.Votes, allow, func(v *Vote) string { return v.Person })
}

// Givers are those who said yes, as [Grants.Covers] takes it.
func (r *Ruling) Givers() string {
	return givers(
		joinVotes(r.Votes, true, func(v *Vote) string { return v.Person }),
		joinVotes(r.Votes, true, func(v *Vote) string { return v.ID }),
	)
}

// givers are people with the ids that they gave a yes with.
func givers(names, ids string) string {
	g := session.Grant{By: names, IDs: ids}
	return g.Givers()
}

// names are those who said yes, or no, as others know them.
func (q *Question) names(allow bool) string { return joinVotes(q.Votes, allow, (*Vote).Who) }

func joinVotes(votes []Vote, allow bool, name func(*Vote) string) string {
	var names []string
	for i := range votes {
		if v := &votes[i]; v.Allow == allow && v.Person != "" {
			names = append(names, name(v))
		}
	}
	return strings.Join(names, peopleBetween)
}

// reason is what the deny tells the agent. Neither the code nor a secret is in
// it, not even if the owner typed it: see cast.
func (q *Question) reason() string {
	if no := q.Denial(); no != nil {
		return no.Reason
	}
	return ""
}

// answered records counted votes and shows on every copy what became of the card.
func (vs *votes) answered(ctx context.Context, c *Card, voted []*Question, now time.Time) {
	for _, q := range voted {
		v := q.Votes[len(q.Votes)-1]
		e := entryFor(record.KindAnswer, c, q)
		e.Decision, e.Reason = record.Deny, q.reason()
		if v.Allow {
			e.Decision, e.Scope, e.Minutes, e.Edited = record.Allow, q.Ask.Reach(v.Scope), v.Scope.Minutes, v.Edited
		}
		e.People = []record.Person{{Name: v.Person, Via: v.Via, At: v.At, TookMs: now.Sub(q.Ask.Created).Milliseconds()}}
		vs.note(ctx, e)
		vs.likes.rememberAnswer(ctx, &q.Ask, &v)
		if !v.Allow || v.Edited != "" {
			vs.consents.noteRefused(ctx, &q.Ask)
		}
		vs.o.Observe(Event{Kind: EventAnswered, Allow: v.Allow, Took: now.Sub(q.Ask.Created)})
	}
	vs.runFor(ctx, func(ctx context.Context) { vs.announcer.showCopies(ctx, c) })
}

// maybeCode is what a code is somewhere in.
var maybeCode = regexp.MustCompile(`[0-9A-Fa-f]{8,}`)

// hideCodes takes the codes of all open cards out of a reason, which the agent reads: a person may have written two
// lines as one. If the store can't say which they are, all that could be one goes. The no itself counts in any case.
func (vs *votes) hideCodes(ctx context.Context, reason string) string {
	if !maybeCode.MatchString(reason) {
		return reason
	}
	cards, _, err := vs.openCards(ctx)
	if err != nil {
		return maybeCode.ReplaceAllString(reason, "…")
	}
	for _, c := range cards {
		reason = hideCode(reason, c.Code)
	}
	return reason
}

// hideCode takes a code out of a text, in whatever case it was written.
func hideCode(text, code string) string {
	for i := 0; code != "" && i+len(code) <= len(text); i++ {
		if strings.EqualFold(text[i:i+len(code)], code) {
			text = text[:i] + "…" + text[i+len(code):]
		}
	}
	return text
}

// maxQuoted is how many characters of a name fit into a sentence. A longer one
// would leave no room for what comes after it.
const maxQuoted = 80

// quote shows an untrusted name in a sentence: no secret, and nothing beyond
// ASCII as itself.
func quote(s string) string {
	s = redact.Line(s)
	if r := []rune(s); len(r) > maxQuoted {
		return strconv.QuoteToASCII(string(r[:maxQuoted])) + "…"
	}
	return strconv.QuoteToASCII(s)
}

// countLike counts an answer; one for calls like it only from a person who has
// been shown what that would cover. Otherwise they are shown it.
func (vs *votes) countLike(ctx context.Context, person, id string, a Answer, most int) (Outcome, error) {
	minutes := vs.likes.likeMinutes(a.Scope.Minutes)
	if !a.Allow || !a.Scope.Like || vs.previews.has(preview(id, person, minutes)) {
		return vs.count(ctx, person, id, a, most)
	}
	c, now, err := vs.load(ctx, id)
	switch {
	case errors.Is(err, ErrGone) || err == nil && c.closed(now):
		return vs.count(ctx, person, id, a, most) // which says so
	case err != nil:
		return unreadable(err)
	}
	l := vs.likes.likely(ctx, c, minutes)
	if l == nil {
		return Outcome{
			Kind: Misunderstood,
			Card: c,
			Text: "Calls like this one can't be allowed together: each is asked about. Allow this one by itself, or " +
				"deny it.",
		}, nil
	}
	vs.previews.note(preview(id, person, minutes))
	return Outcome{
		Kind: Replied,
		Card: c,
		Text: l.String() + " Nothing was approved yet: say the same again to give it.",
	}, nil
}
