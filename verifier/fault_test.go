package verifier_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/redact"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/verifier"
)

// broken is a store whose methods fail, by panic or by error, when named.
type broken struct {
	verifier.Store
	method string
	err    error // nil: it panics
}

func (b *broken) at(method string) error {
	if b.method != method {
		return nil
	}
	if b.err == nil {
		panic("the store's " + method)
	}
	return b.err
}

func (b *broken) Admit(ctx context.Context, a session.Admission) (session.View, error) {
	if err := b.at("Admit"); err != nil {
		return session.View{Entry: session.Passed}, err // even if it seems to say yes
	}
	return b.Store.Admit(ctx, a)
}

func (b *broken) Settle(ctx context.Context, s session.Settlement) (session.Settled, error) {
	if err := b.at("Settle"); err != nil {
		return session.Settled{State: session.Done}, err
	}
	return b.Store.Settle(ctx, s)
}

func (b *broken) Deny(ctx context.Context, d session.Denial) error {
	if err := b.at("Deny"); err != nil {
		return err
	}
	return b.Store.Deny(ctx, d)
}

func (b *broken) Hear(ctx context.Context, r session.Report) (session.Heard, error) {
	if err := b.at("Hear"); err != nil {
		return session.Heard{Known: true}, err
	}
	return b.Store.Hear(ctx, r)
}

func (b *broken) Link(ctx context.Context, child, parent session.Conversation) (session.Conversation, taint.Level, error) {
	if err := b.at("Link"); err != nil {
		return parent, taint.System, err
	}
	return b.Store.Link(ctx, child, parent)
}

func (b *broken) Raise(ctx context.Context, c session.Conversation, to taint.Level, source string) error {
	if err := b.at("Raise"); err != nil {
		return err
	}
	return b.Store.Raise(ctx, c, to, source)
}

func (b *broken) Worst(ctx context.Context, c session.Conversation) (taint.Level, error) {
	if err := b.at("Worst"); err != nil {
		return taint.System, err
	}
	return b.Store.Worst(ctx, c)
}

func (b *broken) AutomationFloor(ctx context.Context, client, agent string) (taint.Level, error) {
	if err := b.at("AutomationFloor"); err != nil {
		return taint.System, err
	}
	return b.Store.AutomationFloor(ctx, client, agent)
}

func (b *broken) RaiseAutomation(ctx context.Context, client, agent string, to taint.Level) error {
	if err := b.at("RaiseAutomation"); err != nil {
		return err
	}
	return b.Store.RaiseAutomation(ctx, client, agent, to)
}

// through are calls that an owner or a person lets pass, each by way of one of
// the store's methods.
var through = map[string]struct{ tool, params, context string }{
	"Admit":           {"read", `{"path":"x"}`, owner("m")},
	"Settle":          {"exec", `{"command":"ls"}`, stranger("x")},
	"Link":            {"read", `{"path":"x"}`, `"sessionKey":"agent:main:subagent:1","spawnedBy":"agent:main:m"`},
	"Raise":           {"sessions_send", `{"sessionKey":"agent:main:other","message":"hi"}`, owner("m")},
	"Worst":           {"sessions_history", `{"sessionKey":"agent:main:other"}`, owner("m")},
	"AutomationFloor": {"read", `{"path":"x"}`, `"sessionKey":"agent:main:cron:j:run:1","trigger":"cron"`},
	"RaiseAutomation": {"automations", `{"action":"add"}`, owner("m")},
}

func TestAnyFailureOfTheStoreIsADeny(t *testing.T) {
	for method, c := range through {
		for how, err := range map[string]error{"panics": nil, "fails": errors.New("store: out of order")} {
			t.Run(method+" "+how, func(t *testing.T) {
				store, _ := openSQLite(t)
				b := &broken{Store: store, err: err}
				r := newRig(t, store, 1, func(o *verifier.Options) { o.Store, o.Desk = b, deskFunc(saysYes) })
				r.allow(call(t, "read", `{"path":"x"}`, owner("other")))
				r.allow(call(t, "read", `{"path":"x"}`, owner("m")))
				b.method = method
				r.deny(method, call(t, c.tool, c.params, c.context))
				if e := r.record.last(); e.Decision != record.Deny || e.Error == "" {
					t.Errorf("the record says %+v", e)
				}
				b.method = ""
				r.allow(call(t, c.tool, c.params, c.context))
			})
		}
	}
}

