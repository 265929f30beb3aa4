// Package approval is the desk between a held call and the people who may
// release it: it puts questions up as cards, checks who answers and with which
// code, and lets exactly one call through for each yes.
//
// The desk is where approver and code are checked, and the only place: a
// channel carries words and taps, it never decides. All that a card means is
// worked out here from its sealed content and its sealed votes, so that writing
// into the store forges nothing. First terminal answer wins: any deny is
// terminal, an allow needs as many different people as the card was frozen
// with.
//
// It refuses: an answer from anyone who is not listed by the platform's own
// immutable id, an empty list that would mean everybody, a guess after five
// wrong codes, a yes for anything but the digest that was shown, and to say
// that someone is being asked when no card reached anyone.
package approval

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/redact"
	"github.com/openclaw-verifier/verifier/session"
)

// Channel reaches people on one platform.
type Channel interface {
	// Send shows a card and returns where it is, to be edited later. It
	// never waits for a person.
	Send(ctx context.Context, c *Card) (ref string, err error)
	// Settle shows the state of a card that was sent. Unless the outcome's state
	// is Open (one of two approvals, a gateway that stops), it takes the buttons
	// away.
	Settle(ctx context.Context, ref string, c *Card, o Outcome) error
	// Listen passes on what people answer until ctx ends. A channel that can't
	// hear returns when ctx ends.
	Listen(ctx context.Context, answer func(context.Context, Answer) (Outcome, error)) error
}

// Recorder keeps the record. What can't be recorded is not asked.
type Recorder interface {
	Append(e record.Entry) error
}

// Options are what a Desk needs.
type Options struct {
	Terms      Terms    // to begin with; Configure replaces them
	Key        hmac.Key // the server key: codes and seals come from it
	Store      Store
	Record     Recorder
	Home       string                                                        // what no two processes have at the same time, such as a locked directory; empty: each has its own
	Inbox      bool                                                          // people can look at the waiting cards by themselves (terminal, page)
	Channels   map[string]Channel                                            // by name
	Pauses     *session.Pauses                                               // what is known of the owner's pauses; nil: nothing
	Visible    func(*Ask) bool                                               // whether a card shows all of a call; nil: none does, and no single tap on it allows
	Detailed   func(*Ask) bool                                               // whether the details show all of a call; nil: they never do
	Bodies     func(*Ask, jsontext.Value) (shown jsontext.Value, hidden int) // a call's params with all that it writes to files, and how many values are hidden still; nil: they can't be shown
	Head       func(*Ask) string                                             // what a call does, in one line of safe text; nil: its tool's name
	Hide       func(string) string                                           // what may be kept of a person's words; nil: [redact.Line]
	NoReset    func() bool                                                   // the level is never lowered now, not even by the owner; nil: it may be
	Log        *slog.Logger                                                  // nil discards
	Rand       io.Reader                                                     // nil means crypto/rand
	Poll       time.Duration                                                 // how often waiting cards are reread; 0 means 2 s
	Observe    func(Event)                                                   // is called with what happens; may be nil
	SweepEvery time.Duration                                                 // how often cards are looked at that another process may have left; 0 means 5 s
	Together   time.Duration                                                 // how long a call waits for others of its turn, to share a card with them; 0 means 100 ms
	Collect    time.Duration                                                 // how long a batch card gathers calls before it is sent; 0 means 1 s
}

// Event is what happened at the desk, for metrics.
type Event struct {
	Kind  EventKind
	Allow bool          // of an answer
	Took  time.Duration // from putting the question to the answer
}

// EventKind says what happened.
type EventKind uint8

// What can happen.
const (
	EventAsked EventKind = iota
	EventAnswered
	EventExpired
	EventUndelivered
	EventExhausted // an agent has asked too often: a call that needed a person was denied
)

// Desk puts questions to people and takes their answers. Close it to stop its goroutines.
type Desk struct {
	*core
	*cardStore
	*asker
	*tickets
	*endings
	*edits
	*openings
	*likes

	Rooms

	sweeper      *sweeper
	votes        *votes
	buttons      *buttons
	commands     *commands
	listenErrors sync.Map // why a channel stopped listening: errors, by its name
}

// Rooms are the parts of a desk where people do more than answer questions.
type Rooms struct {
	Pauses   *Pauses
	Grants   *Grants
	Consents *Consents
	Sources  *Sources
}

// Defaults for what Options leave out.
const (
	DefaultTTL     = 30 * time.Minute
	defaultMinutes = 60
	defaultOpen    = 5
	allMinutes     = 10 // the most that "all" grants
	tapMinutes     = 30 // what a button grants, where it may
	maxTries       = 5  // wrong codes before a person is locked out
	grace          = 3 * time.Second
	noHolds        = 10 * time.Minute // how long a no holds for identical calls, and silence, unless the user writes meanwhile
	maxBatch       = 20
	sendDeadline   = 10 * time.Second
	strandedAfter  = 3 * sendDeadline
	leastDelivery  = 2 * time.Second        // for a call that can wait less, a card may take this long to reach someone
	askSlack       = 250 * time.Millisecond // for the store, once a call has been held: its caller waits for an answer
	stopDeadline   = 2 * time.Second        // for what is shown while the desk stops
	leaveDeadline  = 2 * time.Second        // for taking a request off its card, once it waits no more
	swapTries      = 100
	pausesEvery    = 10 * time.Second
	defaultPrompts = 60
)

