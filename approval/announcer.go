package approval

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/openclaw-verifier/verifier/internal/record"
)

// announcer shows cards in channels, and changes what they show.
type announcer struct {
	*cardStore

	turns turns
}

// deliver sends the card on its channels and reports whether it reached someone.
func (a *announcer) deliver(ctx context.Context, c *Card) bool {
	names, inbox := a.channels(c)
	sent := make(chan bool, len(names))
	for _, name := range names {
		a.runFor(ctx, func(ctx context.Context) { sent <- a.send(ctx, name, c) })
	}
	if inbox {
		return true
	}
	waiting := &waiter{agent: c.Questions[0].Ask.Agent, woken: make(chan struct{}, 1)}
	a.waiters.add(c.ID, waiting)
	defer a.waiters.remove(c.ID, waiting)
	for left := len(names); left > 0; {
		select {
		case ok := <-sent:
			if ok {
				return true
			}
			left--
		case <-waiting.woken: // a tap can be faster than the platform's word that it shows the card
			if c, _, err := a.load(ctx, c.ID); err == nil && c.voted() {
				return true
			}
		case <-ctx.Done():
			return false
		}
	}
	return false
}

// channels are the names of those that a card goes to. The inbox counts only
// where no chat gets the card: people who expect a message don't look there.
func (a *announcer) channels(c *Card) (names []string, inbox bool) {
	if len(c.Questions) > 0 {
		names = slices.Clone(c.Questions[0].Ask.Channels)
	}
	listed := slices.Contains(names, Terminal)
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(a.o.Channels))
	}
	inbox = a.o.Inbox && (listed || !slices.ContainsFunc(names, func(n string) bool { return n != Terminal }))
	if a.o.Channels[Terminal] == nil { // there is no screen to print on
		names = slices.DeleteFunc(names, func(n string) bool { return n == Terminal })
	}
	return names, inbox
}

// shownIn reports whether a card is put into a channel. Where people look by themselves, they see all.
func (a *announcer) shownIn(c *Card, channel string) bool {
	names, _ := a.channels(c)
	return channel == Terminal || a.o.Channels[channel] == nil || slices.Contains(names, channel)
}

// stranded reports a card that was placed and never shown: the process that was
// to show it has died, and the call that waited for it with it.
func (a *announcer) stranded(c *Card, now time.Time) bool {
	_, inbox := a.channels(c)
	return !inbox && len(c.Copies) == 0 && now.Sub(c.Questions[0].Ask.Created) > strandedAfter
}

// errNoChannel says that an agent has a channel that is not open here.
var errNoChannel = errors.New("approval: there is no such channel here")

func (a *announcer) send(ctx context.Context, name string, c *Card) bool {
	// A card that is on its way when the desk stops may arrive: it is known then,
	// and says that the gateway has stopped.
	ctx, cancel := a.patience(ctx)
	defer cancel()
	ref, err := "", errNoChannel
	if ch := a.o.Channels[name]; ch != nil {
		ref, err = ch.Send(ctx, c)
	}
	if err != nil {
		a.o.Log.ErrorContext(ctx, "a card could not be sent", "channel", name, "ref", c.Ref(), "err", err)
		a.o.Observe(Event{Kind: EventUndelivered})
		a.note(ctx, record.Entry{Kind: record.KindDelivery, Ref: c.Ref(), Card: c.ID, Note: name + ": not sent"})
		return false
	}
	a.addCopy(ctx, c.ID, Copy{Channel: name, Ref: ref})
	return true
}

// addCopy remembers where the card is shown. What was answered while it was
// being sent is shown there too.
func (a *announcer) addCopy(ctx context.Context, id string, copied Copy) {
	// It is shown by now: that is kept even if the desk stops at this moment.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
	defer cancel()
	changed := false
	_, err := a.change(ctx, id, func(c *Card, now time.Time) (Change, error) {
		c.Copies = append(c.Copies, copied)
		changed = c.closed(now) || c.voted()
		return Change{}, nil
	})
	if err == nil && (changed || a.ctx.Err() != nil) {
		a.showCopy(ctx, id, copied)
	}
}

