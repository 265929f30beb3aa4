package approval

import (
	"context"
	"errors"
	"slices"
	"strings"
)

// Prober is a [Channel] that can say whether it works without showing anything to anyone.
type Prober interface {
	// Probe asks the platform who we are there and whether cards would arrive, and returns that in a few words, such
	// as "@my_bot in chat 123". The error says what is wrong and what to do about it. Neither holds a secret.
	Probe(ctx context.Context) (who string, err error)
}

// Introducer is a [Channel] that can say whose its tokens are, before it is known where cards go.
type Introducer interface {
	// Introduce asks the platform what the bot is called there. The error says what is wrong and what to do about it.
	// Neither holds a secret.
	Introduce(ctx context.Context) (who string, err error)
}

// Probed is how one channel is doing.
type Probed struct {
	Channel   string
	Who       string // as the channel says
	Err       error  // why no card would arrive, or why the test card did not
	ListenErr error  // why answers are no longer heard there
	Asked     bool   // the channel could be asked; if not, only a test card shows whether it works
	Sent      bool   // a test card was sent
}

// Probe asks every channel how it is doing, for an approver. With send it also shows a card on each that asks
// nothing.
func (c *core) Probe(ctx context.Context, id string, send bool) ([]Probed, error) {
	if !c.Lists(id) {
		return nil, ErrNotApprover
	}
	found := make(chan Probed, len(c.o.Channels))
	for name, ch := range c.o.Channels {
		c.runFor(ctx, func(ctx context.Context) {
			p := Probed{Channel: name, Err: errProbe}
			defer func() { found <- p }() // whatever happens in the channel
			p = c.probe(ctx, name, ch, send)
		})
	}
	out := make([]Probed, 0, len(c.o.Channels))
	for range c.o.Channels {
		select {
		case p := <-found:
			out = append(out, p)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	slices.SortFunc(out, func(a, b Probed) int { return strings.Compare(a.Channel, b.Channel) })
	return out, nil
}

var errProbe = errors.New("the channel failed over the question; the log says where")

func (c *core) probe(ctx context.Context, name string, ch Channel, send bool) Probed {
	ctx, cancel := context.WithTimeout(ctx, sendDeadline)
	defer cancel()
	p := Probed{Channel: name}
	if err, stopped := c.deaf.Load(name); stopped {
		p.ListenErr, _ = err.(error)
	}
	if prober, ok := ch.(Prober); ok {
		p.Asked = true
		p.Who, p.Err = prober.Probe(ctx)
	}
	if send && p.Err == nil {
		_, p.Err = ch.Send(ctx, TestCard())
		p.Sent = p.Err == nil
	}
	return p
}
