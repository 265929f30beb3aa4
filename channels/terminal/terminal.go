// Package terminal is the channel that needs no account: it prints each card,
// and later what became of it, where the server runs.
//
// It shows and does not hear. A program that can read the server's output could
// also write into it, so an answer has to come another way, with the owner's token:
// `verifier approve`, `verifier deny` or `verifier reply`. It refuses to call a
// card shown that was not written as a whole.
package terminal

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/openclaw-verifier/verifier/channels"
	"github.com/openclaw-verifier/verifier/internal/approval"
)

// Channel prints cards. It is safe for concurrent use.
type Channel struct {
	Now func() time.Time // for the time left

	turn chan struct{} // holds one token: one card at a time, and no endless queue behind a terminal that is stopped
	w    io.Writer
}

var (
	_ approval.Channel = (*Channel)(nil)
	_ approval.Prober  = (*Channel)(nil)
)

// New returns a channel that prints on w.
func New(w io.Writer) *Channel { return &Channel{Now: time.Now, w: w, turn: make(chan struct{}, 1)} }

// Send prints the card in one write. Its ref is the card's id: what is printed
// can't be edited, so there is no better place to name.
func (ch *Channel) Send(ctx context.Context, c *approval.Card) (string, error) {
	if err := ch.print(ctx, "\n"+channels.Short(c, ch.Now())+"\n"); err != nil {
		return "", err
	}
	return c.ID, nil
}

// Probe says where cards are printed.
func (*Channel) Probe(context.Context) (string, error) { return "where the server runs", nil }

// Settle prints the outcome in a line of its own.
func (ch *Channel) Settle(ctx context.Context, _ string, c *approval.Card, o approval.Outcome) error {
	return ch.print(ctx, channels.OutcomeLine(c, o, ch.Now())+"\n")
}

// Listen waits for ctx to end: no answer comes from here.
func (ch *Channel) Listen(ctx context.Context, _ func(context.Context, approval.Answer) (approval.Outcome, error)) error {
	<-ctx.Done()
	return nil
}

// print gives up when ctx ends: a terminal that is stopped takes no write and
// refuses none, and must not keep the gateway from ending. The write stays
// behind, and with it the turn, so that there is one of them at most.
func (ch *Channel) print(ctx context.Context, text string) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	select {
	case ch.turn <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("print: the terminal takes nothing: %w", ctx.Err())
	}
	written := make(chan error, 1)
	go func() {
		_, err := io.WriteString(ch.w, text)
		<-ch.turn
		written <- err
	}()
	select {
	case err := <-written:
		if err != nil {
			return fmt.Errorf("print: %w", err)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("print: the terminal takes nothing: %w", ctx.Err())
	}
}
