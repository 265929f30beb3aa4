package redis_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/store/redis"
	"github.com/openclaw-verifier/verifier/taint"
)

// TestNoCallIsDeniedForContention: four processes, 64 calls at once in one conversation, each of which brings something in and so
// changes the record that all others rest on. None fails, none is lost, and the level never falls.
func TestNoCallIsDeniedForContention(t *testing.T) {
	s := startServer(t)
	stores := make([]*redis.Store, 4)
	for i := range stores {
		stores[i] = open(t, "redis://"+s.Addr(), redis.Options{Epoch: epoch(t), Timeout: patient})
	}
	var seen sync.Map // by step
	var all sync.WaitGroup
	for n := range 64 {
		all.Go(func() {
			for i := range 5 {
				a := call(conv("one"), fmt.Sprint("r", n, "-", i))
				a.Note, a.Source = true, fmt.Sprint("web_fetch host", n%8)
				if a.Raise = taint.Level(n % taint.Levels); i%2 == 1 {
					a.Note, a.Raise = false, taint.System
				}
				v, err := stores[n%len(stores)].Admit(t.Context(), a)
				if err != nil || v.Entry != session.Passed {
					t.Errorf("call %d: %+v, %v", n, v, err)
				}
				if _, twice := seen.LoadOrStore(v.Step, n); twice {
					t.Errorf("two calls were the %dth", v.Step)
				}
			}
		})
	}
	all.Wait()
	for _, store := range stores {
		if level, err := store.Worst(t.Context(), conv("one")); err != nil || level != taint.Untrusted {
			t.Errorf("it is %v, %v", level, err)
		}
	}
	v, err := stores[0].Admit(t.Context(), call(conv("one"), "last"))
	if err != nil || v.Step != 64*5+1 {
		t.Errorf("step %d, %v", v.Step, err)
	}
}

// TestASteadyAllowWritesItsRequestAndItsCount and nothing else: the conversation is not written again.
func TestASteadyAllowWritesItsRequestAndItsCount(t *testing.T) {
	s := startServer(t)
	store := open(t, "redis://"+s.Addr(), redis.Options{Epoch: epoch(t), Timeout: patient})
	admit := func(id string) {
		a := call(conv("a"), id)
		a.RunCap = 0
		if _, err := store.Admit(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	admit("first")
	if err := s.Admin.ConfigResetStat(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		admit(fmt.Sprint("r", i))
	}
	stats, err := s.Admin.Info(t.Context(), "commandstats").Result()
	if err != nil || !strings.Contains(stats, "cmdstat_set:calls=20,") || !strings.Contains(stats, "cmdstat_evalsha:calls=10,") || strings.Contains(stats, "cmdstat_get:") {
		t.Errorf("ten allows were %s, %v", stats, err)
	}
}
