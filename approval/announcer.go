package approval

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/openclaw-verifier/verifier/audit"
)

// announcer shows cards in channels, and changes what they show.
type announcer struct {
	*cardStore

	turns turns
}

// reach puts a card where its first stage says. Where no channel of a stage
// works the next begins at once.
func (a *announcer) reach(ctx context.Context, c *Card) (stage int, reached bool) {
	for stage := range max(len(c.stages()), 1) {
		if stage > 0 {
			if _, begun := a.begin(ctx, c.ID, stage); !begun {
				return stage, false
			}
		}
		if a.deliver(ctx, c, stage) {
			return stage, true
		}
	}
	return 0, false
}

// deliver sends the card on the channels of a stage and reports whether it
// reached someone.
func (a *announcer) deliver(ctx context.Context, c *Card, stage int) bool {
	names, inbox := a.channels(c, stage)
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

// channels are the names of those that a stage goes to. The inbox counts only
// where no chat gets the card: people who expect a message don't look there.
func (a *announcer) channels(c *Card, stage int) (names []string, inbox bool) {
	stages := c.stages()
	if stage < len(stages) && len(stages[stage].Channels) > 0 {
		names = slices.Clone(stages[stage].Channels)
	} else {
		names = slices.Sorted(maps.Keys(a.o.Channels))
	}
	inbox = a.o.Inbox && (!slices.ContainsFunc(names, func(n string) bool { return n != Terminal }) ||
		stage < len(stages) && slices.Contains(stages[stage].Channels, Terminal))
	if a.o.Channels[Terminal] == nil { // there is no screen to print on
		names = slices.DeleteFunc(names, func(n string) bool { return n == Terminal })
	}
	return names, inbox
}

// serves reports whether this process has any way to put a card where a stage
// says.
func (a *announcer) serves(c *Card, stage int) bool {
	names, inbox := a.channels(c, stage)
	return inbox || slices.ContainsFunc(names, func(name string) bool { return a.o.Channels[name] != nil })
}

// shownIn reports whether a stage that has begun puts a card into a channel. Where
// people look by themselves, they see all.
func (a *announcer) shownIn(c *Card, channel string) bool {
	if channel == Terminal || a.o.Channels[channel] == nil {
		return true
	}
	for stage := range c.Stage + 1 {
		if names, _ := a.channels(c, stage); slices.Contains(names, channel) {
			return true
		}
	}
	return false
}

// stranded reports a card that was placed and never shown: the process that was
// to show it has died, and the call that waited for it with it.
func (a *announcer) stranded(c *Card, now time.Time) bool {
	_, inbox := a.channels(c, c.Stage)
	return !inbox && len(c.Copies) == 0 && now.Sub(c.Questions[0].Ask.Created) > strandedAfter
}

// errNoChannel says that a route names a channel that is not open here.
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
		a.note(ctx, audit.Entry{Kind: audit.KindDelivery, Ref: c.Ref(), Card: c.ID, Note: name + ": not sent"})
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

// escalate sends an unanswered card to the channels of its next stage, once,
// whichever process is first; the copies that are out stay. Where no channel of
// the stage works the one after it begins at once. It reports whether the card
// still waits.
func (a *announcer) escalate(ctx context.Context, id string, stage int) bool {
	c, begun := a.begin(ctx, id, stage)
	switch {
	case c == nil:
		return false
	case !begun:
		return true
	}
	names, _ := a.channels(c, stage)
	a.o.Observe(Event{Kind: EventEscalated})
	a.note(ctx, audit.Entry{Kind: audit.KindDelivery, Ref: c.Ref(), Card: c.ID, Note: "escalated to " + strings.Join(names, ", ")})
	if !a.deliver(ctx, c, stage) && stage+1 < len(c.stages()) {
		return a.escalate(ctx, id, stage+1)
	}
	return true
}

// errAnswered says that a card does not wait any more.
var errAnswered = errors.New("approval: the card has been answered")

// begin marks a stage of a card as begun, if the card still waits and the stage has
// not begun. The card is nil if it does not wait any more.
func (a *announcer) begin(ctx context.Context, id string, stage int) (_ *Card, begun bool) {
	c, err := a.change(ctx, id, func(c *Card, now time.Time) (Change, error) {
		switch {
		case c.closed(now):
			return Change{}, errAnswered
		case c.Stage >= stage:
			return Change{}, errUnchanged
		}
		c.Stage = stage
		return Change{NotAfter: c.Until()}, nil
	})
	switch {
	case errors.Is(err, errAnswered):
		return nil, false
	case c == nil:
		a.o.Log.ErrorContext(ctx, "a question could not be put to the next in line", "card", id, "err", err)
		return &Card{}, false // another look may have more luck
	}
	return c, err == nil
}
