package channeltest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/channels"
	"github.com/openclaw-verifier/verifier/channels/delivery"
	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/record"
	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/internal/store/sqlite"
)

var serverKey = hmac.Key("the server's own key, 32 bytes or more")

// patience is how long the suite waits for what must happen. A busy machine may
// need some of it.
const patience = 20 * time.Second

// rig is a desk on a store, with the channel under test and perhaps another one.
type rig struct {
	testing.TB
	p       Platform
	page    string // the address of the owner's page
	who     People
	backend *sqlite.Backend
	store   *store.Store
	desk    *approval.Desk
	channel approval.Channel
	log     *buffer
	record  *ledger
	read    []string // codes that were asked for
}

// buffer is a log that can be read while it is written.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// ledger keeps what the desk records.
type ledger struct {
	mu      sync.Mutex
	entries []record.Entry
}

// Append implements approval.Recorder.
func (r *ledger) Append(e record.Entry) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.entries = append(r.entries, e)
	return nil
}

func (r *ledger) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return fmt.Sprintf("%+v", r.entries)
}

// newRig opens a store and a desk with the channel on it.
func newRig(t testing.TB, p Platform, edit func(*approval.Options)) *rig {
	t.Helper()
	return newRigWithPage(t, p, "https://verifier.lan/page/cards/", edit)
}

// newRigWithPage is one whose owner's page has another address.
func newRigWithPage(t testing.TB, p Platform, page string, edit func(*approval.Options)) *rig {
	t.Helper()
	r := &rig{TB: t, p: p, page: page, who: p.People(), log: &buffer{}, record: &ledger{}}
	var err error
	if r.backend, err = sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"), nil); err != nil {
		t.Fatal(err)
	}
	r.store = r.openStore(r.backend)
	r.desk, r.channel = r.open(edit)
	t.Cleanup(r.nothingLeaks)
	return r
}