func TestAPanicAnywhereElseIsADenyToo(t *testing.T) {
	boom := func() { panic("boom") }
	for name, edit := range map[string]func(*verifier.Options){
		"the policy":   func(o *verifier.Options) { o.Policy = func() *policy.Policy { boom(); return nil } },
		"the redactor": func(o *verifier.Options) { o.Redactor = func() *redact.Redactor { boom(); return nil } },
		"the record":   func(o *verifier.Options) { o.Record = panicking{} },
		"the desk": func(o *verifier.Options) {
			o.Desk = deskFunc(func(*approval.Request) (approval.Ruling, error) { boom(); return approval.Ruling{}, nil })
		},
		"visible":      func(o *verifier.Options) { o.Visible = func(*approval.Ask) bool { boom(); return true } },
		"the observer": func(o *verifier.Options) { o.Observe = func(verifier.Observation) { boom() } },
	} {
		t.Run(name, func(t *testing.T) {
			store, _ := openSQLite(t)
			var log bytes.Buffer
			r := newRig(t, store, 1, func(o *verifier.Options) {
				o.Desk, o.Log = deskFunc(saysYes), slog.New(slog.NewTextHandler(&log, nil))
				edit(o)
			})
			r.deny(name, call(t, "exec", `{"command":"ls"}`, stranger("m")))
			if e := r.record.last(); name != "the record" && (e.Decision != record.Deny || e.Error != "panic") {
				t.Errorf("the record says %+v", e)
			}
			if said := log.String(); !strings.Contains(said, "panic.type=string") || strings.Contains(said, "boom") {
				t.Errorf("the log says %s", said)
			}
		})
	}
}

type panicking struct{}

func (panicking) Append(record.Entry) error { panic("boom") }

func TestWhatCannotBeRecordedIsNotAllowed(t *testing.T) {
	store, _ := openSQLite(t)
	r := newRig(t, store, 1, func(o *verifier.Options) { o.Desk = deskFunc(saysYes) })
	r.allow(call(t, "exec", `{"command":"ls"}`, owner("m")))
	r.record.fail(true)
	for name, c := range map[string]struct{ tool, params, context string }{
		"by policy":   {"read", `{"path":"x"}`, owner("m")},
		"by a person": {"exec", `{"command":"ls"}`, stranger("s")},
		"a source":    {"web_fetch", `{"url":"https://example.com"}`, owner("m")},
	} {
		if d := r.deny(name, call(t, c.tool, c.params, c.context)); !strings.Contains(d.Reason, "record") {
			t.Errorf("%s: the agent reads %q", name, d.Reason)
		}
	}
	r.record.fail(false)
	r.allow(call(t, "exec", `{"command":"ls"}`, owner("m")))
	if e := r.record.last(); e.By != "person" || e.Level != "untrusted" {
		t.Errorf("the fetch that was denied left the conversation at %s, and exec passed by %s", e.Level, e.By)
	}
}

func TestACallIsHeldAsLongAsItsCallerCanWait(t *testing.T) {
	const hold, most = 25 * time.Second, 120 * time.Second
	for _, row := range []struct {
		wait      string
		hold, max time.Duration
		want      time.Duration
	}{
		{"", hold, most, hold},
		{`,"waitMs":0`, hold, most, hold},
		{`,"waitMs":1`, hold, most, 0},
		{`,"waitMs":5000`, hold, most, 0},
		{`,"waitMs":5001`, hold, most, time.Millisecond},
		{`,"waitMs":15000`, hold, most, 10 * time.Second},
		{`,"waitMs":30000`, hold, most, hold},
		{`,"waitMs":60000`, hold, most, 55 * time.Second},
		{`,"waitMs":124999`, hold, most, most - time.Millisecond},
		{`,"waitMs":125000`, hold, most, most},
		{`,"waitMs":125001`, hold, most, most},
		{`,"waitMs":86400000`, hold, most, most},
		{`,"waitMs":999999999999`, hold, most, most},
		{"", 0, 0, hold}, // the defaults
		{`,"waitMs":600000`, 0, 0, 590 * time.Second},
		{"", 200 * time.Second, most, most}, // no hold is longer than the longest
		{`,"waitMs":60000`, time.Second, 10 * time.Second, 10 * time.Second},
	} {
		store, _ := openSQLite(t)
		got := time.Duration(-1)
		r := newRig(t, store, 1, func(o *verifier.Options) {
			o.Settings = func() verifier.Settings { return verifier.Settings{Hold: row.hold, MaxHold: row.max} }
			o.Desk = deskFunc(func(r *approval.Request) (approval.Ruling, error) {
				got = r.Hold
				return approval.Ruling{}, nil
			})
		})
		r.deny("nobody answered", call(t, "exec", `{"command":"ls"}`, `"sessionKey":"agent:main:m"`+row.wait))
		if got < 0 || got > row.want || got < row.want-time.Second { // it counts from when the call came
			t.Errorf("hold %v, maxHold %v, context %q: held for %v, want %v", row.hold, row.max, row.wait, got, row.want)
		}
	}
}
