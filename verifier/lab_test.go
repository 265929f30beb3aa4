package verifier_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/redact"
	"github.com/openclaw-verifier/verifier/store/redis"
	"github.com/openclaw-verifier/verifier/store/redistest"
	"github.com/openclaw-verifier/verifier/store/sqlite"
	"github.com/openclaw-verifier/verifier/toolcall"
	"github.com/openclaw-verifier/verifier/verifier"
)

// patient is how long a lab waits for its store, so that a busy machine does not
// pass for a broken store: a call whose session can't be read in time counts for
// the whole conversation, and so does the answer to it.
const patient = 20 * time.Second

// questionTTL is how long a question of a lab can be answered.
const questionTTL = approval.DefaultTTL

// lab is a decision on a store whose clock stands still, and which outlives the
// process that decides.
type lab struct {
	store   backend
	advance func(time.Duration)
	now     func() time.Time
	record  memory
	sink    verifier.Recorder // where it writes; nil: into record
	*process
}

// process is one that decides on a lab's store; there may be several.
type process struct {
	desk *approval.Desk
	v    *verifier.Verifier
}

var labStart = time.UnixMilli(1_780_000_000_000)

// labs opens a lab on each store.
var labs = map[string]func(dir string) (*lab, func(), error){
	"sqlite": func(dir string) (*lab, func(), error) {
		var clock atomic.Int64
		clock.Store(labStart.UnixMilli())
		l := &lab{
			now:     func() time.Time { return time.UnixMilli(clock.Load()) },
			advance: func(d time.Duration) { clock.Add(d.Milliseconds()) },
		}
		s, err := sqlite.Open(filepath.Join(dir, "verifier.db"), sqlite.Options{Now: l.now, Timeout: patient})
		if err != nil {
			return nil, nil, err
		}
		l.store = s
		return l, func() { _ = s.Close() }, nil
	},
	"redis": func(string) (*lab, func(), error) {
		m, err := redistest.StartMini()
		if err != nil {
			return nil, nil, err
		}
		at := labStart
		if err := m.SetTime(at); err != nil {
			return nil, nil, err
		}
		s, err := redis.Open(m.URL, redis.Options{Timeout: patient})
		if err != nil {
			return nil, nil, err
		}
		l := &lab{store: s, now: func() time.Time { return at }, advance: func(d time.Duration) {
			at = at.Add(d)
			if err := errors.Join(m.SetTime(at), m.FastForward(d)); err != nil {
				panic(err)
			}
		}}
		return l, func() { _ = s.Close(); _ = m.Close() }, nil
	},
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

// begin starts a process on the store; crash ends it without a word and starts
// another.
func (l *lab) begin() (err error) {
	l.process, err = l.start()
	return err
}

func (l *lab) crash() error {
	l.desk.Close()
	return l.begin()
}

func (l *lab) start() (*process, error) {
	rules, redactor := shared()
	if err := redactor.Wait(context.Background()); err != nil {
		return nil, err
	}
	sink := l.sink
	if sink == nil {
		sink = &l.record
	}
	desk, err := approval.NewDesk(approval.Options{
		Together: time.Millisecond,
		Key:      serverKey, Store: l.store, Record: sink, Inbox: true,
		Visible: func(*approval.Ask) bool { return true },
		Terms: approval.Terms{
			Config: approval.Config{MaxOpen: 100, MaxPromptsPerHour: 1000},
			People: []approval.Person{{Name: "owner", IDs: []string{ownerID}}},
		},
	})
	if err != nil {
		return nil, err
	}
	v, err := verifier.New(verifier.Options{
		Policy: func() *policy.Policy { return rules }, Redactor: func() *redact.Redactor { return redactor },
		Store: l.store, StoreWait: patient, Record: sink, Desk: desk, Pauses: desk.Pauses, Grants: desk.Grants,
		Consents: desk.Consents, Visible: func(*approval.Ask) bool { return true }, Key: serverKey,
	})
	return &process{desk, v}, err
}

// answer is the owner's, to a card by its reference.
func (p *process) answer(ref string, allow bool, scope approval.Scope) (approval.Kind, error) {
	o, err := p.desk.Answer(
		context.Background(),
		approval.Answer{ID: ownerID, Via: "terminal", Ref: ref, Allow: allow, Scope: scope},
	)
	return o.Kind, err
}

func (p *process) verify(c *toolcall.Call) verifier.Decision {
	return p.v.Verify(context.Background(), c)
}

// onLabs runs a test on each store.
func onLabs(t *testing.T, test func(t *testing.T, l *lab)) {
	t.Helper()
	for name, open := range labs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, done, err := open(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(done)
			if err := l.begin(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { l.desk.Close() })
			test(t, l)
		})
	}
}
