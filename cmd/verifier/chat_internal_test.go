package main

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/channels/discord/discordtest"
	"github.com/openclaw-verifier/verifier/channels/slack/slacktest"
	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/internal/approval"
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

// A chat whose name means something else would take that thing's place: in an
// approver's entry, before the colon of an id, among the channels of an agent.
func TestChatsHaveNamesOfTheirOwn(t *testing.T) {
	t.Parallel()
	plain, taken := regexp.MustCompile(`^[a-z][a-z0-9]{1,20}$`), []string{"name", "ids", "token", approval.Terminal}
	for _, c := range builtin {
		if !plain.MatchString(c.Name) || slices.Contains(taken, c.Name) {
			t.Errorf("%q can't be the name of a chat", c.Name)
		}
		taken = append(taken, c.Name)
		if c.Title == "" || c.Looks == "" || c.Find == "" || c.IsUser == nil || c.IsUser("") || c.IsUser("Ann") {
			t.Errorf("say of %s what an id of its users is, so that a name is not taken for one", c.Name)
		}
	}
}
