package approval

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/session"
)

// asker puts calls to people and has their callers wait for the answer.
type asker struct {
	*cardStore

	placer     *placer
	pauses     *Pauses
	tickets    *tickets
	heldParams *heldParams
	recentAsks recentCards // by conversation and digest
}

// Request is a call that needs a person.
type Request struct {
	Ask     Ask
	ID      string         // the request that waits
	Waiting string         // the card that asks about this digest already, if the store knew one
	Hold    time.Duration  // how long the caller can wait
	Waited  time.Duration  // how long it has waited already
	Now     time.Time      // the store's clock
	Whole   jsontext.Value // the params as they came, for an approver who asks to see them while the request is held; never stored
	Edit    Editor         // judges the call with other params; nil: its runtime can't run others
}

// Ruling is what people said, or that they have not. The zero Ruling is no.
type Ruling struct {
	Yes    bool
	Denied bool   // a person said no, or the question was taken back
	Reason string // what that person wants the agent to read, or why it was
	Ref    string // of the card; empty when no one could be asked
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
}

// ErrStopped says that the desk takes no more questions.
var ErrStopped = errors.New("approval: the desk is closed")

// ErrRecord says that a question could not be recorded, and so was not put.
var ErrRecord = errors.New("approval: the question could not be recorded")

// ErrNobody says that a card reached no one.
var ErrNobody = errors.New("approval: the question could not be put to anyone")

// Ask puts a call to people, or joins the card that asks about it already, and
// waits for the answer as long as the request may be held.
func (as *asker) Ask(ctx context.Context, r *Request) (ruling Ruling, err error) {
	if as.ctx.Err() != nil {
		return Ruling{}, ErrStopped
	}
	if err := as.canAsk(&r.Ask); err != nil {
		return Ruling{}, fmt.Errorf("%w: %w", ErrNobody, err)
	}
	w := as.waits(r)
	defer w.end()
	// A caller that leaves now leaves the question behind, for one retry.
	if w.card, err = as.presentInTime(context.WithoutCancel(ctx), r); err != nil {
		return unasked(err)
	}
	as.waiters.add(w.card, &w.waiter)
	return w.wait(ctx)
}

// unasked is what becomes of a call that was not put to anyone.
func unasked(err error) (Ruling, error) {
	switch {
	case errors.Is(err, errFull):
		return Ruling{Full: true}, nil
	case errors.Is(err, errExhausted):
		return Ruling{Exhausted: true}, nil
	}
	return Ruling{}, err
}

// showing is how long a card may take to reach someone: a moment even where all
// of the caller's time is gone, for then it is for a retry.
func (r *Request) showing() time.Duration {
	return max(r.Hold, leastDelivery-r.Waited, leastDelivery/2)
}

// presentInTime is present, for as long as the caller can wait and a moment for
// the store.
func (as *asker) presentInTime(ctx context.Context, r *Request) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, r.showing()+askSlack)
	defer cancel()
	return as.present(ctx, r)
}

// Why a question is not put, besides errors.
var (
	errFull      = errors.New("approval: too many cards are open")
	errExhausted = errors.New("approval: the agent has asked too often")
)

// present makes sure that a live card asks about the call and that this request
// is on it.
func (as *asker) present(ctx context.Context, r *Request) (id string, err error) {
	id, counted := r.Waiting, false
	if id == "" {
		id = as.refused(ctx, r)
	}
	defer func() {
		if err == nil {
			as.recentAsks.note(r.key(), id)
		}
	}()
	for range swapTries {
		if id != "" {
			joined, err := as.placer.join(ctx, id, r)
			if err != nil || joined {
				return id, err
			}
		}
		if !counted {
			if err := as.countAsk(ctx, r); err != nil {
				return "", err
			}
			counted = true
		}
		p, err := as.placer.putUp(ctx, r, id)
		switch {
		case err != nil:
			as.refundUnasked(ctx, r, err)
			return "", err
		case p.State == New:
			return p.ID, nil
		case p.State == Full:
			return as.placer.gather(ctx, r, id, p.ID)
		}
		id = p.ID
	}
	return "", ErrStale
}

// key tells questions of this process apart.
func (r *Request) key() string { return r.Ask.Conversation.Hash() + r.Ask.Digest }

// refused is the card that asked about the same call last, in this process, if it was denied or has ended without an answer. The store
// no longer names it once its time is over.
func (as *asker) refused(ctx context.Context, r *Request) string {
	id := as.recentAsks.find(r.key())
	if id == "" {
		return ""
	}
	c, now, err := as.load(ctx, id)
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
