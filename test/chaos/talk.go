package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// live is an agent's life: one conversation after the other, until the calls are used up. Each begins clean, fetches
// something and goes on tainted.
func (a *agents) live(ctx context.Context, r *rand.Rand, next func() int) {
	for ctx.Err() == nil && a.left.Load() > 0 {
		t := talk{agents: a, r: r, id: next()}
		t.calm(ctx)
		t.taint(ctx)
		for range 6 + r.IntN(12) {
			t.act(ctx)
		}
	}
}

// talk is a conversation.
type talk struct {
	*agents
	r     *rand.Rand
	id    int
	count int
	last  *call // the last that a person may have to be asked for
}

func (t *talk) any() int { return t.r.IntN(2) }

// call makes a call to a gateway.
func (t *talk) call(tool, mark string, to int) *call { return t.draft(t.id, tool, mark, to, 0) }

func (t *talk) plain(tool string) *call { return t.call(tool, "", t.any()) }

func (t *talk) mark() string {
	t.count++
	return fmt.Sprintf("c%dn%dz", t.id, t.count)
}

// action is something that a tainted agent may not do by itself.
func (t *talk) action() *call {
	tool := "exec"
	if t.r.IntN(4) == 0 {
		tool = "message"
	}
	return t.call(tool, t.mark(), t.any())
}

// calm is what passes by the policy, and what never does.
func (t *talk) calm(ctx context.Context) {
	for range 1 + t.r.IntN(3) {
		t.send(ctx, t.plain("read"))
	}
	t.send(ctx, t.action())
	if t.r.IntN(4) == 0 { // a runtime whose clock has jumped
		off := tolerance + time.Duration(1+t.r.IntN(3600))*time.Second
		if t.r.IntN(2) == 0 {
			off = -off
		}
		t.send(ctx, t.draft(t.id, "exec", t.mark(), t.any(), off))
	}
}

// taint brings something in, now and then beside an action. It reports whether that was allowed.
func (t *talk) taint(ctx context.Context) bool {
	for range 20 {
		fetch := t.plain("web_fetch")
		if t.r.IntN(3) == 0 {
			t.both(ctx, fetch, t.action())
		} else {
			t.send(ctx, fetch)
		}
		if fetch.allowed {
			return true
		}
	}
	return false
}

// both sends two calls at once.
func (t *talk) both(ctx context.Context, one, other *call) {
	var wg sync.WaitGroup
	wg.Go(func() { t.send(ctx, other) })
	t.send(ctx, one)
	wg.Wait()
}

// act is one thing that a tainted agent does. While enough of the others wait for the owner it reads instead: a
// platform takes about one message a second in a chat, and with more questions than that no answer would come in time.
func (t *talk) act(ctx context.Context) {
	select {
	case t.asking <- struct{}{}:
		defer func() { <-t.asking }()
	default:
		t.send(ctx, t.plain("read"))
		sleep(ctx, time.Duration(t.r.IntN(1500))*time.Millisecond)
		return
	}
	switch n := t.r.IntN(10); {
	case n < 4 || t.last == nil: // something new
		t.last = t.send(ctx, t.action())
	case n < 7: // the same again, as a new request
		t.last = t.send(ctx, t.call(t.last.tool, t.last.mark, t.any()))
	case n < 8: // the very request again, at the other gateway
		t.send(ctx, t.last.again())
	case n < 9: // two identical ones at once, of which one yes lets one through
		t.last = t.action()
		t.both(ctx, t.last, t.call(t.last.tool, t.last.mark, 1-t.last.to))
	default:
		t.send(ctx, t.plain("read"))
	}
}

// persist wants to act until that is allowed or ctx ends: the same again while its question waits for the owner, then
// something new, in case the question did not reach them.
func (t *talk) persist(ctx context.Context) (last *call) {
	last = &call{reason: "nothing was fetched"}
	for isTainted := t.taint(ctx); isTainted && ctx.Err() == nil && !last.allowed; {
		last = t.send(ctx, t.action())
		for asked := last.sent; !last.allowed && time.Since(asked) < ttl-hold && ctx.Err() == nil; {
			last = t.send(ctx, t.call(last.tool, last.mark, t.any()))
		}
	}
	return last
}
