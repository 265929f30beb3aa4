// Package delivery is what every chat channel needs besides words: calls to a
// platform that end in time, and a listener that comes back.
//
// A [Line] carries calls. Each has a deadline, waits for its chat's turn, is
// tried again where that may help and as late as the platform asks for, and
// fails at once while the platform is known to be down: a card that can't be
// shown must be known to be so before a caller gives up. [Keep] runs a listener
// again when it ends, [Lead] runs it only where this instance holds the lease,
// so that replicas do not take each other's updates.
//
// A [Chat] has these parts for one channel, and a [Listener] works on what its
// people do.
//
// The package knows no platform and draws no card. It refuses to wait beyond a
// deadline, to hammer a platform that has asked for a pause, and to let a
// secret into an error ([Explain]).
package delivery

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// Deps are what a channel is given by the program.
type Deps struct {
	Log      *slog.Logger     // nil discards
	Leases   Leases           // nil: this instance is alone
	Instance string           // who holds a lease: different in every process
	Now      func() time.Time // for the time left on a card; nil means time.Now
	Page     string           // what the address of a card on the owner's page begins with; empty: it has none that people can open
}

// Fill replaces what is nil.
func (d Deps) Fill() Deps {
	d.Log = cmp.Or(d.Log, slog.New(slog.DiscardHandler))
	if d.Now == nil {
		d.Now = time.Now
	}
	return d
}

// Verdict is what a failed call means. The zero Verdict is that this call can't
// succeed, and others may.
type Verdict struct {
	Again bool          // trying again may help
	After time.Duration // the chat is not to be called again before; 0: soon
	Down  bool          // it is the platform that fails, not the call
}

// Options are what a Line needs.
type Options struct {
	Judge   func(error) Verdict // what an error of the platform means
	Rate    rate.Limit          // calls a second to one chat, in the long run; 0 means 1
	Burst   int                 // calls to one chat at once; 0 means 20
	Timeout time.Duration       // of one try; 0 means 4 s
	Health  *Health             // gets a note on how sending goes; may be nil
}

// Line carries calls to one platform. It is safe for concurrent use.
type Line struct {
	o       Options
	breaker breaker
	mu      sync.Mutex
	chats   map[string]*chat
}

// chat is how often and from when on a chat may be called.
type chat struct {
	limit   *rate.Limiter
	from    time.Time
	waiting atomic.Int64 // calls in turn, see there
}

const (
	maxTries = 4
	maxChats = 10_000 // more than any owner has; then all start anew
)

// ErrDown says that the platform has failed so often that it is not tried now.
var ErrDown = errors.New("the platform is down and is not tried again yet")

// ErrBusy says that a chat's limit leaves no room before the deadline.
var ErrBusy = errors.New("too much was sent to this chat; there is no room before the deadline")

// New makes a line.
func New(o Options) *Line {
	o.Rate, o.Burst, o.Timeout = cmp.Or(o.Rate, 1), cmp.Or(o.Burst, 20), cmp.Or(o.Timeout, 4*time.Second)
	return &Line{o: o, chats: make(map[string]*chat)}
}

// Do makes a call about a chat, again where that may help, until ctx ends. The
// error is the last one.
func (l *Line) Do(ctx context.Context, about string, call func(context.Context) error) error {
	return l.do(ctx, about, l.o.Timeout, true, call, l.turn)
}

// Later is Do for a call that changes what is shown already: calls that a person waits for go first.
func (l *Line) Later(ctx context.Context, about string, call func(context.Context) error) error {
	return l.do(ctx, about, l.o.Timeout, true, call, l.spareTurn)
}

// Send is Do for a call that shows something new. It has more time, and where no
// answer came in time it is not made again: what it was to show may be there
// already, and would be there twice.
func (l *Line) Send(ctx context.Context, about string, call func(context.Context) error) error {
	return l.do(ctx, about, 2*l.o.Timeout, false, call, l.turn)
}

func (l *Line) do(ctx context.Context, about string, timeout time.Duration, late bool, call func(context.Context) error, turn turnFunc) error {
	for try := 0; ; try++ {
		v, err := l.once(ctx, about, timeout, late, call, turn)
		if err == nil || !v.Again || try == maxTries-1 || !wait(ctx, max(v.After, Backoff(try, 100*time.Millisecond, 2*time.Second))) {
			return err
		}
	}
}

// once makes one try. What was not even tried is not tried again.
func (l *Line) once(ctx context.Context, about string, timeout time.Duration, late bool, call func(context.Context) error, turn turnFunc) (Verdict, error) {
	if err := l.breaker.open(time.Now()); err != nil {
		return Verdict{}, err
	}
	if err := turn(ctx, about); err != nil {
		return Verdict{}, err
	}
	if err := l.breaker.enter(time.Now()); err != nil {
		return Verdict{}, err
	}
	attempt, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err := call(attempt)
	v := l.judge(ctx, attempt, late, err)
	l.breaker.leave(time.Now(), err, v.Down)
	l.o.Health.Note("sending", err)
	if v.After > 0 {
		l.pause(about, v.After)
	}
	return v, err
}

