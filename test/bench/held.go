package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"time"
)

// What a held call may cost, and how soon all must have their answers.
const (
	maxHeldBytes = 64_000
	maxWake      = 2 * time.Second
)

const (
	heldAtOnce = 32                     // calls that are on their way to people at a time
	settleDown = 500 * time.Millisecond // for what a gateway does after it has asked
	maxEarly   = 100                    // calls of a run that may be answered although they were to be held
)

// waits holds calls and ends them, by a pause and then by the end of the gateway, a few times over.
func (b *bench) waits(ctx context.Context) (string, []check, error) {
	each, err := b.heldMemory(ctx)
	if err != nil {
		return "", nil, err
	}
	took := [2][]time.Duration{}
	for range b.o.rounds {
		s, err := b.start(ctx, kinds[1])
		if err != nil {
			return "", nil, err
		}
		types := func(line string) func() error {
			return func() error {
				_, err := s.owner(ctx, http.MethodPost, "/owner/reply", `{"text":"`+line+`"}`)
				return err
			}
		}
		pause, err := b.wake(ctx, s, types(".pause"))
		if err = errors.Join(err, types(".resume")()); err != nil {
			return "", nil, err
		}
		stop, err := b.wake(ctx, s, func() error { return s.cmd.Process.Signal(syscall.SIGTERM) })
		if err != nil {
			return "", nil, err
		}
		took[0], took[1] = append(took[0], pause), append(took[1], stop)
		s.stop()
	}
	table := fmt.Sprintf("%d exec calls held at once, each with its own question, conversation and connection.\n"+
		"%d gateways with Redis, each paused and then stopped; medians; %s.\n\n", b.o.calls, b.o.rounds, b.machine())
	checks := []check{{
		ok:   each <= maxHeldBytes,
		text: fmt.Sprintf("memory of a held call: at most %d KB: %.1f KB", maxHeldBytes/1000, float64(each)/1000),
	}}
	for i, what := range []string{"the owner pauses all agents", "the gateway is stopped"} {
		median := quartiles(took[i])[1]
		checks = append(checks, check{
			ok:   median <= maxWake,
			text: fmt.Sprintf("%s: all are answered within %v: %.0f ms", what, maxWake, micros(median)/1e3),
		})
	}
	return table, checks, nil
}

// heldMemory is how many bytes each held call keeps. The gateway collects its garbage early, so that what is resident
// is what is kept, and holds some calls before, so that what it makes once does not count.
func (b *bench) heldMemory(ctx context.Context) (int64, error) {
	frugal := kinds[1]
	frugal.env = []string{"GOGC=10"}
	s, err := b.start(ctx, frugal)
	if err != nil {
		return 0, err
	}
	defer s.stop()
	c := newCallers(s, 2*b.o.calls)
	defer c.close()
	var resident [2]int64
	for i, n := range []int{b.o.calls / 10, b.o.calls} {
		if err := c.hold(ctx, n); err != nil {
			return 0, err
		}
		time.Sleep(settleDown)
		if resident[i], err = s.resident(); err != nil {
			return 0, err
		}
	}
	return (resident[1] - resident[0]) / int64(b.o.calls), nil
}

// wake holds the calls, ends them, and says how long after that the last one had its answer.
func (b *bench) wake(ctx context.Context, s *server, end func() error) (took time.Duration, err error) {
	c := newCallers(s, b.o.calls)
	defer c.close()
	if err := c.hold(ctx, b.o.calls); err != nil {
		return 0, err
	}
	time.Sleep(settleDown)
	began := time.Now()
	if err := end(); err != nil {
		return 0, err
	}
	for range b.o.calls {
		select {
		case a := <-c.answers:
			if a.err != nil || a.at.Before(began) {
				return 0, errors.Join(a.err, fmt.Errorf("answered %v after the end began", a.at.Sub(began)))
			}
			took = max(took, a.at.Sub(began))
		case <-time.After(time.Minute):
			return 0, errors.New("a call that was held got no answer")
		}
	}
	return took, nil
}

// callers are clients that wait for people, each on a connection of its own.
type callers struct {
	load
	to      *server
	slice   string
	answers chan answered // as they come in
}

// answered is when a caller heard its deny, or what else it heard.
type answered struct {
	at  time.Time
	err error
}

func newCallers(to *server, most int) *callers {
	return &callers{to: to, slice: sliceName(), answers: make(chan answered, most+maxEarly)}
}

// hold sends calls until n more wait for people. On a machine that is so busy that Redis does not get to answer within
// its 250 ms some are denied, as they must be: others are held in their place, aloud.
func (c *callers) hold(ctx context.Context, n int) error {
	base, err := c.asked(ctx)
	held, sent, early, late := 0, 0, 0, time.Now().Add(5*time.Minute)
	for held < n && err == nil {
		for ; sent-early < min(held+heldAtOnce, n) && err == nil; sent++ {
			err = c.send(ctx)
		}
		select {
		case a := <-c.answers:
			if early++; a.err != nil || early > maxEarly {
				return errors.Join(a.err, errors.New("calls that were to be held are answered"))
			}
			fmt.Fprintln(os.Stderr, "note: a call was to be held and was denied; another takes its place")
		case <-time.After(5 * time.Millisecond):
		}
		var now int
		if now, err = c.asked(ctx); time.Now().After(late) {
			return fmt.Errorf("of %d calls that need a person only %d were put to one", n, now-base)
		}
		held = now - base
	}
	return err
}

// asked is how many questions the gateway has put to people so far.
func (c *callers) asked(ctx context.Context) (n int, err error) {
	text, err := c.to.owner(ctx, http.MethodGet, "/metrics", "")
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(text, "\nverifier_prompts_total ")
	var count float64
	_, err = fmt.Sscan(rest, &count)
	return int(count), err
}

// send opens a connection and sends one call on it.
func (c *callers) send(ctx context.Context) error {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", c.to.address)
	if err != nil {
		return err
	}
	body := heldCall(c.slice, len(c.conns))
	c.conns = append(c.conns, conn)
	if _, err := conn.Write(signed(body)); err != nil {
		return err
	}
	go func() {
		err := expect(conn, make([]byte, 1<<10), isDeny)
		c.answers <- answered{time.Now(), err}
	}()
	return nil
}
