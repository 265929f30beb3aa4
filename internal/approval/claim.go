package approval

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/internal/store"
)

// Claim takes a yes that people gave to this call, within the update that allows it: the card is put back as used by
// the request. heard is what the request was told that waited for the answer; nil: it comes later, and the yes has to
// outlast the wait. false: there is none to take; then the ruling says what the people said instead, if anything.
func (d *Desk) Claim(t *store.Tx, a *Ask, request string, heard *Ruling) (said Ruling, claimed bool, err error) {
	if heard != nil {
		c, err := d.read(t, heard.Card)
		switch {
		case errors.Is(err, store.ErrGone) || err == nil && !d.takes(t, c, a, request):
			return Ruling{Late: true, Ref: heard.Ref, Card: heard.Card}, false, nil
		case err != nil:
			return Ruling{}, false, err
		}
		return use(t, c, request)
	}
	all, err := d.about(t, a.Digest)
	for _, c := range slices.Backward(all) {
		if said, answered := d.says(t, c, a); said.Yes {
			return use(t, c, request)
		} else if answered {
			return said, false, nil
		}
	}
	return Ruling{}, false, err
}

// use puts the card back as used by a request.
func use(t *store.Tx, c *Card, request string) (Ruling, bool, error) {
	c.Used = request
	err := c.put(t)
	return c.ruling(t.Now), err == nil, err
}

// takes reports whether a request may take the yes on a card, by people who still may give it. One that did not wait
// for it has no name.
func (cs *cards) takes(t *store.Tx, c *Card, a *Ask, request string) bool {
	runs := cmp.Or(c.last().Edited, c.Ask.Digest)
	return c.State == Allowed && t.Now.Before(c.kept.Until) && c.agreed(cs.terms()) && runs == a.Digest &&
		(c.Used == "" || c.Used == request) && (!c.Ask.HeldOnly || c.Request == request)
}

// ruling gives the answers on a card as they are at a time.
func (c *Card) ruling(now time.Time) Ruling {
	out := Ruling{Ref: c.Ref(), Card: c.ID, Scope: c.scope(), Votes: c.Votes, Whole: true}
	for i := range c.Votes {
		out.Whole = out.Whole && (c.Votes[i].Seen || !c.Votes[i].Allow)
	}
	switch c.at(now) {
	case Allowed:
		out.Yes = true
	case Denied:
		no := c.Denial()
		out.Denied, out.ByPerson, out.Reason = true, no.Person != "", no.Reason
	case Expired:
		out.Silent = true
	}
	return out
}

// says is what a card that was answered says to the same call that comes later; false: nothing, and it may be asked
// about again. A no and silence end with the user's next message: the call may be what they want now. A yes dies with
// a worse level, a pause or a reset, and for a command with files that were written unseen; where it lasts, its grant
// counts. Other arguments than the call's are for the request that waited.
func (cs *cards) says(t *store.Tx, c *Card, a *Ask) (said Ruling, answered bool) {
	said = c.ruling(t.Now)
	asNow := slices.Equal(c.Ask.Said, a.Said)
	switch {
	case said.Denied:
		return said, asNow && said.ByPerson
	case said.Silent:
		return said, asNow && t.Now.Before(c.Ask.Until.Add(noHolds))
	}
	at := c.last().At
	said.Yes = cs.takes(t, c, a, "") && !c.Ask.HeldOnly && c.last().Edited == "" && !said.Scope.lastsHere() &&
		a.Level <= c.Ask.Level && !a.Unseen && at.After(t.C.Reset) && !t.PausedSince(at)
	return said, said.Yes
}

// MaxTickets is how many questions can be asked about at a time.
const MaxTickets = 32

// ticket names a question that was still open when its caller could wait no longer. The caller shows it to learn of a
// late yes, and it is good for nothing else: it is bound to the client, and what it holds the client may know.
func ticket(key hmac.Key, client, card, digest string) string {
	return card + "." + digest + "." + key.Seal("ticket", client, card, digest)
}

