package approval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/codes"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/redact"
)

// Request is a call that needs a person.
type Request struct {
	Ask   Ask
	ID    string         // the request that waits
	Hold  time.Duration  // how long the caller can wait
	Whole jsontext.Value // the params as they came, for approvers while the request is held; never stored
	Edit  Editor         // judges the call with other params; nil: its runtime can't run others
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
)

// asking is one call on its way to people and back.
type asking struct {
	*shows
	*Request
	waiter *waiter

	id   string  // of the card that asks about it
	card *Card   // where that is new
	said *Ruling // where it was answered before, or can't be put
	full bool    // too many cards are open
}

// Ask puts a call to people, or joins the card that asks about it already, and waits for the answer as long as the
// request may be held. Without an answer the card stays for one retry, but where no retry could use it.
func (d *Desk) Ask(ctx context.Context, r *Request) (ruling Ruling, err error) {
	if d.ctx.Err() != nil {
		return Ruling{}, ErrStopped
	}
	began, hold := time.Now(), time.NewTimer(r.Hold)
	defer hold.Stop()
	defer func() { ruling.Waited = time.Since(began) }()
	as := &asking{shows: d.shows, Request: r, waiter: newWaiter(r)}
	lasting := context.WithoutCancel(ctx) // a caller that leaves now leaves the question behind, for one retry
	why, err := as.put(lasting, hold.C)
	switch {
	case err != nil:
		return Ruling{}, err
	case why != isDone:
		return Ruling{Full: true, Paused: why == isPaused}, nil
	case as.said != nil:
		return *as.said, nil
	}
	unannounced := as.card != nil
	done := d.waiters.add(as.waiter, as.id)
	defer func() {
		if !ruling.Stopped { // else the card says that the gateway stops, see look
			done()
		}
	}()
	why, err = d.await(ctx, as.waiter, hold.C, func() (bool, error) {
		if unannounced {
			err := as.announce(lasting)
			unannounced, as.card = false, nil // it may wait for long, and needs no more of it than its id
			return false, err
		}
		c, now, err := as.load(ctx, as.id)
		if err != nil || c.at(now) == Open {
			return false, err
		}
		ruling = as.rule(c, now)
		return true, nil
	})
	if why == isDone {
		return ruling, err
	}
	if r.Ask.HeldOnly {
		as.run(ctx, func(ctx context.Context) {
			const why = "the call no longer waits, and parts of it were hidden before they reached us"
			if c, _, err := as.load(ctx, as.id); err == nil {
				_, _ = as.withdraw(ctx, c, why)
			}
		})
	}
	return Ruling{
		Ref: codes.Ref(as.id), Card: as.id, Paused: why == isPaused, Stopped: why == isStopped,
		Ticket: ticket(d.o.Key, r.Ask.Conversation.Client, as.id, r.Ask.Digest),
	}, err
}

// put finds a place for the question, and waits for one where there is none.
func (as *asking) put(ctx context.Context, hold <-chan time.Time) (ending, error) {
	w := newWaiter(as.Request)
	defer as.waiters.add(w, as.Ask.Conversation.Hash())()
	return as.await(ctx, w, hold, func() (bool, error) {
		err := as.o.Store.Update(ctx, as.Ask.Conversation, as.place)
		for errors.Is(err, store.ErrTaken) { // another card has the code: draw again
			err = as.o.Store.Update(ctx, as.Ask.Conversation, as.place)
		}
		if err == nil && as.said != nil && as.said.Exhausted {
			as.tellExhausted(ctx)
		}
		return !as.full, err
	})
}

// place puts up a card, unless one asks about the call already or was answered. Who may answer it and where it is put
// is fixed with it.
func (as *asking) place(t *store.Tx) error {
	as.id, as.card, as.said, as.full = "", nil, nil, false
	now, a := as.terms(), as.Ask
	now.bind(&a)
	if err := now.canAsk(&a); err != nil {
		return fmt.Errorf("%w: %w", ErrNobody, err)
	}
	if found, err := as.find(t); found || err != nil {
		return err
	}
	open := slices.DeleteFunc(slices.Clone(t.C.Open), func(o store.OpenCard) bool { return o.Closed })
	if as.full = len(open) >= now.MaxOpen; as.full {
		return nil
	}
	if !t.Prompted(a.Agent, now.MaxPromptsPerHour) {
		as.said = &Ruling{Exhausted: true}
		return nil
	}
	id, err := codes.NewID(nil)
	if err != nil {
		return fmt.Errorf("draw a card id: %w", err)
	}
	a.hide = as.o.Hide
	a.Created = t.Now.UTC().Truncate(time.Millisecond)
	a.Until = a.Created.Add(now.TTL)
	now.nameStarter(&a)
	text, err := json.Marshal(&a)
	if err != nil {
		return fmt.Errorf("write question: %w", err)
	}
	as.id = id
	as.card = &Card{
		ID: id, Ask: a, Text: text, Request: as.ID,
		Code: codes.Code(as.o.Key, id), key: as.o.Key, longest: now.MaxMinutes,
		kept: &store.Card{ID: id, Conversation: a.Conversation, Digest: a.Digest, Until: a.Until},
	}
	return as.card.put(t)
}

