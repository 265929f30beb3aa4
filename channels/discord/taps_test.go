package discord_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/channels/channeltest"
	"github.com/openclaw-verifier/verifier/channels/discord"
	"github.com/openclaw-verifier/verifier/channels/discord/discordtest"
	"github.com/openclaw-verifier/verifier/internal/approval"
)

// send puts a card into the chat and gives its message.
func send(t testing.TB, ch *discord.Channel, name string) string {
	t.Helper()
	at, err := ch.Send(t.Context(), fixture(t, name).Card)
	if err != nil {
		t.Fatal(err)
	}
	_, id, _ := strings.Cut(at, "/")
	return id
}

func TestATapThatTakesLongIsAcknowledgedInTime(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	ch, _ := p.start(t)
	p.listen(t, ch, func(ctx context.Context, a approval.Answer) (approval.Outcome, error) {
		if err := p.Until(ctx, 1, 0, 0); err != nil {
			return approval.Outcome{}, err
		}
		until(t, "Discord knows that the answer comes later", func() bool { return p.Waits() })
		return approval.Outcome{Kind: approval.Counted, Text: "done at last"}, nil
	})
	card := send(t, ch, "open")
	told, err := p.Server.Tap(bounded(t, patience), person(people.Alice), room, card, "handle")
	if err != nil || !told.Later || discordtest.Render(told.Text).Text != "done at last" {
		t.Errorf("%+v, %v", told, err)
	}
}

func TestAnAnswerWhoseAnswerIsLostIsGivenOnce(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	ch, log := p.start(t)
	p.listen(t, ch, echo)
	p.LoseAnswers(1)
	card := send(t, ch, "open")
	if n := len(p.Messages()); n != 1 {
		t.Errorf("%d cards came of one", n)
	}
	p.LoseAnswers(1)
	if told := p.tap(t, people.Alice, card, "handle"); discordtest.Render(told.Text).Text != "discord:101 handle" {
		t.Errorf("%+v", told)
	}
	if strings.Contains(log.String(), "could not be answered") {
		t.Errorf("the log:\n%s", log)
	}
}

func TestStrangersWhoTapTooMuchKeepNobodyElseWaiting(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	ch, _ := p.start(t)
	p.listen(t, ch, func(ctx context.Context, a approval.Answer) (approval.Outcome, error) {
		if a.ID == "discord:666" {
			return approval.Outcome{Kind: approval.Unauthorised, Text: approval.NotAuthorised}, nil
		}
		return echo(ctx, a)
	})
	card := send(t, ch, "open")
	var all sync.WaitGroup
	ctx := bounded(t, patience)
	for range 40 {
		all.Go(func() {
			p.Server.Tap(ctx, person(people.Mallory), room, card, "handle") //nolint:errcheck // some are not answered
			p.sayDirect(people.Mallory, ".help")
		})
	}
	for range 3 {
		told, err := p.Server.Tap(ctx, person(people.Alice), room, card, "handle")
		if err != nil || told.Failed {
			t.Errorf("%+v, %v", told, err)
		}
	}
	all.Wait()
}

func TestWhatATapComesTo(t *testing.T) {
	t.Parallel()
	broken := errors.New("the store is broken")
	for _, c := range []struct {
		kind approval.Kind
		text string
		err  error
		want string
	}{
		{approval.Counted, "*yes* @everyone", nil, "*yes* @everyone"},
		{approval.Unauthorised, approval.NotAuthorised, nil, approval.NotAuthorised},
		{approval.NotFound, "no such button", nil, "no such button"},
		{approval.Replied, "one\n```\ntwo", nil, "one\n```\ntwo"},
		{approval.Ignored, "Nothing was approved.", broken, "Nothing was approved."},
		{approval.Replied, strings.Repeat("long ", 2000), nil, "long long"},
	} {
		p := newPlatform(t)
		ch, log := p.start(t)
		p.listen(t, ch, func(context.Context, approval.Answer) (approval.Outcome, error) {
			return approval.Outcome{Kind: c.kind, Text: c.text}, c.err
		})
		card := send(t, ch, "open")
		if got := discordtest.Render(p.tap(t, people.Alice, card, "handle").Text).Text; !strings.HasPrefix(got, c.want) {
			t.Errorf("%v: told %q, want %q", c.kind, got, c.want)
		}
		if c.err != nil {
			until(t, "the error is logged", func() bool { return strings.Contains(log.String(), broken.Error()) })
		}
		if len(p.answered()) != 1 {
			t.Errorf("%v: %d answers for one person", c.kind, len(p.answered()))
		}
	}
}

