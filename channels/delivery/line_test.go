package delivery_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/openclaw-verifier/verifier/channels/delivery"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fault is an error of a platform that says what it means.
type fault delivery.Verdict

func (f fault) Error() string { return fmt.Sprintf("%+v", delivery.Verdict(f)) }

func judge(err error) delivery.Verdict {
	f, _ := errors.AsType[fault](err)
	return delivery.Verdict(f)
}

// tries runs a call that fails with these one after the other and then works.
func tries(errs ...error) (call func(context.Context) error, made *[]time.Time) {
	made = &[]time.Time{}
	return func(context.Context) error {
		*made = append(*made, time.Now())
		if n := len(*made); n <= len(errs) {
			return errs[n-1]
		}
		return nil
	}, made
}

func bubble(t *testing.T, test func(t *testing.T, ctx context.Context, l *delivery.Line)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		test(t, ctx, delivery.New(delivery.Options{Judge: judge, Rate: 1, Burst: 3}))
	})
}

func TestAFailureThatMayPassIsTriedAgain(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, l *delivery.Line) {
		call, made := tries(fault{Again: true}, fault{Again: true, Down: true})
		if err := l.Do(ctx, "chat", call); err != nil || len(*made) != 3 {
			t.Errorf("%v after %d tries", err, len(*made))
		}
	})
}

func TestAFailureThatStaysIsNot(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, l *delivery.Line) {
		call, made := tries(fault{})
		if err := l.Do(ctx, "chat", call); !errors.Is(err, fault{}) || len(*made) != 1 {
			t.Errorf("%v after %d tries", err, len(*made))
		}
	})
}

func TestH43APauseThatThePlatformAsksForIsKept(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, l *delivery.Line) {
		call, made := tries(fault{Again: true, After: 3 * time.Second})
		began := time.Now()
		if err := l.Do(ctx, "chat", call); err != nil || (*made)[1].Sub(began) < 3*time.Second {
			t.Errorf("%v, tries at %v", err, *made)
		}
	})
}

func TestH43APauseBeyondTheDeadlineFailsAtOnceAndIsRemembered(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, l *delivery.Line) {
		began := time.Now()
		call, made := tries(fault{Again: true, After: time.Minute})
		if err := l.Do(ctx, "chat", call); err == nil || time.Since(began) > 0 || len(*made) != 1 {
			t.Errorf("%v after %v and %d tries", err, time.Since(began), len(*made))
		}
		if err := l.Do(ctx, "chat", call); !errors.Is(err, delivery.ErrBusy) || time.Since(began) > 0 || len(*made) != 1 {
			t.Errorf("the next: %v after %v", err, time.Since(began))
		}
		if err := l.Do(ctx, "another", call); err != nil {
			t.Errorf("another chat: %v", err)
		}
	})
}

func TestAChatHasALimitAndOthersDoNotPayForIt(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, l *delivery.Line) {
		began := time.Now()
		call, _ := tries()
		for range 5 { // three at once, then one a second
			if err := l.Do(ctx, "chat", call); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("five calls took %v", took)
		}
		now := time.Now()
		if err := l.Do(ctx, "another", call); err != nil || time.Since(now) > 0 {
			t.Errorf("another chat waited %v, %v", time.Since(now), err)
		}
		short, cancel := context.WithTimeout(ctx, time.Millisecond)
		defer cancel()
		if err := l.Do(short, "chat", call); !errors.Is(err, delivery.ErrBusy) {
			t.Errorf("without room: %v", err)
		}
	})
}

func TestH43APlatformThatHangsEndsInTimeAndIsThenLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		health := &delivery.Health{}
		l := delivery.New(delivery.Options{Judge: judge, Burst: 1000, Timeout: time.Second, Health: health})
		hang := func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}
		for range 2 {
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			if err := l.Do(ctx, "chat", hang); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
			cancel()
		}
		call, made := tries()
		if err := l.Do(t.Context(), "chat", call); !errors.Is(err, delivery.ErrDown) || len(*made) > 0 {
			t.Errorf("while it is down: %v", err)
		}
		if health.Err() == nil {
			t.Error("its health is good")
		}
		pass(time.Minute)
		if err := l.Do(t.Context(), "chat", call); err != nil || health.Err() != nil {
			t.Errorf("when it is back: %v, %v", err, health.Err())
		}
	})
}

func TestWhatMayBeShownAlreadyIsNotShownTwice(t *testing.T) {
	bubble(t, func(t *testing.T, ctx context.Context, l *delivery.Line) {
		made := 0
		err := l.Send(ctx, "chat", func(ctx context.Context) error {
			made++
			<-ctx.Done()
			return ctx.Err()
		})
		if !errors.Is(err, context.DeadlineExceeded) || made != 1 {
			t.Errorf("%v after %d calls", err, made)
		}
		call, tried := tries(fault{Again: true, Down: true})
		if err := l.Send(t.Context(), "another", call); err != nil || len(*tried) != 2 {
			t.Errorf("what was refused: %v after %d calls", err, len(*tried))
		}
	})
}

func TestOneCallTriesAPlatformThatWasDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := delivery.New(delivery.Options{Judge: judge, Burst: 1000})
		bad, made := tries(fault{Down: true}, fault{Down: true}, fault{Down: true}, fault{Down: true}, fault{Down: true}, fault{Down: true})
		for range 20 {
			if err := l.Do(t.Context(), "chat", bad); err == nil {
				t.Fatal("it worked")
			}
		}
		if len(*made) != 5 {
			t.Fatalf("%d calls reached it", len(*made))
		}
		pass(3 * time.Second)
		free := make(chan struct{})
		trying := make(chan error)
		go func() {
			trying <- l.Do(t.Context(), "chat", func(context.Context) error { <-free; return nil })
		}()
		synctest.Wait()
		if err := l.Do(t.Context(), "chat", bad); !errors.Is(err, delivery.ErrDown) {
			t.Errorf("a second one beside it: %v", err)
		}
		close(free)
		if err := <-trying; err != nil {
			t.Errorf("the one: %v", err)
		}
	})
}

func TestACallerThatGivesUpDoesNotMakeThePlatformLookBad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := delivery.New(delivery.Options{Judge: judge, Burst: 1000})
		for range 20 {
			ctx, cancel := context.WithCancel(t.Context())
			err := l.Do(ctx, "chat", func(ctx context.Context) error {
				cancel()
				return ctx.Err()
			})
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("got %v", err)
			}
		}
	})
}

// pass lets time go by on the bubble's clock.
func pass(d time.Duration) { <-time.After(d) }

func TestAnswersToTapsDoNotWaitForABusyChat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := delivery.Options{Judge: func(error) delivery.Verdict { return delivery.Verdict{} }, Rate: 1, Burst: 1}
		c := delivery.NewChat("chat", delivery.Deps{}, o, o)
		call := func(context.Context) error { return nil }
		for range 5 {
			if err := c.Line.Do(t.Context(), "owner", call); err != nil {
				t.Fatal(err)
			}
		}
		began := time.Now()
		for range 25 {
			if err := c.Taps.Do(t.Context(), "owner", call); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("25 answers to taps took %v", took)
		}
	})
}

// TestWhatCanWaitGoesLast: edits of a hundred old cards don't hold up the question that follows a tap, and take all the rest.
func TestWhatCanWaitGoesLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := delivery.New(delivery.Options{Judge: judge, Rate: 1. / 3, Burst: 20})
		call := func(context.Context) error { return nil }
		var edits sync.WaitGroup
		var made atomic.Int64
		for range 100 {
			edits.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				if l.Later(ctx, "chat", call) == nil {
					made.Add(1)
				}
			})
		}
		delivery.Sleep(t.Context(), 10*time.Second)
		began := time.Now()
		for range 5 {
			if err := l.Do(t.Context(), "chat", call); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took > 15*time.Second {
			t.Errorf("five questions took %v beside the edits", took)
		}
		edits.Wait()
		if n := made.Load(); n < 20+20-5-1 || n > 20+20-5+1 { // at once, in a minute, without the questions
			t.Errorf("%d edits were made in a minute", n)
		}
	})
}

// TestEditsKeepUp: in a group, with a question every five seconds that is answered four seconds later, each outcome is shown within its ten seconds.
func TestEditsKeepUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := delivery.New(delivery.Options{Judge: judge, Rate: 1. / 3, Burst: 20})
		call := func(context.Context) error { return nil }
		var all sync.WaitGroup
		var missed atomic.Int64
		for i := range 60 {
			all.Go(func() {
				delivery.Sleep(t.Context(), time.Duration(i)*5*time.Second)
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				if l.Send(ctx, "chat", call) != nil {
					missed.Add(1)
				}
				delivery.Sleep(t.Context(), 4*time.Second)
				ctx, cancel = context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				if l.Later(ctx, "chat", call) != nil {
					missed.Add(1)
				}
			})
		}
		all.Wait()
		if n := missed.Load(); n > 0 {
			t.Errorf("%d of 120 calls were not made", n)
		}
	})
}

// TestWhatWaitsHearsOfAPause: the platform asks for a minute while edits wait for their turn.
func TestWhatWaitsHearsOfAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := delivery.New(delivery.Options{Judge: judge, Rate: 1, Burst: 1})
		began := time.Now()
		var first time.Duration
		var edits sync.WaitGroup
		call := func(context.Context) error { return nil }
		if err := l.Do(t.Context(), "chat", call); err != nil {
			t.Fatal(err)
		}
		edits.Go(func() {
			_ = l.Do(t.Context(), "chat", func(context.Context) error { return fault{After: time.Minute} })
		})
		synctest.Wait()
		edits.Go(func() {
			err := l.Later(t.Context(), "chat", func(context.Context) error {
				first = time.Since(began)
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
		edits.Wait()
		if first < time.Minute {
			t.Errorf("an edit was made after %v", first)
		}
	})
}
