package redis_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/internal/store/redis"
	"github.com/openclaw-verifier/verifier/internal/store/redistest"
	"github.com/openclaw-verifier/verifier/internal/store/storetest"
)

// patient is a timeout that a busy machine keeps.
const patient = 20 * time.Second

func open(t testing.TB, url string) *redis.Backend {
	t.Helper()
	b, err := redis.Open(url, redis.Options{Timeout: patient})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	return b
}

func TestSuite(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Backend {
		m, err := redistest.StartMini()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := m.Close(); err != nil && !errors.Is(err, t.Context().Err()) {
				t.Log(err)
			}
		})
		return open(t, m.URL)
	})
}

func TestSuiteOnRealRedis(t *testing.T) {
	s, n := redistest.Start(t), 0
	storetest.Run(t, func(t *testing.T) store.Backend {
		n++
		return open(t, fmt.Sprint("redis://", s.Addr(), "/", n))
	})
}
