package store_test

import (
	"context"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/taint"
)

// always is a backend at which every commit succeeds at once: what is left is the store's own work.
type always struct{}

func (always) Commit(context.Context, *store.Commit) (store.Result, error) {
	return store.Result{Now: time.Now()}, nil
}
func (always) Watch(context.Context, func(string)) error { return nil }
func (always) Ready(context.Context) error               { return nil }
func (always) Close() error                              { return nil }

// BenchmarkUpdate is what a steady allow costs in this package, without the backend.
func BenchmarkUpdate(b *testing.B) {
	s, err := store.Open(b.Context(), store.Options{
		Backend: always{}, Key: hmac.Key("the server's key, of 32 bytes..."),
		Clients: func() []string { return []string{"laptop"} },
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	names := make([]store.Name, 64)
	for i := range names {
		names[i] = store.Name{Client: "laptop", Key: "agent:main:telegram:direct:" + strconv.Itoa(i)}
	}
	n, began := 0, cpu()
	b.ReportAllocs()
	for b.Loop() {
		n++
		id := "agent:main:telegram:direct:0\n0d4f7a52-6e0f-4c5a-9a56-" + strconv.Itoa(n)
		err := s.Update(b.Context(), names[n%64], func(t *store.Tx) error {
			if t.Request(id) != nil || t.Paused("main") != nil || t.C.Level("s") > taint.Owner {
				b.Error("it is not allowed")
			}
			t.C.Raise("s", taint.Owner, "its owner", t.Now)
			t.Decide(store.Request{ID: id, Body: [32]byte{1, 2, 3}, Allow: true, By: "policy", Keep: 10 * time.Minute})
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cpu()-began)/1000/float64(n), "cpu-µs/op")
}

// cpu is what this process has used: other work on the machine is no part of it.
func cpu() time.Duration {
	var r syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
