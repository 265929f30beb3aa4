package slack_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/openclaw-verifier/verifier/channels/channeltest"
	"github.com/openclaw-verifier/verifier/channels/delivery"
	"github.com/openclaw-verifier/verifier/channels/slack"
	"github.com/openclaw-verifier/verifier/channels/slack/slacktest"
	"github.com/openclaw-verifier/verifier/internal/approval"
)

// The slacktest of the library leaves goroutines behind for each connection.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/slack-go/slack/slacktest.handlePendingMessages"),
		goleak.IgnoreAnyFunction("github.com/slack-go/slack/slacktest.(*Server).queueForWebsocket"))
}

func TestConformance(t *testing.T) {
	t.Parallel()
	channeltest.Run(t, func(t *testing.T) channeltest.Platform { return newPlatform(t, slacktest.Channel) })
}

func TestConformanceInADirectMessage(t *testing.T) {
	t.Parallel()
	channeltest.Run(t, func(t *testing.T) channeltest.Platform { return newPlatform(t, alice) })
}

var keys = slacktest.Keys{
	BotToken: "xoxb-1111111111-2222222222-plantedBotTokenThatMustNotShow", AppToken: "xapp-1-A0VERIFIER-3333-plantedAppTokenThatMustNotShow",
}

const (
	alice = "U0ALICE"
	bob   = "U0BOB"
)

// platform is a fake Slack with one chat in it.
type platform struct {
	*slacktest.Server
	chat string // as in the config: a person's id is a direct message
}

func newPlatform(t testing.TB, chat string) *platform {
	t.Helper()
	return &platform{slacktest.New(t, keys), chat}
}

// Name implements channeltest.Platform.
func (*platform) Name() string { return "slack" }

// Secrets implements channeltest.Platform.
func (*platform) Secrets() []string {
	return []string{keys.BotToken, "plantedBotTokenThatMustNotShow", "plantedAppTokenThatMustNotShow"}
}

// People implements channeltest.Platform.
func (*platform) People() channeltest.People {
	return channeltest.People{
		Alice: channeltest.User{ID: alice, Name: "Alice"}, Bob: channeltest.User{ID: bob, Name: "Bob"},
		Mallory: channeltest.User{ID: "U0MALLORY", Name: "Alice"}, Robot: channeltest.User{ID: "U0ROBOT", Name: "Robot", Bot: true},
	}
}

// config is what connects a channel to the fake.
func (p *platform) config() slack.Config {
	return slack.Config{BotToken: keys.BotToken, AppToken: keys.AppToken, ChannelID: delivery.ID(p.chat), APIURL: p.URL()}
}

// Open implements channeltest.Platform.
func (p *platform) Open(t testing.TB, d delivery.Deps) approval.Channel {
	t.Helper()
	return open(t, p.config(), d)
}

func open(t testing.TB, c slack.Config, d delivery.Deps) *slack.Channel {
	t.Helper()
	opened, err := slack.Open(c, d)
	if err != nil {
		t.Fatal(err)
	}
	ch, ok := opened.(*slack.Channel)
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

// place is where the chat is for Slack.
func (p *platform) place() string {
	if strings.HasPrefix(p.chat, "U") {
		return slacktest.DirectWith(p.chat)
	}
	return p.chat
}

// Messages implements channeltest.Platform. A message that names a file in its
// thread has it, for whoever reads.
func (p *platform) Messages() []channeltest.Message {
	var out []channeltest.Message
	all := p.Server.Messages()
	for _, m := range all {
		seen := m.Seen()
		for _, f := range all {
			if f.File != nil && m.File == nil && m.Thread == f.Thread && strings.Contains(seen.Text, "in the file "+f.File.Name) {
				seen.Files = append(seen.Files, *f.File)
			}
		}
		out = append(out, seen)
	}
	return out
}

func person(u channeltest.User) slacktest.Person {
	return slacktest.Person{ID: u.ID, Name: u.Name, Bot: u.Bot}
}

func patience(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// Tap implements channeltest.Platform.
func (p *platform) Tap(t testing.TB, who channeltest.User, m channeltest.Message, b channeltest.Button) string {
	t.Helper()
	told, err := p.Server.Tap(patience(t), person(who), p.place(), m.ID, b.Data)
	if err != nil {
		t.Errorf("the tap was not answered: %v", err)
	}
	return told
}

// Say implements channeltest.Platform.
func (p *platform) Say(t testing.TB, who channeltest.User, where channeltest.Place, text string) string {
	t.Helper()
	u := person(who)
	if where.Direct {
		return p.Server.Say(u, slacktest.DirectWith(u.ID), "", text, nil)
	}
	return p.Server.Say(u, p.place(), where.ReplyTo, text, nil)
}
