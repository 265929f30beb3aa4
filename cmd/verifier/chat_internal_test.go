package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/channels/discord/discordtest"
	"github.com/openclaw-verifier/verifier/channels/slack/slacktest"
	"github.com/openclaw-verifier/verifier/channels/telegram/telegramtest"
	"github.com/openclaw-verifier/verifier/config"
)

const botToken = "7712345678:AAH-planted_bot_token_that_must_not_show"

var discordToken = base64.RawURLEncoding.EncodeToString([]byte(discordtest.BotID)) + ".GaBcDe.planted_bot_token_that_must_not_show"

var slackKeys = slacktest.Keys{
	BotToken: "xoxb-1111111111-2222222222-plantedSlackToken", AppToken: "xapp-1-A0VERIFIER-3333-plantedSlackToken",
}

// section reads channels and approvers as a file would bring them.
func section(t testing.TB, cfg *config.Config, text string) {
	t.Helper()
	c, _, err := config.Parse("verifier.yaml", []byte(text), func(string) (string, bool) { return "", false }, builtin.platforms())
	if err != nil {
		t.Fatal(err)
	}
	cfg.Channels, cfg.Approvers = c.Channels, c.Approvers
}

// untilReady waits until the gateway can tell secrets from the rest: before, it
// hides everything, and nothing can be allowed with one tap.
func untilReady(t *testing.T, r *rig) {
	t.Helper()
	waitFor(t, "the gateway is ready", func() bool { return r.owner(http.MethodGet, "/readyz", nil, nil) == http.StatusOK })
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

func TestABrokenSectionKeepsTheGatewayFromStarting(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{channels: {telegram: {botTokn: x, chatId: 1}}}`:                                "did you mean \"botToken\"?",
		`{channels: {telegram: {botToken: nonsense, chatId: 1}}}`:                        "@BotFather gives one",
		`{channels: {telegram: {botToken: "${NOPE}", chatId: 1}}}`:                       "NOPE is not set",
		`{channels: {discord: {botToken: nonsense, userId: 1}}}`:                         "the Developer Portal shows it once",
		fmt.Sprintf(`{channels: {discord: {botToken: %q}}}`, discordToken):               "say where cards go",
		fmt.Sprintf(`{channels: {discord: {botToken: %q, channelid: 1}}}`, discordToken): "did you mean \"channelId\"?",
		`{channels: {slack: {botTokn: x}}}`:                                              "did you mean \"botToken\"?",
		fmt.Sprintf(`{channels: {slack: {botToken: %q, appToken: %q, channelId: C1AB}}}`,
			slackKeys.AppToken, slackKeys.BotToken): "botToken is an app-level token",
		fmt.Sprintf(`{channels: {slack: {botToken: %q, channelId: C1AB}}}`, slackKeys.BotToken): "appToken is missing",
	} {
		c := config.Default()
		section(t, c, text)
		err := builtin.check(c)
		var b strings.Builder
		if err != nil {
			report(&b, err)
		}
		if !strings.Contains(b.String(), want) || strings.Contains(strings.ToLower(b.String()), "planted") {
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
