package discord_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"log/slog"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/openclaw-verifier/verifier/channels/channeltest"
	"github.com/openclaw-verifier/verifier/channels/delivery"
	"github.com/openclaw-verifier/verifier/channels/discord"
	"github.com/openclaw-verifier/verifier/channels/discord/discordtest"
	"github.com/openclaw-verifier/verifier/internal/approval"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// token is of the right shape: the first part is the bot's id.
var token = base64.RawURLEncoding.EncodeToString([]byte(discordtest.BotID)) + ".GaBcDe." + "planted-token-that-must-never-show-up-0"

const (
	room     = "600" // a channel of a server
	patience = 20 * time.Second
)

var people = channeltest.People{
	Alice: channeltest.User{ID: "101", Name: "Alice"}, Bob: channeltest.User{ID: "102", Name: "Bob"},
	Mallory: channeltest.User{ID: "666", Name: "Alice"}, Robot: channeltest.User{ID: "103", Name: "Robot", Bot: true},
}

// world is a Discord in which people act.
type world interface {
	Messages() []discordtest.Message
	Tap(ctx context.Context, who discordtest.Person, channel, message, customID string) (discordtest.Told, error)
	Ready(ctx context.Context) error
	Say(who discordtest.Person, channel, replyTo, text string, more map[string]any) string
}

// platform is a Discord, the fake where nothing else is said, with cards in a
// channel of a server.
type platform struct {
	*discordtest.Server
	world  world
	config discord.Config
}

func newPlatform(t testing.TB) *platform {
	t.Helper()
	p := &platform{Server: discordtest.New(t, token)}
	p.world = p.Server
	p.config = discord.Config{BotToken: token, ChannelID: room, APIURL: p.URL()}
	t.Cleanup(func() {
		for _, m := range p.Messages() {
			if len(m.Active) > 0 {
				t.Errorf("links, mentions or previews %q in\n%s", m.Active, m.Text)
			}
		}
	})
	return p
}

func (p *platform) Name() string               { return "discord" }
func (p *platform) People() channeltest.People { return people }
func (p *platform) Secrets() []string {
	return []string{token, "planted-token-that-must-never-show-up-0", "interaction-token-"}
}

func (p *platform) Open(t testing.TB, d delivery.Deps) approval.Channel {
	t.Helper()
	opened, err := discord.Open(p.config, d)
	if err != nil {
		t.Fatal(err)
	}
	ch, ok := opened.(*discord.Channel)
	if !ok {
		t.Fatalf("%T", opened)
	}
	t.Cleanup(func() {
		if err := ch.Close(); err != nil {
			t.Error(err)
		}
	})
	return ch
}

func (p *platform) Messages() []channeltest.Message {
	var out []channeltest.Message
	for _, m := range p.world.Messages() {
		out = append(out, p.message(&m))
	}
	return out
}

func (p *platform) message(m *discordtest.Message) channeltest.Message {
	r := discordtest.Render(m.Content)
	out := channeltest.Message{ID: m.ID, Text: r.Text, Active: r.Active, Mono: r.Mono, Files: m.Files, ReplyTo: m.ReplyTo, Only: m.Only}
	if !m.Quiet {
		out.Active = append(out.Active, "it may mention people")
	}
	if m.Flags&discordtest.SuppressEmbeds == 0 || m.Embeds > 0 {
		out.Active = append(out.Active, "it may show previews")
	}
	for _, row := range m.Rows {
		for _, b := range row {
			out.Buttons = append(out.Buttons, channeltest.Button{Label: b.Label, Data: b.CustomID, URL: b.URL})
		}
	}
	return out
}

func person(u channeltest.User) discordtest.Person {
	return discordtest.Person{ID: u.ID, Name: u.Name, Bot: u.Bot}
}

// listen passes what people do to a function instead of a desk.
func (p *platform) listen(t testing.TB, ch *discord.Channel, answer func(context.Context, approval.Answer) (approval.Outcome, error)) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() {
		if err := ch.Listen(ctx, answer); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		stop()
		done.Wait()
	})
}

// start opens a channel with a log that can be read, long after the fixtures have
// expired: only a desk makes buttons.
func (p *platform) start(t testing.TB) (*discord.Channel, *logged) {
	t.Helper()
	return p.startAt(t, func() time.Time { return channeltest.Now.Add(time.Hour) })
}

func (p *platform) startAt(t testing.TB, now func() time.Time) (*discord.Channel, *logged) {
	t.Helper()
	log := &logged{}
	opened := p.Open(t, delivery.Deps{Log: slog.New(slog.NewTextHandler(log, nil)), Now: now})
	ch, ok := opened.(*discord.Channel)
	if !ok {
		t.Fatalf("%T", opened)
	}
	return ch, log
}

// logged is a log that can be read while it is written.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// until waits for something to become true.
func until(t testing.TB, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(patience)
	for !is() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("it never happened that %s", what)
		}
	}
}

func fixture(t testing.TB, name string) channeltest.Fixture {
	t.Helper()
	for _, f := range channeltest.Fixtures() {
		if f.Name == name {
			return f
		}
	}
	t.Fatalf("no card %q", name)
	return channeltest.Fixture{}
}

// tap presses a button again while Discord says that it failed, as people do.
func (p *platform) tap(t testing.TB, who channeltest.User, message, data string) discordtest.Told {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		told, err := p.world.Tap(ctx, person(who), room, message, data)
		if err != nil {
			t.Errorf("the tap got no answer: %v", err)
			return told
		}
		if !told.Failed {
			return told
		}
	}
}

func (p *platform) Tap(t testing.TB, who channeltest.User, m channeltest.Message, b channeltest.Button) string {
	t.Helper()
	return discordtest.Render(p.tap(t, who, m.ID, b.Data).Text).Text
}

func (p *platform) Say(t testing.TB, who channeltest.User, where channeltest.Place, text string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	chat := room
	if where.Direct {
		chat = discordtest.DirectID(who.ID)
	}
	if err := p.world.Ready(ctx); err != nil {
		t.Errorf("nobody hears the line: %v", err)
	}
	return p.world.Say(person(who), chat, where.ReplyTo, text, nil)
}
