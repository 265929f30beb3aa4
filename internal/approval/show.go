package approval

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/redact"
)

// shows sends cards to the channels, and changes what they show.
type shows struct {
	*cards

	seed  maphash.Seed
	turns [512]sync.Mutex // edits of one copy take turns, so that what is shown last is what is true
}

// unshown is why a card is taken back that no person has seen.
const unshown = "the question could not be shown to anyone"

// announce records that a card asks, then shows it to people. A card that reaches no one is taken back at once:
// nothing may wait for it.
func (sh *shows) announce(ctx context.Context, c *Card, w *waiter) error {
	if err := sh.recordAsked(c); err != nil {
		_, taking := sh.withdraw(ctx, c, "the record could not be written")
		return fmt.Errorf("%w: %w", ErrRecord, errors.Join(err, taking))
	}
	showing, cancel := context.WithTimeout(ctx, w.request.showing())
	defer cancel()
	if sh.deliver(showing, c, w) {
		return nil
	}
	taken, err := sh.withdraw(ctx, c, unshown)
	switch {
	case !taken && err == nil: // someone has answered: it has reached them after all
		return nil
	case sh.ctx.Err() != nil:
		return ErrStopped
	}
	return ErrNobody
}

func (sh *shows) recordAsked(c *Card) error {
	a, e := &c.Ask, entryFor(record.KindAsked, c)
	kept, bodies := redact.WithoutBodies(a.Tool, a.Shown) // they are for people, not for the record
	e.Params, e.Hidden, e.Why, e.Mode, e.By, e.Directory = kept, a.Hidden+bodies, a.Why, "confirm", a.Rule, a.Directory
	if sh.terms().Names {
		e.Params, e.Directory = redact.Names(a.Shown), ""
	}
	if err := sh.o.Record.Append(e); err != nil {
		return err
	}
	sh.o.Observe(Event{Kind: EventAsked})
	return nil
}

// deliver sends the card on its channels and reports whether it reached someone.
func (sh *shows) deliver(ctx context.Context, c *Card, w *waiter) bool {
	names, inbox := sh.channels(c)
	sent := make(chan bool, len(names))
	for _, name := range names {
		sh.runFor(ctx, func(ctx context.Context) { sent <- sh.send(ctx, name, c) })
	}
	if inbox {
		return true
	}
	for range names {
		select {
		case ok := <-sent:
			if ok {
				return true
			}
		case <-w.woken: // a tap can be faster than the platform's word that it shows the card
			w.wake()
			return true
		case <-ctx.Done():
			return false
		}
	}
	return false
}

// channels are the names of those that a card goes to. That people can look at what waits by themselves counts only
// where no chat gets the card: who expects a message doesn't look.
func (sh *shows) channels(c *Card) (names []string, inbox bool) {
	names = slices.Clone(c.Ask.Channels)
	listed := slices.Contains(names, Terminal)
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(sh.o.Channels))
	}
	inbox = listed || !slices.ContainsFunc(names, func(n string) bool { return n != Terminal })
	if sh.o.Channels[Terminal] == nil { // there is no screen to print on
		names = slices.DeleteFunc(names, func(n string) bool { return n == Terminal })
	}
	return names, inbox
}

// shownIn reports whether a card is put into a channel. Where people look by themselves, they see all.
func (sh *shows) shownIn(c *Card, channel string) bool {
	names, _ := sh.channels(c)
	return channel == Terminal || sh.o.Channels[channel] == nil || slices.Contains(names, channel)
}

// stranded reports a card that was put up and never shown.
func (sh *shows) stranded(c *Card, now time.Time) bool {
	_, inbox := sh.channels(c)
	return !inbox && len(c.Copies) == 0 && len(c.Votes) == 0 && now.Sub(c.Ask.Created) > strandedAfter
}

// send puts a card into a channel, and keeps where it is. What was answered meanwhile is shown there too.
func (sh *shows) send(ctx context.Context, name string, c *Card) bool {
	// A card that is on its way when the desk stops may arrive: it is known then, and says that the gateway has
	// stopped.
	sending, cancel := sh.patience(ctx)
	defer cancel()
	ref, err := "", errors.New("approval: there is no such channel here")
	if ch := sh.o.Channels[name]; ch != nil {
		ref, err = ch.Send(sending, c)
	}
	if err != nil {
		sh.o.Log.ErrorContext(ctx, "a card could not be sent", "channel", name, "ref", c.Ref(), "err", err)
		sh.o.Observe(Event{Kind: EventUndelivered})
		sh.note(ctx, record.Entry{Kind: record.KindDelivery, Ref: c.Ref(), Card: c.ID, Note: name + ": not sent"})
		return false
	}
	keeping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopDeadline)
	defer cancel()
	at := Copy{Channel: name, Ref: ref}
	c, err = sh.change(keeping, c, func(t *store.Tx, c *Card) (bool, error) {
		at.At = t.Now
		c.Copies = append(c.Copies, at)
		return true, nil
	})
	switch {
	case err != nil:
		sh.o.Log.ErrorContext(ctx, "where a card is shown could not be kept", "channel", name, "err", err)
	case len(c.Votes) > 0 || c.State != Open || sh.ctx.Err() != nil:
		sh.showCopy(ctx, c.ID, at)
	}
	return true
}

