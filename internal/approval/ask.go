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
	errFound     = errors.New("approval: a card asks about the call already")
)

// Ask puts a call to people, or joins the card that asks about it already, and waits for the answer as long as the
// request may be held.
func (as *asker) Ask(ctx context.Context, r *Request) (ruling Ruling, err error) {
	if as.ctx.Err() != nil {
		return Ruling{}, ErrStopped
	}
	if err := as.canAsk(&r.Ask); err != nil {
		return Ruling{}, fmt.Errorf("%w: %w", ErrNobody, err)
	}
	w, began := newWaiter(r), time.Now()
	hold := time.NewTimer(r.Hold)
	defer hold.Stop()
	defer func() { ruling.Waited = time.Since(began) }()
	// A caller that leaves now leaves the question behind, for one retry.
	p, err := as.put(context.WithoutCancel(ctx), w, hold.C)
	switch {
	case errors.Is(err, errFull):
		return Ruling{Full: true, Paused: w.paused.Load()}, nil
	case errors.Is(err, errExhausted):
		return Ruling{Exhausted: true}, nil
	case err != nil || p.ruling != nil:
		return p.said(), err
	}
	defer as.waiters.add(w, p.id)()
	if p.card != nil {
		if err := as.announce(context.WithoutCancel(ctx), p.card, w); err != nil {
			return Ruling{}, err
		}
	}
	return as.wait(ctx, w, p, hold.C)
}

// canAsk is CanAsk for one question: enough of the people it goes to may allow it.
func (as *asker) canAsk(a *Ask) error {
	if err := as.CanAsk(); err != nil {
		return err
	}
	t, bound := as.terms(), *a
	if t.bind(&bound); !t.enough(&bound) {
		return errors.New("fewer people may allow this call than must")
	}
	return nil
}

// placed is what became of a question.
type placed struct {
	id     string
	card   *Card   // where it is new
	ruling *Ruling // where it was answered before
	others []string
}

func (p *placed) said() Ruling {
	if p.ruling == nil {
		return Ruling{}
	}
	return *p.ruling
}

// put finds a place for a question, and waits for one where there is none.
func (as *asker) put(ctx context.Context, w *waiter, hold <-chan time.Time) (placed, error) {
	for {
		p, err := as.place(ctx, w.request)
		switch {
		case errors.Is(err, store.ErrTaken): // another card has the code: draw again
			continue
		case errors.Is(err, errExhausted):
			as.tellExhausted(ctx, w.request.Ask.Agent)
		}
		if !errors.Is(err, errFull) {
			return p, err
		}
		done := as.waiters.add(w, p.others...)
		select {
		case <-w.woken:
		case <-time.After(as.o.Poll): // one may have closed before we waited for it
		case <-hold:
			err = nil
		case <-as.ctx.Done():
			err = nil
		}
		if done(); err == nil || w.paused.Load() {
			return p, errFull
		}
	}
}

// place puts up a card in an update of the conversation, unless one asks about the call already or was answered.
func (as *asker) place(ctx context.Context, r *Request) (p placed, err error) {
	ctx, cancel := context.WithTimeout(ctx, r.showing()+askSlack)
	defer cancel()
	err = as.o.Store.Update(ctx, r.Ask.Conversation, func(t *store.Tx) error {
		p = placed{}
		if err := as.find(t, r, &p); err != nil {
			return err
		}
		return as.draw(t, r, &p)
	})
	if errors.Is(err, errFound) {
		err = nil
	}
	return p, err
}