// unshown is why a card is taken back that no person has seen.
const unshown = "the question could not be shown to anyone"

// withdraw takes a card back that can't be answered. It reports whether it did: not
// if someone has answered, for then it has reached them after all, nor if the card is
// gone or the store did not take the change.
func (a *announcer) withdraw(ctx context.Context, id, why string) (bool, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askSlack)
	defer cancel()
	_, err := a.change(ctx, id, func(c *Card, now time.Time) (Change, error) {
		if c.voted() {
			return Change{}, errUnchanged
		}
		gone := make(map[string]time.Time)
		for i := range c.Questions {
			c.Questions[i].withdraw(why, now)
			gone[c.Questions[i].Ask.Digest] = now // a retry may ask again
		}
		return Change{Closed: true, Waiting: gone}, nil
	})
	if errors.Is(err, errUnchanged) {
		return false, nil
	}
	return err == nil, err
}

// showCopies brings every copy of a card up to date, on all channels at the same
// time: a channel that is down does not delay the others. It returns when all have tried.
func (a *announcer) showCopies(ctx context.Context, c *Card) {
	var all sync.WaitGroup
	for _, copied := range c.Copies {
		all.Add(1)
		a.runFor(ctx, func(ctx context.Context) {
			defer all.Done()
			a.showCopy(ctx, c.ID, copied)
		})
	}
	all.Wait()
}

// showCopy brings one copy up to date. The copies of a card take turns and each
// reads the card anew, so that what is shown last is what is true.
func (a *announcer) showCopy(ctx context.Context, id string, copied Copy) {
	ch := a.o.Channels[copied.Channel]
	if ch == nil {
		return // another process has that channel
	}
	defer a.turns.take(copied)()
	ctx, cancel := a.patience(ctx)
	defer cancel()
	c, now, err := a.load(ctx, id)
	if err != nil {
		a.o.Log.ErrorContext(ctx, "a card could not be read again; its buttons answer with the truth", "channel", copied.Channel, "card", id, "err", err)
		return
	}
	shown := c.status(now)
	if shown.State == Open && a.ctx.Err() != nil {
		shown.Text = "The gateway has stopped and the call was denied. If it is approved before " + c.Until().Format(time.TimeOnly) +
			" UTC, one identical retry still passes."
	}
	if err := ch.Settle(ctx, copied.Ref, c, shown); err != nil {
		a.o.Log.ErrorContext(ctx, "a card could not be edited; its buttons answer with the truth", "channel", copied.Channel, "ref", c.Ref(), "err", err)
	}
}

// patience is how long a channel may take to show something: less once the desk
// stops, since the process is to end soon.
func (a *announcer) patience(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), sendDeadline)
	unhook := context.AfterFunc(a.ctx, func() {
		sleep(ctx, stopDeadline)
		cancel()
	})
	return ctx, func() {
		unhook()
		cancel()
	}
}

// turns let one at a time edit a copy.
type turns struct {
	mu   sync.Mutex
	held map[Copy]*turn
}

type turn struct {
	sync.Mutex
	wanted int
}

// take waits for its turn at a copy and returns what ends it.
func (t *turns) take(at Copy) (done func()) {
	t.mu.Lock()
	if t.held == nil {
		t.held = make(map[Copy]*turn)
	}
	mine := t.held[at]
	if mine == nil {
		mine = &turn{}
		t.held[at] = mine
	}
	mine.wanted++
	t.mu.Unlock()
	mine.Lock()
	return func() {
		mine.Unlock()
		t.mu.Lock()
		defer t.mu.Unlock()
		if mine.wanted--; mine.wanted == 0 {
			delete(t.held, at)
		}
	}
}
