package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

// heldFormat is callFormat in a conversation of its own in which no one vouches
// for the call, so that a person has to. %[1]s is unique to the callers, %[2]d to
// the call, %[3]d to its agent; %[4]s is the time.
const heldFormat = `{"version":1,"timestamp":"%[4]s","requestId":"%[1]s-7d1a-4c55-9a3e-%012[2]d",` +
	`"tool":{"name":"exec","params":{"command":"cd /home/owner/projects/site && git status --short && git log --oneline -n 20 -- content/ layouts/` +
	` && grep -rn --include='*.md' 'draft: true' content/ | sort | head -n 40 && make build SITE=staging VERBOSE=1 2>&1 | tail -n 60",` +
	`"workdir":"/home/owner/projects/site","timeout":120,"background":false,"env":{"LANG":"en_US.UTF-8","CI":"1"}}},` +
	`"context":{"agentId":"%[1]s-%[3]d","sessionKey":"agent:%[1]s-%[3]d:direct:%[2]d","messageProvider":"telegram",` +
	`"sessionId":"%[1]s-02c7-4a7e-9a55-%012[2]d","runId":"%[1]s-run-%[2]d","toolCallId":"call_%[1]s%08[2]d","iteration":1,` +
	`"channelId":"telegram","userMessages":[{"text":"Please build the staging site and tell me which pages are still drafts."}],` +
	`"waitMs":595000}}`

// askedByOne is how many of the questions are one agent's: less than it may put
// within an hour.
const askedByOne = 50

// callers are clients that wait for people, each on a connection of its own.
type callers struct {
	to      *process
	slice   string
	conns   []net.Conn
	answers chan answered // as they come in
}

// answered is what a caller heard, and when.
type answered struct {
	at   time.Time
	text []byte
	err  error
}

func newCallers(to *process, most int) *callers {
	return &callers{to: to, slice: strings.ToLower(sliceName()), answers: make(chan answered, most)}
}

// hold sends so many more calls and returns when people are asked about all of
// them. On a machine that is so busy that Redis does not get to answer within its
// 250 ms some are denied, as they must be: others are held in their place, a few
// times in a run, aloud.
func (c *callers) hold(ctx context.Context, n int) error {
	base, err := c.to.asked()
	sent, early := 0, 0
	for sent-early < n && err == nil {
		for range min(heldAtOnce, n-sent+early) {
			if err := c.send(ctx); err != nil {
				return err
			}
			sent++
		}
		err = c.reach(ctx, base, sent, &early)
	}
	return err
}

// send opens a connection and sends one call on it.
func (c *callers) send(ctx context.Context) error {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", c.to.address)
	if err != nil {
		return err
	}
	i := len(c.conns)
	c.conns = append(c.conns, conn)
	body := fmt.Appendf(nil, heldFormat, c.slice, i, i/askedByOne, time.Now().UTC().Format(time.RFC3339Nano))
	if _, err := conn.Write(request(body)); err != nil {
		return err
	}
	go func() {
		text, err := readAnswer(conn, make([]byte, 1<<10))
		c.answers <- answered{time.Now(), text, err}
	}()
	return nil
}

// reach returns when each of the calls that were sent was put to people, or was
// answered already: those are counted.
func (c *callers) reach(ctx context.Context, base int64, sent int, early *int) error {
	for end := time.Now().Add(grace); ; {
		n, err := c.to.asked()
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case len(c.answers) > 0:
			a := <-c.answers
			if *early++; a.err != nil || *early > maxEarly {
				return errors.Join(a.err, fmt.Errorf("a call was to be held and was answered: %q", a.text))
			}
			fmt.Fprintf(os.Stderr, "note: a call was to be held and was answered; another takes its place: %q\n", a.text)
		case n-base+int64(*early) >= int64(sent):
			return nil
		case time.Now().After(end):
			return fmt.Errorf("of %d calls that need a person only %d were put to one", sent, n-base)
		}
	}
}

// maxEarly is how many calls may be answered that were to be held.
const maxEarly = 100

// denied waits until so many were told no, and says how long after began the
// last of them was.
func (c *callers) denied(ctx context.Context, n int, began time.Time) (time.Duration, error) {
	last := began
	for range n {
		a, err := c.next(ctx)
		switch {
		case err != nil:
			return 0, err
		case !bytes.HasPrefix(a.text, isOK) || !bytes.Contains(a.text, isDeny):
			return 0, fmt.Errorf("not a deny: %q", a.text)
		case a.at.Before(began):
			return 0, fmt.Errorf("a call was answered %v too early: it was not held any more", began.Sub(a.at))
		case a.at.After(last):
			last = a.at
		}
	}
	return last.Sub(began), nil
}

// next is the next answer of anyone.
func (c *callers) next(ctx context.Context) (answered, error) {
	late := time.NewTimer(2 * time.Minute)
	defer late.Stop()
	select {
	case a := <-c.answers:
		return a, a.err
	case <-ctx.Done():
		return answered{}, ctx.Err()
	case <-late.C:
		return answered{}, errors.New("a call that was held got no answer")
	}
}

func (c *callers) close() error {
	var errs []error
	for _, conn := range c.conns {
		errs = append(errs, conn.Close())
	}
	c.conns = nil
	return errors.Join(errs...)
}

// owner speaks to the server as the owner does.
func owner(ctx context.Context, address, method, path, body string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://"+address+path, bytes.NewReader([]byte(body)))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+ownerToken)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s %s: %s: %s", method, path, res.Status, text)
	}
	return text, err
}
