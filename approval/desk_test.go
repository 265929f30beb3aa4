package approval_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/store/sqlite"
	"github.com/openclaw-verifier/verifier/taint"
)

const (
	alice   = "chat:1"
	bob     = "chat:2"
	mallory = "chat:666"
)

var key = hmac.Key("the server's own key, 32 bytes or more")

func openStore(t testing.TB) *sqlite.Store {
	t.Helper()
	return openStoreWith(t, sqlite.Options{Timeout: time.Minute})
}

func openStoreWith(t testing.TB, o sqlite.Options) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(filepath.Join(t.TempDir(), "state.db"), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	_, err = s.Admit(t.Context(), session.Admission{
		Conversation: conversation, RequestID: "first", Initial: taint.Owner, Modes: taint.Every(taint.Confirm), Source: "read", Keep: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var conversation = session.Conversation{Client: "default", Key: "agent:main:main"}

// openDesk opens a desk that alice and bob may answer at.
func openDesk(t testing.TB, s approval.Store, edit func(*approval.Options)) *approval.Desk {
	t.Helper()
	o := approval.Options{
		Key: key, Store: s, Record: nowhere{}, Inbox: true, Visible: func(*approval.Ask) bool { return true },
		Terms: approval.Terms{People: []approval.Person{{Name: "alice", IDs: []string{alice}}, {Name: "bob", IDs: []string{bob}}}},
	}
	if edit != nil {
		edit(&o)
	}
	d, err := approval.NewDesk(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

type nowhere struct{}

func (nowhere) Append(record.Entry) error { return nil }

// chat is a channel that shows cards to the test.
type chat struct {
	sent    chan *approval.Card
	mu      sync.Mutex
	settled []approval.Outcome
	changed chan struct{}
	hang    bool // until the deadline
}

func newChat() *chat {
	return &chat{sent: make(chan *approval.Card, 100), changed: make(chan struct{}, 100)}
}

func (c *chat) Send(_ context.Context, k *approval.Card) (string, error) {
	c.sent <- k
	return "message", nil
}

func (c *chat) Settle(ctx context.Context, _ string, _ *approval.Card, o approval.Outcome) error {
	if c.hang {
		<-ctx.Done()
		return ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settled = append(c.settled, o)
	c.changed <- struct{}{}
	return nil
}

func (c *chat) Listen(ctx context.Context, _ func(context.Context, approval.Answer) (approval.Outcome, error)) error {
	<-ctx.Done()
	return nil
}

// card waits for the next card.
func (c *chat) card(t testing.TB) *approval.Card {
	t.Helper()
	select {
	case k := <-c.sent:
		return k
	case <-time.After(10 * time.Second):
		t.Fatal("no card came")
		return nil
	}
}

// shows waits until the chat shows another outcome.
func (c *chat) shows(t testing.TB) approval.Outcome {
	t.Helper()
	select {
	case <-c.changed:
	case <-time.After(10 * time.Second):
		t.Fatal("the card was not edited")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.settled[len(c.settled)-1]
}

var asked int

// request is a call that needs a person, another one each time.
func request(edit func(*approval.Request)) approval.Request {
	asked++
	r := approval.Request{
		Ask: approval.Ask{
			Conversation: conversation, SessionKey: conversation.Key, Agent: "main",
			Tool: "exec", Digest: fmt.Sprintf("digest-%d", asked), Shown: []byte(`{"command":"date"}`), Lasting: true,
		},
		ID: fmt.Sprintf("request-%d", asked), Hold: 20 * time.Second, Now: time.Now(),
	}
	if edit != nil {
		edit(&r)
	}
	return r
}

// ask puts a call to the people and gives the ruling when there is one.
func ask(t testing.TB, d *approval.Desk, edit func(*approval.Request)) <-chan approval.Ruling {
	t.Helper()
	r := request(edit)
	out := make(chan approval.Ruling, 1)
	ctx := t.Context()
	var done sync.WaitGroup
	done.Go(func() {
		ruling, err := d.Ask(ctx, &r)
		if err != nil && ctx.Err() == nil {
			t.Errorf("ask: %v", err)
		}
		out <- ruling
	})
	t.Cleanup(done.Wait)
	return out
}

func tap(t testing.TB, d *approval.Desk, who, handle, reason string) approval.Outcome {
	t.Helper()
	o, err := d.Answer(t.Context(), approval.Answer{ID: who, Via: "chat", Handle: handle, Reason: reason})
	if err != nil {
		t.Fatalf("tap: %v", err)
	}
	return o
}
