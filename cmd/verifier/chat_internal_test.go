package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/channels/channeltest"
	"github.com/openclaw-verifier/verifier/channels/telegram/telegramtest"
	"github.com/openclaw-verifier/verifier/config"
)

const botToken = "7712345678:AAH-planted_bot_token_that_must_not_show"

// section reads channels and approvers as a file would bring them.
func section(t testing.TB, cfg *config.Config, text string) {
	t.Helper()
	c, _, err := config.Parse("verifier.yaml", []byte(text), func(string) (string, bool) { return "", false }, builtin.platforms())
	if err != nil {
		t.Fatal(err)
	}
	cfg.Channels, cfg.Approvers = c.Channels, c.Approvers
}

// telegramRig is a gateway whose owner is on Telegram.
func telegramRig(t *testing.T, more string) (*rig, *telegramtest.Server) {
	t.Helper()
	s := telegramtest.New(t, botToken)
	r := newRig(t, func(c *config.Config) {
		section(t, c, fmt.Sprintf(`{channels: {telegram: {botToken: %q, chatId: 1001, allowedUserIds: [1001], apiUrl: %q%s}}}`, botToken, s.URL(), more))
	})
	untilReady(t, r)
	return r, s
}

// untilReady waits until the gateway can tell secrets from the rest: before, it
// hides everything, and nothing can be allowed with one tap.
func untilReady(t *testing.T, r *rig) {
	t.Helper()
	waitFor(t, "the gateway is ready", func() bool { return r.owner(http.MethodGet, "/readyz", nil, nil) == http.StatusOK })
}

func card(t *testing.T, s *telegramtest.Server) telegramtest.Message {
	t.Helper()
	var found telegramtest.Message
	waitFor(t, "a card is in the chat", func() bool {
		for _, m := range s.Messages() {
			if strings.HasPrefix(m.Text, "🔐") {
				found = m
				return true
			}
		}
		return false
	})
	return found
}

func waitFor(t *testing.T, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
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

// tapOn taps a button.
func tapOn(t *testing.T, s *telegramtest.Server, m telegramtest.Message, label string) telegramtest.Told {
	t.Helper()
	for _, row := range m.Buttons {
		for _, b := range row {
			if b.Text != label {
				continue
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			told, err := s.Tap(ctx, telegramtest.Person{ID: 1001, Name: "Owner"}, m.Chat, m.ID, b.Data)
			if err != nil {
				t.Fatal(err)
			}
			return told
		}
	}
	t.Fatalf("no button %q on %+v", label, m)
	return telegramtest.Told{}
}

func TestALateTapDoesNotMakeAChatLookIll(t *testing.T) {
	t.Parallel()
	r, s := telegramRig(t, "")
	held := r.hold(call{tool: "exec", params: `{"command":"date"}`})
	m := card(t, s)
	tapOn(t, s, m, "Allow once")
	<-held
	waitFor(t, "the card is settled", func() bool { return len(s.Messages()[0].Buttons) == 0 })
	if told := tapOn(t, s, m, "Deny"); !strings.Contains(told.Text, "approved once by Owner") { // on a phone that has not seen it yet
		t.Errorf("told %+v", told)
	}
	edits := func() int { return strings.Count(strings.Join(s.Calls(), " "), "editMessage") }
	waitFor(t, "the card was looked after", func() bool { return edits() >= 3 })
	if health := r.page("/readyz"); strings.Contains(health, "telegram: sending") || strings.Contains(r.log.String(), "level=ERROR") {
		t.Errorf("health:\n%s\nlog:\n%s", health, r.log)
	}
}

func TestH53ACardWhoseNewTextIsRefusedLosesItsButtonsAllTheSame(t *testing.T) {
	t.Parallel()
	r, s := telegramRig(t, "")
	held := r.hold(call{tool: "exec", params: `{"command":"date"}`})
	m := card(t, s)
	ref := strings.SplitN(m.Text, "ref: ", 2)[1][:4]
	s.Break(channeltest.Fault{Kind: channeltest.Refused, Says: "can't parse entities", Times: 1})
	if v := r.say(r.token, map[string]any{"ref": ref, "allow": false}); v.Kind != "counted" {
		t.Fatalf("%+v", v)
	}
	<-held
	waitFor(t, "the buttons are gone", func() bool { return len(s.Messages()[0].Buttons) == 0 })
	waitFor(t, "it is logged", func() bool { return strings.Contains(r.log.String(), "a card could not be edited") })
}

func TestABrokenSectionKeepsTheGatewayFromStarting(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{channels: {telegram: {botTokn: x, chatId: 1}}}`:          "did you mean \"botToken\"?",
		`{channels: {telegram: {botToken: nonsense, chatId: 1}}}`:  "@BotFather gives one",
		`{channels: {telegram: {botToken: "${NOPE}", chatId: 1}}}`: "NOPE is not set",
	} {
		c := config.Default()
		section(t, c, text)
		err := builtin.check(c)
		var b strings.Builder
		if err != nil {
			report(&b, err)
		}
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s: %q", text, b.String())
		}
	}
	for _, chat := range builtin {
		off := config.Default()
		section(t, off, `{channels: {`+chat.Name+`: {enabled: false, botToken: "${NOPE}"}}}`)
		if err := builtin.check(off); err != nil {
			t.Errorf("%s, which is off: %v", chat.Name, err)
		}
	}
}

// Seed 003 has a Telegram section for each agent. Another chat of the same bot is
// where that agent's cards go, and where they are answered.
func TestSeed003AnAgentsOwnChatGetsItsCards(t *testing.T) {
	t.Parallel()
	s := telegramtest.New(t, botToken)
	r, _ := reloading(t, fmt.Sprintf(`{
  "tools": {"verifier": {"telegram": {"enabled": true, "botToken": %q, "chatId": "1001", "allowedUserIds": [1001], "apiUrl": %q}}},
  "agents": {"list": [{"id": "dev", "tools": {"verifier": {"telegram": {"enabled": true, "chatId": "-1007"}}}}]},
}`, botToken, s.URL()))
	untilReady(t, r)
	for agent, chat := range map[string]int64{"dev": -1007, "main": 1001} {
		command := "echo " + agent
		held := r.hold(sh(command, map[string]any{"sessionKey": "agent:" + agent + ":m", "agentId": agent}))
		m := cardAbout(t, s, command)
		if m.Chat != chat {
			t.Errorf("the card of %s is in chat %d", agent, m.Chat)
		}
		if _, err := s.Tap(t.Context(), telegramtest.Person{ID: 5, Name: "Stranger"}, m.Chat, m.ID, m.Buttons[0][0].Data); err != nil {
			t.Error(err)
		}
		tapOn(t, s, m, "Allow once")
		if a := <-held; !a.allowed() {
			t.Errorf("%s: a tap gave %s", agent, a.raw)
		}
		waitFor(t, "the card says so", func() bool {
			for _, now := range s.Messages() {
				if now.Chat == m.Chat && now.ID == m.ID {
					return len(now.Buttons) == 0
				}
			}
			return false
		})
	}
}
