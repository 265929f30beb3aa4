package approval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/codes"
	"github.com/openclaw-verifier/verifier/session"
)

// Request is a call that needs a person.
type Request struct {
	Ask     Ask
	ID      string         // the request that waits
	Waiting string         // the card that asks about this digest already, if the store knew one
	Hold    time.Duration  // how long the caller can wait
	Spent   time.Duration  // how long it has waited already
	Now     time.Time      // the store's clock
	Whole   jsontext.Value // the params as they came, for an approver who asks to see them while the request is held; never stored
	Edit    Editor         // judges the call with other params; nil: its runtime can't run others

	there  presence // who can be asked now
	notNow *notNow  // why none is; nil: they are
}

// Ruling is what people said, or that they have not. The zero Ruling is no.
type Ruling struct {
	Yes    bool
	Denied bool   // a person said no, or the question was taken back
	Reason string // what that person wants the agent to read, or why it was
	Ref    string // of the card; empty when nobody could be asked
	Card   string
	Ticket string // by which the caller can learn of a late yes, see [Desk.Answered]; empty when the question is not open
	Scope  Scope
	Votes  []Vote
	Alone  bool // the card asks about no other call
	Seen   bool // each person who said yes had the details with all of the call in view
	Waited time.Duration
	Claim  *session.Claim // to be used up with the allow; nil when a grant covers the call
	Grant  *session.Grant // set instead of Claim
	Edited jsontext.Value // the params that the yes is for, where a person changed them
	// EditedDigest is what that yes is bound to.
	EditedDigest string
	Late         bool // an identical call took the yes
	Full         bool // too many cards are open
	Silent       bool // the question has ended, and no one answered

	ByPerson  bool // where Denied: it was a person
	Paused    bool // the owner paused the agent meanwhile
	Stopped   bool // the desk stopped meanwhile
	Exhausted bool // the agent has asked too often this hour

	Muted bool      // a person wants no questions about the agent or the conversation
	Away  bool      // too few of those who may allow the call are there
	Again time.Time // where Muted or Away: when to ask again
}

// ErrStopped says that the desk takes no more questions.
var ErrStopped = errors.New("approval: the desk is closed")

// ErrRecord says that a question could not be recorded, and so was not put.
var ErrRecord = errors.New("approval: the question could not be recorded")

// ErrNobody says that a card reached no one.
var ErrNobody = errors.New("approval: the question could not be put to anyone")

// Put puts a call to people, or joins the card that asks about it already. It
// gives an answer that was given before; where there is none yet it gives what
// waits for it.
func (d *Desk) Put(ctx context.Context, r *Request) (ruling Ruling, held *Waiting, err error) {
	if d.ctx.Err() != nil {
		return Ruling{}, nil, ErrStopped
	}
	if err := d.canAsk(&r.Ask); err != nil {
		return Ruling{}, nil, fmt.Errorf("%w: %w", ErrNobody, err)
	}
	w := d.waiting(r)
	defer func() {
		if held == nil {
			w.end()
		}
	}()
	// A caller that leaves now leaves the question behind, for one retry.
	if w.card, err = d.presentInTime(context.WithoutCancel(ctx), r); err != nil {
		ruling, err = unasked(err)
		return ruling, nil, err
	}
	d.waiters.add(w.card, &w.waiter)
	ruling, settled, err := w.look(ctx)
	if err != nil || settled {
		ruling.Waited = time.Since(w.began)
		return ruling, nil, err
	}
	return Ruling{}, w, nil
}

// unasked is what becomes of a call that was not put to anyone.
func unasked(err error) (Ruling, error) {
	switch {
	case errors.Is(err, errFull):
		return Ruling{Full: true}, nil
	case errors.Is(err, errExhausted):
		return Ruling{Exhausted: true}, nil
	}
	if n, ok := errors.AsType[*notNow](err); ok {
		return Ruling{Muted: n.muted, Away: !n.muted, Again: n.until}, nil
	}
	return Ruling{}, err
}

// Ask is Put, and waits for the answer as long as the request may be held.
func (d *Desk) Ask(ctx context.Context, r *Request) (Ruling, error) {
	ruling, waiting, err := d.Put(ctx, r)
	if waiting != nil {
		return waiting.Wait(ctx)
	}
	return ruling, err
}

