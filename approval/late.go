package approval

import (
	"context"
	"errors"
	"strings"
	"time"
)

// MaxTickets is how many questions can be asked about at a time.
const MaxTickets = 32

// ticket names a question that was still open when its caller could wait no
// longer. The caller shows it to learn of a late yes, and it is good for nothing
// else: it is bound to the client, and what it holds the client may know.
func (d *Desk) ticket(client, card, digest string) string {
	return card + "." + digest + "." + d.o.Key.Seal("ticket", client, card, digest)
}

// readTicket finds the question that a ticket of this client names.
func (d *Desk) readTicket(client, ticket string) (card, digest string, ok bool) {
	card, rest, _ := strings.Cut(ticket, ".")
	digest, seal, _ := strings.Cut(rest, ".")
	return card, digest, d.o.Key.Check(seal, "ticket", client, card, digest)
}

// late is a question that someone waits for whose call was denied.
type late struct {
	waiter

	ticket, card, digest string
}

// Answered gives those tickets of a client whose questions have got a yes that
// the next identical call can use. It waits so long for the first, unless ctx ends
// or the desk stops. Everything else gives nothing: a no, a yes that was used, a question
// that is gone, a ticket that is not this client's.
func (d *Desk) Answered(ctx context.Context, client string, tickets []string, wait time.Duration) (answered []string) {
	enough := time.NewTimer(wait)
	defer enough.Stop()
	woken := make(chan struct{}, 1)
	var asked []*late
	for _, ticket := range tickets[:min(len(tickets), MaxTickets)] {
		card, digest, ok := d.readTicket(client, ticket)
		if !ok {
			continue
		}
		l := &late{waiter: waiter{woken: woken}, ticket: ticket, card: card, digest: digest}
		d.waiters.add(card, &l.waiter)
		defer d.waiters.remove(card, &l.waiter)
		asked = append(asked, l)
	}
	for {
		for _, l := range asked {
			if d.usable(ctx, l) {
				answered = append(answered, l.ticket)
			}
		}
		if len(answered) > 0 {
			return answered
		}
		select {
		case <-woken:
		case <-enough.C:
			return nil
		case <-ctx.Done():
			return nil
		case <-d.ctx.Done():
			return nil
		}
	}
}

// usable reports that a question has a yes which the next identical call can use.
func (d *Desk) usable(ctx context.Context, l *late) bool {
	ctx, cancel := context.WithTimeout(ctx, askSlack)
	defer cancel()
	c, now, err := d.load(ctx, l.card)
	if err != nil {
		if !errors.Is(err, ErrGone) && ctx.Err() == nil {
			d.o.Log.WarnContext(ctx, "a question could not be read for a caller that waits for a late answer", "err", err)
		}
		return false
	}
	l.seen.Store(c.version)
	q := c.question(l.digest)
	if q == nil || q.Ask.HeldOnly || q.last().Edited != "" || q.state(now) != Allowed || d.Brake(q.Ask.Agent).On {
		return false
	}
	if left := q.kept(q.last(), now); left > 0 { // for a call that may still be held
		time.AfterFunc(left, l.wake)
		return false
	}
	return d.claimable(c, q, "", now) && !d.outlivedBy(ctx, &q.Ask, q.last())
}