// answered are what people alone were told.
func (p *platform) answered() []channeltest.Message {
	var out []channeltest.Message
	for _, m := range p.Messages() {
		if m.Only != "" {
			out = append(out, m)
		}
	}
	return out
}

func TestAPanicEndsOneTapAlone(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	ch, log := p.start(t)
	p.listen(t, ch, func(ctx context.Context, a approval.Answer) (approval.Outcome, error) {
		if a.Handle == "boom" {
			panic("a secret " + token)
		}
		return echo(ctx, a)
	})
	card := send(t, ch, "open")
	if told, err := p.Server.Tap(bounded(t, patience), person(people.Alice), room, card, "boom"); err != nil || !told.Failed {
		t.Errorf("%+v, %v", told, err)
	}
	p.tap(t, people.Alice, card, "handle")
	if text := log.String(); !strings.Contains(text, "ended in a panic") || strings.Contains(text, token) {
		t.Errorf("the log:\n%s", text)
	}
}

func TestACardThatSomeoneTookAwayIsSettled(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	ch, _ := p.start(t)
	f := fixture(t, "allowed")
	card := send(t, ch, "open")
	p.Delete(card)
	if err := ch.Settle(t.Context(), room+"/"+card, f.Card, *f.Outcome); err != nil {
		t.Error(err)
	}
	for _, at := range []string{"", "x", "1/", "/1", "1/2/3", "../1"} {
		if err := ch.Settle(t.Context(), at, f.Card, *f.Outcome); err == nil {
			t.Errorf("%q is taken for a place", at)
		}
	}
}

func TestErrorsOfSendingSayWhatToDo(t *testing.T) {
	t.Parallel()
	for kind, want := range map[channeltest.FaultKind]string{
		channeltest.Unauthorized: "the bot token is wrong or was reset", channeltest.Forbidden: "give it View Channel, Send Messages",
		channeltest.Broken: "HTTP 500", channeltest.Malformed: "is apiUrl Discord's API?", channeltest.Limited: "asks for a pause of",
	} {
		p := newPlatform(t)
		ch, _ := p.start(t)
		p.Break(channeltest.Fault{Kind: kind, After: time.Hour})
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		_, err := ch.Send(ctx, fixture(t, "open").Card)
		cancel()
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(fmt.Sprint(err), p.URL()) {
			t.Errorf("%v: %v", kind, err)
		}
		if h := ch.Health(); h == nil || !strings.Contains(h.Error(), want) {
			t.Errorf("health: %v", h)
		}
	}
}

func TestProbeSaysWhoTheBotIsAndWhatIsWrong(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, who, wrong string
		edit             func(p *platform)
	}{
		{"a channel", `"verifier-test" in channel 600`, "", nil},
		{"one person", `"verifier-test" in direct messages to 101`, "", func(p *platform) { p.config.ChannelID, p.config.UserID = "", "101" }},
		{"a wrong token", "", "the bot token is wrong", func(p *platform) { p.Token = "another" }},
		{"no such channel", "", "the bot knows no such channel", func(p *platform) { p.config.ChannelID = discordtest.NoChannel }},
		{"taps go elsewhere", "", "Interactions Endpoint URL", func(p *platform) { p.Endpoint("https://elsewhere.example") }},
	} {
		p := newPlatform(t)
		if c.edit != nil {
			c.edit(p)
		}
		ch, _ := p.start(t)
		who, err := ch.Probe(t.Context())
		if c.wrong == "" && (err != nil || who != c.who) || c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)) {
			t.Errorf("%s: %q, %v", c.name, who, err)
		}
		if len(p.Messages()) != 0 {
			t.Errorf("%s: something was shown", c.name)
		}
	}
}
