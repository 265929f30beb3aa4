package approval

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
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
func (d *Desk) Probe(ctx context.Context, id string, send bool) ([]Probed, error) {
	if !d.Lists(id) {
		return nil, ErrNotApprover
	}
	names := slices.Sorted(maps.Keys(d.o.Channels))
	out := make([]Probed, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		all.Add(1)
		out[i] = Probed{Channel: name, Err: errors.New("the channel failed over the question; the log says where")}
		d.run(ctx, func(context.Context) {
			defer all.Done() // whatever happens in the channel
			out[i] = d.probe(ctx, name, send)
		})
	}
	all.Wait()
	return out, ctx.Err()
}

func (d *Desk) probe(ctx context.Context, name string, send bool) Probed {
	ctx, cancel := context.WithTimeout(ctx, sendDeadline)
	defer cancel()
	p, ch := Probed{Channel: name}, d.o.Channels[name]
	if err, stopped := d.deaf.Load(name); stopped {
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