// showing is how long a card may take to reach someone: a moment even where all
// of the caller's time is gone, for then it is for a retry.
func (r *Request) showing() time.Duration { return max(r.Hold, leastDelivery-r.Spent, leastDelivery/2) }

// presentInTime is present, for as long as the caller can wait and a moment for
// the store.
func (d *Desk) presentInTime(ctx context.Context, r *Request) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, r.showing()+askSlack)
	defer cancel()
	return d.present(ctx, r)
}

// Why a question is not put, besides errors.
var (
	errFull      = errors.New("approval: too many cards are open")
	errExhausted = errors.New("approval: the agent has asked too often")
)

// present makes sure that a live card asks about the call and that this request
// stands on it.
func (d *Desk) present(ctx context.Context, r *Request) (id string, err error) {
	if err := d.askNow(ctx, r); err != nil {
		return "", err
	}
	id, counted := r.Waiting, false
	if id == "" {
		id = d.refused(ctx, r)
	}
	defer func() {
		if err == nil {
			d.recentAsks.note(r.key(), id)
		}
	}()
	for range swapTries {
		if id != "" {
			joined, err := d.join(ctx, id, r)
			if err != nil || joined {
				return id, err
			}
		}
		if r.notNow != nil {
			return "", r.notNow
		}
		if !counted {
			if err := d.countAsk(ctx, r); err != nil {
				return "", err
			}
			counted = true
		}
		p, err := d.putUp(ctx, r, id)
		switch {
		case err != nil:
			d.refundUnasked(ctx, r, err)
			return "", err
		case p.State == New:
			return p.ID, nil
		case p.State == Full:
			return d.gather(ctx, r, id, p.ID)
		}
		id = p.ID
	}
	return "", ErrStale
}

// countAsk counts a question among those that an agent asks anew, if it may ask one more.
func (d *Desk) countAsk(ctx context.Context, r *Request) error {
	if r.Ask.Test {
		return nil
	}
	ok, err := d.afford(ctx, r.Ask.Agent)
	if err == nil && !ok {
		err = errExhausted
	}
	return err
}

// unattended reports whether no one can be asked now.
func (r *Request) unattended() bool { return r.notNow != nil }

// key tells questions of this process apart.
func (r *Request) key() string { return r.Ask.Conversation.Hash() + r.Ask.Digest }

// refused is the card that asked about the same call last, in this process, if it was denied or has ended without an answer. The store
// no longer names it once its time is over.
func (d *Desk) refused(ctx context.Context, r *Request) string {
	id := d.recentAsks.find(r.key())
	if id == "" {
		return ""
	}
	c, now, err := d.load(ctx, id)
	if err != nil {
		return ""
	}
	if q := c.question(r.Ask.Digest); q != nil {
		if state := q.state(now); state == Denied && q.people(false) != "" || state == Expired { // what was taken back may be asked again
			return id
		}
	}
	return ""
}

// refundUnasked gives an agent back the question that could not be shown to anyone.
func (d *Desk) refundUnasked(ctx context.Context, r *Request, err error) {
	if errors.Is(err, ErrNobody) && !r.Ask.Test {
		d.runFor(ctx, func(ctx context.Context) { d.refund(ctx, r.Ask.Agent) })
	}
}

// show announces a new card within the time that the caller has. Only channels
// are limited so: the store has limits of its own.
func (d *Desk) show(ctx context.Context, id string) error {
	showing := ctx
	if end, ok := ctx.Deadline(); ok { // a card that reaches nobody is taken back in what is left
		var cancel context.CancelFunc
		showing, cancel = context.WithDeadline(ctx, end.Add(-askSlack))
		defer cancel()
	}
	return d.announce(showing, id)
}

