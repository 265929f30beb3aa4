package redis_test

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/internal/store/redis"
	"github.com/openclaw-verifier/verifier/internal/store/redistest"
	"github.com/openclaw-verifier/verifier/taint"
)

// counted counts what is written to the network: a pipeline is one write.
type counted struct {
	net.Conn
	writes *atomic.Int64
}

func (c counted) Write(b []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(b)
}

// BenchmarkSteadyAllow is what a call costs that nothing asks about: 16 connections over 64 conversations.
func BenchmarkSteadyAllow(b *testing.B) {
	server := redistest.Start(b)
	var writes atomic.Int64
	backend, err := redis.Open(server.URL(), redis.Options{Dialer: func(ctx context.Context, network,
		addr string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, addr)
		return counted{c, &writes}, err
	}})
	if err != nil {
		b.Fatal(err)
	}
	s, err := store.Open(b.Context(), store.Options{
		Backend: backend, Key: hmac.Key("key"), Clients: func() []string { return []string{"laptop"} },
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	allow := func(n int, id string) {
		err := s.Update(b.Context(), store.Name{Client: "laptop", Key: fmt.Sprint("c", n%64)}, func(t *store.Tx) error {
			if t.Request(id) != nil || t.Paused("main") != nil || t.C.Level("s") > taint.Owner {
				return fmt.Errorf("it is not allowed")
			}
			t.C.Raise("s", taint.Owner, "its owner", t.Now)
			t.Decide(store.Request{ID: id, Allow: true, By: "policy", Keep: 10 * time.Minute})
			return nil
		})
		if err != nil {
			b.Error(err)
		}
	}
	for n := range 64 {
		allow(n, fmt.Sprint("first", n))
	}
	writes.Store(0)
	began := cpu()
	b.ResetTimer()
	b.ReportAllocs()
	var next atomic.Int64
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
				allow(int(n), fmt.Sprint("r", n))
			}
		})
	}
	all.Wait()
	b.StopTimer()
	b.ReportMetric(float64(writes.Load())/float64(b.N), "trips/op")
	b.ReportMetric(float64(cpu()-began)/1000/float64(b.N), "cpu-µs/op")
}

// cpu is what this process has used.
func cpu() time.Duration {
	var r syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// BenchmarkContention is a change of one conversation that 64 calls of four processes want to make at the same time.
func BenchmarkContention(b *testing.B) {
	server := redistest.Start(b)
	var stores []*store.Store
	for range 4 {
		backend, err := redis.Open(server.URL(), redis.Options{})
		if err != nil {
			b.Fatal(err)
		}
		s, err := store.Open(b.Context(), store.Options{
			Backend: backend, Key: hmac.Key("key"), Clients: func() []string { return []string{"laptop"} },
		})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = s.Close() })
		stores = append(stores, s)
	}
	var failed, runs atomic.Int64
	for b.Loop() {
		var all sync.WaitGroup
		for n := range 64 {
			all.Go(func() {
				err := stores[n%4].Update(b.Context(), store.Name{Client: "laptop", Key: "one"},
					func(t *store.Tx) error {
						runs.Add(1)
						t.C.Changed()
						t.C.Fresh.Count++
						return nil
					})
				if err != nil {
					failed.Add(1)
				}
			})
		}
		all.Wait()
	}
	b.ReportMetric(float64(failed.Load())/float64(b.N), "failed/op")
	b.ReportMetric(float64(runs.Load())/float64(b.N)/64, "runs/call")
}
