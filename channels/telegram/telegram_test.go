package telegram_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/channels/channeltest"
	"github.com/openclaw-verifier/verifier/channels/delivery"
	"github.com/openclaw-verifier/verifier/channels/telegram"
	"github.com/openclaw-verifier/verifier/channels/telegram/telegramtest"
	"github.com/openclaw-verifier/verifier/internal/approval"
)

var alice = telegramtest.Person{ID: 1001, Name: "Alice"}

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

// heard collects what reaches the desk, and answers everything with help.
type heard struct {
	mu      sync.Mutex
	answers []approval.Answer
	came    chan approval.Answer
}

func newHeard() *heard { return &heard{came: make(chan approval.Answer, 100)} }

func (h *heard) answer(_ context.Context, a approval.Answer) (approval.Outcome, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answers = append(h.answers, a)
	h.came <- a
	return approval.Outcome{Kind: approval.Replied, Text: "heard"}, nil
}

func (h *heard) next(t *testing.T) approval.Answer {
	t.Helper()
	select {
	case a := <-h.came:
		return a
	case <-time.After(20 * time.Second):
		t.Fatal("nothing came")
		return approval.Answer{}
	}
}

// listen lets a channel hear until the test or stop ends it.
func listen(t *testing.T, ch *telegram.Channel, h *heard) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- ch.Listen(ctx, h.answer) }()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

func config(s *telegramtest.Server) telegram.Config {
	return telegram.Config{BotToken: token, ChatID: "-1001234567890", APIURL: s.URL()}
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(20 * time.Second)
	for !is() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatal("it never happened that " + what)
		}
	}
}

func TestConfigsThatCanNotWorkAreRefusedWithAHint(t *testing.T) {
	good := telegram.Config{BotToken: token, ChatID: "1001"}
	for want, edit := range map[string]func(*telegram.Config){
		"@BotFather":                  func(c *telegram.Config) { c.BotToken = "" },
		"botToken is missing or is":   func(c *telegram.Config) { c.BotToken = "hunter2" },
		"chatId must be a number":     func(c *telegram.Config) { c.ChatID = "@owner" },
		"write /start":                func(c *telegram.Config) { c.ChatID = "" },
		"apiUrl is no address":        func(c *telegram.Config) { c.APIURL = "api.telegram.org" },
		"without the bot's token":     func(c *telegram.Config) { c.APIURL = "ftp://x.example" },
		"a group's is negative":       func(c *telegram.Config) { c.ChatID = "0" },
		"put it into the environment": func(c *telegram.Config) { c.BotToken = "123:short" },
	} {
		c := good
		edit(&c)
		ch, err := telegram.Open(c, delivery.Deps{})
		if ch != nil || err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v, %v", want, ch, err)
		}
	}
}

func TestAProbeSaysWhoTheBotIsAndWritesNothing(t *testing.T) {
	s := telegramtest.New(t, token)
	who, err := open(t, config(s), delivery.Deps{}).Probe(t.Context())
	if err != nil || who != "@verifier_test_bot in chat -1001234567890" || len(s.Messages()) > 0 {
		t.Errorf("%q, %v", who, err)
	}
	c := config(s)
	c.ChatID = "1"
	if _, err := open(t, c, delivery.Deps{}).Probe(t.Context()); err == nil || !strings.Contains(err.Error(), "does not know the chat 1: press Start") {
		t.Errorf("a chat that is none: %v", err)
	}
	s.Break(channeltest.Fault{Kind: channeltest.Unauthorized})
	if _, err := open(t, config(s), delivery.Deps{}).Probe(t.Context()); err == nil || !strings.Contains(err.Error(), "ask @BotFather") || strings.Contains(err.Error(), token) {
		t.Errorf("a revoked token: %v", err)
	}
}

func TestARivalPollerIsRecognisedAndSaidPlainly(t *testing.T) {
	s, log, h := telegramtest.New(t, token), &buffer{}, newHeard()
	s.Rival(true)
	ch := open(t, config(s), delivery.Deps{Log: slog.New(slog.NewTextHandler(log, nil))})
	listen(t, ch, h)
	eventually(t, "health says so", func() bool { return ch.Health() != nil })
	if err := ch.Health(); !strings.Contains(err.Error(), "another program takes this bot's updates") {
		t.Errorf("health: %v", err)
	}
	eventually(t, "the log says so", func() bool { return strings.Contains(log.String(), "give verifier a bot of its own") })
	s.Say(alice, alice.ID, 0, ".pending", nil)
	s.Rival(false)
	if a := h.next(t); a.Text != ".pending" {
		t.Errorf("got %+v", a)
	}
	eventually(t, "health is good again", func() bool { return ch.Health() == nil })
	if n := strings.Count(log.String(), "give verifier a bot of its own"); n != 1 || !strings.Contains(log.String(), "updates come again") {
		t.Errorf("said %d times:\n%s", n, log.String())
	}
}

func TestARevokedTokenIsSaidPlainly(t *testing.T) {
	s := telegramtest.New(t, "7712345678:another_token_altogether_0123456789")
	log := &buffer{}
	ch := open(t, config(s), delivery.Deps{Log: slog.New(slog.NewTextHandler(log, nil))})
	listen(t, ch, newHeard())
	eventually(t, "the log says so", func() bool { return strings.Contains(log.String(), "the bot token is wrong or was revoked") })
	_, err := ch.Send(t.Context(), settledCard())
	if err == nil || !strings.Contains(err.Error(), "the bot token is wrong or was revoked") || strings.Contains(err.Error()+log.String(), "planted_bot_token") {
		t.Errorf("send: %v", err)
	}
}

