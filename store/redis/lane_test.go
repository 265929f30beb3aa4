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
	"github.com/openclaw-verifier/verifier/taint"
)

// TestEachRiderGetsItsOwnAnswer: many callers ride together, and some leave in the
// middle. Nobody is told of another's conversation, and no call counts twice.
func TestEachRiderGetsItsOwnAnswer(t *testing.T) {
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
				if (n+i)%5 == 0 {
					time.AfterFunc(time.Duration(i*20)*time.Microsecond, cancel)
				}
				v, err := store.Admit(ctx, session.Admission{
					Conversation: conv(fmt.Sprint("rider-", n)), Session: "s", RequestID: fmt.Sprint("call-", i), Initial: level, Birth: level,
					Modes: taint.Every(taint.Allow), Final: true, Standing: "p", Keep: time.Minute,
				})
				cancel()
				switch {
				case errors.Is(err, context.Canceled):
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