// readTicket finds the card that a ticket of this client names; "" if none.
func readTicket(key hmac.Key, client, ticket string) string {
	card, rest, _ := strings.Cut(ticket, ".")
	digest, seal, _ := strings.Cut(rest, ".")
	if !key.Check(seal, "ticket", client, card, digest) {
		return ""
	}
	return card
}

// Answered gives those tickets of a client whose questions have got a yes that the next identical call can use. It
// waits so long for the first, unless ctx ends or the desk stops. Everything else gives nothing: a no, a yes that was
// used, a question that is gone, a ticket that is not this client's.
func (d *Desk) Answered(ctx context.Context, client string, tickets []string, wait time.Duration) (yes []string) {
	asked, w := make(map[string]string), newWaiter(nil)
	for _, ticket := range tickets[:min(len(tickets), MaxTickets)] {
		if card := readTicket(d.o.Key, client, ticket); card != "" {
			asked[card] = ticket
			defer d.waiters.add(w, card)()
		}
	}
	_, _ = d.await(ctx, w, time.After(wait), func() (bool, error) {
		for card, ticket := range asked {
			if d.usable(ctx, card) {
				yes = append(yes, ticket)
			}
		}
		return len(yes) > 0, nil
	})
	return yes
}

// usable reports whether the next identical call can use the yes on a card, as things are.
func (d *Desk) usable(ctx context.Context, id string) (yes bool) {
	c, _, err := d.load(ctx, id)
	if err == nil && c.State == Allowed {
		err = d.o.Store.Update(ctx, c.kept.Conversation, func(t *store.Tx) error {
			yes = false
			c, err := d.read(t, id)
			if err != nil {
				return err
			}
			a, session := c.Ask, c.Ask.Window
			if !t.C.Met(session) { // such as a spawned one's: the worst of all
				session = ""
			}
			a.Level, a.Unseen = t.C.Level(session), a.Shell && t.Unseen != nil
			said, _ := d.says(t, c, &a)
			yes = t.Paused(a.Agent) == nil && (said.Yes || c.Used == "" && d.Granted(t, &a) != nil)
			return nil
		})
	}
	if err != nil && !errors.Is(err, store.ErrGone) && ctx.Err() == nil {
		d.o.Log.WarnContext(ctx, "a question could not be read for a caller that polls", "err", err)
	}
	return yes && err == nil
}

// Elsewhere is why a question is closed that people did not answer here. People read it.
type Elsewhere string

// Why a question is closed.
const (
	AllowedThere Elsewhere = "it was allowed at the agent's own terminal"
	ClosedThere  Elsewhere = "it was answered at the agent's own terminal"
)

// AnsweredElsewhere closes a question that its user has answered at the agent's own terminal. It allows nothing:
// whether the call runs there was the user's to say. A question that people have answered here stays as they left it,
// and so does one whose ticket is not this client's.
func (d *Desk) AnsweredElsewhere(ctx context.Context, client, ticket string, why Elsewhere) error {
	id := readTicket(d.o.Key, client, ticket)
	if id == "" {
		return nil
	}
	c, _, err := d.load(ctx, id)
	if err == nil {
		_, err = d.withdraw(ctx, c, string(why))
	}
	if errors.Is(err, store.ErrGone) {
		return nil
	}
	return err
}

// Ending is the end of a session, with all that the agent did in it.
type Ending struct {
	Conversation          store.Name
	SessionKey, SessionID string
}

// Abandon takes back the cards of a session that has ended: its run is gone, so no call could use a yes. Yeses that
// no call has used end as well. After any other end, such as a run that was aborted, a late yes is for the retry.
func (d *Desk) Abandon(ctx context.Context, e Ending) error {
	_, err := d.takeBack(ctx, e.Conversation, "the conversation was ended", func(c *Card) bool {
		id := c.Ask.SessionID
		return c.Ask.SessionKey == e.SessionKey && (id == e.SessionID || id == "" || e.SessionID == "")
	}, nil)
	return err
}
