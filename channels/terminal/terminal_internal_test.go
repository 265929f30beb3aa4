package terminal

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/internal/approval"
)

func card() *approval.Card {
	until := time.Date(2026, 3, 14, 22, 14, 5, 0, time.UTC)
	return &approval.Card{ID: "a100000000000000000000000000056d8d", Code: "bf619df9", Ask: approval.Ask{
		Tool: "exec", Shown: []byte(`{"command":"ls"}`), Until: until,
	}}
}

func TestACardAndItsOutcomeArePrinted(t *testing.T) {
	var out bytes.Buffer
	ch := New(&out)
	ch.Now = func() time.Time { return time.Date(2026, 3, 14, 22, 13, 0, 0, time.UTC) }
	ref, err := ch.Send(t.Context(), card())
	if err != nil || ref != card().ID {
		t.Fatalf("got %q, %v", ref, err)
	}
	if err := ch.Settle(t.Context(), ref, card(), approval.Outcome{State: approval.Expired}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"── Run: ls ──", "│ ls\n", "7Q4K, 1 min 5 s left", "verifier approve 7Q4K\n", "verifier deny 7Q4K\n", "verifier pending 7Q4K\n", "\n7Q4K Expired without an answer at 22:14 UTC: Run: ls\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in:\n%s", want, out.String())
		}
	}
}

func TestWriteErrorsAreReturned(t *testing.T) {
	broken := errors.New("broken pipe")
	ch := New(writer(func([]byte) (int, error) { return 0, broken }))
	if _, err := ch.Send(t.Context(), card()); !errors.Is(err, broken) {
		t.Errorf("send: %v", err)
	}
	if err := ch.Settle(t.Context(), "", card(), approval.Outcome{}); !errors.Is(err, broken) {
		t.Errorf("settle: %v", err)
	}
}

func TestCardsAreWrittenWholeAndOneAtATime(t *testing.T) {
	var writes [][]byte // a race or a card in two writes shows here
	ch := New(writer(func(p []byte) (int, error) {
		writes = append(writes, bytes.Clone(p))
		return len(p), nil
	}))
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			if _, err := ch.Send(context.Background(), card()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if len(writes) != 32 {
		t.Errorf("%d writes", len(writes))
	}
}

func TestAStoppedTerminalHoldsNobodyUpForLong(t *testing.T) {
	r, w := io.Pipe() // nobody reads
	ch := New(w)
	done := make(chan error, 1)
	go func() {
		_, err := ch.Send(context.Background(), card())
		done <- err
	}()
	for len(ch.turn) == 0 { // until the first card has its turn
		runtime.Gosched()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := ch.Send(ctx, card()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	first, cancelFirst := context.WithCancel(t.Context())
	stuck := New(w)
	given := make(chan error, 1)
	go func() {
		_, err := stuck.Send(first, card())
		given <- err
	}()
	for len(stuck.turn) == 0 {
		runtime.Gosched()
	}
	cancelFirst()
	if err := <-given; !errors.Is(err, context.Canceled) {
		t.Errorf("a card that is stuck in the write: %v", err)
	}
	r.Close()
	if err := <-done; err == nil {
		t.Error("a card that nobody read counts as shown")
	}
}

func TestListenWaitsForTheEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := New(io.Discard).Listen(ctx, nil); err != nil {
		t.Error(err)
	}
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }
