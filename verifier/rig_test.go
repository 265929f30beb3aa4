package verifier_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/lineage"
	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/internal/store/redis"
	"github.com/openclaw-verifier/verifier/internal/store/redistest"
	"github.com/openclaw-verifier/verifier/internal/store/sqlite"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/redact"
	"github.com/openclaw-verifier/verifier/verifier"
)

const (
	client  = "laptop"
	ownerID = "token:owner"

	// patient is how long a test waits for its store, so that a busy machine does not pass for a broken one.
	patient = 20 * time.Second
	ls      = `{"command":"ls"}`
)

var serverKey = hmac.Key("the server's own key, 32 bytes or more")

// lab is a backend whose clock stands still, and what processes on it have recorded.
type lab struct {
	backend store.Backend
	advance func(time.Duration)
	now     func() time.Time
	record  memory
	file    string
}

// process is one that decides on a lab's store; there may be several.
type process struct {
	store *store.Store
	desk  *approval.Desk
	v     *verifier.Verifier
}

var labStart = time.UnixMilli(1_780_000_000_000)

// labs opens a lab on each backend.
var labs = map[string]func(t testing.TB) *lab{
	"sqlite": func(t testing.TB) *lab {
		t.Helper()
		var clock atomic.Int64
		clock.Store(labStart.UnixMilli())
		l := &lab{
			now:     func() time.Time { return time.UnixMilli(clock.Load()) },
			advance: func(d time.Duration) { clock.Add(d.Milliseconds()) },
			file:    filepath.Join(t.TempDir(), "stores"),
		}
		b, err := sqlite.Open(context.Background(), filepath.Join(t.TempDir(), "verifier.db"), l.now)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = b.Close() })
		l.backend = b
		return l
	},
	"redis": func(t testing.TB) *lab {
		t.Helper()
		m, err := redistest.StartMini()
		if err != nil {
			t.Fatal(err)
		}
		at := labStart
		if err := m.SetTime(at); err != nil {
			t.Fatal(err)
		}
		b, err := redis.Open(m.URL, redis.Options{Timeout: patient})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = b.Close(); _ = m.Close() })
		return &lab{
			backend: b, now: func() time.Time { return at }, file: filepath.Join(t.TempDir(), "stores"),
			advance: func(d time.Duration) {
				at = at.Add(d)
				if err := errors.Join(m.SetTime(at), m.FastForward(d)); err != nil {
					panic(err)
				}
			},
		}
	},
}