// find looks for a card that asks about the call or was answered.
func (as *asking) find(t *store.Tx) (found bool, err error) {
	all, err := as.about(t, as.Ask.Digest)
	for _, c := range all {
		said, answered := as.says(t, c, &as.Ask)
		switch {
		case answered:
			as.said = &said
			return true, nil
		case c.at(t.Now) != Open || as.Ask.HeldOnly && c.Request != as.ID:
		case as.stranded(c, t.Now): // the process that was to show it has died, and the call that waited for it with it
			c.withdraw(unshown, t.Now)
			if err := c.put(t); err != nil {
				return false, err
			}
		default:
			as.id = c.ID
			return true, nil
		}
	}
	return false, err
}

// tellExhausted gives people one notice an hour that an agent has asked too often.
func (as *asking) tellExhausted(ctx context.Context) {
	as.o.Observe(Event{Kind: EventExhausted})
	agent := as.Ask.Agent
	if n, err := as.o.Store.Count(ctx, "exhausted:"+agent, time.Hour, true); err != nil || n > 1 {
		return
	}
	text := fmt.Sprintf("%s has asked %d questions within an hour. What needs you is denied until the hour is over; "+
		"`.resume` lets it ask again before that.", whom(as.o.Hide(agent)), as.terms().MaxPromptsPerHour)
	as.warn(ctx, record.Entry{Kind: record.KindPause, Agent: agent, Note: text}, text)
}

// unshown is why a card is taken back that no person has seen.
const unshown = "the question could not be shown to anyone"

// announce records that the card asks, then shows it to people. A card that reaches no one is taken back at once:
// nothing may wait for it.
func (as *asking) announce(ctx context.Context) error {
	a, e := &as.card.Ask, entryFor(record.KindAsked, as.card)
	kept, bodies := redact.WithoutBodies(a.Tool, a.Shown) // they are for people, not for the record
	e.Params, e.Hidden, e.Why, e.Mode, e.By, e.Directory = kept, a.Hidden+bodies, a.Why, "confirm", a.Rule, a.Directory
	if as.terms().Names {
		e.Params, e.Directory = redact.Names(a.Shown), ""
	}
	if err := as.o.Record.Append(e); err != nil {
		_, taking := as.withdraw(ctx, as.card, "the record could not be written")
		return fmt.Errorf("%w: %w", ErrRecord, errors.Join(err, taking))
	}
	as.o.Observe(Event{Kind: EventAsked})
	if as.deliver(ctx) {
		return nil
	}
	taken, err := as.withdraw(ctx, as.card, unshown)
	switch {
	case !taken && err == nil: // someone has answered: it has reached them after all
		return nil
	case as.ctx.Err() != nil:
		return ErrStopped
	}
	return ErrNobody
}

// deliver sends the card on its channels and reports whether it reached someone. It takes as long as the call can
// wait, but a moment even where all of that is gone, for then the card is for a retry.
func (as *asking) deliver(ctx context.Context) bool {
	c := as.card // some sends may begin or end after this has returned, and as.card is let go of then
	names, inbox := as.channels(c)
	sent := make(chan bool, len(names))
	for _, name := range names {
		as.run(ctx, func(ctx context.Context) { sent <- as.send(ctx, name, c) })
	}
	if inbox {
		return true
	}
	late := time.After(max(as.Hold, leastDelivery))
	for range names {
		select {
		case ok := <-sent:
			if ok {
				return true
			}
		case <-as.waiter.woken: // a tap can be faster than the platform's word that it shows the card
			as.waiter.wake()
			return true
		case <-late:
			return false
		}
	}
	return false
}

// rule is what a card that is settled says to the request that waits.
func (as *asking) rule(c *Card, now time.Time) Ruling {
	out := c.ruling(now)
	if yes := c.last().Edited; out.Yes && yes != "" {
		made := as.waiter.edit.Load()
		if made == nil || made.Ask.Digest != yes { // it is for a request that waits elsewhere
			out.Yes, out.Late = false, true
			return out
		}
		out.Edited, out.EditedDigest = made.params, yes
	}
	out.Late = out.Yes && c.Used != "" && c.Used != as.ID && !out.Scope.Lasting()
	out.Yes = out.Yes && !out.Late
	return out
}
