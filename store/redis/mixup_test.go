package redis_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/store/redis"
	"github.com/openclaw-verifier/verifier/taint"
)

// moody is a connection on which some answers come late, or never.
type moody struct{ net.Conn }

func dialMoody(ctx context.Context, network, addr string) (net.Conn, error) {
	c, err := (&net.Dialer{}).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return moody{c}, nil
}

func (c moody) Read(p []byte) (int, error) {
	switch n := rand.IntN(200); {
	case n < 6:
		<-time.After(time.Duration(n) * 10 * time.Millisecond)
	case n == 6:
		c.Close()
	}
	return c.Conn.Read(p)
}

// TestNobodyGetsTheAnswerOfAnother: whatever becomes of a call, what it was written
// in is the next one's only when nothing of it can come any more.
func TestNobodyGetsTheAnswerOfAnother(t *testing.T) {
	t.Parallel()
	for timeout := 25 * time.Millisecond; ; timeout *= 4 {
		answered, left := mixUp(t, timeout)
		if answered > 0 && left > 0 {
			return
		}
		if timeout > time.Second { // a busy machine answers none of them within the first one
			t.Fatalf("%d calls were answered, %d were not: both are needed", answered, left)
		}
	}
}

// mixUp makes calls on connections that are slow and break, and counts those that were answered and those that were not.
func mixUp(t *testing.T, timeout time.Duration) (_, _ int64) {
	const callers, calls = 24, 25
	s := startServer(t)
	store := open(t, "redis://"+s.Addr(), redis.Options{Epoch: epoch(t), Timeout: timeout, Dialer: dialMoody})
	var left, answered atomic.Int64
	var all sync.WaitGroup
	for n := range callers {
		all.Go(func() {
			for i := range calls {
				if n == 0 && i%10 == 0 && s.Admin.ScriptFlush(t.Context()).Err() != nil {
					t.Error("the scripts are still there")
				}
				own := fmt.Sprintf("call %d of %d", i, n)
				a := session.Admission{
					Conversation: conv(fmt.Sprint("mix-", n)), Session: "s", RequestID: own, Initial: taint.External, Birth: taint.External,
					Modes: taint.Every(taint.Allow), Final: true, Raise: taint.External, Source: own, Decision: "p" + own, Keep: time.Hour,
				}
				if v, err := admitHastily(t, store, a, i); err != nil {
					left.Add(1)
				} else if answered.Add(1); v.Entry != session.Passed || v.Worst.Label != own {
					t.Errorf("%s got %+v", own, v)
				} else if v, err := store.Admit(t.Context(), a); err == nil && v.PriorDecision != "p"+own {
					t.Errorf("%s, sent again, got %+v", own, v)
				}
				a.RequestID, a.Final = "held "+own, false
				if v, err := store.Admit(t.Context(), a); err == nil && v.Entry != session.Held {
					t.Errorf("%s, held, got %+v", own, v)
				}
				_ = store.Deny(t.Context(), session.Denial{Conversation: a.Conversation, RequestID: a.RequestID, Keep: time.Hour}) // it may be lost
			}
		})
	}
	all.Wait()
	return answered.Load(), left.Load()
}

// admitHastily is for a caller that may leave at any moment, in either way.
func admitHastily(t *testing.T, store *redis.Store, a session.Admission, i int) (session.View, error) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	switch soon := time.Duration(rand.IntN(3000)) * time.Microsecond; i % 4 {
	case 1:
		ctx, cancel = context.WithTimeout(ctx, soon)
		defer cancel()
	case 2:
		time.AfterFunc(soon, cancel)
	}
	return store.Admit(ctx, a)
}
