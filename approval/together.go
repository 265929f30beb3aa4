package approval

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"
)

// together gathers the calls of one turn that come at the same moment, for one card. Each waits for [Options.Together] at most. The card
// is whole and sealed before it is stored, so that nothing can be added to it.
type together struct {
	mu   sync.Mutex
	open map[string]*turnCard
}

// turnCard is one such card in the making. Its fields belong to the first request until done is closed.
type turnCard struct {
	requests []*Request
	done     chan struct{}
	placed   Placement
	err      error
	on       []*Request // which the card asks about; the others are put alone
}

// join adds a request to the card in the making of its turn. The first opens it, and has to put it up.
func (t *together) join(key string, r *Request) (c *turnCard, first bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c = t.open[key]; c != nil && len(c.requests) < maxBatch {
		c.requests = append(c.requests, r)
		return c, false
	}
	if t.open == nil {
		t.open = make(map[string]*turnCard)
	}
	c = &turnCard{requests: []*Request{r}, done: make(chan struct{})}
	t.open[key] = c
	return c, true
}

// close lets no more requests join.
func (t *together) close(key string, c *turnCard) []*Request {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.open[key] == c {
		delete(t.open, key)
	}
	return c.requests
}

// turnKey is the same for the calls of one turn.
func (r *Request) turnKey() string {
	a := &r.Ask
	return strings.Join([]string{a.Conversation.Hash(), a.Window, a.SessionKey, a.Agent, a.Run}, "\x00")
}

// putUp puts up a card that asks about the call, together with the calls of its turn that come at the same moment, and shows it. A test
// stays alone, what the auditor stopped too, and a call that was asked about before.
func (pl *placer) putUp(ctx context.Context, r *Request, instead string) (Placement, error) {
	if r.Ask.Blocked != "" || instead != "" {
		return pl.putAlone(ctx, r, instead)
	}
	key := r.turnKey()
	c, first := pl.together.join(key, r)
	if first {
		pl.putTogether(ctx, key, c)
	}
	select {
	case <-c.done:
	case <-ctx.Done():
		return Placement{}, ctx.Err()
	}
	if !slices.Contains(c.on, r) {
		return pl.putAlone(ctx, r, instead)
	}
	return c.placed, c.err
}

func (pl *placer) putAlone(ctx context.Context, r *Request, instead string) (Placement, error) {
	p, _, err := pl.place(ctx, []*Request{r}, instead, false)
	if err == nil && p.State == New {
		err = pl.show(ctx, p.ID)
	}
	return p, err
}

// putTogether waits for the other calls of a turn, and puts up one card for all.
func (pl *placer) putTogether(ctx context.Context, key string, c *turnCard) {
	defer close(c.done)
	select {
	case <-time.After(pl.o.Together):
	case <-ctx.Done():
	case <-pl.ctx.Done():
	}
	requests := pl.together.close(key, c)
	if len(requests) == 1 {
		c.on = requests
		if c.err = ctx.Err(); c.err == nil { // otherwise its caller has gone and needs no card
			c.placed, c.err = pl.putAlone(ctx, requests[0], "")
		}
		return
	}
	placed, on, err := pl.place(ctx, requests, "", false)
	if err == nil && placed.State == New {
		err = pl.show(ctx, placed.ID)
	}
	if err != nil || placed.State == Shared { // the first caller may have gone, or one of them is asked about by now: each is put alone
		return
	}
	c.placed, c.on = placed, on
}

// compose fills a card with the requests that can share it: equal calls are one question.
func (pl *placer) compose(t *terms, c *Card, requests []*Request) (on []*Request, err error) {
	for i, r := range requests {
		added := true
		switch q := c.question(r.Ask.Digest); {
		case i == 0:
			first, err := pl.pose(t, c.ID, r)
			if err != nil {
				return nil, err
			}
			c.Questions = []Question{first}
		case q != nil:
			q.join(pl.process.holder(r.ID))
		default:
			if added, err = pl.extend(c, r); err != nil {
				return nil, err
			}
		}
		if added {
			on = append(on, r)
		}
	}
	return on, nil
}