// find looks for a card that asks about the call, and whether there is room for another one.
func (as *asker) find(t *store.Tx, r *Request, p *placed) error {
	open := 0
	for _, o := range t.C.Open {
		if !o.Closed {
			open++
			p.others = append(p.others, o.ID)
		}
		if o.Digest != r.Ask.Digest {
			continue
		}
		c, err := as.read(t, o.ID)
		if errors.Is(err, store.ErrGone) {
			continue
		}
		if err != nil {
			return err
		}
		said, answered := as.says(t, c, &r.Ask)
		switch {
		case answered:
			p.ruling = &said
			return errFound
		case c.at(t.Now) != Open || r.Ask.HeldOnly && c.Request != r.ID:
		case as.stranded(c, t.Now): // the process that was to show it has died, and the call that waited for it with it
			c.withdraw(unshown, t.Now)
			if err := c.put(t); err != nil {
				return err
			}
			open--
		default:
			p.id = c.ID
			return errFound
		}
	}
	if open >= as.terms().MaxOpen {
		return errFull
	}
	return nil
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
	as.note(ctx, record.Entry{Kind: record.KindPause, Agent: agent, Note: text})
	as.o.Log.WarnContext(ctx, text)
	as.Tell(ctx, text)
}

// showing is how long a card may take to reach someone: a moment even where all of the caller's time is gone, for
// then it is for a retry.
func (r *Request) showing() time.Duration {
	return max(r.Hold, leastDelivery-r.Waited, leastDelivery/2)
}

// wait waits until the card is settled, the hold is over, the caller has gone or the desk stops.
func (as *asker) wait(ctx context.Context, w *waiter, p placed, hold <-chan time.Time) (Ruling, error) {
	if p.card == nil { // it may have been answered before we waited for it
		w.wake()
	}
	for {
		select {
		case <-w.woken:
			if w.paused.Load() {
				ruling := as.leave(ctx, w.request, p.id)
				ruling.Paused = true
				return ruling, nil
			}
			if ruling, settled, err := as.rule(ctx, w, p.id); settled || err != nil {
				return ruling, err
			}
		case <-hold:
			return as.leave(ctx, w.request, p.id), nil
		case <-ctx.Done():
			return as.leave(ctx, w.request, p.id), ctx.Err()
		case <-as.ctx.Done():
			ruling := as.leave(ctx, w.request, p.id)
			ruling.Stopped = true
			return ruling, nil
		}
	}
}

// leave is the end of a wait without an answer. The card stays for one retry, but where no retry could use it.
func (as *asker) leave(ctx context.Context, r *Request, id string) Ruling {
	if r.Ask.HeldOnly {
		as.runFor(ctx, func(ctx context.Context) {
			if c, _, err := as.load(ctx, id); err == nil {
				_, _ = as.takeBack(ctx, c, "the call no longer waits, and parts of it were hidden before they "+
					"reached us")
			}
		})
	}
	return Ruling{Ref: codes.Ref(id), Card: id, Ticket: as.ticket(r.Ask.Conversation.Client, id, r.Ask.Digest)}
}

// rule reads what the card says about a request that waits.
func (as *asker) rule(ctx context.Context, w *waiter, id string) (Ruling, bool, error) {
	c, now, err := as.load(ctx, id)
	if err != nil {
		return Ruling{}, false, err
	}
	out := c.ruling()
	switch c.at(now) {
	case Open:
		return out, false, nil
	case Denied:
		out.Denied, out.Reason, out.ByPerson = true, c.reason(), c.names(false) != ""
		return out, true, nil
	case Expired:
		out.Silent = true
		return out, true, nil
	}
	if yes := c.last().Edited; yes != "" {
		made := w.edit.Load()
		if made == nil || made.digest != yes { // it is for a request that waits elsewhere
			out.Late = true
			return out, true, nil
		}
		out.Edited, out.EditedDigest = made.params, yes
	}
	out.Yes = c.Used == "" || c.Used == w.request.ID || c.Ask.Bound(c.scope()).Lasting()
	out.Late = !out.Yes
	return out, true, nil
}

// ruling is what a card says, but for its state.
func (c *Card) ruling() Ruling {
	out := Ruling{Ref: c.Ref(), Card: c.ID, Scope: c.scope(), Votes: c.Votes, Whole: true}
	for i := range c.Votes {
		out.Whole = out.Whole && (c.Votes[i].Seen || !c.Votes[i].Allow)
	}
	return out
}
