package storetest

import (
	"errors"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
)

// clockSpecs say that a store's time never goes back, and never stops.
func clockSpecs() []spec {
	return []spec{
		{"what ends within a minute ends within a minute, though the clock is set back by an hour", func(b *bench) {
			b.setsClock()
			live := b.minute()
			b.SetBack(time.Hour)
			live.want(true)
			b.Advance(61 * time.Second)
			live.want(false)
		}},
		{"what is over stays over when the clock is set back", func(b *bench) {
			b.setsClock()
			live := b.minute()
			b.Advance(61 * time.Second)
			live.want(false)
			b.SetBack(time.Hour)
			live.want(false)
		}},
		{"what begins after the clock was set back lasts as long as it should", func(b *bench) {
			b.setsClock()
			b.must(b.Store.KeepHead(b.ctx, "head", "1"))
			b.SetBack(time.Hour)
			live := b.minute()
			b.Advance(50 * time.Second)
			live.want(true)
			b.Advance(11 * time.Second)
			live.want(false)
		}},
		{"a clock that jumped forward and is set right again stops nothing", func(b *bench) {
			b.setsClock()
			b.SetBack(-365 * 24 * time.Hour)
			live := b.minute()
			b.SetBack(365 * 24 * time.Hour)
			b.Advance(50 * time.Second)
			live.want(true)
			b.Advance(11 * time.Second)
			live.want(false)
			again := b.minute()
			again.want(true)
			b.Advance(61 * time.Second)
			again.want(false)
		}},
		{"a level that was reset stays so when the clock is set back", func(b *bench) {
			b.setsClock()
			first := b.admit(fetch(conv("a"), "r"))
			_, err := b.Store.Reset(b.ctx, conv("a").Ref())
			b.must(err)
			b.SetBack(time.Hour)
			_, err = b.Store.Reset(b.ctx, conv("a").Ref())
			b.must(err)
			if v := b.admit(call(conv("a"), "again")); v.Generation <= first.Generation || v.Level != call(conv("a"), "").Initial {
				b.Fatalf("after the reset: %+v", v)
			}
		}},
	}
}

// setsClock skips where the clock can't be set.
func (b *bench) setsClock() {
	b.Helper()
	if b.SetBack == nil {
		b.Skip("this store's clock can't be set")
	}
}

// lives is all that has a minute to live.
type lives struct {
	b     *bench
	draft approval.Draft
	until time.Time
}

// minute gives a minute to a grant, a question, and a lease.
func (b *bench) minute() lives {
	b.Helper()
	b.grantFor(conv("a"), "f1", time.Minute)
	d := draft(conv("a"), fresh("card"), fresh("digest"))
	d.Live, d.MaxOpen = time.Minute, 100
	placed := b.place(d)
	b.wantHeld(true, "telegram", "one", time.Minute)
	return lives{b: b, draft: d, until: placed.Until}
}

// want says whether it lives.
func (l *lives) want(live bool) {
	b := l.b
	b.Helper()
	grants, _, err := b.Store.Grants(b.ctx, conv("a").Hash(), 10)
	b.must(err)
	if got := len(grants) == 1; got != live {
		b.Errorf("the grant lives: %v, want %v", got, live)
	}
	ids, err := b.Store.Open(b.ctx)
	b.must(err)
	asks := false
	for _, id := range ids {
		asks = asks || id == l.draft.ID
	}
	if asks != live {
		b.Errorf("the question waits: %v, want %v", asks, live)
	}
	a := asking(conv("a"), fresh("identical"))
	a.Digest = l.draft.Digests[0]
	if got := b.admit(a).Waiting == l.draft.ID; got != live {
		b.Errorf("an identical call finds the question: %v, want %v", got, live)
	}
	if !live {
		ch := approvalOf(l.draft, 1, "late", "x")
		ch.NotAfter = l.until
		if err := b.Store.Swap(b.ctx, ch); !errors.Is(err, approval.ErrLate) {
			b.Errorf("a late yes: %v", err)
		}
	}
	free, err := b.Store.Hold(b.ctx, "telegram", "two", time.Second)
	b.must(err)
	if free == live {
		b.Errorf("the lease is free: %v, want %v", free, !live)
	}
	if free {
		b.must(b.Store.Release(b.ctx, "telegram", "two"))
	}
}
