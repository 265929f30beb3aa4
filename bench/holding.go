package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
)

// holding is a run in which calls are held, and what it found.
type holding struct {
	o        options
	n        int // calls that are held
	pinned   bool
	each     memory // of a held call
	bare     memory // of one that a handler holds which only waits
	taps     []time.Duration
	beside   []time.Duration // the same while n others are held
	floor    time.Duration   // to answer n at once, and do nothing else
	paused   []time.Duration // to answer n whom a pause ends
	stopped  []time.Duration // to answer n whom the end of the gateway ends
	allowing [2]row          // with none held, and with n
}

// settleDown is for what a server does after it has put a question.
const settleDown = 500 * time.Millisecond

// held measures, and prints one table.
func held(ctx context.Context, o options) error {
	h := &holding{o: o, n: manyHeld}
	if o.short {
		h.n = shortHeld
	}
	if need, have := uint64(h.n+500), openFiles(); have < need {
		return fmt.Errorf("%d calls are to be held, each on a connection of its own, and a process may open %d files\nhint: let it open more, `ulimit -n %d`, or take the short run, -short", h.n, have, need)
	}
	o.pin = false // who is woken all at once may use the whole machine
	b, err := open(ctx, o, heldRoles)
	if err != nil {
		return errors.Join(err, b.close())
	}
	h.pinned = b.pinned
	err = h.measure(ctx, b)
	if err = errors.Join(err, b.close()); err != nil {
		return err
	}
	fmt.Print(h.String())
	if err := o.publish("held", h.String()); err != nil {
		return err
	}
	if !h.holds() {
		return errMissed
	}
	return nil
}

// measure takes one thing after the other. The server that is to be stopped goes
// last.
func (h *holding) measure(ctx context.Context, b *bench) error {
	ours, wait := b.servers[1], b.servers[2]
	if err := h.bareFloor(ctx, wait); err != nil {
		return fmt.Errorf("%s: %w", wait.title, err)
	}
	var err error
	if h.taps, err = h.tap(ctx, ours); err != nil {
		return err
	}
	if err := h.whileHeld(ctx, b, ours); err != nil {
		return err
	}
	for range h.wakes() - 1 {
		if err := h.pause(ctx, ours, func(c *callers) error { return c.hold(ctx, h.n) }); err != nil {
			return err
		}
	}
	if err := h.stop(ctx, b, ours); err != nil {
		return err
	}
	for _, again := range againRoles[:h.wakes()-1] {
		if ours, err = b.startServer(ctx, again); err != nil {
			return err
		}
		if err := h.stop(ctx, b, ours); err != nil {
			return err
		}
	}
	return nil
}

// wakes is how often all are woken, by a pause and by a stop.
func (h *holding) wakes() int {
	if h.o.short {
		return 1
	}
	return 1 + len(againRoles)
}

// bareFloor is what holding and waking costs when nothing is decided.
func (h *holding) bareFloor(ctx context.Context, p *process) (err error) {
	c := newCallers(p, h.n)
	defer func() { err = errors.Join(err, c.close()) }()
	if h.bare, err = h.hold(ctx, p, c); err != nil {
		return err
	}
	began := time.Now()
	if _, err := owner(ctx, p.address, http.MethodPost, "/release", ""); err != nil {
		return err
	}
	h.floor, err = c.denied(ctx, h.n, began)
	return err
}

// hold holds n calls and says what each keeps.
func (h *holding) hold(ctx context.Context, p *process, c *callers) (memory, error) {
	before, err := p.memory()
	if err != nil {
		return memory{}, err
	}
	if err := c.hold(ctx, h.n); err != nil {
		return memory{}, err
	}
	time.Sleep(settleDown)
	after, err := p.memory()
	return after.each(before, h.n), err
}

// whileHeld holds n calls, looks at what they cost, and ends them by a pause.
func (h *holding) whileHeld(ctx context.Context, b *bench, p *process) error {
	if err := h.warm(ctx, b); err != nil {
		return err
	}
	return h.pause(ctx, p, func(c *callers) (err error) {
		if h.each, err = h.hold(ctx, p, c); err != nil {
			return err
		}
		if err := h.allow(ctx, b); err != nil {
			return err
		}
		h.beside, err = h.tap(ctx, p)
		return err
	})
}

