package approval

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/audit"
	"github.com/openclaw-verifier/verifier/redact"
	"github.com/openclaw-verifier/verifier/session"
)

// announce records that a card asks, then shows it to people. A card that
// reaches nobody is taken back at once: nobody is told to wait for it.
func (d *Desk) announce(ctx context.Context, id string) error {
	c, now, err := d.load(ctx, id)
	if err != nil {
		return err
	}
	d.recentCards.note(c.Ref(), c.ID)
	if err := d.recordAsked(c); err != nil {
		_, taking := d.withdraw(ctx, id, "the record could not be written")
		return fmt.Errorf("%w: %w", ErrRecord, errors.Join(err, taking))
	}
	stage, reached := d.reach(ctx, c)
	if !reached {
		taken, err := d.withdraw(ctx, id, "the question could not be shown to anyone")
		switch {
		case (taken || err != nil) && d.ctx.Err() != nil:
			return ErrStopped
		case taken || err != nil:
			return ErrNobody
		}
	}
	d.follow(c, stage, now)
	// A list gets no summary: its buttons would move under a finger that is about to tap one of them.
	if d.o.Summarise != nil && len(c.Questions) == 1 && !c.Questions[0].Ask.Test {
		d.runFor(ctx, func(ctx context.Context) { d.summarise(ctx, c) })
	}
	return nil
}

// reach puts a card where its first stage says. Where no channel of a stage
// works the next begins at once.
func (d *Desk) reach(ctx context.Context, c *Card) (stage int, reached bool) {
	for stage := range max(len(c.stages()), 1) {
		if stage > 0 {
			if _, begun := d.begin(ctx, c.ID, stage); !begun {
				return stage, false
			}
		}
		if d.deliver(ctx, c, stage) {
			return stage, true
		}
	}
	return 0, false
}

// deliver sends the card on the channels of a stage and reports whether it
// reached someone.
func (d *Desk) deliver(ctx context.Context, c *Card, stage int) bool {
	names, inbox := d.channels(c, stage)
	sent := make(chan bool, len(names))
	for _, name := range names {
		d.runFor(ctx, func(ctx context.Context) { sent <- d.send(ctx, name, c) })
	}
	if inbox {
		return true
	}
	waiting := &waiter{agent: c.Questions[0].Ask.Agent, woken: make(chan struct{}, 1)}
	d.waiters.add(c.ID, waiting)
	defer d.waiters.remove(c.ID, waiting)
	for left := len(names); left > 0; {
		select {
		case ok := <-sent:
			if ok {
				return true
			}
			left--
		case <-waiting.woken: // a tap can be faster than the platform's word that it shows the card
			if c, _, err := d.load(ctx, c.ID); err == nil && c.voted() {
				return true
			}
		case <-ctx.Done():
			return false
		}
	}
	return false
}

// channels are the names of those that a stage goes to. The inbox, where people
// look by themselves, reaches them only where no chat was to: else nobody would
// look there.
func (d *Desk) channels(c *Card, stage int) (names []string, inbox bool) {
	stages := c.stages()
	if stage < len(stages) && len(stages[stage].Channels) > 0 {
		names = slices.Clone(stages[stage].Channels)
	} else {
		names = slices.Sorted(maps.Keys(d.o.Channels))
	}
	inbox = d.o.Inbox && (!slices.ContainsFunc(names, func(n string) bool { return n != Terminal }) ||
		stage < len(stages) && slices.Contains(stages[stage].Channels, Terminal))
	if d.o.Channels[Terminal] == nil { // there is no screen to print on
		names = slices.DeleteFunc(names, func(n string) bool { return n == Terminal })
	}
	return names, inbox
}

// stranded reports a card that was placed and never shown: the process that was
// to show it has died. Nobody can be waiting for an answer to it.
func (d *Desk) stranded(c *Card, now time.Time) bool {
	_, inbox := d.channels(c, c.Stage)
	return !inbox && len(c.Copies) == 0 && now.Sub(c.Questions[0].Ask.Created) > strandedAfter
}

// errNoChannel says that a route names a channel that is not open here.
var errNoChannel = errors.New("approval: there is no such channel here")

func (d *Desk) send(ctx context.Context, name string, c *Card) bool {
	// A card that is on its way when the desk stops may arrive: it is known then,
	// and says that the gateway has stopped.
	ctx, cancel := d.patience(ctx)
	defer cancel()
	ref, err := "", errNoChannel
	if ch := d.o.Channels[name]; ch != nil {
		ref, err = ch.Send(ctx, c)
	}
	if err != nil {
		d.o.Log.ErrorContext(ctx, "a card could not be sent", "channel", name, "ref", c.Ref(), "err", err)
		d.o.Observe(Event{Kind: EventUndelivered})
		d.note(ctx, audit.Entry{Kind: audit.KindDelivery, Ref: c.Ref(), Card: c.ID, Note: name + ": not sent"})
		return false
	}
	d.addCopy(ctx, c.ID, Copy{Channel: name, Ref: ref})
	return true
}

// addCopy remembers where the card is shown. What was answered while it was
// being sent is shown there too.
func (d *Desk) addCopy(ctx context.Context, id string, copied Copy) {
	// It is shown by now: that is kept even if the desk stops at this moment.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	for range swapTries {
		c, now, err := d.load(ctx, id)
		if err != nil {
			return
		}
		c.Copies = append(c.Copies, copied)
		err = d.swap(ctx, c, Change{})
		if errors.Is(err, ErrStale) {
			continue
		}
		if err == nil && (d.ctx.Err() != nil || c.closed(now) || c.voted() || c.Questions[0].Summary != nil) {
			d.showCopy(ctx, id, copied)
		}
		return
	}
}

