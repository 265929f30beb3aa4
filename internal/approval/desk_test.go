package approval_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/internal/store/sqlite"
	"github.com/openclaw-verifier/verifier/taint"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	alice   = "chat:1"
	bob     = "chat:2"
	mallory = "chat:666"
	patient = 20 * time.Second
)

var (
	key  = hmac.Key("the server's own key, 32 bytes or more")
	talk = store.Name{Client: "default", Key: "agent:main:main"}
)

// rig is a desk on a store of its own, with a chat in which alice and bob may answer.
type rig struct {
	testing.TB
	*approval.Desk
	store   *store.Store
	backend *sqlite.Backend
	chat    *chat
	ledger  *ledger
	clock   *atomic.Int64 // what is added to the time, in ns
}

func newRig(t testing.TB, edit func(*approval.Options)) *rig {
	t.Helper()
	r := &rig{TB: t, chat: newChat(), ledger: &ledger{}, clock: &atomic.Int64{}}
	var err error
	r.backend, err = sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"), func() time.Time {
		return time.Now().Add(time.Duration(r.clock.Load()))
	})
	if err != nil {
		t.Fatal(err)
	}
	r.store = r.openStore(r.backend)
	r.Desk = r.open(edit)
	return r
}

func (r *rig) openStore(b store.Backend) *store.Store {
	r.Helper()
	s, err := store.Open(r.Context(), store.Options{
		Backend: b, Key: key, Clients: func() []string { return []string{"default"} }, Wait: patient,
	})
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() {
		if err := s.Close(); err != nil {
			r.Error(err)
		}
	})
	return s
}

// open is another desk on the same store and chat.
func (r *rig) open(edit func(*approval.Options)) *approval.Desk {
	r.Helper()
	o := approval.Options{
		Key: key, Store: r.store, Record: r.ledger, Channels: map[string]approval.Channel{"chat": r.chat},
		Visible:  func(a *approval.Ask) bool { return a.Hidden == 0 },
		Detailed: func(a *approval.Ask) bool { return a.Hidden == 0 },
		Terms: approval.Terms{People: []approval.Person{{Name: "alice", IDs: []string{alice}}, {Name: "bob",
			IDs: []string{bob}}}},
		Poll: 50 * time.Millisecond,
	}
	if edit != nil {
		edit(&o)
	}
	d, err := approval.NewDesk(o)
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(d.Close)
	return d
}

// ledger keeps what is recorded.
type ledger struct {
	mu      sync.Mutex
	entries []record.Entry
	refuses record.Kind
}

var errFull = errors.New("no space left on device")

func (l *ledger) Append(e record.Entry) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.Kind == l.refuses {
		return errFull
	}
	l.entries = append(l.entries, e)
	return nil
}

func (l *ledger) count(kind record.Kind, note string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range l.entries {
		if e.Kind == kind && strings.Contains(e.Note, note) {
			n++
		}
	}
	return n
}

// chat is a channel that shows cards to the test.
type chat struct {
	sent    chan *approval.Card
	settled chan approval.Outcome
	down    atomic.Bool
	hangs   atomic.Bool
}

func newChat() *chat {
	return &chat{sent: make(chan *approval.Card, 100), settled: make(chan approval.Outcome, 1000)}
}

func (c *chat) Send(ctx context.Context, k *approval.Card) (string, error) {
	if c.hangs.Load() {
		<-ctx.Done()
		return "", ctx.Err()
	}
	if c.down.Load() {
		return "", errors.New("the chat is down")
	}
	c.sent <- k
	return k.ID, nil
}

func (c *chat) Settle(_ context.Context, _ string, _ *approval.Card, o approval.Outcome) error {
	c.settled <- o
	return nil
}

func (*chat) Listen(ctx context.Context, _ func(context.Context, approval.Answer) (approval.Outcome, error)) error {
	<-ctx.Done()
	return nil
}

// get takes what must come.
func get[T any](t testing.TB, from <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(patient):
		t.Fatal("it did not come")
	}
	return v
}

// nothing says that no card was sent and not taken.
func (c *chat) nothing(t testing.TB) {
	t.Helper()
	select {
	case k := <-c.sent:
		t.Errorf("a card came: %s %s", k.Ref(), k.Notice())
	default:
	}
}

var asked atomic.Int64

// request is a call that needs a person, another one each time.
func request(edit func(*approval.Request)) *approval.Request {
	n := asked.Add(1)
	r := &approval.Request{
		Ask: approval.Ask{
			Conversation: talk, SessionKey: talk.Key, SessionID: "s", Window: "s", Agent: "main", Run: "r",
			Tool:   "read_mail",
			Digest: fmt.Sprintf("digest-%d", n), Level: taint.External, Shown: []byte(`{"n":1}`), Lasting: true,
			Direct: true,
		},
		ID: fmt.Sprintf("request-%d", n), Hold: patient,
	}
	if edit != nil {
		edit(r)
	}
	return r
}

// heard is what a call was told.
type heard struct {
	approval.Ruling
	err error
}

// ask puts a call to people.
func (r *rig) ask(d *approval.Desk, q *approval.Request) <-chan heard {
	r.Helper()
	out := make(chan heard, 1)
	ctx := r.Context()
	var done sync.WaitGroup
	done.Go(func() {
		ruling, err := d.Ask(ctx, q)
		out <- heard{ruling, err}
	})
	r.Cleanup(done.Wait)
	return out
}

// waits asks about a call that does not wait, and gives its card.
func (r *rig) waits(q *approval.Request) *approval.Card {
	r.Helper()
	q.Hold = 0
	if h := get(r, r.ask(r.Desk, q)); h.err != nil || h.Card == "" {
		r.Fatalf("the call was told %+v, %v", h.Ruling, h.err)
	}
	return get(r, r.chat.sent)
}

// claim is what a call gets at last: by a grant, or by a yes that it claims.
func (r *rig) claim(q *approval.Request, h *approval.Ruling) (said approval.Ruling, by string) {
	r.Helper()
	err := r.store.Update(r.Context(), q.Ask.Conversation, func(t *store.Tx) (err error) {
		by = ""
		if g := r.Granted(t, &q.Ask); g != nil {
			by = "grant"
			return nil
		}
		var claimed bool
		if said, claimed, err = r.Claim(t, &q.Ask, q.ID, h); claimed {
			by = "yes"
		}
		return err
	})
	if err != nil {
		r.Fatal(err)
	}
	return said, by
}

func (r *rig) answer(a approval.Answer) approval.Outcome {
	r.Helper()
	a.Via = "chat"
	o, err := r.Answer(r.Context(), a)
	if err != nil {
		r.Fatalf("%+v: %v", a, err)
	}
	return o
}

func (r *rig) tap(who string, c *approval.Card, action approval.Action) approval.Outcome {
	r.Helper()
	return r.answer(approval.Answer{ID: who, Handle: c.Handle(action)})
}

func (r *rig) types(who, line string) approval.Outcome {
	r.Helper()
	return r.answer(approval.Answer{ID: who, Text: line})
}

func (r *rig) paused() []store.Pause {
	r.Helper()
	all, err := r.Pauses.List(r.Context())
	if err != nil {
		r.Fatal(err)
	}
	return all
}

// until waits for something to become true.
func (r *rig) until(what string, is func() bool) {
	r.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(patient); !is(); {
		select {
		case <-tick.C:
		case <-end:
			r.Fatalf("it never happened that %s", what)
		}
	}
}