// pause has n calls held and ends them by a pause.
func (h *holding) pause(ctx context.Context, p *process, hold func(*callers) error) (err error) {
	c := newCallers(p, h.n)
	defer func() { err = errors.Join(err, c.close()) }()
	if err := hold(c); err != nil {
		return err
	}
	time.Sleep(settleDown)
	began := time.Now()
	if _, err := owner(ctx, p.address, http.MethodPost, "/owner/reply", `{"text":".pause"}`); err != nil {
		return err
	}
	took, err := c.denied(ctx, h.n, began)
	if err != nil {
		return err
	}
	h.paused = append(h.paused, took)
	_, err = owner(ctx, p.address, http.MethodPost, "/owner/reply", `{"text":".resume"}`)
	return err
}

// stop holds n calls anew, and ends them with the gateway.
func (h *holding) stop(ctx context.Context, b *bench, p *process) (err error) {
	c := newCallers(p, h.n)
	defer func() { err = errors.Join(err, c.close()) }()
	if err := c.hold(ctx, h.n); err != nil {
		return err
	}
	time.Sleep(settleDown)
	began, ended := time.Now(), make(chan error, 1)
	go func() { ended <- b.stopServer(p) }()
	took, err := c.denied(ctx, h.n, began)
	if err != nil {
		return err
	}
	h.stopped = append(h.stopped, took)
	return <-ended
}

// warm lets both servers answer before anything is measured.
func (h *holding) warm(ctx context.Context, b *bench) error {
	for i := range h.allowing {
		h.allowing[i].role = b.servers[i].role
		if _, err := b.undisturbed(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// allow takes slices of calls that need no person, beside none and beside those
// that are held, in turn.
func (h *holding) allow(ctx context.Context, b *bench) error {
	for range h.o.rounds {
		for i := range h.allowing {
			s, err := b.undisturbed(ctx, i)
			if err != nil {
				return fmt.Errorf("%s: %w", b.servers[i].title, err)
			}
			h.allowing[i].slices = append(h.allowing[i].slices, s)
		}
	}
	return nil
}

// tapsEach is how many taps are timed.
const tapsEach = 200

// tap holds calls, has the owner allow one after the other, and times each from
// the answer to when its caller has heard.
func (h *holding) tap(ctx context.Context, p *process) (took []time.Duration, err error) {
	c := newCallers(p, tapsEach)
	defer func() { err = errors.Join(err, c.close()) }()
	before, err := pending(ctx, p)
	if err != nil {
		return nil, err
	}
	if err := c.hold(ctx, tapsEach); err != nil {
		return nil, err
	}
	time.Sleep(settleDown)
	after, err := pending(ctx, p)
	if err != nil {
		return nil, err
	}
	for ref, cards := range after {
		if before[ref] > 0 || cards > 1 { // among thousands, short names meet
			continue
		}
		began := time.Now()
		if _, err := owner(ctx, p.address, http.MethodPost, "/owner/answer", `{"ref":"`+ref+`","allow":true}`); err != nil {
			return nil, err
		}
		a, err := c.next(ctx)
		switch {
		case err != nil:
			return nil, err
		case !bytes.HasPrefix(a.text, isOK) || !bytes.Contains(a.text, isAllow):
			return nil, fmt.Errorf("not an allow: %q", a.text)
		}
		took = append(took, a.at.Sub(began))
	}
	if len(took) < tapsEach*9/10 {
		return nil, fmt.Errorf("of %d calls that waited for the owner only %d could be answered", tapsEach, len(took))
	}
	return took, nil
}

// pending are the references of what waits for the owner, and how many cards have
// each.
func pending(ctx context.Context, p *process) (map[string]int, error) {
	text, err := owner(ctx, p.address, http.MethodGet, "/owner/pending", "")
	if err != nil {
		return nil, err
	}
	var list struct {
		Cards []struct {
			Ref string `json:"ref"`
		} `json:"cards"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	refs := make(map[string]int)
	for _, card := range list.Cards {
		refs[card.Ref]++
	}
	return refs, nil
}
