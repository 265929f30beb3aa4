package discord_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/channels/channeltest"
	"github.com/openclaw-verifier/verifier/channels/discord/discordtest"
	"github.com/openclaw-verifier/verifier/internal/approval"
)

// echo answers every line and tap with what it was.
func echo(_ context.Context, a approval.Answer) (approval.Outcome, error) {
	return approval.Outcome{Kind: approval.Replied, Text: a.ID + " " + a.Handle + a.Text}, nil
}

func bounded(t testing.TB, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// heard waits for the answer to a line.
func (p *platform) heard(t testing.TB, line string) string {
	t.Helper()
	text := ""
	until(t, "the line is answered", func() bool {
		for _, m := range p.Messages() {
			if m.ReplyTo == line {
				text = m.Text
				return true
			}
		}
		return false
	})
	return text
}

// sayDirect writes a line to the bot alone.
func (p *platform) sayDirect(who channeltest.User, text string) string {
	return p.Server.Say(person(who), discordtest.DirectID(who.ID), "", text, nil)
}

func TestARefusalOfDiscordIsSaidOnceAndNotRunAgainst(t *testing.T) {
	for _, c := range []struct {
		name, want string
		setUp      func(p *platform)
	}{
		{"4004", "the bot token is wrong or was reset", func(p *platform) { p.Refuse(4004) }},
		{"4014", "Discord does not grant the bot its intents", func(p *platform) { p.Refuse(4014) }},
		{"4013", "update verifier", func(p *platform) { p.Refuse(4013) }},
		{"401", "the bot token is wrong or was reset", func(p *platform) { p.Token = "another" }},
		{"taps go elsewhere", "Interactions Endpoint URL", func(p *platform) { p.Endpoint("https://elsewhere.example/hook") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := newPlatform(t)
			c.setUp(p)
			ch, log := p.start(t)
			p.listen(t, ch, echo)
			until(t, "health says so", func() bool { return ch.Health() != nil && strings.Contains(ch.Health().Error(), c.want) })
			if text := log.String(); strings.Count(text, "level=ERROR") != 1 || !strings.Contains(text, c.want) || strings.Contains(text, token) {
				t.Errorf("the log:\n%s", text)
			}
			if _, err := ch.Send(t.Context(), fixture(t, "open").Card); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("a card is sent that nobody can answer: %v", err)
			}
			if p.Until(bounded(t, 1500*time.Millisecond), 2, 0, 0) == nil {
				t.Error("it knocks again")
			}
		})
	}
}

func TestWhatHappensWhileTheConnectionIsLostIsHeardAfterwards(t *testing.T) {
	for name, lose := range map[string]func(p *platform){
		"hung up": func(p *platform) { p.HangUp(4000) }, "told to connect again": func(p *platform) { p.Order(7) },
		"hung up and away for a moment": func(p *platform) { p.Shut(1); p.HangUp(4000) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlatform(t)
			ch, _ := p.start(t)
			p.listen(t, ch, echo)
			if err := p.Ready(bounded(t, patience)); err != nil {
				t.Fatal(err)
			}
			lose(p)
			if got := p.heard(t, p.sayDirect(people.Alice, ".help")); got != "discord:101 .help" {
				t.Errorf("answered %q", got)
			}
			if err := p.Until(bounded(t, patience), 2, 1, 0); err != nil {
				t.Errorf("the session was not resumed: %v", err)
			}
			until(t, "health is good", func() bool { return ch.Health() == nil })
		})
	}
}

// discordgo's own client stands still for ever here.
func TestASessionThatCannotBeResumedIsBegunAnew(t *testing.T) {
	t.Parallel()
	for _, code := range []int{4000, 4009} {
		p := newPlatform(t)
		ch, _ := p.start(t)
		p.listen(t, ch, echo)
		if err := p.Ready(bounded(t, patience)); err != nil {
			t.Fatal(err)
		}
		p.Forget()
		p.HangUp(code)
		until(t, "it is connected again", func() bool {
			line := p.sayDirect(people.Alice, ".help")
			for _, m := range p.Messages() {
				if m.ReplyTo == line {
					return true
				}
			}
			return len(p.Messages()) > 0
		})
	}
}

func TestAConnectionOnWhichNobodyAnswersIsGivenUp(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	p.Beat(20 * time.Millisecond)
	p.Deafen()
	ch, _ := p.start(t)
	p.listen(t, ch, echo)
	if err := p.Until(bounded(t, patience), 2, 0, 1); err != nil {
		t.Error(err)
	}
}

