package approval

import (
	"context"
	"errors"
	"hash/maphash"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/internal/text"
)

// shows sends cards to the channels, and changes what they show.
type shows struct {
	*cards

	deaf  sync.Map // why a channel stopped listening: errors, by its name
	seed  maphash.Seed
	turns [512]sync.Mutex // edits of one copy take turns, so that what is shown last is what is true

	ctx  context.Context // ends when the desk stops
	stop context.CancelFunc
	wg   sync.WaitGroup
}

// run starts a goroutine that Close waits for, on behalf of a request, so that the log can say which. It ends neither
// with that nor with the desk.
func (sh *shows) run(request context.Context, f func(ctx context.Context)) {
	sh.wg.Go(func() { sh.survive(func() { f(context.WithoutCancel(request)) }) })
}

// survive has a panic end only what is done in it.
func (sh *shows) survive(f func()) {
	defer func() {
		if p := recover(); p != nil {
			sh.o.Log.Error("the desk recovered from a panic", "panic", text.Panic(p))
		}
	}()
	f()
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
	at := Copy{Channel: name, Ref: ref}
	c, err = sh.change(ctx, c, func(t *store.Tx, c *Card) bool {
		at.At = t.Now
		c.Copies = append(c.Copies, at)
		return true
	})
	switch {
	case err != nil:
		sh.o.Log.ErrorContext(ctx, "where a card is shown could not be kept", "channel", name, "err", err)
	case len(c.Votes) > 0 || c.State != Open || sh.ctx.Err() != nil:
		sh.showCopy(ctx, c, at)
	}
	return true
}

// withdraw takes a card back, unless someone has answered. It reports whether it did.
func (sh *shows) withdraw(ctx context.Context, c *Card, why string) (bool, error) {
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
	err := sh.o.Store.Update(context.WithoutCancel(ctx), n, func(t *store.Tx) error {
		taken = nil
		all, err := sh.about(t, "")
		for _, c := range all {
			if s := c.at(t.Now); !meant(c) || s != Open && (s != Allowed || c.Used != "") {
				continue
			}
			if why == unshown { // it does not count for its agent
				t.Prompted(c.Ask.Agent, -1)
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
		sh.closed(ctx, c)
	}
	return len(taken), nil
}

// closed wakes those who wait for a card, or for its place, and shows on every copy what became of it: on all channels
// at the same time, so that a channel that is down does not delay the others.
func (sh *shows) closed(ctx context.Context, c *Card) {
	sh.waiters.wake(c.ID)
	sh.waiters.wake(c.Ask.Conversation.Hash())
	for _, at := range c.Copies {
		sh.run(ctx, func(ctx context.Context) { sh.showCopy(ctx, c, at) })
	}
}

// showCopy edits one copy to show a card as it was just read or written. It reads the card again if that is open or if
// another edit of the copy was under way: the card may have changed since.
func (sh *shows) showCopy(ctx context.Context, c *Card, at Copy) {
	ch := sh.o.Channels[at.Channel]
	if ch == nil {
		return // another process has that channel
	}
	turn := &sh.turns[maphash.String(sh.seed, at.Channel+" "+at.Ref)%uint64(len(sh.turns))]
	waited := !turn.TryLock()
	if waited {
		turn.Lock()
	}
	defer turn.Unlock()
	ctx, cancel := sh.patience(ctx)
	defer cancel()
	id, now, err := c.ID, time.Time{}, error(nil) // a settled card is settled at any time
	if waited || c.State == Open {
		c, now, err = sh.load(ctx, id)
	}
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
func (sh *shows) patience(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendDeadline)
	unhook := context.AfterFunc(sh.ctx, func() { time.AfterFunc(stopDeadline, cancel) })
	return ctx, func() {
		unhook()
		cancel()
	}
}

// warn records something, logs it and shows it on every channel.
func (sh *shows) warn(ctx context.Context, e record.Entry, text string) {
	sh.note(ctx, e)
	sh.o.Log.WarnContext(ctx, text)
	sh.Tell(ctx, text)
}

// Tell shows a notice on every channel.
func (sh *shows) Tell(ctx context.Context, text string) {
	for name, ch := range sh.o.Channels {
		sh.run(ctx, func(ctx context.Context) {
			ctx, cancel := sh.patience(ctx)
			defer cancel()
			if _, err := ch.Send(ctx, &Card{notice: text}); err != nil {
				sh.o.Log.ErrorContext(ctx, "a notice could not be sent", "channel", name, "err", err)
			}
		})
	}
}

// Prober is a [Channel] that can say whether it works without showing anything to anyone.
type Prober interface {
	// Probe asks the platform who we are there and whether cards would arrive, and returns that in a few words, such
	// as "@my_bot in chat 123". The error says what is wrong and what to do about it. Neither holds a secret.
	Probe(ctx context.Context) (who string, err error)
}

// Probed is how one channel is doing.
type Probed struct {
	Channel   string
	Who       string // as the channel says
	Err       error  // why no card would arrive, or why the test card did not
	ListenErr error  // why answers are no longer heard there
	Asked     bool   // the channel could be asked; if not, only a test card shows whether it works
	Sent      bool   // a test card was sent
}

// Probe asks every channel how it is doing, for an approver. With send it also shows a card on each that asks
// nothing.
func (d *Desk) Probe(ctx context.Context, id string, send bool) ([]Probed, error) {
	if !d.Lists(id) {
		return nil, ErrNotApprover
	}
	names := slices.Sorted(maps.Keys(d.o.Channels))
	out := make([]Probed, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		out[i] = Probed{Channel: name, Err: errors.New("the channel failed over the question; the log says where")}
		all.Go(func() { d.survive(func() { out[i] = d.probe(ctx, name, send) }) })
	}
	all.Wait()
	return out, ctx.Err()
}

func (d *Desk) probe(ctx context.Context, name string, send bool) Probed {
	ctx, cancel := d.patience(ctx)
	defer cancel()
	p, ch := Probed{Channel: name}, d.o.Channels[name]
	if err, stopped := d.deaf.Load(name); stopped {
		p.ListenErr, _ = err.(error)
	}
	if prober, ok := ch.(Prober); ok {
		p.Asked = true
		p.Who, p.Err = prober.Probe(ctx)
	}
	if send && p.Err == nil {
		_, p.Err = ch.Send(ctx, TestCard())
		p.Sent = p.Err == nil
	}
	return p
}
