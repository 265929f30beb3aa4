package verifier_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/redact"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/store/sqlite"
	"github.com/openclaw-verifier/verifier/toolcall"
	"github.com/openclaw-verifier/verifier/verifier"
)

var (
	serverKey = hmac.Key("the server's own key, 32 bytes or more")
	otherKey  = hmac.Key("a key that an attacker made up himself")
)

const (
	client  = "laptop"
	ownerID = "token:owner"
)

// backend is a store as the program uses it.
type backend interface {
	verifier.Store
	approval.Store
}

// rig is a verifier on a real store, with a real desk.
type rig struct {
	t      *testing.T
	store  backend
	desk   *approval.Desk
	record *memory
	v      *verifier.Verifier
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

func (m *memory) last() record.Entry {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.entries) == 0 {
		return record.Entry{}
	}
	return m.entries[len(m.entries)-1]
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

func (m *memory) denies() (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.entries {
		if m.entries[i].Decision == record.Deny {
			n++
		}
	}
	return n
}

func openSQLite(t *testing.T) (*sqlite.Store, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "verifier.db")
	s, err := sqlite.Open(path, sqlite.Options{Timeout: patient})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, path
}

// newRig makes a verifier; edit may replace what it depends on.
func newRig(t *testing.T, store backend, approvals int, edit func(*verifier.Options)) *rig {
	t.Helper()
	r := &rig{t: t, store: store, record: &memory{}}
	rules, _, err := policy.New(policy.Config{})
	if err != nil {
		t.Fatal(err)
	}
	redactor, err := redact.New(redact.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := redactor.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.desk, err = approval.NewDesk(approval.Options{
		Key: serverKey, Store: store, Record: r.record, Inbox: true, Detailed: func(*approval.Ask) bool { return true },
		Terms: approval.Terms{
			Config: approval.Config{Approvals: approvals, MaxOpen: 100},
			People: []approval.Person{{Name: "owner", IDs: []string{ownerID}}, {Name: "second", IDs: []string{"token:second"}}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.desk.Close)
	o := verifier.Options{
		Policy: func() *policy.Policy { return rules }, Redactor: func() *redact.Redactor { return redactor },
		Store: store, StoreWait: patient, Record: r.record, Desk: r.desk, Pauses: r.desk.Pauses, Grants: r.desk.Grants, Consents: r.desk.Consents, Visible: func(*approval.Ask) bool { return true }, Key: serverKey,
		Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	if edit != nil {
		edit(&o)
	}
	if r.v, err = verifier.New(o); err != nil {
		t.Fatal(err)
	}
	return r
}

var count int

// call decodes a call as the server does. members are those of its context, in
// JSON; a call can't wait unless they say so.
func call(t *testing.T, tool, params, members string) *toolcall.Call {
	t.Helper()
	count++
	return named(t, fmt.Sprintf("request-%d", count), tool, params, members)
}

func named(t *testing.T, id, tool, params, members string) *toolcall.Call {
	t.Helper()
	body := fmt.Sprintf(`{"version":1,"timestamp":"2026-10-03T14:02:11Z","requestId":%q,"tool":{"name":%q,"params":%s},"context":{%s}}`,
		id, tool, params, members)
	c, err := toolcall.Decode([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	c.Client = client
	return &c
}

// stranger is a session in which every acting call is asked about.
func stranger(key string) string {
	return `"sessionKey":"agent:main:` + key + `","senderId":"9","waitMs":1`
}

// owner is a session in which nothing is asked while it is clean.
func owner(key string) string {
	return `"sessionKey":"agent:main:` + key + `","senderId":"1","senderIsOwner":true,"waitMs":1`
}

func conv(key string) session.Conversation {
	return session.Conversation{Client: client, Key: "agent:main:" + key}
}

func (r *rig) verify(c *toolcall.Call) verifier.Decision {
	return r.v.Verify(r.t.Context(), c)
}

func (r *rig) allow(c *toolcall.Call) {
	r.t.Helper()
	if d := r.verify(c); !d.Allow {
		r.t.Errorf("%s %s: %+v, want allow", c.Tool, c.Params, d)
	}
}

func (r *rig) deny(what string, c *toolcall.Call) verifier.Decision {
	r.t.Helper()
	d := r.verify(c)
	if d.Allow || d.Reason == "" {
		r.t.Errorf("%s: %s %s: %+v, want a deny with a reason", what, c.Tool, c.Params, d)
	}
	return d
}

// asked says that a call must be put to a person, and gives the card.
func (r *rig) asked(what string, c *toolcall.Call) (ref string) {
	r.t.Helper()
	d := r.deny(what, c)
	if d.Ref == "" {
		r.t.Errorf("%s: %s %s: %+v, want it to be asked about", what, c.Tool, c.Params, d)
	}
	return d.Ref
}

func (r *rig) approve(ref string, minutes int) {
	r.t.Helper()
	o, err := r.desk.Answer(r.t.Context(), approval.Answer{ID: ownerID, Via: "terminal", Ref: ref, Allow: true, Scope: approval.Scope{Minutes: minutes}})
	if err != nil || o.Kind != approval.Counted {
		r.t.Fatalf("the owner's yes: %+v, %v", o, err)
	}
}

// deskFunc is a desk that does as it is told.
type deskFunc func(*approval.Request) (approval.Ruling, error)

// Spent is of no interest to a desk that always says the same.
func (deskFunc) MarkUsed(_, _, _ string) {}

func (deskFunc) Abandon(context.Context, approval.Ending) error {
	return nil
}

func (deskFunc) Tell(context.Context, string) {}

func (deskFunc) AnsweredElsewhere(context.Context, string, string, approval.Elsewhere) error {
	return nil
}

func (f deskFunc) Ask(_ context.Context, r *approval.Request) (approval.Ruling, error) { return f(r) }

// saysYes is a person who is always there.
func saysYes(*approval.Request) (approval.Ruling, error) {
	return approval.Ruling{Yes: true, Ref: "TEST", Card: "card"}, nil
}

func (deskFunc) UsedUp(context.Context, string, string) bool { return false }
