package approval

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/codes"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/internal/store"
)

// asker puts calls to people and has their callers wait for the answer.
type asker struct{ *shows }

// Request is a call that needs a person.
type Request struct {
	Ask    Ask
	ID     string         // the request that waits
	Hold   time.Duration  // how long the caller can wait
	Waited time.Duration  // how long it has waited already
	Whole  jsontext.Value // the params as they came, for approvers while the request is held; never stored
	Edit   Editor         // judges the call with other params; nil: its runtime can't run others
}

// Ruling is what people said, or that they have not. The zero Ruling is no.
type Ruling struct {
	Yes          bool   // a yes is there to be claimed, see [Desk.Claim], or a grant covers the call now
	Denied       bool   // a person said no, or the question was taken back
	ByPerson     bool   // where Denied: it was a person
	Reason       string // what that person wants the agent to read, or why it was taken back
	Ref          string // of the card; empty when no one could be asked
	Card         string
	Ticket       string // by which the caller can learn of a late yes, see [Desk.Answered]
	Scope        Scope
	Votes        []Vote
	Whole        bool // each person who said yes had all of the call in view
	Waited       time.Duration
	Edited       jsontext.Value // the params that the yes is for, where a person changed them
	EditedDigest string         // what that yes is bound to
	Late         bool           // an identical call took the yes
	Full         bool           // too many cards are open
	Silent       bool           // the question has ended, and no one answered
	Paused       bool           // the owner paused the agent meanwhile
	Stopped      bool           // the desk stopped meanwhile
	Exhausted    bool           // the agent has asked too often this hour
}

// Why a question was not put.
var (
	ErrStopped = errors.New("approval: the desk is closed")
	ErrRecord  = errors.New("approval: the question could not be recorded")
	ErrNobody  = errors.New("approval: the question could not be put to anyone")

	errFull      = errors.New("approval: too many cards are open")
	errExhausted = errors.New("approval: the agent has asked too often")
)

// Ask puts a call to people, or joins the card that asks about it already, and waits for the answer as long as the
// request may be held.
func (as *asker) Ask(ctx context.Context, r *Request) (ruling Ruling, err error) {
	if as.ctx.Err() != nil {
		return Ruling{}, ErrStopped
	}
	bound := r.Ask
	as.terms().bind(&bound)
	if err := as.canAsk(&bound); err != nil {
		return Ruling{}, fmt.Errorf("%w: %w", ErrNobody, err)
	}
	w, began := newWaiter(r), time.Now()
	hold := time.NewTimer(r.Hold)
	defer hold.Stop()
	defer func() { ruling.Waited = time.Since(began) }()
	// A caller that leaves now leaves the question behind, for one retry.
	p, err := as.put(context.WithoutCancel(ctx), w, hold.C)
	if err != nil {
		return Ruling{}, err
	}
	if p.said != nil {
		return *p.said, nil
	}
	w.card = p.id
	done := as.waiters.add(w, p.id)
	defer func() {
		if !ruling.Stopped { // else its card says that the gateway stops, see look
			done()
		}
	}()
	if p.card == nil {
		w.wake() // it may have been answered before we waited for it
	} else if err := as.announce(context.WithoutCancel(ctx), p.card, w); err != nil {
		return Ruling{}, err
	}
	return as.wait(ctx, w, hold.C)
}

// placed is what became of a question.
type placed struct {
	id     string
	card   *Card    // where it is new
	said   *Ruling  // where it was answered before, or can't be put
	others []string // cards that have to close first
}

// put finds a place for a question, and waits for one where there is none.
func (as *asker) put(ctx context.Context, w *waiter, hold <-chan time.Time) (placed, error) {
	for over := false; ; {
		p, err := as.place(ctx, w.request)
		switch {
		case errors.Is(err, store.ErrTaken): // another card has the code: draw again
			continue
		case errors.Is(err, errExhausted):
			as.tellExhausted(ctx, w.request.Ask.Agent)
			return placed{said: &Ruling{Exhausted: true}}, nil
		case !errors.Is(err, errFull):
			return p, err
		}
		done := as.waiters.add(w, p.others...)
		select {
		case <-w.woken:
		case <-time.After(as.o.Poll): // one may have closed before we waited for it
		case <-hold:
			over = true
		case <-as.ctx.Done():
			over = true
		}
		if done(); over || w.paused.Load() {
			return placed{said: &Ruling{Full: true, Paused: w.paused.Load()}}, nil
		}
	}
}

// place puts up a card in an update of the conversation, unless one asks about the call already or was answered.
func (as *asker) place(ctx context.Context, r *Request) (p placed, err error) {
	ctx, cancel := context.WithTimeout(ctx, r.showing()+askSlack)
	defer cancel()
	err = as.o.Store.Update(ctx, r.Ask.Conversation, func(t *store.Tx) error {
		p = placed{}
		if found, err := as.find(t, r, &p); found || err != nil {
			return err
		}
		for _, o := range t.C.Open {
			if !o.Closed {
				p.others = append(p.others, o.ID)
			}
		}
		if len(p.others) >= as.terms().MaxOpen {
			return errFull
		}
		return as.draw(t, r, &p)
	})
	return p, err
}

// find looks for a card that asks about the call or was answered.
func (as *asker) find(t *store.Tx, r *Request, p *placed) (found bool, err error) {
	all, err := as.about(t, r.Ask.Digest)
	for _, c := range all {
		said, answered := as.says(t, c, &r.Ask)
		switch {
		case answered:
			p.said = &said
			return true, nil
		case c.at(t.Now) != Open || r.Ask.HeldOnly && c.Request != r.ID:
		case as.stranded(c, t.Now): // the process that was to show it has died, and the call that waited for it with it
			c.withdraw(unshown, t.Now)
			if err := c.put(t); err != nil {
				return false, err
			}
		default:
			p.id = c.ID
			return true, nil
		}
	}
	return false, err
}

// draw makes a card.
func (as *asker) draw(t *store.Tx, r *Request, p *placed) error {
	now := as.terms()
	if ok, err := t.Prompted(r.Ask.Agent, now.MaxPromptsPerHour); err != nil || !ok {
		return errors.Join(err, errExhausted)
	}
	id, err := codes.NewID(as.o.Rand)
	if err != nil {
		return fmt.Errorf("draw a card id: %w", err)
	}
	a := r.Ask
	a.hide = as.o.Hide
	a.Created = t.Now.UTC().Truncate(time.Millisecond)
	a.Until = a.Created.Add(now.TTL)
	now.bind(&a)
	now.nameStarter(&a)
	text, err := json.Marshal(&a)
	if err != nil {
		return fmt.Errorf("write question: %w", err)
	}
	p.id = id
	p.card = &Card{
		ID: id, Ask: a, Text: text, Request: r.ID,
		Code: codes.Code(as.o.Key, id), key: as.o.Key, longest: now.MaxMinutes,
		kept: &store.Card{ID: id, Conversation: a.Conversation, Agent: a.Agent, Digest: a.Digest, Until: a.Until},
	}
	return p.card.put(t)
}

// tellExhausted gives people one notice an hour that an agent has asked too often.
func (as *asker) tellExhausted(ctx context.Context, agent string) {
	as.o.Observe(Event{Kind: EventExhausted})
	if n, err := as.o.Store.Count(ctx, "exhausted:"+agent, hour, true); err != nil || n > 1 {
		return
	}
	text := fmt.Sprintf("%s has asked %d questions within an hour. What needs you is denied until the hour is over; "+
		"`.resume` lets it ask again before that.", whom(as.o.Hide(agent)), as.terms().MaxPromptsPerHour)
	as.warn(ctx, record.Entry{Kind: record.KindPause, Agent: agent, Note: text}, text)
}

// showing is how long a card may take to reach someone: a moment even where all of the caller's time is gone, for
// then it is for a retry.
func (r *Request) showing() time.Duration {
	return max(r.Hold, leastDelivery-r.Waited, leastDelivery/2)
}

// wait waits until the card is settled, the hold is over, the caller has gone or the desk stops.
func (as *asker) wait(ctx context.Context, w *waiter, hold <-chan time.Time) (Ruling, error) {
	for {
		select {
		case <-w.woken:
			if w.paused.Load() {
				ruling := as.leave(ctx, w)
				ruling.Paused = true
				return ruling, nil
			}
			c, now, err := as.load(ctx, w.card)
			if err != nil || c.at(now) != Open {
				return as.rule(c, w, now), err
			}
		case <-hold:
			return as.leave(ctx, w), nil
		case <-ctx.Done():
			return as.leave(ctx, w), ctx.Err()
		case <-as.ctx.Done():
			ruling := as.leave(ctx, w)
			ruling.Stopped = true
			return ruling, nil
		}
	}
}

// leave is the end of a wait without an answer. The card stays for one retry, but where no retry could use it.
func (as *asker) leave(ctx context.Context, w *waiter) Ruling {
	a := &w.request.Ask
	if a.HeldOnly {
		as.runFor(ctx, func(ctx context.Context) {
			const why = "the call no longer waits, and parts of it were hidden before they reached us"
			if c, _, err := as.load(ctx, w.card); err == nil {
				_, _ = as.withdraw(ctx, c, why)
			}
		})
	}
	return Ruling{Ref: codes.Ref(w.card), Card: w.card, Ticket: as.ticket(a.Conversation.Client, w.card, a.Digest)}
}

// rule is what a card that is settled says to a request that waits.
func (as *asker) rule(c *Card, w *waiter, now time.Time) Ruling {
	if c == nil {
		return Ruling{}
	}
	out := c.ruling(now)
	if yes := c.last().Edited; out.Yes && yes != "" {
		made := w.edit.Load()
		if made == nil || made.Ask.Digest != yes { // it is for a request that waits elsewhere
			out.Yes, out.Late = false, true
			return out
		}
		out.Edited, out.EditedDigest = made.params, yes
	}
	out.Late = out.Yes && c.Used != "" && c.Used != w.request.ID && !c.scope().Lasting()
	out.Yes = out.Yes && !out.Late
	return out
}

// ruling is what a card says, whoever asks.
func (c *Card) ruling(now time.Time) Ruling {
	out := Ruling{Ref: c.Ref(), Card: c.ID, Scope: c.scope(), Votes: c.Votes, Whole: true}
	for i := range c.Votes {
		out.Whole = out.Whole && (c.Votes[i].Seen || !c.Votes[i].Allow)
	}
	switch c.at(now) {
	case Allowed:
		out.Yes = true
	case Denied:
		out.Denied, out.ByPerson = true, c.names(false) != ""
		if no := c.Denial(); no != nil {
			out.Reason = no.Reason
		}
	case Expired:
		out.Silent = true
	}
	return out
}
