// Package notify tells people that a question waits, where no chat shows them the
// card: by Web Push on their devices ([push]), and by ntfy.
//
// It looks at what waits, as the page does, and tells what is new and what is over.
// So it is no part of the decision: a card counts as shown because the page is there
// to be looked at, and never because something was sent from here, and a service that
// is slow or down holds nothing up. What is sent holds the card's first line, with
// secrets hidden, and neither code nor handle: it answers nothing.
//
// It refuses to tell a device of a person who may no longer answer, and removes it;
// to keep more than a few messages for a service that does not take them; and to try
// for longer than the question is open.
package notify

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/openclaw-verifier/verifier/channels"
	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/internal/text"
	"github.com/openclaw-verifier/verifier/push"
)

// Desk is where questions wait.
type Desk interface {
	Waiting(ctx context.Context) ([]*approval.Card, time.Time, error)
	// MayAnswer reports whether a person, by their id, may answer a call on a card.
	MayAnswer(id string, c *approval.Card) bool
}

// News is what there is to tell of a card.
type News struct {
	Card  string
	Topic string // the same for all news of the card, and tells nothing of it
	Title string // the card's first line
	Text  string // all that will run, where that is short
	Link  string // where the card can be answered; empty: nowhere that has a name
	Until time.Time
	Shown string // allows the call from the notification, see [push.Shown]; empty: nothing does
	Over  bool   // it was answered, or can't be answered any more
}

// open is a card that waits.
type open struct {
	*News
	told map[string]bool // by the names of the outboxes of devices
}

// Options are what a Notifier needs.
type Options struct {
	Key     hmac.Key
	Desk    Desk
	Devices *push.Devices
	Push    *push.Client              // nil: nothing goes to devices
	Current func(d *push.Device) bool // whether the person who added it may still answer, by the same token
	Allow   func() bool               // whether a call may be allowed from a notification; nil: none
	Ntfy    *Ntfy                     // gets every card; nil: there is none
	Page    string                    // what the address of a card on the page begins with; empty: it has none that people can open
	Record  func(record.Entry) error  // what becomes of devices
	Log     *slog.Logger              // nil discards
	Every   time.Duration             // how often it looks at what another process did; 0 means 2 s
}

// Bounds.
const (
	lookEvery = 2 * time.Second
	lookApart = 150 * time.Millisecond
	toldSince = 30 * time.Second // a card that is older when we start was told of by the process before
)

// Notifier looks at what waits and tells. Stop it to end its goroutines.
type Notifier struct {
	o      Options
	kicked chan struct{}
	ctx    context.Context
	cancel context.CancelFunc
	wg     sync.WaitGroup

	// Only the watch uses these.
	known map[string]*open // nil: it was not looked yet
	boxes map[string]*outbox
}

// New makes one and starts its watch.
func New(o Options) *Notifier {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	o.Every = cmp.Or(o.Every, lookEvery)
	n := &Notifier{o: o, kicked: make(chan struct{}, 1), boxes: make(map[string]*outbox)}
	n.ctx, n.cancel = context.WithCancel(context.Background())
	n.wg.Go(n.watch)
	return n
}

// Nudge says that something may have changed at the desk. It never waits.
func (n *Notifier) Nudge() {
	if n == nil {
		return
	}
	select {
	case n.kicked <- struct{}{}:
	default: // one is waiting to be seen
	}
}

// Stop ends the watch and what is being sent.
func (n *Notifier) Stop() {
	if n == nil {
		return
	}
	n.cancel()
	n.wg.Wait()
	if n.o.Push != nil {
		n.o.Push.Close()
	}
}

func (n *Notifier) watch() {
	tick := time.NewTicker(n.o.Every)
	defer tick.Stop()
	for n.ctx.Err() == nil {
		n.look()
		select {
		case <-n.ctx.Done():
		case <-time.After(lookApart):
		}
		select {
		case <-n.ctx.Done():
		case <-n.kicked:
		case <-tick.C:
		}
	}
}

// look compares what waits with what waited.
func (n *Notifier) look() {
	defer func() {
		if p := recover(); p != nil {
			n.o.Log.Error("telling people of questions ended in a panic", "panic", text.Panic(p))
		}
	}()
	devices := n.devices()
	if len(devices) == 0 && n.o.Ntfy == nil {
		n.known = make(map[string]*open) // a device that is added later hears of all that waits
		return
	}
	ctx, cancel := context.WithTimeout(n.ctx, lookEvery)
	defer cancel()
	cards, now, err := n.o.Desk.Waiting(ctx)
	if err != nil {
		return // the next look may be luckier
	}
	first, before := n.known == nil, n.known
	n.known = make(map[string]*open, len(cards))
	for _, c := range cards {
		put := (*outbox).put
		if first && now.Sub(c.Ask.Created) > toldSince {
			put = (*outbox).knows
		}
		n.known[c.ID] = before[c.ID]
		if before[c.ID] == nil {
			n.known[c.ID] = &open{News: n.news(c), told: make(map[string]bool)}
			if n.o.Ntfy != nil {
				put(n.box("ntfy", n.o.Ntfy.tell), n.known[c.ID].News)
			}
		}
		n.tellDevices(c, n.known[c.ID], devices, put)
	}
	for id, told := range before {
		if n.known[id] == nil {
			n.over(told.News)
		}
	}
}

// news is what there is to tell of an open card.
func (n *Notifier) news(c *approval.Card) *News {
	shown := channels.Notify(c)
	out := &News{
		Card: c.ID, Topic: n.o.Key.Seal("push-topic", c.ID), Title: shown.Title, Text: shown.Text, Until: c.Ask.Until,
	}
	if n.o.Page != "" {
		out.Link = n.o.Page + c.ID
	}
	if shown.OneTap && n.o.Allow != nil && n.o.Allow() {
		out.Shown = push.Shown(n.o.Key, c.ID, shown.Title, shown.Text)
	}
	return out
}

// tellDevices notifies the people who may answer the card, also on a device that is added while it waits.
func (n *Notifier) tellDevices(c *approval.Card, o *open, devices []push.Device, put func(*outbox, *News)) {
	for _, d := range devices {
		name := "device " + d.ID + " of " + d.Of // another person may turn notifications on in the same browser
		if !o.told[name] && n.o.Desk.MayAnswer(d.Of, c) {
			o.told[name] = true
			put(n.box(name, n.toDevice(d.ID, d.Of)), o.News)
		}
	}
}

// over tells those who were told of a card that it is over.
func (n *Notifier) over(told *News) {
	news := &News{Card: told.Card, Topic: told.Topic, Title: told.Title, Link: told.Link, Until: told.Until, Over: true}
	for _, b := range n.boxes {
		b.put(news)
	}
}

func (n *Notifier) box(name string, tell func(context.Context, *News) error) *outbox {
	if n.boxes[name] == nil {
		n.boxes[name] = &outbox{n: n, name: name, tell: tell, told: make(map[string]bool)}
	}
	return n.boxes[name]
}
