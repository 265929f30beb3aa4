package verifier_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/lineage"
	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/verifier"
)

// dying is a backend and a record that a process reaches for a few steps only. At the last one it ends, before the step
// is done or after it, as kill -9 ends it or a connection that breaks before the answer comes.
type dying struct {
	store.Backend
	memory *memory
	left   atomic.Int64
	before bool
	panics bool
}

var errDead = errors.New("the process is dead")

// step does one, where the process still lives.
func step[T any](d *dying, do func() (T, error)) (out T, err error) {
	left := d.left.Add(-1)
	if left > 0 {
		return do()
	}
	if d.panics {
		panic("the store")
	}
	if left == 0 && !d.before {
		_, _ = do() // what it gives is never heard
	}
	return out, errDead
}

func (d *dying) Commit(ctx context.Context, c *store.Commit) (store.Result, error) {
	return step(d, func() (store.Result, error) { return d.Backend.Commit(ctx, c) })
}

func (d *dying) Append(e record.Entry) error {
	_, err := step(d, func() (struct{}, error) { return struct{}{}, d.memory.Append(e) })
	return err
}

// The process dies at any step of a fetch, of a command that the owner allows, and of one that they deny (H42, H44):
// nothing is allowed that was not approved or is not recorded, one yes is for one call, and the level is kept.
func TestDyingAtAnyStepAllowsNothing(t *testing.T) {
	for name, open := range labs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := 1; n < 100; n++ {
				for _, before := range []bool{true, false} {
					// A store of its own: what an earlier story left open would take steps of this one.
					if over := dies(t, open(t), n, before); over && !before {
						if n < 6 {
							t.Errorf("the story has %d steps only", n)
						}
						return
					}
				}
			}
			t.Fatal("the story does not end")
		})
	}
}

// dies tells the story to a process that dies at a step, and then asks another one. It reports whether the story was
// over by then.
func dies(t *testing.T, l *lab, n int, before bool) bool {
	t.Helper()
	key, where := fmt.Sprintf("%d-%v-", n, before), fmt.Sprintf("dead at step %d, before it is done: %v", n, before)
	call := func(id, tool, params string) *protocol.Call { return named(t, key+id, tool, params, owner(key)) }
	get := call("get", "web_fetch", page)
	yes, no := call("yes", "exec", `{"command":"touch x"}`), call("no", "exec", `{"command":"rm -r x"}`)

	d := &dying{Backend: l.backend, memory: &l.record, before: before}
	d.left.Store(1 << 30)
	p := (&lab{backend: d, file: l.file}).start(t, func(o *verifier.Options) { o.Record = d })
	d.left.Store(int64(n))
	fetched := p.verify(get).Allow
	approved, ran, denied := false, false, false
	if ref := p.verify(yes).Ref; ref != "" {
		approved = true // it was sent; it may not have counted
		_, _ = p.answer(ref, true, approval.Scope{})
		ran = p.verify(call("ran", "exec", `{"command":"touch x"}`)).Allow
	}
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
	if fetched && !recorded[key+"get"] || ran && !recorded[key+"ran"] {
		t.Errorf("%s: an allow is not in the record", where)
	}
	// Where a busy machine denied the fetch, nothing taints what is the owner's own, and rm passes by the policy alone.
	if recorded[key+"no"] && (fetched || !over) || recorded[key+"ran"] && !approved {
		t.Errorf("%s: the record holds an allow that nobody approved", where)
		for _, e := range l.record.entries {
			if strings.HasPrefix(e.RequestID, key) {
				t.Logf("%+v", e)
			}
		}
	}
	after := l.start(t, nil)
	defer after.end()
	if fetched && after.verify(call("after", "exec", `{"command":"whoami"}`)).Allow {
		t.Errorf("%s: the level is lost", where)
	}
	again := after.verify(call("again", "exec", `{"command":"rm -r x"}`))
	if fetched && (again.Allow || denied && !strings.HasPrefix(again.Reason, "Denied by the owner")) {
		t.Errorf("%s: after a no: %+v", where, again)
	}
	passed := 0
	for _, c := range []*protocol.Call{
		call("ran", "exec", `{"command":"touch x"}`), call("y2", "exec", `{"command":"touch x"}`),
		call("y3", "exec", `{"command":"touch x"}`),
	} {
		if after.verify(c).Allow {
			passed++
		}
	}
	if fetched && (passed > 1 || passed > 0 && !approved) {
		t.Errorf("%s: %d identical calls passed", where, passed)
	}
	return over
}

