package delivery

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/openclaw-verifier/verifier/internal/approval"
)

// Answers to the taps of one person.
const (
	tapsPerSecond = 5
	tapsAtOnce    = 20
)

// Chat is what the channel of any chat platform is made of.
type Chat struct {
	Deps

	HTTP      *http.Client
	Line      *Line // carries what is sent to chats and people
	Taps      *Line // carries answers to taps, which platforms don't count as messages: a chat that is busy must not hold them up
	Strangers *Line // carries replies to people who may not approve: they must not use up the share of the others
	Faults    *Health
	Listener  *Listener
	Tasks     *Tasks
}

// NewChat makes the parts of the named channel. The client follows no redirect: a token goes to the address in the config and nowhere else.
func NewChat(name string, d Deps, line, strangers Options) *Chat {
	d = d.Fill()
	d.Log = d.Log.With("channel", name)
	c := &Chat{Deps: d, Faults: &Health{}, Strangers: New(strangers), Taps: New(Options{Judge: line.Judge, Rate: tapsPerSecond, Burst: tapsAtOnce})}
	line.Health = c.Faults
	c.Line = New(line)
	c.HTTP = &http.Client{
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: MaxWorkers, IdleConnTimeout: time.Minute},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	c.Listener = &Listener{log: d.Log, workers: make(chan struct{}, MaxWorkers)}
	c.Tasks = NewTasks(d.Log)
	return c
}

// Health says what is wrong with the channel now; nil if nothing is.
func (c *Chat) Health() error { return c.Faults.Err() }

// Close ends what is still under way. Listen must have ended.
func (c *Chat) Close() error {
	c.Tasks.Close()
	c.HTTP.CloseIdleConnections()
	return nil
}

// ReplyLine is the line for the reply to a person, and the time that it may take: the usual one, except that a reply to a person who may
// not approve waits for its turn no longer than patience.
func (c *Chat) ReplyLine(ctx context.Context, usual *Line, o *approval.Outcome, patience time.Duration) (context.Context, *Line, context.CancelFunc) {
	if o.Kind != approval.Unauthorised {
		return ctx, usual, func() {}
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	return ctx, c.Strangers, cancel
}

const maxAnswer = 8 << 20 // bytes of a platform's answer to a call

// Bound limits what is read of an answer.
func Bound(res *http.Response) {
	res.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(res.Body, maxAnswer), res.Body}
}

// ID is a platform's id of a chat or a person. A file may write it as text or as
// a number.
type ID string

// UnmarshalText takes it as it is written.
func (id *ID) UnmarshalText(text []byte) error {
	*id = ID(text)
	return nil
}

// MayBeNumber tells the reader of the file that digits need no quotes.
func (*ID) MayBeNumber() {}

// Tasks are what a channel does in the background, until it is closed.
type Tasks struct {
	log  *slog.Logger
	ctx  context.Context // ends with Close
	stop context.CancelFunc
	wg   sync.WaitGroup
}

// taskTime is how long one may take.
const taskTime = 30 * time.Second

// NewTasks returns an empty set of tasks.
func NewTasks(log *slog.Logger) *Tasks {
	ctx, stop := context.WithCancel(context.Background())
	return &Tasks{log: log, ctx: ctx, stop: stop}
}

// Go starts one. If it fails, that is logged under what it means.
func (t *Tasks) Go(failed string, do func(ctx context.Context) error) {
	t.wg.Go(func() {
		ctx, cancel := context.WithTimeout(t.ctx, taskTime)
		defer cancel()
		if err := do(ctx); err != nil && t.ctx.Err() == nil {
			t.log.Warn(failed, "err", err)
		}
	})
}

// Close ends those under way and waits for them.
func (t *Tasks) Close() {
	t.stop()
	t.wg.Wait()
}

// Health is how a channel does, part by part. The zero Health, and a nil one,
// knows of no fault.
type Health struct {
	mu     sync.Mutex
	faults map[string]error
}

// Note tells how a part does; no error is that it is well.
func (h *Health) Note(part string, err error) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err == nil {
		delete(h.faults, part)
		return
	}
	if h.faults == nil {
		h.faults = make(map[string]error)
	}
	h.faults[part] = err
}

// Err is what is wrong now; nil if nothing is.
func (h *Health) Err() error {
	if h == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	var errs []error
	for _, part := range slices.Sorted(maps.Keys(h.faults)) {
		errs = append(errs, fmt.Errorf("%s: %w", part, h.faults[part]))
	}
	return errors.Join(errs...)
}
