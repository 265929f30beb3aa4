package storetest

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// leaseSpecs say that what allows one consumer has one.
func leaseSpecs() []spec {
	return []spec{
		{"a lease has one owner at a time", func(b *bench) {
			b.wantHeld(true, "telegram", "one", time.Hour)
			b.wantHeld(false, "telegram", "two", time.Hour)
			b.wantHeld(true, "telegram", "one", time.Hour)
		}},
		{"leases of other names are free", func(b *bench) {
			b.wantHeld(true, "telegram", "one", time.Hour)
			b.wantHeld(true, "telegram:2", "two", time.Hour)
		}},
		{"a lease that was given up is free at once", func(b *bench) {
			b.wantHeld(true, "telegram", "one", time.Hour)
			b.must(b.Store.Release(b.ctx, "telegram", "one"))
			b.wantHeld(true, "telegram", "two", time.Hour)
		}},
		{"a lease can be given up only by its holder", func(b *bench) {
			b.wantHeld(true, "telegram", "one", time.Hour)
			b.must(b.Store.Release(b.ctx, "telegram", "two"))
			b.must(b.Store.Release(b.ctx, "slack", "two"))
			b.wantHeld(false, "telegram", "two", time.Hour)
		}},
		{"a lease ends with its time, and not before", func(b *bench) {
			b.wantHeld(true, "telegram", "one", b.short())
			b.outlive()
			b.wantHeld(true, "telegram", "two", time.Hour)
			b.wantHeld(false, "telegram", "one", time.Hour)
		}},
		{"renewing makes it last", func(b *bench) {
			b.wantHeld(true, "telegram", "one", b.short())
			b.wantHeld(true, "telegram", "one", time.Hour)
			b.outlive()
			b.wantHeld(false, "telegram", "two", time.Hour)
		}},
		{"of many who want a lease one gets it", func(b *bench) {
			var got atomic.Int64
			var all sync.WaitGroup
			for i := range 16 {
				all.Go(func() {
					held, err := b.Store.Hold(b.ctx, "telegram", fmt.Sprint("owner-", i), time.Hour)
					if err != nil {
						b.Error(err)
					}
					if held {
						got.Add(1)
					}
				})
			}
			all.Wait()
			if n := got.Load(); n != 1 {
				b.Fatalf("%d have it", n)
			}
		}},
	}
}

func (b *bench) wantHeld(want bool, name, owner string, ttl time.Duration) {
	b.Helper()
	held, err := b.Store.Hold(b.ctx, name, owner, ttl)
	b.must(err)
	if held != want {
		b.Fatalf("%s holds %s: %v, want %v", owner, name, held, want)
	}
}