// expired records that nobody has answered, and shows it, in one process.
func (d *Desk) expired(ctx context.Context, c *Card, now time.Time) {
	left := slices.DeleteFunc(c.all(), func(q *Question) bool { return q.state(now) != Expired })
	if len(left) == 0 || !d.tells(ctx, c.ID) {
		return
	}
	for _, q := range left {
		e := entryFor(audit.KindAnswer, c, q)
		e.Note = "expired without an answer"
		d.note(ctx, e)
		d.o.Observe(Event{Kind: EventExpired})
	}
	d.showCopies(ctx, c)
}

// tells reports whether it is for this process to tell of a card's expiry: none
// has taken that on before.
func (d *Desk) tells(ctx context.Context, id string) bool {
	for range swapTries {
		c, _, err := d.load(ctx, id)
		if err != nil || c.Ended {
			return false
		}
		c.Ended = true
		if err := d.swap(ctx, c, Change{}); !errors.Is(err, ErrStale) {
			return err == nil
		}
	}
	return false
}

// withdraw takes a card back that can't be answered. It reports whether it did: not
// if someone has answered, for then it has reached them after all, nor if the card is
// gone or the store did not take the change.
func (d *Desk) withdraw(ctx context.Context, id, why string) (bool, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askSlack)
	defer cancel()
	for range swapTries {
		c, now, err := d.load(ctx, id)
		if err != nil || c.voted() {
			return false, err
		}
		gone := make(map[string]time.Time)
		for i := range c.Questions {
			q := &c.Questions[i]
			q.Votes = append(q.Votes, Vote{Via: "verifier", Reason: why, At: now})
			gone[q.Ask.Digest] = now // a retry may ask again
		}
		if err := d.swap(ctx, c, Change{Closed: true, Waiting: gone}); !errors.Is(err, ErrStale) {
			return err == nil, err
		}
	}
	return false, ErrStale
}

func (d *Desk) recordAsked(c *Card) error {
	for i := range c.Questions {
		q := &c.Questions[i]
		e := entryFor(audit.KindAsked, c, q)
		kept, bodies := redact.WithoutBodies(q.Ask.Tool, q.Ask.Shown) // they are for people, not for the record
		e.Params, e.Hidden, e.Why, e.Mode = kept, q.Ask.Hidden+bodies, q.Ask.Why, "confirm"
		e.By, e.Directory = q.Ask.Rule, q.Ask.Directory
		if d.terms().Names {
			e.Params, e.Directory = redact.Names(q.Ask.Shown), ""
		}
		if err := d.o.Record.Append(e); err != nil {
			return err
		}
		d.o.Observe(Event{Kind: EventAsked})
	}
	return nil
}

// entryFor is a record entry about one question.
func entryFor(kind audit.Kind, c *Card, q *Question) audit.Entry {
	a := &q.Ask
	e := audit.Entry{
		Kind: kind, Ref: c.Ref(), Card: c.ID, Client: a.Conversation.Client, Session: a.SessionKey, SessionID: a.SessionID,
		Agent: a.Agent, Run: a.Run, Tool: a.Tool, Sent: a.Sent, Digest: a.CallDigest(), Level: a.Level.String(),
	}
	if a.Test {
		e.Note = testNote
	}
	return e
}

// note records what does not hold anything up; a failure shows in health.
func (d *Desk) note(ctx context.Context, e audit.Entry) {
	if err := d.o.Record.Append(e); err != nil {
		d.o.Log.ErrorContext(ctx, "the record could not be written", "kind", e.Kind, "ref", e.Ref, "err", err)
	}
}

// Ending is the end of a session, with all that the agent did in it.
type Ending struct {
	Conversation          session.Conversation
	SessionKey, SessionID string
	At                    time.Time // by the store's clock
	Why                   string    // is shown to people
}

// leaves reports whether a question is about a call of another session.
func (e *Ending) leaves(q *Question) bool {
	return q.Ask.Conversation != e.Conversation || q.Ask.SessionKey != e.SessionKey || q.Ask.SessionID != "" && e.SessionID != "" && q.Ask.SessionID != e.SessionID
}

// Abandon takes back the open cards of a session that has ended: its run is gone, so
// no call could use a yes. Yeses from before that no call has used are over as well.
func (d *Desk) Abandon(ctx context.Context, e Ending) error {
	conv := e.Conversation
	if err := d.noteEnd(ctx, conv, e.SessionKey, e.SessionID, e.At); err != nil {
		return err
	}
	ids, err := d.o.Store.Open(ctx)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if !strings.HasPrefix(id, conv.Hash()[:2]) {
			continue
		}
		c, _, err := d.load(ctx, id)
		if errors.Is(err, ErrGone) || errors.Is(err, errForged) {
			continue
		}
		if err != nil {
			return err
		}
		if slices.ContainsFunc(c.all(), e.leaves) {
			continue
		}
		taken, err := d.withdraw(ctx, id, e.Why)
		if err != nil && !errors.Is(err, ErrGone) {
			return err
		}
		if !taken {
			continue
		}
		for _, q := range c.all() {
			entry := entryFor(audit.KindAnswer, c, q)
			entry.Note = "withdrawn: " + e.Why
			d.note(ctx, entry)
		}
		d.runFor(ctx, func(ctx context.Context) { d.showCopies(ctx, c) })
	}
	return nil
}
