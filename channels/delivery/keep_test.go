package delivery_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openclaw-verifier/verifier/channels/delivery"
)

func TestAListenerThatEndsIsStartedAgainWithPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		var log bytes.Buffer
		health := &delivery.Health{}
		runs := 0
		delivery.Keep(ctx, slog.New(slog.NewTextHandler(&log, nil)), health, func(context.Context) error {
			runs++
			if runs == 3 {
				panic("a bug")
			}
			return errors.New("connection refused")
		})
		if runs < 10 || runs > 40 {
			t.Errorf("%d runs in ten minutes", runs)
		}
		if n := strings.Count(log.String(), "connection refused"); n != 2 ||
			!strings.Contains(log.String(), "panic with a string") || strings.Contains(log.String(), "a bug") {
			t.Errorf("said %d times:\n%s", n, log.String())
		}
		if health.Err() == nil {
			t.Error("its health is good")
		}
	})
}

// ledger is a place where replicas meet, on the bubble's clock.
type ledger struct {
	mu    sync.Mutex
	owner string
	until time.Time
	down  bool
}

var errStore = errors.New("the store is down")

func (l *ledger) Lease(_ context.Context, _, owner string, ttl time.Duration) (bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down {
		return false, errStore
	}
	if l.owner != owner && time.Now().Before(l.until) {
		return false, nil
	}
	l.owner, l.until = owner, time.Now().Add(ttl)
	return true, nil
}

func (l *ledger) fail(down bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = down
}

// replica listens when it may.
type replica struct {
	mu        sync.Mutex
	listening bool
	stop      context.CancelFunc
	ended     chan error
}

func (r *replica) is() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.listening
}

func (r *replica) set(on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.listening = on
}

func start(ctx context.Context, l *ledger, name string) *replica {
	ctx, stop := context.WithCancel(ctx)
	r := &replica{stop: stop, ended: make(chan error, 1)}
	deps := delivery.Deps{Leases: l, Instance: name}.Fill()
	go func() {
		r.ended <- deps.Lead(ctx, "telegram", func(ctx context.Context) error {
			r.set(true)
			<-ctx.Done()
			r.set(false)
			return nil
		})
	}()
	return r
}

func TestOneReplicaListensAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{}
		one := start(t.Context(), l, "one")
		synctest.Wait()
		two := start(t.Context(), l, "two")
		for range 60 {
			pass(time.Second)
			synctest.Wait()
			if !one.is() || two.is() {
				t.Fatal("not one alone")
			}
		}
		one.stop()
		if err := <-one.ended; err != nil {
			t.Error(err)
		}
		pass(delivery.LeaseTTL)
		synctest.Wait()
		if one.is() || !two.is() {
			t.Error("the other did not take over")
		}
		two.stop()
		<-two.ended
	})
}

// A replica that dies gives nothing up: its lease runs out.
func TestTheLeaseOfADeadReplicaMovesWithinTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for late := range 40 { // wherever in its round it dies
			l := &ledger{}
			if held, err := l.Lease(t.Context(), "telegram", "dead", delivery.LeaseTTL); err != nil || !held {
				t.Fatal(held, err)
			}
			pass(time.Duration(late) * 100 * time.Millisecond)
			two := start(t.Context(), l, "two")
			began := time.Now()
			for !two.is() {
				pass(50 * time.Millisecond)
				synctest.Wait()
			}
			if took := time.Since(began) + time.Duration(late)*100*time.Millisecond; took > 9*time.Second {
				t.Errorf("the other listens %v after the last renewal", took)
			}
			two.stop()
			<-two.ended
		}
	})
}

func TestAListenerStopsBeforeItsLeaseIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{}
		one := start(t.Context(), l, "one")
		pass(5 * time.Second) // renewed twice
		l.fail(true)
		began := time.Now()
		for one.is() {
			pass(100 * time.Millisecond)
			if time.Since(began) > delivery.LeaseTTL {
				t.Fatal("it listens although its lease is over")
			}
		}
		l.fail(false)
		pass(delivery.LeaseTTL)
		synctest.Wait()
		if !one.is() {
			t.Error("it did not come back")
		}
		one.stop()
		<-one.ended
	})
}

func TestWithoutLeasesAListenerJustRuns(t *testing.T) {
	ended := errors.New("ended")
	if err := (delivery.Deps{}).Lead(t.Context(), "x", func(context.Context) error { return ended }); !errors.Is(err, ended) {
		t.Error(err)
	}
}
