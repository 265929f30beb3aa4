package verifier_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// dying is a store and a record that a process reaches for a few steps only. At the last one it ends, before the step
// is done or after it, as kill -9 ends it or a connection that breaks before the answer comes.
type dying struct {
	backend
	memory *memory
	left   atomic.Int64
	before bool
}

var errDead = errors.New("the process is dead")

// step does one, where the process still lives.
func step[T any](d *dying, do func() (T, error)) (out T, err error) {
	left := d.left.Add(-1)
	if left > 0 {
		return do()
	}
	if left == 0 && !d.before {
		_, _ = do() // what it gives is never heard
	}
	return out, errDead
}

func (d *dying) none(do func() error) error {
	_, err := step(d, func() (struct{}, error) { return struct{}{}, do() })
	return err
}

func (d *dying) Admit(ctx context.Context, in session.Admission) (session.View, error) {
	return step(d, func() (session.View, error) { return d.backend.Admit(ctx, in) })
}

func (d *dying) Settle(ctx context.Context, in session.Settlement) (session.Settled, error) {
	return step(d, func() (session.Settled, error) { return d.backend.Settle(ctx, in) })
}

func (d *dying) Deny(ctx context.Context, in session.Denial) error {
	return d.none(func() error { return d.backend.Deny(ctx, in) })
}

func (d *dying) Raise(ctx context.Context, c session.Conversation, to taint.Level, source string) error {
	return d.none(func() error { return d.backend.Raise(ctx, c, to, source) })
}

func (d *dying) Place(ctx context.Context, in approval.Draft) (approval.Placement, error) {
	return step(d, func() (approval.Placement, error) { return d.backend.Place(ctx, in) })
}

func (d *dying) Swap(ctx context.Context, in approval.Change) error {
	return d.none(func() error { return d.backend.Swap(ctx, in) })
}

func (d *dying) Append(e record.Entry) error {
	return d.none(func() error { return d.memory.Append(e) })
}

// The process dies at any step of a fetch, of a command that the owner allows, and of one that they deny (H42, H44):
// nothing is allowed that was not approved or is not recorded, one yes is for one call, and the level is kept.
func TestDyingAtAnyStepAllowsNothing(t *testing.T) {
	onLabs(t, func(t *testing.T, l *lab) {
		for n := 1; n < 100; n++ {
			for _, before := range []bool{true, false} {
				if over := dies(t, l, n, before); over && !before {
					if n < 8 {
						t.Errorf("the story has %d steps only", n)
					}
					return
				}
			}
		}
		t.Fatal("the story does not end")
	})
}

// dies tells the story to a process that dies at a step, and then asks another one. It reports whether the story was
// over by then.
func dies(t *testing.T, l *lab, n int, before bool) bool {
	t.Helper()
	key, where := fmt.Sprintf("%d-%v-", n, before), fmt.Sprintf("dead at step %d, before it is done: %v", n, before)
	call := func(id, tool, params string) *toolcall.Call { return named(t, key+id, tool, params, owner(key)) }
	get := call("get", "web_fetch", `{"url":"https://example.com"}`)
	yes, no := call("yes", "exec", `{"command":"touch x"}`), call("no", "exec", `{"command":"rm -r x"}`)

	d := &dying{backend: l.store, memory: &l.record, before: before}
	d.left.Store(int64(n))
	mortal := &lab{store: d, sink: d}
	p, err := mortal.start()
	if err != nil {
		t.Fatal(err)
	}
	fetched := p.verify(get).Allow
	approved, ran := false, false
	if ref := p.verify(yes).Ref; ref != "" {
		approved = true // it was sent; it may not have counted
		_, _ = p.answer(ref, true, approval.Scope{})
		ran = p.verify(yes).Allow
	}
	denied := false
	if ref := p.verify(no).Ref; ref != "" {
		kind, err := p.answer(ref, false, approval.Scope{})
		denied = err == nil && kind == approval.Counted
	}
	over := d.left.Load() > 0
	p.desk.Close()

	recorded := map[string]bool{}
	for _, e := range l.record.entries {
		recorded[e.RequestID] = recorded[e.RequestID] || e.Decision == record.Allow
	}
	if fetched && !recorded[key+"get"] || ran && !recorded[key+"yes"] {
		t.Errorf("%s: an allow is not in the record", where)
	}
	if recorded[key+"no"] || recorded[key+"yes"] && !approved {
		t.Errorf("%s: the record holds an allow that nobody approved", where)
	}
	if err := l.crash(); err != nil {
		t.Fatal(err)
	}
	if fetched && l.verify(call("after", "exec", `{"command":"whoami"}`)).Allow {
		t.Errorf("%s: the level is lost", where)
	}
	if again := l.verify(call("again", "exec", `{"command":"rm -r x"}`)); fetched && (again.Allow ||
		denied && !strings.HasPrefix(again.Reason, "Denied by the owner")) {
		t.Errorf("%s: after a no: %+v", where, again)
	}
	passed := 0
	for _, c := range []*toolcall.Call{yes, call("y2", "exec", `{"command":"touch x"}`), call("y3", "exec",
		`{"command":"touch x"}`)} {
		if l.verify(c).Allow {
			passed++
		}
	}
	if fetched && (passed > 1 || passed > 0 && !approved) {
		t.Errorf("%s: %d identical calls passed", where, passed)
	}
	return over
}
