package redis_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/store/redis"
	"github.com/openclaw-verifier/verifier/store/redistest"
	"github.com/openclaw-verifier/verifier/taint"
)

// TestEachCallerGetsItsOwnAnswer: many calls go together, and some leave in the
// middle. Nobody is told of another's conversation, and no call counts twice.
func TestEachCallerGetsItsOwnAnswer(t *testing.T) {
	s := startServer(t)
	store := open(t, "redis://"+s.Addr(), redis.Options{Epoch: epoch(t), Timeout: patient})
	const callers, calls = 48, 40
	var left atomic.Int64
	var all sync.WaitGroup
	for n := range callers {
		all.Go(func() {
			level := taint.Level(n % taint.Levels)
			for i := range calls {
				ctx, cancel := context.WithCancel(t.Context())
				switch soon := time.Duration(i*20) * time.Microsecond; {
				case (n+i)%5 == 0:
					time.AfterFunc(soon, cancel)
				case (n+i)%7 == 0: // it leaves before the trip has ended
					ctx, cancel = context.WithTimeout(t.Context(), soon)
				}
				v, err := store.Admit(ctx, session.Admission{
					Conversation: conv(fmt.Sprint("caller-", n)), Session: "s", RequestID: fmt.Sprint("call-", i), Initial: level, Birth: level,
					Modes: taint.Every(taint.Allow), Final: true, Decision: "p", Keep: time.Minute,
				})
				cancel()
				switch {
				case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
					left.Add(1)
				case err != nil:
					t.Errorf("caller %d: %v", n, err)
				case v.Level != level || v.Entry != session.Passed || v.Step > int64(i+1) || v.Replayed:
					t.Errorf("caller %d at %s was told %+v", n, level, v)
				}
			}
		})
	}
	all.Wait()
	if left.Load() == 0 {
		t.Log("nobody left in the middle: the machine was too fast")
	}
}

// TestCloseLeavesNobodyWaiting: whoever admits a call while the store is closed, or
// after that, is told something.
func TestCloseLeavesNobodyWaiting(t *testing.T) {
	s := startServer(t)
	for round := range 20 {
		store, err := redis.Open("redis://"+s.Addr(), redis.Options{Timeout: patient})
		must(t, err)
		var all sync.WaitGroup
		var begun atomic.Int64
		for n := range 32 {
			all.Go(func() {
				for i := 0; ; i++ {
					begun.Add(1)
					if _, err := store.Admit(context.Background(), call(conv("closed"), fmt.Sprint(round, n, i))); err != nil {
						return
					}
				}
			})
		}
		redistest.Eventually(t, "calls are under way", func() bool { return begun.Load() > 100 })
		must(t, store.Close())
		all.Wait()
		if _, err := store.Admit(context.Background(), call(conv("closed"), "late")); err == nil {
			t.Fatal("a closed store admits a call")
		}
	}
}