// openStore is another process's view of the state.
func (r *rig) openStore(b store.Backend) *store.Store {
	r.Helper()
	s, err := store.Open(r.Context(), store.Options{
		Backend: b, Key: serverKey, Clients: func() []string { return []string{"default"} }, Wait: patience,
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

// open is another process on the same store and the same platform.
func (r *rig) open(edit func(*approval.Options)) (*approval.Desk, approval.Channel) {
	r.Helper()
	log := slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	ch := r.p.Open(r.TB, delivery.Deps{Log: log, Leases: r.store, Instance: fmt.Sprint("instance-", instances.Add(1)), Page: r.page})
	id := func(u User) string { return r.p.Name() + ":" + u.ID }
	o := approval.Options{
		Key: serverKey, Store: r.store, Record: r.record, Log: log, Poll: time.Second,
		Channels: map[string]approval.Channel{r.p.Name(): ch}, Visible: visible, Detailed: channels.FullyDetailed,
		Head: func(a *approval.Ask) string { return channels.Head(a).String() },
		Terms: approval.Terms{People: []approval.Person{
			{Name: "alice", IDs: []string{id(r.who.Alice), id(r.who.Robot)}}, {Name: "bob", IDs: []string{id(r.who.Bob)}},
		}},
	}
	if edit != nil {
		edit(&o)
	}
	d, err := approval.NewDesk(o)
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(d.Close)
	return d, ch
}

var instances atomic.Int64

func visible(a *approval.Ask) bool {
	full, _ := channels.FullyVisible(a)
	return full
}

// nothingLeaks looks for secrets wherever something was written.
func (r *rig) nothingLeaks() {
	r.Helper()
	places := map[string]string{"log": r.log.String(), "record": r.record.String()}
	for _, m := range r.p.Messages() {
		places["message "+m.ID] = fmt.Sprintf("%+v", m)
	}
	for where, text := range places {
		for _, secret := range append(r.p.Secrets(), string(serverKey)) {
			if strings.Contains(text, secret) {
				r.Errorf("a secret is in the %s:\n%s", where, text)
			}
		}
	}
	for _, code := range r.codes() {
		for _, where := range []string{"log", "record"} {
			if strings.Contains(places[where], code) {
				r.Errorf("a code is in the %s:\n%s", where, places[where])
			}
		}
	}
}

// codes are those that were read, and those that stand anywhere.
func (r *rig) codes() []string {
	out := slices.Clone(r.read)
	for _, m := range r.p.Messages() {
		if code := codeIn(m); code != "" {
			out = append(out, code)
		}
	}
	return out
}

// codeOf is the code of a card, as the desk tells it to those who may answer.
func (r *rig) codeOf(m Message) string {
	r.Helper()
	cards, err := r.desk.Pending(r.Context(), r.p.Name()+":"+r.who.Alice.ID)
	if err != nil {
		r.Fatal(err)
	}
	for _, c := range cards {
		if strings.Contains(m.Text, c.Ref()+", ") {
			r.read = append(r.read, c.Code)
			return c.Code
		}
	}
	r.Fatalf("the desk has no card for\n%s", m.Text)
	return ""
}

// codeIn is the code in a line that can be copied.
func codeIn(m Message) string {
	_, rest, found := strings.Cut(m.Text, ".approve ")
	words := strings.Fields(rest)
	if !found || len(words) < 2 {
		return ""
	}
	return words[1]
}

// call is one that needs a person.
type call struct {
	tool, params string
	session      string // empty means main
	edit         func(*approval.Ask)
	hold         time.Duration // 0 means as long as patience
}

// verdict is what a call got.
type verdict struct {
	approval.Ruling
	err error
}

var requests atomic.Int64

// ask puts a call and lets it wait.
func (r *rig) ask(d *approval.Desk, c call) <-chan verdict {
	r.Helper()
	n := requests.Add(1)
	q := approval.Request{Ask: example(c.tool, c.params), ID: fmt.Sprint("request-", n), Hold: c.hold}
	if c.session != "" {
		q.Ask.SessionKey = "agent:main:" + c.session
		q.Ask.Conversation.Key = q.Ask.SessionKey
	}
	if c.hold == 0 {
		q.Hold = patience
	}
	q.Ask.Digest = fmt.Sprint("digest-", n)
	q.Ask.Lasting = visible(&q.Ask)
	if c.edit != nil {
		c.edit(&q.Ask)
	}
	out := make(chan verdict, 1)
	ctx := r.Context()
	var done sync.WaitGroup
	done.Go(func() {
		ruling, err := d.Ask(ctx, &q)
		if err != nil {
			fmt.Fprintf(r.log, "the call got: %v\n", err) //nolint:errcheck // a buffer takes all
		}
		out <- verdict{ruling, err}
	})
	r.Cleanup(done.Wait)
	return out
}

// get waits for what a call got.
func (r *rig) get(v <-chan verdict) verdict {
	r.Helper()
	select {
	case out := <-v:
		return out
	case <-time.After(2 * patience):
		r.Fatal("the call got no answer")
		return verdict{}
	}
}

// card waits for the n-th card in the chat, counted from 0.
func (r *rig) card(n int) Message {
	r.Helper()
	var found Message
	r.until(fmt.Sprintf("card %d is in the chat", n), func() bool {
		cards := r.cards()
		if len(cards) > n {
			found = cards[n]
		}
		return len(cards) > n
	})
	return found
}

// cards are the messages that ask or have asked something.
func (r *rig) cards() []Message {
	var out []Message
	for _, m := range r.p.Messages() {
		for _, sign := range []string{"🔐", "✅", "⛔", "⌛", "↩️", "☑️"} {
			if m.Only == "" && m.ReplyTo == "" && strings.HasPrefix(strings.TrimSpace(m.Text), sign) {
				out = append(out, m)
			}
		}
	}
	return out
}

// now is a message as it is now.
func (r *rig) now(m Message) Message {
	r.Helper()
	for _, other := range r.p.Messages() {
		if other.ID == m.ID && other.Only == m.Only {
			return other
		}
	}
	r.Fatalf("message %s is gone", m.ID)
	return Message{}
}

// tap presses a button by its label.
func (r *rig) tap(who User, m Message, label string) string {
	r.Helper()
	return r.p.Tap(r.TB, who, m, r.button(m, label))
}

func (r *rig) button(m Message, label string) Button {
	r.Helper()
	b, ok := m.Button(label)
	if !ok {
		r.Fatalf("no button %q on\n%s\n%+v", label, m.Text, m.Buttons)
	}
	return b
}

// turns waits until a message says all of this and has no buttons, and gives it.
func (r *rig) turns(m Message, words ...string) Message {
	r.Helper()
	r.until(fmt.Sprintf("the card turns into %q", words), func() bool {
		now := r.now(m)
		return len(now.Buttons) == 0 && containsAll(now.Text, words)
	})
	return r.now(m)
}

func containsAll(text string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

// answered waits for the bot's answer to a line.
func (r *rig) answered(line string) string {
	r.Helper()
	text := ""
	r.until("the bot answers the line", func() bool {
		for _, m := range r.p.Messages() {
			if m.ReplyTo == line {
				text = m.Text
				return true
			}
		}
		return false
	})
	return text
}

// until waits for something to become true.
func (r *rig) until(what string, is func() bool) {
	r.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(patience)
	for !is() {
		select {
		case <-tick.C:
		case <-deadline:
			var b strings.Builder
			for _, m := range r.p.Messages() {
				fmt.Fprintf(&b, "--- %s (reply to %q, only %q) %+v\n%s\n", m.ID, m.ReplyTo, m.Only, m.Buttons, m.Text)
			}
			r.Fatalf("it never happened that %s. The chat:\n%s\nThe log:\n%s", what, b.String(), r.log.String())
		}
	}
}

// command is the params of a shell command.
func command(s string) string {
	quoted, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		panic(err)
	}
	return `{"command":` + string(quoted) + `}`
}

// sink is another channel, that always works.
type sink struct{ sent chan *approval.Card }

func newSink() *sink { return &sink{sent: make(chan *approval.Card, 100)} }

// Send implements approval.Channel.
func (s *sink) Send(_ context.Context, c *approval.Card) (string, error) {
	select {
	case s.sent <- c:
		return c.ID, nil
	default:
		return "", errors.New("full")
	}
}

// Settle implements approval.Channel.
func (*sink) Settle(context.Context, string, *approval.Card, approval.Outcome) error { return nil }

// Listen implements approval.Channel.
func (*sink) Listen(ctx context.Context, _ func(context.Context, approval.Answer) (approval.Outcome, error)) error {
	<-ctx.Done()
	return nil
}