func TestWhatWasAnsweredWhileNobodyListenedIsTakenAfterwards(t *testing.T) {
	s, h := telegramtest.New(t, token), newHeard()
	for i := range 5 {
		s.Say(alice, alice.ID, 0, fmt.Sprint(".deny 0000000", i), nil)
	}
	stop := listen(t, open(t, config(s), delivery.Deps{}), h)
	var got []string
	for range 5 {
		got = append(got, h.next(t).Text)
	}
	slices.Sort(got)
	if got[0] != ".deny 00000000" || got[4] != ".deny 00000004" {
		t.Errorf("got %q", got)
	}
	stop()
}

func TestH36OnlyPeopleInTheirOwnNameAreHeard(t *testing.T) {
	s, h := telegramtest.New(t, token), newHeard()
	listen(t, open(t, config(s), delivery.Deps{}), h)
	robot := telegramtest.Person{ID: 1001, Name: "Alice", Bot: true}
	const line = ".approve exec bf619df9"
	s.Say(robot, alice.ID, 0, line, nil)
	s.Say(alice, alice.ID, 0, line, map[string]any{"via_bot": map[string]any{"id": 5, "is_bot": true, "first_name": "agent"}})
	s.Say(alice, alice.ID, 0, line, map[string]any{"sender_business_bot": map[string]any{"id": 5, "is_bot": true, "first_name": "agent"}})
	s.Say(alice, alice.ID, 0, line, map[string]any{"sender_chat": map[string]any{"id": group, "type": "supergroup"}})
	s.Say(alice, alice.ID, 0, line, map[string]any{"forward_origin": map[string]any{"type": "hidden_user", "date": 1, "sender_user_name": "x"}})
	s.Say(alice, alice.ID, 0, line, map[string]any{"is_automatic_forward": true})
	s.Say(alice, group, 0, line, nil) // in the group, and to nobody
	s.Say(alice, group, 0, line, map[string]any{"reply_to_message": map[string]any{
		"message_id": 1, "date": 1, "chat": map[string]any{"id": group, "type": "supergroup"}, "from": map[string]any{"id": 6666, "is_bot": false, "first_name": "M"},
	}})
	s.Say(alice, alice.ID, 0, "good morning", nil)
	s.Say(alice, alice.ID, 0, ".pending", nil)
	if a := h.next(t); a.Text != ".pending" || a.ID != "telegram:1001" || a.Via != "telegram" {
		t.Errorf("got %+v", a)
	}
}

// Telegram brings an update again whose answer was lost: the desk knows it by the message's own place.
func TestH751AMessageKeepsItsNameWhenItComesAgain(t *testing.T) {
	s, h := telegramtest.New(t, token), newHeard()
	listen(t, open(t, config(s), delivery.Deps{}), h)
	first := s.Say(alice, alice.ID, 0, ".resume", nil)
	a := h.next(t).Message // each is heard before the next is said: those of one moment are heard in any order
	s.Say(alice, alice.ID, 0, ".resume", map[string]any{"message_id": first})
	again := h.next(t).Message
	s.Say(alice, alice.ID, 0, ".resume", nil)
	next := h.next(t).Message
	if a == "" || again != a || next == a {
		t.Errorf("the messages are called %q, %q and %q", a, again, next)
	}
}

func TestStartTellsTheNumbersThatTheConfigNeeds(t *testing.T) {
	s, h := telegramtest.New(t, token), newHeard()
	listen(t, open(t, config(s), delivery.Deps{}), h)
	id := s.Say(alice, group, 0, "/start@verifier_test_bot", nil)
	eventually(t, "it is answered", func() bool { return len(s.Messages()) == 1 })
	if m := s.Messages()[0]; m.ReplyTo != id || !strings.Contains(m.Text, "Your user id: 1001\nThis chat's id: -1001234567890") {
		t.Errorf("%+v", m)
	}
}

func TestASpammerHoldsNobodyUp(t *testing.T) {
	s := telegramtest.New(t, token)
	h := newHeard()
	ch := open(t, config(s), delivery.Deps{})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- ch.Listen(ctx, func(ctx context.Context, a approval.Answer) (approval.Outcome, error) {
			if a.ID != "telegram:1001" {
				return approval.Outcome{Kind: approval.Unauthorised, Text: approval.NotAuthorised}, nil
			}
			return h.answer(ctx, a)
		})
	}()
	mallory := telegramtest.Person{ID: 6666, Name: "Alice"}
	for range 200 {
		s.Say(mallory, mallory.ID, 0, ".pending", nil)
	}
	s.Say(alice, alice.ID, 0, ".pending", nil)
	h.next(t)
	eventually(t, "she is answered a few times", func() bool { return len(s.Messages()) >= 5 })
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if n := len(s.Messages()); n > 20 {
		t.Errorf("she is answered %d times", n)
	}
}

func TestErrorsHoldNoToken(t *testing.T) {
	ch := open(t, telegram.Config{BotToken: token, ChatID: "1001", APIURL: "http://127.0.0.1:1"}, delivery.Deps{})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	_, err := ch.Send(ctx, settledCard())
	if err == nil || strings.Contains(fmt.Sprintf("%v %+v %q", err, err, err.Error()), "planted_bot_token") || errors.Is(err, delivery.ErrBusy) {
		t.Errorf("got %v", err)
	}
}