// NewDesk opens a desk and starts listening for answers.
func NewDesk(o Options) (*Desk, error) {
	if len(o.Key) < 32 {
		return nil, errors.New("approval: the server key must be at least 32 bytes")
	}
	o.fill()
	process, err := newProcess(o.Home)
	if err != nil {
		return nil, err
	}
	d := assemble(o, process)
	if err := d.Configure(o.Terms); err != nil {
		return nil, err
	}
	d.run(d.sweeper.hearWakes)
	d.run(d.sweeper.sweep)
	for name, ch := range o.Channels {
		d.run(func(ctx context.Context) { d.listen(ctx, name, ch) })
	}
	return d, nil
}

// assemble builds the parts of a desk, each from those that it needs.
func assemble(o Options, p process) *Desk {
	cards := &cardStore{core: &core{o: o, tasks: newTasks(o.Log)}, process: p, waiters: waiters{byID: make(map[string][]*waiter)}}
	held, previews := &heldParams{}, &previews{}
	announcer := &announcer{cardStore: cards}
	pauses := &Pauses{cards}
	sweeper := &sweeper{cardStore: cards, announcer: announcer, pauses: pauses}
	consents := &Consents{core: cards.core}
	grants := &Grants{cards, announcer, consents}
	sources := &Sources{cards.core}
	likes := &likes{cards, previews}
	endings := &endings{cards, announcer}
	tickets := &tickets{cards, announcer, endings, pauses, consents}
	placer := &placer{cardStore: cards, announcer: announcer, sweeper: sweeper, endings: endings}
	asker := &asker{cardStore: cards, placer: placer, heldParams: held, pauses: pauses, tickets: tickets}
	votes := &votes{cards, announcer, pauses, consents, likes, previews, held}
	edits := &edits{cards, votes, held, previews}
	openings := &openings{cardStore: cards, likes: likes, heldParams: held}
	buttons := &buttons{cards, votes, edits, openings, consents}
	commands := &commands{cards, announcer, votes, edits, pauses, grants, sources}
	return &Desk{
		core: cards.core, cardStore: cards, asker: asker, tickets: tickets, endings: endings, edits: edits, openings: openings, likes: likes,
		Rooms:   Rooms{Pauses: pauses, Grants: grants, Consents: consents, Sources: sources},
		sweeper: sweeper, votes: votes, buttons: buttons, commands: commands,
	}
}

func (o *Options) fill() {
	o.Poll = cmp.Or(o.Poll, 2*time.Second)
	o.Collect = cmp.Or(o.Collect, time.Second)
	o.Together = cmp.Or(o.Together, 100*time.Millisecond)
	o.SweepEvery = cmp.Or(o.SweepEvery, 5*time.Second)
	o.Rand = cmp.Or(o.Rand, rand.Reader)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Pauses == nil {
		o.Pauses = session.NewPauses(o.Key, nil, nil)
	}
	if o.Observe == nil {
		o.Observe = func(Event) {}
	}
	if o.Hide == nil {
		o.Hide = redact.Line
	}
	if o.Head == nil {
		o.Head = func(a *Ask) string { return quote(a.Tool) }
	}
}

// CanAsk reports whether anyone could answer a card, and by what; if not, why.
func (as *asker) CanAsk() error {
	t := as.terms()
	if len(t.people) == 0 {
		return errors.New("no person may approve: the approver list is empty")
	}
	if !as.o.Inbox && len(as.o.Channels) == 0 {
		return errors.New("there is no way to ask: no channel and no owner token")
	}
	if !t.enough(&Ask{Approvals: t.Approvals}) {
		return errors.New("fewer people may approve than approvals are needed")
	}
	return nil
}

// canAsk is CanAsk for one question: enough of the people it goes to may allow
// it.
func (as *asker) canAsk(a *Ask) error {
	if err := as.CanAsk(); err != nil {
		return err
	}
	t, bound := as.terms(), *a
	if t.bind(&bound); !t.enough(&bound) {
		return errors.New("fewer people may allow this call than must")
	}
	return nil
}

// Stop ends every wait and takes no more questions. Cards stay where they are:
// they can be answered until they expire, for one retry.
func (d *Desk) Stop() { d.stop() }

// Close stops the desk and waits for its goroutines. Ask and Answer must not be
// called any more.
func (d *Desk) Close() {
	d.stop()
	d.wg.Wait()
}

func (d *Desk) listen(ctx context.Context, name string, ch Channel) {
	if err := ch.Listen(ctx, d.Answer); err != nil && ctx.Err() == nil {
		d.listenErrors.Store(name, err)
		d.o.Log.Error("a channel stopped listening", "channel", name, "err", err)
	}
}

// Lists reports whether an id may answer at all. What it may answer is for
// Answer to say.
func (d *Desk) Lists(id string) bool {
	_, listed := d.terms().people[id]
	return listed
}

// MayAnswer reports whether an id may answer a call on a card.
func (d *Desk) MayAnswer(id string, c *Card) bool {
	name, listed := d.terms().people[id]
	return listed && slices.ContainsFunc(c.Questions, func(q Question) bool { return q.Ask.admits(name) })
}