// withdraw takes a card back, unless someone has answered. It reports whether it did.
func (sh *shows) withdraw(ctx context.Context, c *Card, why string) (bool, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*askSlack)
	defer cancel()
	n, err := sh.takeBack(ctx, c.kept.Conversation, why, func(one *Card) bool {
		return one.ID == c.ID && one.State == Open && len(one.Votes) == 0
	}, nil)
	return n > 0, err
}

// takeBack takes back the open cards of a conversation and the yeses that no call has used, of those that are meant,
// with whatever else changes it. It returns how many these were.
func (sh *shows) takeBack(ctx context.Context, n store.Name, why string, meant func(*Card) bool,
	also func(t *store.Tx) error) (int, error) {
	var taken []*Card
	err := sh.o.Store.Update(ctx, n, func(t *store.Tx) error {
		taken = nil
		all, err := sh.about(t, "")
		for _, c := range all {
			if s := c.at(t.Now); !meant(c) || s != Open && (s != Allowed || c.Used != "") {
				continue
			}
			if why == unshown { // it does not count for its agent
				_, err = t.Prompted(c.Ask.Agent, -1)
			}
			c.withdraw(why, t.Now)
			if err = errors.Join(err, c.put(t)); err != nil {
				return err
			}
			taken = append(taken, c)
		}
		if err == nil && also != nil {
			err = also(t)
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	for _, c := range taken {
		e := entryFor(record.KindAnswer, c)
		e.Note = "withdrawn: " + why
		sh.note(ctx, e)
		sh.waiters.wake(c.ID)
		sh.runFor(ctx, func(ctx context.Context) { sh.showCopies(ctx, c) })
	}
	return len(taken), nil
}

// showCopies brings every copy of a card up to date, on all channels at the same time: a channel that is down does
// not delay the others. It returns when all have tried.
func (sh *shows) showCopies(ctx context.Context, c *Card) {
	var all sync.WaitGroup
	for _, at := range c.Copies {
		all.Add(1)
		sh.runFor(ctx, func(ctx context.Context) {
			defer all.Done()
			sh.showCopy(ctx, c.ID, at)
		})
	}
	all.Wait()
}

// showCopy brings one copy up to date. It reads the card anew.
func (sh *shows) showCopy(ctx context.Context, id string, at Copy) {
	ch := sh.o.Channels[at.Channel]
	if ch == nil {
		return // another process has that channel
	}
	turn := &sh.turns[maphash.String(sh.seed, at.Channel+" "+at.Ref)%uint64(len(sh.turns))]
	turn.Lock()
	defer turn.Unlock()
	ctx, cancel := sh.patience(ctx)
	defer cancel()
	c, now, err := sh.load(ctx, id)
	if err == nil {
		o := c.outcome(now)
		if o.State == Open && sh.ctx.Err() != nil {
			o.Text = "The gateway has stopped and the call was denied. "
			if c.Ask.Unseen {
				o.Text += "If the agent makes it again, you are asked again."
			} else {
				o.Text += "If it is approved before " + c.Ask.Until.Format(time.TimeOnly) +
					" UTC, one identical retry still passes."
			}
		}
		err = ch.Settle(ctx, at.Ref, c, o)
	}
	if err != nil {
		sh.o.Log.ErrorContext(ctx, "a card could not be edited; its buttons answer with the truth",
			"channel", at.Channel, "card", id, "err", err)
	}
}

// patience is how long a channel may take to show something: less once the desk stops, since the process is to end
// soon.
func (c *core) patience(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendDeadline)
	unhook := context.AfterFunc(c.ctx, func() { time.AfterFunc(stopDeadline, cancel) })
	return ctx, func() {
		unhook()
		cancel()
	}
}

// warn records something, logs it and shows it on every channel.
func (c *core) warn(ctx context.Context, e record.Entry, text string) {
	c.note(ctx, e)
	c.o.Log.WarnContext(ctx, text)
	c.Tell(ctx, text)
}

// Tell shows a notice on every channel.
func (c *core) Tell(ctx context.Context, text string) {
	for name, ch := range c.o.Channels {
		c.runFor(ctx, func(ctx context.Context) {
			ctx, cancel := c.patience(ctx)
			defer cancel()
			if _, err := ch.Send(ctx, &Card{notice: text}); err != nil {
				c.o.Log.ErrorContext(ctx, "a notice could not be sent", "channel", name, "err", err)
			}
		})
	}
}
