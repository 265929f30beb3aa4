package telegram_test

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"go.uber.org/goleak"

	"github.com/openclaw-verifier/verifier/channels/channeltest"
	"github.com/openclaw-verifier/verifier/channels/delivery"
	"github.com/openclaw-verifier/verifier/channels/telegram"
	"github.com/openclaw-verifier/verifier/channels/telegram/telegramtest"
	"github.com/openclaw-verifier/verifier/internal/approval"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestConformance(t *testing.T) {
	t.Parallel()
	channeltest.Run(t, func(t *testing.T) channeltest.Platform { return newPlatform(t, group) })
}

func TestConformanceInADirectChat(t *testing.T) {
	t.Parallel()
	channeltest.Run(t, func(t *testing.T) channeltest.Platform { return newPlatform(t, 1001) }, "card", "typed")
}

func TestConformanceInATopic(t *testing.T) {
	t.Parallel()
	channeltest.Run(t, func(t *testing.T) channeltest.Platform { return topic{newPlatform(t, group)} }, "typed", "late")
}

// topic is a forum, where all that is written stands below a topic's first
// message.
type topic struct{ *platform }

// Open implements channeltest.Platform.
func (p topic) Open(t testing.TB, d delivery.Deps) approval.Channel {
	t.Helper()
	return open(t, telegram.Config{BotToken: token, ChatID: delivery.ID(fmt.Sprint(p.chat)), ThreadID: 42, APIURL: p.URL()}, d)
}

const (
	token = "7712345678:AAH-planted_bot_token_that_must_not_show"
	group = -1001234567890
)

// platform is a fake Telegram with one chat in it.
type platform struct {
	*telegramtest.Server
	chat int64
}

func newPlatform(t testing.TB, chat int64) *platform {
	t.Helper()
	return &platform{telegramtest.New(t, token), chat}
}

// Name implements channeltest.Platform.
func (*platform) Name() string { return "telegram" }

// Secrets implements channeltest.Platform.
func (*platform) Secrets() []string { return []string{token, strings.Split(token, ":")[1]} }

// People implements channeltest.Platform.
func (*platform) People() channeltest.People {
	return channeltest.People{
		Alice: channeltest.User{ID: "1001", Name: "Alice"}, Bob: channeltest.User{ID: "1002", Name: "Bob"},
		Mallory: channeltest.User{ID: "6666", Name: "Alice"}, Robot: channeltest.User{ID: "2000", Name: "Robot", Bot: true},
	}
}

// Open implements channeltest.Platform.
func (p *platform) Open(t testing.TB, d delivery.Deps) approval.Channel {
	t.Helper()
	return open(t, telegram.Config{BotToken: token, ChatID: delivery.ID(fmt.Sprint(p.chat)), APIURL: p.URL()}, d)
}

func open(t testing.TB, c telegram.Config, d delivery.Deps) *telegram.Channel {
	t.Helper()
	opened, err := telegram.Open(c, d)
	if err != nil {
		t.Fatal(err)
	}
	ch, ok := opened.(*telegram.Channel)
	if !ok {
		t.Fatalf("opened %T", opened)
	}
	t.Cleanup(func() {
		if err := ch.Close(); err != nil {
			t.Error(err)
		}
	})
	return ch
}

// Messages implements channeltest.Platform.
func (p *platform) Messages() []channeltest.Message {
	var out []channeltest.Message
	for _, m := range p.Server.Messages() {
		out = append(out, seen(m))
	}
	return out
}

// seen is a message as a person sees it.
func seen(m telegramtest.Message) channeltest.Message {
	out := channeltest.Message{ID: fmt.Sprint(m.ID), Text: m.Text, Active: active(m)}
	if m.ReplyTo != 0 {
		out.ReplyTo = fmt.Sprint(m.ReplyTo)
	}
	if m.File != nil {
		out.Files = []channeltest.File{*m.File}
	}
	for _, row := range m.Buttons {
		for _, b := range row {
			out.Buttons = append(out.Buttons, channeltest.Button{Label: b.Text, Data: b.Data, URL: b.URL})
		}
	}
	for _, e := range m.Entities {
		if e.Type == "code" || e.Type == "pre" {
			out.Mono = append(out.Mono, part(m.Text, e))
		}
	}
	return out
}

func part(text string, e telegramtest.Entity) string {
	return string(utf16.Decode(utf16.Encode([]rune(text))[e.Offset : e.Offset+e.Length]))
}

// detected is what Telegram finds by itself in text that is not code.
var detected = regexp.MustCompile(`(?i)(https?://|tg://|www\.)\S*|\b[a-z0-9-]+\.[a-z]{2,}\b|@\w+|#\w+|(^|\s)/\w+|\$[A-Z]{3,}`)

// active is what would link, mention or preview.
func active(m telegramtest.Message) []string {
	var found []string
	units := utf16.Encode([]rune(m.Text))
	for _, e := range m.Entities {
		switch e.Type {
		case "code", "pre":
			for i := range e.Length {
				units[e.Offset+i] = ' '
			}
		case "bold":
		default:
			found = append(found, e.Type+" "+part(m.Text, e))
		}
	}
	found = append(found, detected.FindAllString(string(utf16.Decode(units)), -1)...)
	if m.Preview && m.File == nil {
		found = append(found, "a preview")
	}
	return found
}

func person(u channeltest.User) telegramtest.Person {
	id, err := strconv.ParseInt(u.ID, 10, 64)
	if err != nil {
		panic(err)
	}
	return telegramtest.Person{ID: id, Name: u.Name, Bot: u.Bot}
}

func number(t testing.TB, s string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Tap implements channeltest.Platform.
func (p *platform) Tap(t testing.TB, who channeltest.User, m channeltest.Message, b channeltest.Button) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	told, err := p.Server.Tap(ctx, person(who), p.chat, number(t, m.ID), b.Data)
	if err != nil {
		t.Errorf("the tap was not answered: %v", err)
	}
	return told.Text
}

// Say implements channeltest.Platform.
func (p *platform) Say(t testing.TB, who channeltest.User, where channeltest.Place, text string) string {
	t.Helper()
	u := person(who)
	if where.Direct {
		return fmt.Sprint(p.Server.Say(u, u.ID, 0, text, nil))
	}
	return fmt.Sprint(p.Server.Say(u, p.chat, number(t, where.ReplyTo), text, nil))
}
