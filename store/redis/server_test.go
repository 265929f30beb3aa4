package redis_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/store"
	"github.com/openclaw-verifier/verifier/store/redis"
	"github.com/openclaw-verifier/verifier/store/redistest"
	"github.com/openclaw-verifier/verifier/store/storetest"
)

func TestMain(m *testing.M) {
	if os.Getenv("CI") != "" {
		// On a desk, and in make properties, there are more random histories.
		_ = flag.Set("rapid.checks", "40") // before the flags are read, so that they count for more
	}
	goleak.VerifyTestMain(m)
}

// server is a real redis-server that gives each store a database of its own.
type server struct {
	*redistest.Server
	dbs atomic.Int64
}

func startServer(t testing.TB, args ...string) *server {
	t.Helper()
	return &server{Server: redistest.Start(t, args...)}
}

// patient is a timeout for tests that are not about time: a busy machine under
// the race detector may take longer than we would let a call wait.
const patient = 10 * time.Second

// open gives a store with a database of its own. The clock is real.
func (s *server) open(t *testing.T) storetest.Harness {
	t.Helper()
	db := int(s.dbs.Add(1))
	admin := goredis.NewClient(&goredis.Options{Addr: s.Addr(), DB: db, Protocol: 2, DisableIdentity: true})
	t.Cleanup(func() { admin.Close() })
	h := harness(t, fmt.Sprintf("redis://%s/%d", s.Addr(), db), admin, nil)
	h.Real = true
	h.Advance = func(d time.Duration) { <-time.After(d) }
	return h
}

// openMini gives a store on a server of its own whose clock stands still.
func openMini(t *testing.T) storetest.Harness { return mini(t, true) }

// openLate is one where no key ever expires: only the times in the values tell.
func openLate(t *testing.T) storetest.Harness { return mini(t, false) }

func mini(t *testing.T, expires bool) storetest.Harness {
	t.Helper()
	m, err := redistest.StartMini()
	must(t, err)
	t.Cleanup(func() { m.Close() })
	now := time.UnixMilli(1_700_000_000_000)
	must(t, m.SetTime(now))
	var passed atomic.Int64
	elapsed := func() time.Duration { return time.Duration(passed.Load()) }
	h := harness(t, m.URL, m.Admin, elapsed)
	load := func() {
		t.Helper()
		_, _, err := h.Store.Load(t.Context())
		must(t, err)
	}
	h.SetBack = func(d time.Duration) {
		load() // what is the clock's past has been seen
		now = now.Add(-d)
		must(t, m.SetTime(now))
	}
	h.Advance = func(d time.Duration) {
		passed.Add(int64(d))
		now = now.Add(d)
		must(t, m.SetTime(now))
		if expires {
			must(t, m.FastForward(d))
		}
		load() // as a gateway does each second
	}
	return h
}

func harness(t *testing.T, url string, admin *goredis.Client, elapsed func() time.Duration) storetest.Harness {
	t.Helper()
	return storetest.Harness{
		Store:  open(t, url, redis.Options{Epoch: epoch(t), Timeout: patient, Elapsed: elapsed}),
		Forget: func(c session.Conversation) { must(t, admin.Del(context.Background(), redis.StateKey(c)).Err()) },
		Flush:  func() { must(t, admin.FlushDB(context.Background()).Err()) },
	}
}

func open(t testing.TB, url string, o redis.Options) *redis.Store {
	t.Helper()
	s, err := redis.Open(url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func epoch(t testing.TB) *store.Epoch {
	t.Helper()
	return epochAt(t, filepath.Join(t.TempDir(), "epoch"))
}

func epochAt(t testing.TB, path string) *store.Epoch {
	t.Helper()
	e, err := store.OpenEpoch(path)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
