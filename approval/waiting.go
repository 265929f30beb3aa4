package approval

import (
	"context"
	"slices"
	"time"

	"github.com/openclaw-verifier/verifier/session"
)

// waiting is a request on a card that waits for the answer.
type waiting struct {
	waiter

	asker           *asker
	card            string
	client          string
	digest, request string
	began           time.Time
	until           time.Time // the caller can't wait any longer
	last            time.Time // and the store is not asked any more
	held            *heldCall
	letGo           func() // of the call's params
}

// waits is what a request waits by, from now on.
func (as *asker) waits(r *Request) *waiting {
	now, held := time.Now(), &heldCall{request: r.ID, params: r.Whole, edit: r.Edit}
	return &waiting{
		waiter: waiter{agent: r.Ask.Agent, woken: make(chan struct{}, 1)},
		asker:  as, client: r.Ask.Conversation.Client, digest: r.Ask.Digest, request: r.ID, held: held, letGo: as.heldParams.hold(r.Ask.Digest, held),
		began: now, until: now.Add(r.Hold), last: now.Add(r.showing() + 2*askSlack),
	}
}

func (w *waiting) end() {
	w.asker.waiters.remove(w.card, &w.waiter)
	w.letGo()
}

// wait rereads the card, now and at each wake, until it is settled, the hold is
// over, the caller has gone or the desk stops.
func (w *waiting) wait(ctx context.Context) (Ruling, error) {
	late := time.NewTimer(time.Until(w.until))
	defer late.Stop()
	ruling, settled, err := w.look(ctx)
	for !settled && err == nil {
		select {
		case <-w.woken:
			ruling, settled, err = w.look(ctx)
		case <-late.C:
			ruling, settled = w.leave(), true
		case <-ctx.Done():
			ruling, err = w.leave(), ctx.Err()
		case <-w.asker.ctx.Done():
			ruling, settled = w.leave(), true
			ruling.Stopped = true
		}
	}
	ruling.Waited = time.Since(w.began)
	return ruling, err
}

// look says whether the wait is over. A pause ends it, and that needs no look at
// the card: whatever it says, nothing passes.
func (w *waiting) look(ctx context.Context) (_ Ruling, settled bool, err error) {
	if w.asker.pauses.View(w.agent).On {
		ruling := w.leave()
		ruling.Paused = true
		return ruling, true, nil
	}
	ctx, cancel := context.WithDeadline(ctx, w.last)
	defer cancel()
	return w.rule(ctx)
}

// rule reads what the card says about this request now.
func (w *waiting) rule(ctx context.Context) (_ Ruling, settled bool, err error) {
	as := w.asker
	c, now, err := as.load(ctx, w.card)
	if err != nil {
		return Ruling{}, false, err
	}
	w.seen.Store(c.version)
	q := c.question(w.digest)
	if q == nil {
		return Ruling{}, false, ErrGone
	}
	out := Ruling{Ref: c.Ref(), Card: c.ID, Scope: q.scope(), Votes: q.Votes, Alone: len(c.Questions) == 1, Seen: !slices.ContainsFunc(q.Votes, func(v Vote) bool { return v.Allow && !v.Seen })}
	switch q.state(now) {
	case Open:
		return out, false, nil
	case Denied:
		out.Denied, out.Reason, out.ByPerson = true, q.reason(), q.people(false) != ""
		return out, true, nil
	case Expired:
		out.Silent = true
		return out, true, nil
	}
	if as.claimable(c, q, w.request, now) {
		if yes := q.last(); yes.Edited != "" {
			if out.Edited = w.held.edited(as.heldParams, yes.Edited); out.Edited == nil {
				if q.Used == "" { // the same request waits where it is kept, and takes it there
					return out, false, nil
				}
				out.Denied, out.Reason = true, "the owner changed the call, and the change is not kept here"
				return out, true, nil
			}
			out.EditedDigest = yes.Edited
		}
		out.Claim, err = c.claim(q, w.request)
		out.Yes = err == nil
		return out, true, err
	}
	if g := as.terms().grant(c, q); g != nil {
		out.Yes, out.Grant = true, g
		return out, true, nil
	}
	if left := q.kept(q.last(), now); left > 0 {
		time.AfterFunc(left, w.wake)
		return out, false, nil
	}
	out.Late = true
	return out, true, nil
}

// claim is the card with its yes used by this request. The card is changed only
// in the store, together with the allow.
func (c *Card) claim(q *Question, request string) (*session.Claim, error) {
	q.Used = request
	blob, err := c.encode()
	if err != nil {
		return nil, err
	}
	return &session.Claim{Card: c.ID, Version: c.version, Blob: blob}, nil
}