// failures are calls and events, each by way of another part of the store.
var failures = []struct {
	what, tool, params, context string
	event                       protocol.Name
	about                       string
}{
	{what: "an allow", tool: "read", params: `{"path":"x"}`, context: owner("m")},
	{what: "a child", tool: "read", params: `{"path":"x"}`,
		context: `"sessionKey":"agent:main:subagent:1","spawnedBy":"agent:main:m"`},
	{what: "a send", tool: "sessions_send", params: `{"sessionKey":"agent:main:other","message":"hi"}`,
		context: owner("m")},
	{what: "a job", tool: "automations", params: `{"action":"add"}`, context: owner("m")},
	{what: "a run of a job", tool: "read", params: `{"path":"x"}`,
		context: `"sessionKey":"agent:main:cron:j:run:1","trigger":"cron"`},
	{what: "a start", event: protocol.ContextAssembled, about: `{"sources":[]}`, context: stranger("n")},
	{what: "a spawn", event: protocol.SubagentSpawned, about: `{"childSessionKey":"agent:main:subagent:2"}`,
		context: owner("m")},
	{what: "an end", event: protocol.SessionEnd, about: `{"nextSessionKey":"agent:main:n2"}`, context: owner("m")},
}

func TestAnyFailureOfTheStoreIsADeny(t *testing.T) {
	for _, f := range failures {
		for _, panics := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, a panic: %v", f.what, panics), func(t *testing.T) {
				l := labs["sqlite"](t)
				d := &dying{Backend: l.backend, before: true, panics: panics}
				d.left.Store(1 << 30)
				r := &rig{l, (&lab{backend: d, file: l.file}).start(t,
					func(o *verifier.Options) { o.Record = &l.record }), t}
				r.allow(call(t, "read", `{"path":"x"}`, owner("other")))
				d.left.Store(0)
				if f.event != "" {
					a := r.v.Hear(t.Context(), told(t, f.event, f.about, f.context))
					if a.Accepted || a.Reason == "" || a.Block != f.event.MayBlock() {
						t.Errorf("%+v", a)
					}
				} else if r.deny(f.what, call(t, f.tool, f.params, f.context)); r.record.decided().Error == "" {
					t.Errorf("the record says %+v", r.record.decided())
				}
				d.left.Store(1 << 30)
				if f.event != "" {
					r.hear(f.event, f.about, f.context)
				} else {
					r.allow(call(t, f.tool, f.params, f.context))
				}
			})
		}
	}
}

// deskFunc is a desk that does as it is told.
type deskFunc func(*approval.Request) (approval.Ruling, error)

func (deskFunc) Granted(*store.Tx, *approval.Ask) *store.Grant                         { return nil }
func (deskFunc) Abandon(context.Context, approval.Ending) error                        { return nil }
func (deskFunc) Tell(context.Context, string)                                          {}
func (f deskFunc) Ask(_ context.Context, r *approval.Request) (approval.Ruling, error) { return f(r) }
func (deskFunc) AnsweredElsewhere(context.Context, string, string, approval.Elsewhere) error {
	return nil
}

func (deskFunc) Claim(_ *store.Tx, _ *approval.Ask, _ string, heard *approval.Ruling) (approval.Ruling, bool, error) {
	if heard == nil {
		return approval.Ruling{}, false, nil
	}
	return *heard, heard.Yes, nil
}

// saysYes is a person who is always there.
func saysYes(*approval.Request) (approval.Ruling, error) {
	return approval.Ruling{Yes: true, Ref: "TEST", Card: "card", Whole: true}, nil
}

type panicking struct{}

func (panicking) Append(record.Entry) error { panic("boom") }