// onLabs runs a test on each backend.
func onLabs(t *testing.T, test func(t *testing.T, l *lab)) {
	t.Helper()
	for name, open := range labs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

var shared = sync.OnceValues(func() (*policy.Policy, *redact.Redactor) {
	rules, _, err := policy.New(policy.Config{})
	if err != nil {
		panic(err)
	}
	redactor, err := redact.New(redact.Config{})
	if err != nil {
		panic(err)
	}
	return rules, redactor
})

// terms are the owner's, as edit changes them.
func terms(edit func(*verifier.Terms)) func() *verifier.Terms {
	rules, redactor := shared()
	t := verifier.Terms{
		Policy: rules, Redactor: redactor, Cards: redactor, Bodies: redactor, Hold: 25 * time.Second,
		MaxHold: 590 * time.Second, Keep: 20 * time.Minute,
		Lineage: func(string) []lineage.Key { return nil },
	}
	if edit != nil {
		edit(&t)
	}
	return func() *verifier.Terms { return &t }
}

// kept keeps a backend open that several stores share.
type kept struct{ store.Backend }

func (kept) Close() error { return nil }

// start starts a process; edit may replace what its verifier depends on.
func (l *lab) start(t testing.TB, edit func(*verifier.Options)) *process {
	t.Helper()
	s, err := store.Open(context.Background(), store.Options{
		Backend: kept{l.backend}, Key: serverKey, Clients: func() []string { return []string{client} }, File: l.file,
		Wait: patient,
	})
	if err != nil {
		t.Fatal(err)
	}
	desk, err := approval.NewDesk(approval.Options{
		Key: serverKey, Store: s, Record: &l.record, Poll: 20 * time.Millisecond,
		Visible: seen, Detailed: seen,
		Terms: approval.Terms{
			Config: approval.Config{MaxPromptsPerHour: 1000},
			People: []approval.Person{{Name: "owner", IDs: []string{ownerID}}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	o := verifier.Options{
		Terms: terms(nil), Store: s, Record: &l.record, Desk: desk, Visible: seen, Key: serverKey,
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	if edit != nil {
		edit(&o)
	}
	p := &process{s, desk, verifier.New(o)}
	t.Cleanup(p.end)
	return p
}

// end ends the process without a word.
func (p *process) end() {
	p.desk.Close()
	_ = p.store.Close()
}

func seen(*approval.Ask) bool { return true }

// answer is the owner's, to a card by its reference.
func (p *process) answer(ref string, allow bool, scope approval.Scope) (approval.Kind, error) {
	o, err := p.desk.Answer(context.Background(), approval.Answer{
		ID: ownerID, Via: "terminal", Ref: ref, Allow: allow, Scope: scope,
	})
	return o.Kind, err
}

func (p *process) verify(c *protocol.Call) verifier.Decision {
	return p.v.Verify(context.Background(), c)
}

// rig is one process on SQLite.
type rig struct {
	*lab
	*process
	t *testing.T
}

func newRig(t *testing.T, edit func(*verifier.Options)) *rig {
	t.Helper()
	l := labs["sqlite"](t)
	return &rig{l, l.start(t, edit), t}
}

func (r *rig) allow(c *protocol.Call) {
	r.t.Helper()
	if d := r.verify(c); !d.Allow {
		r.t.Errorf("%s %s: %+v, want allow", c.Tool, c.Params, d)
	}
}

func (r *rig) deny(what string, c *protocol.Call) verifier.Decision {
	r.t.Helper()
	d := r.verify(c)
	if d.Allow || d.Reason == "" {
		r.t.Errorf("%s: %s %s: %+v, want a deny with a reason", what, c.Tool, c.Params, d)
	}
	return d
}

// asked says that a call must be put to a person, and gives the card.
func (r *rig) asked(what string, c *protocol.Call) (ref string) {
	r.t.Helper()
	d := r.deny(what, c)
	if d.Ref == "" {
		r.t.Errorf("%s: %s %s: %+v, want it to be asked about", what, c.Tool, c.Params, d)
	}
	return d.Ref
}

func (r *rig) approve(ref string, scope approval.Scope) {
	r.t.Helper()
	if kind, err := r.answer(ref, true, scope); err != nil || kind != approval.Counted {
		r.t.Fatalf("the owner's yes: %v, %v", kind, err)
	}
}

// hear passes an event on, which must be taken in.
func (r *rig) hear(name protocol.Name, about, members string) protocol.Answer {
	r.t.Helper()
	a := r.v.Hear(r.t.Context(), told(r.t, name, about, members))
	if !a.Accepted {
		r.t.Errorf("%s %s: %+v", name, about, a)
	}
	return a
}

// memory is a record that can be told to fail.
type memory struct {
	mu      sync.Mutex
	broken  bool
	entries []record.Entry
}

var errDisk = errors.New("no space left on device")

func (m *memory) Append(e record.Entry) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken {
		return errDisk
	}
	m.entries = append(m.entries, e)
	return nil
}

func (m *memory) fail(broken bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.broken = broken
}

// decided is what was decided last.
func (m *memory) decided() (last record.Entry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.entries {
		if m.entries[i].Kind == record.KindDecision {
			last = m.entries[i]
		}
	}
	return last
}

var count atomic.Int64

// call decodes a call as the server does. members are those of its context, in JSON; a call can't wait unless they say
// so.
func call(t testing.TB, tool, params, members string) *protocol.Call {
	t.Helper()
	return named(t, fmt.Sprintf("request-%d", count.Add(1)), tool, params, members)
}

func named(t testing.TB, id, tool, params, members string) *protocol.Call {
	t.Helper()
	c, err := protocol.Decode(fmt.Appendf(nil, `{"version":1,"timestamp":"2026-10-03T14:02:11Z","requestId":%q,`+
		`"tool":{"name":%q,"params":%s},"context":{%s}}`, id, tool, params, members))
	if err != nil {
		t.Fatal(err)
	}
	c.Client = client
	return &c
}

// told decodes an event as the server does.
func told(t testing.TB, name protocol.Name, about, members string) *protocol.Event {
	t.Helper()
	e, err := protocol.DecodeEvent(name, fmt.Appendf(nil, `{"version":1,"timestamp":"2026-10-03T14:02:11Z",`+
		`"requestId":"event-%d","context":{%s},"event":%s}`, count.Add(1), members, about))
	if err != nil {
		t.Fatal(err)
	}
	e.Call.Client = client
	return &e
}

// stranger is a session in which every acting call is asked about.
func stranger(key string) string {
	return `"sessionKey":"agent:main:` + key + `","senderId":"9","waitMs":1`
}

// owner is a session in which nothing is asked while it is clean.
func owner(key string) string {
	return `"sessionKey":"agent:main:` + key + `","senderId":"1","senderIsOwner":true,"waitMs":1`
}

// page is what taints a conversation.
const page = `{"url":"https://example.com/page"}`
