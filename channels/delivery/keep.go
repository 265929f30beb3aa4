package delivery

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"log/slog"
	"time"

	"github.com/openclaw-verifier/verifier/internal/text"
)

// Leases are kept where the replicas of this program meet.
type Leases interface {
	// Lease takes a lease or renews it, for so long from now; for no time it is given up. It reports false while
	// another holder has it.
	Lease(ctx context.Context, name, holder string, keep time.Duration) (bool, error)
}

// Times of a lease: it is renewed often enough that one lost renewal costs
// nothing, and given up before another instance may take it. After a death
// another has it within LeaseTTL and renewEvery: less than ten seconds.
const (
	LeaseTTL   = 6 * time.Second
	renewEvery = LeaseTTL / 3
	giveUp     = LeaseTTL * 2 / 3
)

// Lead runs a listener while this instance holds the lease of that name, until
// ctx ends. Without leases it runs at once. It returns when run has returned.
func (d Deps) Lead(ctx context.Context, name string, run func(context.Context) error) error {
	if d.Leases == nil {
		return run(ctx)
	}
	for ctx.Err() == nil {
		held, err := d.Leases.Lease(ctx, name, d.Instance, LeaseTTL)
		if err != nil && ctx.Err() == nil {
			d.Log.Warn("a lease could not be taken; no gateway listens until it is", "lease", name, "err", err)
		}
		if held {
			if err := d.lead(ctx, name, run); err != nil {
				return err
			}
			continue
		}
		Sleep(ctx, renewEvery)
	}
	return nil
}

// lead runs the listener until the lease is lost or ctx ends. The error is the
// listener's own.
func (d Deps) lead(ctx context.Context, name string, run func(context.Context) error) error {
	inner, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- guarded(inner, run) }()
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	for last := time.Now(); ; {
		select {
		case err := <-ended:
			d.release(ctx, name)
			return err
		case <-ctx.Done():
			err := <-ended
			d.release(ctx, name)
			return err
		case <-tick.C:
		}
		asked := time.Now()
		held, err := d.Leases.Lease(ctx, name, d.Instance, LeaseTTL)
		switch {
		case held:
			last = asked
		case err == nil || time.Since(last) >= giveUp:
			d.Log.Warn("the lease is lost; another instance may listen now", "lease", name, "err", err)
			stop()
			<-ended // what it says is that it was stopped
			return nil
		}
	}
}

func (d Deps) release(ctx context.Context, name string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if _, err := d.Leases.Lease(ctx, name, d.Instance, 0); err != nil {
		d.Log.Warn("a lease could not be given up; it ends by itself", "lease", name, "err", err)
	}
}

// Times between two tries of a listener.
const (
	shortest = 500 * time.Millisecond
	longest  = time.Minute
	steady   = time.Minute // after this long a listener counts as well
)

// Keep runs a listener again whenever it ends, after a pause that grows, until
// ctx ends. What went wrong is said once for as long as it stays the same.
func Keep(ctx context.Context, log *slog.Logger, health *Health, run func(context.Context) error) {
	said := ""
	for try := 0; ctx.Err() == nil; try++ {
		began := time.Now()
		err := guarded(ctx, run)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			err = errors.New("the listener ended")
		}
		if time.Since(began) > steady {
			try = 0
		}
		health.Note("listening", err)
		if text := err.Error(); text != said {
			log.Error("listening has stopped and is tried again", "err", err)
			said = text
		}
		Sleep(ctx, Backoff(try, shortest, longest))
	}
}

// guarded makes an error of a panic: a listener that meets one is started anew.
func guarded(ctx context.Context, run func(context.Context) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = text.Panic(p) // what it holds may be anything, a token too
		}
	}()
	return run(ctx)
}

// Backoff is the pause after the n-th failure: doubled each time, and no two
// instances wait equally long.
func Backoff(n int, first, most time.Duration) time.Duration {
	d := most
	if n < 30 && first<<n < most {
		d = first << n
	}
	var b [8]byte
	rand.Read(b[:])
	share := binary.BigEndian.Uint64(b[:]) >> 11
	return d/2 + time.Duration(float64(d/2)*float64(share)/(1<<53))
}

// Outlive is for what was begun and should end well: it lasts for most of a time,
// and if ctx ends meanwhile, only for a moment longer.
func Outlive(ctx context.Context, most, moment time.Duration) (context.Context, context.CancelFunc) {
	inner, cancel := context.WithTimeout(context.WithoutCancel(ctx), most)
	unhook := context.AfterFunc(ctx, func() {
		Sleep(inner, moment)
		cancel()
	})
	return inner, func() {
		unhook()
		cancel()
	}
}

// Sleep waits, and reports false if ctx ended first.
func Sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