func TestAPanicAnywhereElseIsADenyToo(t *testing.T) {
	boom := func() { panic("boom") }
	for name, edit := range map[string]func(*verifier.Options){
		"the terms": func(o *verifier.Options) { o.Terms = func() *verifier.Terms { boom(); return nil } },
		"the keys": func(o *verifier.Options) {
			o.Terms = terms(func(t *verifier.Terms) { t.Lineage = func(string) []lineage.Key { boom(); return nil } })
		},
		"the record": func(o *verifier.Options) { o.Record = panicking{} },
		"the desk": func(o *verifier.Options) {
			o.Desk = deskFunc(func(*approval.Request) (approval.Ruling, error) { boom(); return approval.Ruling{}, nil })
		},
		"visible":     func(o *verifier.Options) { o.Visible = func(*approval.Ask) bool { boom(); return true } },
		"the metrics": func(o *verifier.Options) { o.Observe = func(*record.Entry, string, time.Duration) { boom() } },
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			r := newRig(t, func(o *verifier.Options) {
				o.Desk, o.Log = deskFunc(saysYes), slog.New(slog.NewTextHandler(&log, nil))
				edit(o)
			})
			r.deny(name, call(t, "exec", ls, stranger("m")))
			if e := r.record.decided(); name != "the record" && (e.Decision != record.Deny || e.Error != "panic") {
				t.Errorf("the record says %+v", e)
			}
			if said := log.String(); !strings.Contains(said, "panic with a string") || strings.Contains(said, "boom") {
				t.Errorf("the log says %s", said)
			}
			if name == "the terms" {
				a := r.v.Hear(t.Context(), told(t, protocol.BeforeResponseEmit, `{"content":"x"}`, owner("m")))
				if a.Accepted || !a.Block || a.BlockReason == "" {
					t.Errorf("an event: %+v", a)
				}
			}
		})
	}
}

func TestWhatCannotBeRecordedIsNotAllowed(t *testing.T) {
	r := newRig(t, func(o *verifier.Options) { o.Desk = deskFunc(saysYes) })
	r.allow(call(t, "exec", ls, owner("m")))
	r.allow(call(t, "exec", ls, owner("e")))
	r.record.fail(true)
	for name, c := range map[string]*protocol.Call{
		"by policy":   call(t, "read", `{"path":"x"}`, owner("m")),
		"by a person": call(t, "exec", ls, stranger("s")),
		"a source":    call(t, "web_fetch", page, owner("m")),
	} {
		if d := r.deny(name, c); !strings.Contains(d.Reason, "record") {
			t.Errorf("%s: the agent reads %q", name, d.Reason)
		}
	}
	a := r.v.Hear(t.Context(), told(t, protocol.AfterToolCall, `{"toolName":"web_fetch"}`, owner("e")))
	if a.Accepted {
		t.Errorf("an event: %+v", a)
	}
	if a := r.v.Notice(t.Context(), call(t, "web_fetch", page, owner("n"))); a.Accepted {
		t.Errorf("a notice: %+v", a)
	}
	r.record.fail(false)
	for _, key := range []string{"m", "e", "n"} {
		r.allow(call(t, "exec", ls, owner(key)))
		if e := r.record.decided(); e.By != "person" || e.Level != "untrusted" {
			t.Errorf("what was denied left the conversation at %s, and exec passed by %s", e.Level, e.By)
		}
	}
}

func TestACallIsHeldAsLongAsItsCallerCanWait(t *testing.T) {
	const hold, most = 25 * time.Second, 120 * time.Second
	var now *verifier.Terms
	got := time.Duration(-1)
	r := newRig(t, func(o *verifier.Options) {
		o.Terms = func() *verifier.Terms { return now }
		o.Desk = deskFunc(func(r *approval.Request) (approval.Ruling, error) {
			got = r.Hold
			return approval.Ruling{}, nil
		})
	})
	for _, row := range []struct {
		wait            string
		hold, max, want time.Duration
	}{
		{"", hold, most, hold},
		{`,"waitMs":0`, hold, most, hold},
		{`,"waitMs":1`, hold, most, 0},
		{`,"waitMs":5000`, hold, most, 0},
		{`,"waitMs":15000`, hold, most, 10 * time.Second},
		{`,"waitMs":30000`, hold, most, hold},
		{`,"waitMs":60000`, hold, most, 55 * time.Second},
		{`,"waitMs":124999`, hold, most, most - time.Millisecond},
		{`,"waitMs":125001`, hold, most, most},
		{`,"waitMs":999999999999`, hold, most, most},
		{"", 200 * time.Second, most, most}, // no hold is longer than the longest
		{`,"waitMs":60000`, time.Second, 10 * time.Second, 10 * time.Second},
	} {
		now = terms(func(t *verifier.Terms) { t.Hold, t.MaxHold = row.hold, row.max })()
		r.deny("nobody answered", call(t, "exec", ls, `"sessionKey":"agent:main:m"`+row.wait))
		if got < 0 || got > row.want || got < row.want-time.Second { // it counts from when the call came
			t.Errorf("hold %v, maxHold %v, context %q: held for %v, want %v", row.hold, row.max, row.wait, got, row.want)
		}
	}
}
