// Package approval asks people about calls and takes their answers.
//
// A card is one call. The desk puts it up, sends it to the channels, checks who answers, and lets exactly one call
// through for each yes. Channels carry words and taps; they never decide. What a card, a vote or a grant says is in
// the store, which seals it, so that writing into the database forges nothing.
//
// The first no ends a card. A yes takes as many different people as the card was put up with. A person is known by
// the platform's own unchangeable id; an empty list of approvers approves nothing. A yes is for the digest that was
// shown, and the first identical call takes it. A card that reaches no one is taken back, and its call is denied.
package approval

import (
	"cmp"
	"context"
	"errors"
	"hash/maphash"
	"log/slog"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/redact"
)

// Channel reaches people on one platform.
type Channel interface {
	// Send shows a card and returns where it is, to be edited later. It never waits for a person.
	Send(ctx context.Context, c *Card) (ref string, err error)
	// Settle shows the state of a card that was sent. Unless the outcome's state is Open (one of two approvals, a
	// gateway that stops), it takes the buttons away.
	Settle(ctx context.Context, ref string, c *Card, o Outcome) error
	// Listen passes on what people answer until ctx ends. A channel that can't hear returns when ctx ends.
	Listen(ctx context.Context, answer func(context.Context, Answer) (Outcome, error)) error
}

// Recorder keeps the record. What can't be recorded is not asked.
type Recorder interface {
	Append(e record.Entry) error
}

// Options are what a Desk needs.
type Options struct {
	Terms    Terms    // to begin with; Configure replaces them
	Key      hmac.Key // the server key: codes, buttons and tickets come from it
	Store    *store.Store
	Record   Recorder
	Channels map[string]Channel // by name
	Visible  func(*Ask) bool    // whether a card shows all of a call; nil: none does, and no single tap on it allows
	Detailed func(*Ask) bool    // whether the details show all of a call; nil: they never do
	// a call's params with all that it writes to files, and how many values are hidden still; nil: they can't be
	// shown
	Bodies  func(*Ask, jsontext.Value) (shown jsontext.Value, hidden int)
	Head    func(*Ask) string   // what a call does, in one line of safe text; nil: its tool's name
	Hide    func(string) string // what may be kept of a person's words; nil: [redact.Line]
	NoReset func() bool         // the level is never lowered now, not even by the owner; nil: it may be
	Log     *slog.Logger        // nil discards
	Poll    time.Duration       // how often waiting cards are looked at; 0 means 2 s
	Observe func(Event)         // is called with what happens; may be nil
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

// Bounds and defaults.
const (
	DefaultTTL     = 30 * time.Minute
	MaxAlwaysDays  = 30
	mostMinutes    = 60
	defaultOpen    = 5
	defaultPrompts = 60
	tapMinutes     = 30               // what a button grants, where it may
	maxTries       = 5                // wrong codes before a person is locked out
	noHolds        = 10 * time.Minute // how long a no, or silence, answers identical calls
	sendDeadline   = 10 * time.Second
	strandedAfter  = 3 * sendDeadline
	leastDelivery  = 2 * time.Second // for a call that can wait less, a card may take this long to reach someone
	stopDeadline   = 2 * time.Second // for what is shown while the desk stops
)

// Desk puts questions to people and takes their answers. Close it to stop its goroutines.
type Desk struct {
	*shows
	Grants *Grants
	Pauses *Pauses
}

// NewDesk opens a desk and starts listening for answers.
func NewDesk(o Options) (*Desk, error) {
	if len(o.Key) < 32 {
		return nil, errors.New("approval: the server key must be at least 32 bytes")
	}
	o.fill()
	s := &shows{cards: &cards{o: o, waiters: waiters{byCard: make(map[string][]*waiter)}}, seed: maphash.MakeSeed()}
	if err := s.Configure(o.Terms); err != nil {
		return nil, err
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	d := &Desk{shows: s, Grants: &Grants{s}, Pauses: &Pauses{s}}
	s.run(s.ctx, func(context.Context) { s.watch() })
	s.run(s.ctx, func(context.Context) { s.look() })
	for name, ch := range o.Channels {
		s.run(s.ctx, func(context.Context) {
			if err := ch.Listen(s.ctx, d.Answer); err != nil && s.ctx.Err() == nil {
				s.deaf.Store(name, err)
				o.Log.Error("a channel stopped listening", "channel", name, "err", err)
			}
		})
	}
	return d, nil
}

func (o *Options) fill() {
	never := func(*Ask) bool { return false }
	o.Poll = cmp.Or(o.Poll, 2*time.Second)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Visible == nil {
		o.Visible = never
	}
	if o.Detailed == nil {
		o.Detailed = never
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

// Stop ends every wait and takes no more questions. Cards stay where they are: they can be answered until they
// expire, for one retry.
func (d *Desk) Stop() { d.stop() }

// Close stops the desk and waits for its goroutines. Ask and Answer must not be called any more.
func (d *Desk) Close() {
	d.Stop()
	d.wg.Wait()
}
