package approval

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/internal/record"
)

// tickets let a caller that could wait no longer learn of a late yes, or close its question.
type tickets struct {
	*cardStore

	announcer *announcer
	endings   *endings
	pauses    *Pauses
	consents  *Consents
}

// MaxTickets is how many questions can be asked about at a time.
const MaxTickets = 32

// ticket names a question that was still open when its caller could wait no
// longer. The caller shows it to learn of a late yes, and it is good for nothing
// else: it is bound to the client, and what it holds the client may know.
func (ti *tickets) ticket(client, card, digest string) string {
	return card + "." + digest + "." + ti.o.Key.Seal("ticket", client, card, digest)
}

// readTicket finds the question that a ticket of this client names.
func (ti *tickets) readTicket(client, ticket string) (card, digest string, ok bool) {
	card, rest, _ := strings.Cut(ticket, ".")
	digest, seal, _ := strings.Cut(rest, ".")
	return card, digest, ti.o.Key.Check(seal, "ticket", client, card, digest)
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
func (ti *tickets) Answered(ctx context.Context, client string, tickets []string, wait time.Duration) (answered []string) {
	enough := time.After(wait)
	woken := make(chan struct{}, 1)
	var asked []*late
	for _, ticket := range tickets[:min(len(tickets), MaxTickets)] {
		card, digest, ok := ti.readTicket(client, ticket)
		if !ok {
			continue
		}
		l := &late{waiter: waiter{woken: woken}, ticket: ticket, card: card, digest: digest}
		ti.waiters.add(card, &l.waiter)
		defer ti.waiters.remove(card, &l.waiter)
		asked = append(asked, l)
	}
	for {
		for _, l := range asked {
			if ti.usable(ctx, l) {
				answered = append(answered, l.ticket)
			}
		}
		if len(answered) > 0 {
			return answered
		}
		select {
		case <-woken:
		case <-enough:
			return nil
		case <-ctx.Done():
			return nil
		case <-ti.ctx.Done():
			return nil
		}
	}
}

// usable reports that a question has a yes which the next identical call can use.
func (ti *tickets) usable(ctx context.Context, l *late) bool {
	ctx, cancel := context.WithTimeout(ctx, askSlack)
	defer cancel()
	c, now, err := ti.load(ctx, l.card)
	if err != nil {
		if !errors.Is(err, ErrGone) && ctx.Err() == nil {
			ti.o.Log.WarnContext(ctx, "a question could not be read for a caller that waits for a late answer", "err", err)
		}
		return false
	}
	l.seen.Store(c.version)
	q := c.question(l.digest)
	if q == nil || q.Ask.HeldOnly || q.last().Edited != "" || q.state(now) != Allowed || ti.pauses.View(q.Ask.Agent).On {
		return false
	}
	if left := q.kept(q.last(), now); left > 0 { // for a call that may still be held
		time.AfterFunc(left, l.wake)
		return false
	}
	return ti.claimable(c, q, "", now) && !ti.endings.outlivedBy(ctx, &q.Ask, q.last())
}

// Elsewhere is why a question is closed that people did not answer here. People read it.
type Elsewhere string

// Why a question is closed.
const (
	AllowedThere Elsewhere = "it was allowed at the agent's own terminal"
	ClosedThere  Elsewhere = "it was answered at the agent's own terminal"
)

// AnsweredElsewhere closes a question that its user has answered at the agent's own terminal. It
// allows nothing: whether the call runs there was the user's to say. A question that people have answered here stays as
// they left it, and so does one whose ticket is not this client's.
func (ti *tickets) AnsweredElsewhere(ctx context.Context, client, ticket string, why Elsewhere) error {
	card, digest, ok := ti.readTicket(client, ticket)
	if !ok {
		return nil
	}
	c, err := ti.change(ctx, card, func(c *Card, now time.Time) (Change, error) {
		q := c.question(digest)
		if q == nil || q.state(now) != Open {
			return Change{}, errUnchanged
		}
		q.withdraw(string(why), now)
		return Change{Closed: c.closed(now), Waiting: map[string]time.Time{digest: now}}, nil // the next such call asks again
	})
	if errors.Is(err, errUnchanged) || c == nil && errors.Is(err, ErrGone) {
		return nil
	}
	if err != nil {
		return err
	}
	q := c.question(digest)
	entry := entryFor(record.KindAnswer, c, q)
	entry.Note = "withdrawn: " + string(why)
	ti.note(ctx, entry)
	if why == ClosedThere {
		ti.consents.noteRefused(ctx, &q.Ask)
	}
	ti.runFor(ctx, func(ctx context.Context) { ti.announcer.showCopies(ctx, c) })
	return nil
}
