package sqlite_test

import (
	"context"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/store/sqlite"
	"github.com/openclaw-verifier/verifier/store/storetest"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/verifier"
)

// both is what the store and the model have in common.
type both interface {
	verifier.Store
	approval.Store
}

// step is one operation and its answer.
type step func(ctx context.Context, s both) []any

// TestAGroupIsWorthTheSameAsOneByOne queues operations behind a writer that
// hangs, so that they share a transaction and what it remembers, and compares
// with the model, which has neither.
func TestAGroupIsWorthTheSameAsOneByOne(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		clock := newClock()
		s, model := open(t, database(t), sqlite.Options{Now: clock.Now}), storetest.NewModel(clock.Now)
		for range rapid.IntRange(1, 4).Draw(rt, "groups") {
			steps := rapid.SliceOfN(rapid.Custom(drawStep), 1, 12).Draw(rt, "steps")
			got := grouped(t, s, steps)
			for i, step := range steps {
				want := step(t.Context(), model)
				if diff := cmp.Diff(want, got[i], cmpopts.EquateErrors(), cmpopts.EquateEmpty()); diff != "" {
					rt.Fatalf("step %d: one by one (-) and grouped (+) differ:\n%s", i, diff)
				}
			}
			clock.advance(time.Second)
		}
		must(t, s.Close())
	})
}

// grouped runs the steps in one transaction, in order.
func grouped(t *testing.T, s *sqlite.Store, steps []step) [][]any {
	t.Helper()
	release := hang(t, s)
	answers := make([][]any, len(steps))
	var waiting sync.WaitGroup
	for i, step := range steps {
		waiting.Go(func() { answers[i] = step(t.Context(), s) })
		for s.Queued() <= i {
			runtime.Gosched()
		}
	}
	release()
	waiting.Wait()
	return answers
}

func drawStep(t *rapid.T) step {
	a := admission(rapid.IntRange(0, 2).Draw(t, "conversation"), rapid.IntRange(0, 5).Draw(t, "request"))
	a.Session = rapid.SampledFrom([]string{"", "s1", "s2"}).Draw(t, "session")
	a.Raise = taint.Level(rapid.IntRange(0, taint.Levels-1).Draw(t, "raise"))
	a.Initial = rapid.SampledFrom([]taint.Level{taint.System, taint.Owner}).Draw(t, "initial")
	a.Run, a.RunCap = "run", rapid.IntRange(0, 3).Draw(t, "cap")
	other := admission(rapid.IntRange(0, 2).Draw(t, "other"), 0).Conversation
	version := int64(rapid.IntRange(1, 5).Draw(t, "version"))
	switch rapid.IntRange(0, 9).Draw(t, "what") {
	case 0:
		return func(ctx context.Context, s both) []any {
			name, err := s.Reset(ctx, a.Conversation.Hash())
			return []any{name, err}
		}
	case 1:
		return func(ctx context.Context, s both) []any {
			return []any{s.Raise(ctx, a.Conversation, a.Raise, "sessions_send")}
		}
	case 2:
		return func(ctx context.Context, s both) []any {
			root, before, err := s.Link(ctx, a.Conversation, other)
			return []any{root, before, err}
		}
	case 3, 4:
		m := session.Settlement{
			Conversation: a.Conversation, Session: a.Session, RequestID: "s" + strconv.FormatInt(version, 10), Version: version,
			Raise: a.Raise, Source: "settled", Standing: "A|settled", Keep: time.Minute,
		}
		return func(ctx context.Context, s both) []any {
			settled, err := s.Settle(ctx, m)
			return []any{settled, err}
		}
	case 5:
		d := session.Denial{Conversation: a.Conversation, RequestID: a.RequestID, Body: a.Body, Keep: time.Minute}
		return func(ctx context.Context, s both) []any { return []any{s.Deny(ctx, d)} }
	default:
		return func(ctx context.Context, s both) []any {
			v, err := s.Admit(ctx, a)
			return []any{v, err}
		}
	}
}

func TestACardThatCannotServeGivesWay(t *testing.T) {
	s := open(t, database(t), sqlite.Options{})
	a := admission(0, 0)
	admit(t, s, a)
	place := func(id, instead string) approval.Placement {
		p, err := s.Place(t.Context(), approval.Draft{
			ID: a.Conversation.Hash()[:2] + id, Conversation: a.Conversation, Digests: []string{"d"}, Instead: instead,
			CodeSeal: "seal " + id, Live: time.Hour, MaxOpen: 5,
		})
		must(t, err)
		return p
	}
	first := place("01", "")
	if p := place("02", ""); p.State != approval.Shared || p.ID != first.ID {
		t.Fatalf("a second card about the same: %+v", p)
	}
	if p := place("03", first.ID); p.State != approval.New {
		t.Fatalf("a card instead of the first: %+v", p)
	}
}