// judge knows what the end of a deadline means; the rest the channel knows.
func (l *Line) judge(ctx, attempt context.Context, late bool, err error) Verdict {
	switch {
	case err == nil:
		return Verdict{}
	case errors.Is(ctx.Err(), context.Canceled):
		return Verdict{}
	case attempt.Err() != nil:
		return Verdict{Again: late, Down: true}
	}
	return l.o.Judge(err)
}

// wait reports false when there is no time for it.
func wait(ctx context.Context, d time.Duration) bool {
	if until, bounded := ctx.Deadline(); bounded && time.Until(until) < d {
		return false
	}
	return Sleep(ctx, d)
}

// turnFunc waits until a chat may be called.
type turnFunc func(ctx context.Context, about string) error

// turn waits until the chat may be called.
func (l *Line) turn(ctx context.Context, about string) error {
	c, err := l.resumed(ctx, about)
	if err != nil {
		return err
	}
	c.waiting.Add(1)
	defer c.waiting.Add(-1)
	if c.limit.Wait(ctx) != nil {
		return cmp.Or(ctx.Err(), ErrBusy)
	}
	return nil
}

// spareTurn is turn for a call that can wait: it takes a turn only while no call waits in turn.
func (l *Line) spareTurn(ctx context.Context, about string) error {
	for {
		c, err := l.resumed(ctx, about)
		if err != nil {
			return err
		}
		if c.waiting.Load() == 0 && c.limit.Allow() {
			return nil
		}
		next := time.Duration((1 - c.limit.Tokens()) / float64(l.o.Rate) * float64(time.Second))
		if !wait(ctx, max(next, 10*time.Millisecond)) {
			return cmp.Or(ctx.Err(), ErrBusy)
		}
	}
}

// resumed is the chat, once a pause is over that the platform has asked for.
func (l *Line) resumed(ctx context.Context, about string) (*chat, error) {
	c, from := l.chat(about)
	if pause := time.Until(from); pause > 0 && !wait(ctx, pause) {
		return c, cmp.Or(ctx.Err(), fmt.Errorf("%w: the platform has asked for a pause of %s", ErrBusy, pause.Round(time.Second)))
	}
	return c, nil
}

func (l *Line) chat(about string) (c *chat, from time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c = l.chats[about]
	if c == nil {
		if len(l.chats) >= maxChats {
			clear(l.chats)
		}
		c = &chat{limit: rate.NewLimiter(l.o.Rate, l.o.Burst)}
		l.chats[about] = c
	}
	return c, c.from
}

// pause keeps a chat from being called for a while.
func (l *Line) pause(about string, d time.Duration) {
	c, _ := l.chat(about)
	l.mu.Lock()
	defer l.mu.Unlock()
	if from := time.Now().Add(d); from.After(c.from) {
		c.from = from
	}
}

// Limits of a breaker.
const (
	maxFailures  = 5 // in a row, before the platform counts as down
	firstPause   = 2 * time.Second
	longestPause = time.Minute
)

// breaker stops calls to a platform that fails. After a pause one call tries it;
// its success lets the others through, its failure makes the next pause longer.
type breaker struct {
	mu       sync.Mutex
	failures int
	pause    time.Duration
	from     time.Time // not before
	trying   bool      // the one call is under way
	last     error
}

// open says why no call is let through now, if none is.
func (b *breaker) open(now time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.refusal(now)
}

// enter lets a call through, or says why not. A call that is let through must call leave.
func (b *breaker) enter(now time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.refusal(now); err != nil {
		return err
	}
	b.trying = b.failures >= maxFailures
	return nil
}

func (b *breaker) refusal(now time.Time) error {
	if b.failures >= maxFailures && (b.trying || now.Before(b.from)) {
		return fmt.Errorf("%w: %w", ErrDown, b.last)
	}
	return nil
}

// leave tells how a call went that was let through.
func (b *breaker) leave(now time.Time, err error, down bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.trying = false
	if !down {
		b.failures, b.pause, b.last = 0, 0, nil
		return
	}
	b.last = err
	if b.failures++; b.failures < maxFailures {
		return
	}
	b.pause = min(max(2*b.pause, firstPause), longestPause)
	b.from = now.Add(b.pause)
}

// failure is an error of a platform in words that can be logged. errors.Is and
// errors.As see the platform's own error.
type failure struct {
	text string
	err  error
}

func (f *failure) Error() string { return f.text }
func (f *failure) Unwrap() error { return f.err }

const maxExplained = 300 // characters of what a platform may have said

// Explain puts an error of a platform into words: of what, and the words, which
// may be the platform's and so anything. They are shortened, and hold no secret.
func Explain(err error, of, words string, secrets ...string) error {
	if err == nil {
		return nil
	}
	for _, s := range secrets {
		if s != "" {
			words = strings.ReplaceAll(words, s, "[secret]")
		}
	}
	words = strings.ToValidUTF8(words, "?")
	if r := []rune(words); len(r) > maxExplained {
		words = string(r[:maxExplained]) + "…"
	}
	return &failure{text: of + ": " + words, err: err}
}

// Undecodable reports whether an error says that the platform's answer is not the JSON that the library expects.
func Undecodable(err error) bool {
	_, syntax := errors.AsType[*json.SyntaxError](err)
	_, kind := errors.AsType[*json.UnmarshalTypeError](err)
	return syntax || kind || errors.Is(err, io.ErrUnexpectedEOF)
}