func TestHeartbeatsKeepAConnection(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	p.Beat(1500 * time.Millisecond)
	ch, _ := p.start(t)
	p.listen(t, ch, echo)
	if err := p.Ready(bounded(t, patience)); err != nil {
		t.Fatal(err)
	}
	p.Order(1) // it wants to hear from us now
	if err := p.Until(bounded(t, patience), 1, 0, 4); err != nil {
		t.Error(err)
	}
	if p.Until(bounded(t, 0), 2, 0, 0) == nil {
		t.Error("the connection did not hold")
	}
}

func TestH36OnlyPeopleWhoWriteToTheBotAreHeard(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	ch, _ := p.start(t)
	p.listen(t, ch, echo)
	card, err := ch.Send(t.Context(), fixture(t, "open").Card)
	if err != nil {
		t.Fatal(err)
	}
	_, card, _ = strings.Cut(card, "/")
	if err := p.Ready(bounded(t, patience)); err != nil {
		t.Fatal(err)
	}
	alice, own := person(people.Alice), discordtest.DirectID(people.Alice.ID)
	other := map[string]any{"id": "1", "channel_id": room, "author": alice, "content": "x"}
	unheard := []string{
		p.Server.Say(alice, own, "", ".help", map[string]any{"webhook_id": "1"}),
		p.Server.Say(alice, own, "", ".help", map[string]any{"author": map[string]any{"id": "101", "bot": true}}),
		p.Server.Say(alice, own, "", ".help", map[string]any{"author": map[string]any{"id": "101", "system": true}}),
		p.Server.Say(alice, own, "", ".help", map[string]any{"author": nil}),
		p.Server.Say(alice, own, "", ".help", map[string]any{"type": 6}),
		p.Server.Say(alice, own, "", ".help", map[string]any{"message_reference": map[string]any{"type": 1, "message_id": "1"}}),
		p.Server.Say(alice, own, "", ".help", map[string]any{"message_snapshots": []any{map[string]any{"message": map[string]any{"content": ".help"}}}}),
		p.Server.Say(alice, own, "", "hello", nil),
		p.Server.Say(alice, own, "", "", nil),
		p.Server.Say(alice, room, "", ".help", nil),
		p.Server.Say(alice, room, "", "<@"+discordtest.BotID+"> .help", nil),
		p.Server.Say(alice, room, "", ".help", map[string]any{"content": ".help", "referenced_message": other, "type": 19}),
		p.Server.Say(alice, room, "", ".help", map[string]any{"content": 5}),
	}
	p.heard(t, p.Server.Say(alice, room, card, ".help", nil))
	p.heard(t, p.sayDirect(people.Alice, ".help"))
	for _, m := range p.Messages() {
		for i, line := range unheard {
			if m.ReplyTo == line {
				t.Errorf("line %d is answered with %q", i, m.Text)
			}
		}
	}
}

func TestDirectMessagesNeedNothingOfServers(t *testing.T) {
	t.Parallel()
	p := newPlatform(t)
	p.config.ChannelID, p.config.UserID = "", "101"
	ch, _ := p.start(t)
	p.listen(t, ch, echo)
	at, err := ch.Send(t.Context(), fixture(t, "open").Card)
	if err != nil {
		t.Fatal(err)
	}
	chat, id, _ := strings.Cut(at, "/")
	if chat != discordtest.DirectID("101") {
		t.Errorf("the card stands in %s", chat)
	}
	told, err := p.Server.Tap(bounded(t, patience), person(people.Alice), chat, id, "handle")
	if err != nil || discordtest.Render(told.Text).Text != "discord:101 handle" {
		t.Errorf("%+v, %v", told, err)
	}
	ignored := p.Server.Say(person(people.Alice), room, "", "<@"+discordtest.BotID+"> .help", nil)
	p.heard(t, p.sayDirect(people.Alice, ".help"))
	if _, err := ch.Send(t.Context(), fixture(t, "open").Card); err != nil {
		t.Fatal(err)
	}
	opened := 0
	for _, call := range p.Calls() {
		if strings.Contains(call, "/users/@me/channels") {
			opened++
		}
	}
	if opened != 1 {
		t.Errorf("the direct message was opened %d times", opened)
	}
	for _, m := range p.Messages() {
		if m.ReplyTo == ignored {
			t.Error("it listens to a server although its cards are elsewhere")
		}
	}
}