// place makes a new card with one question, instead of one that can't serve.
func (d *Desk) place(ctx context.Context, r *Request, instead string, batch bool) (Placement, error) {
	t := d.terms()
	for range 5 { // a code that another live card has is drawn again
		random, err := codes.NewID(d.o.Rand)
		if err != nil {
			return Placement{}, fmt.Errorf("draw a card id: %w", err)
		}
		id := r.Ask.Conversation.Hash()[:2] + random
		blob, err := d.compose(t, id, r, batch)
		if err != nil {
			return Placement{}, err
		}
		p, err := d.o.Store.Place(ctx, Draft{
			ID: id, Conversation: r.Ask.Conversation, Digests: []string{r.Ask.Digest}, Instead: instead, Blob: blob,
			CodeSeal: d.codeSeal(codes.Code(d.o.Key, id)), Live: t.TTL, MaxOpen: t.MaxOpen, Batch: batch,
		})
		if !errors.Is(err, ErrCodeTaken) {
			return p, err
		}
	}
	return Placement{}, ErrCodeTaken
}

func (d *Desk) compose(t *terms, id string, r *Request, batch bool) ([]byte, error) {
	q, err := d.pose(t, id, r)
	if err != nil {
		return nil, err
	}
	c := Card{ID: id, Batch: batch, Frozen: !batch, Questions: []Question{q}}
	return c.encode()
}

// pose fixes what the question is bound to: its route and the clock included.
func (d *Desk) pose(t *terms, id string, r *Request) (Question, error) {
	a := r.Ask
	a.Created = r.Now.UTC().Truncate(time.Millisecond)
	a.Until = a.Created.Add(t.TTL)
	a.hide = d.o.Hide
	t.bind(&a)
	r.there.hasten(&a)
	return pose(d.o.Key, id, a, d.process.holder(r.ID))
}

func (d *Desk) codeSeal(code string) string { return d.o.Key.Seal("code", code) }

// join puts the request on a card that asks about the same call. It reports
// false when that card can no longer serve: then a new one is due.
func (d *Desk) join(ctx context.Context, id string, r *Request) (bool, error) {
	for range swapTries {
		c, now, err := d.load(ctx, id)
		if errors.Is(err, ErrGone) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		q := c.question(r.Ask.Digest)
		if q == nil {
			return false, nil
		}
		if state := q.state(now); state != Open {
			return d.stillAnswers(ctx, c, q, state, r, now), nil
		}
		if r.unattended() { // what it asks may still be answered, for a retry
			return false, nil
		}
		if d.stranded(c, now) {
			if _, err := d.withdraw(ctx, id, "the question could not be shown to anyone"); !errors.Is(err, ErrGone) {
				return false, err
			}
			return false, nil
		}
		if !q.join(d.process.holder(r.ID)) {
			return true, nil
		}
		if err := d.swap(ctx, c, Change{}); !errors.Is(err, ErrStale) {
			return err == nil, err
		}
	}
	return false, ErrStale
}

// stillAnswers reports whether a question that has an answer, or was left without one, counts for a request. A no and silence end with
// the user's next message: the call may be what they want now.
func (d *Desk) stillAnswers(ctx context.Context, c *Card, q *Question, state State, r *Request, now time.Time) bool {
	switch state {
	case Denied:
		return slices.Equal(q.Ask.Said, r.Ask.Said) && now.Before(q.deniedAt().Add(noHolds))
	case Expired:
		return slices.Equal(q.Ask.Said, r.Ask.Said) && now.Before(q.Ask.Until.Add(noHolds))
	case Allowed:
		yes := q.last()
		return (d.claimable(c, q, r.ID, now) || yes.For != "" && yes.Edited == "" && q.Used == "") && !d.outlivedBy(ctx, &r.Ask, yes)
	}
	return false
}

// load reads one card.
func (d *Desk) load(ctx context.Context, id string) (*Card, time.Time, error) {
	stored, now, err := d.o.Store.Load(ctx, id)
	if err != nil {
		return nil, now, err
	}
	if len(stored) == 0 {
		return nil, now, ErrGone
	}
	now = now.UTC()
	c, err := d.open(stored[0], now)
	return c, now, err
}

// swap writes a changed card back, with effects that ch names.
func (d *Desk) swap(ctx context.Context, c *Card, ch Change) error {
	blob, err := c.encode()
	if err != nil {
		return err
	}
	ch.ID, ch.Version, ch.Blob, ch.Conversation = c.ID, c.version, blob, c.Questions[0].Ask.Conversation
	if err := d.o.Store.Swap(ctx, ch); err != nil {
		return err
	}
	c.version++
	d.waiters.wake(c.ID)
	return nil
}
