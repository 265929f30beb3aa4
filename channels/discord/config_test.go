package discord_test

import (
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/channels/delivery"
	"github.com/openclaw-verifier/verifier/channels/discord"
)

func TestConfigSaysWhatIsMissing(t *testing.T) {
	good := func() discord.Config { return discord.Config{BotToken: token, UserID: "101"} }
	for _, c := range []struct {
		name, want string
		edit       func(c *discord.Config)
	}{
		{"no token", "botToken is missing", func(c *discord.Config) { c.BotToken = "" }},
		{"a client secret", "is no bot token", func(c *discord.Config) { c.BotToken = "abcdefghijklmnopqrstuvwxyz012345" }},
		{"a token of nobody", "is no bot token", func(c *discord.Config) {
			c.BotToken = "bm90LWEtbnVtYmVyLWF0LWFsbA.GaBcDe.planted-token-that-must-never-show-up-0"
		}},
		{"nowhere", "say where cards go", func(c *discord.Config) { c.UserID = "" }},
		{"two people", "say where cards go", func(c *discord.Config) { c.UserID, c.AllowedUserIDs = "", []delivery.ID{"1", "2"} }},
		{"a name", "say where cards go", func(c *discord.Config) { c.UserID = "ann" }},
		{"a channel's name", "channelId must be", func(c *discord.Config) { c.ChannelID = "#approvals" }},
		{"no address", "apiUrl is no address", func(c *discord.Config) { c.APIURL = "discord.com" }},
		{"an address with a token", "apiUrl is no address", func(c *discord.Config) { c.APIURL = "https://token@discord.com" }},
	} {
		config := good()
		c.edit(&config)
		ch, err := discord.Open(config, delivery.Deps{})
		if ch != nil || err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "channels.discord: ") {
			t.Errorf("%s: %v, %v", c.name, ch, err)
		}
		if err != nil && config.BotToken != "" && strings.Contains(err.Error(), config.BotToken) {
			t.Errorf("%s: the error holds the token: %v", c.name, err)
		}
	}
	one := good()
	one.UserID, one.AllowedUserIDs, one.BotToken = "", []delivery.ID{"101"}, "Bot "+token
	if ch, err := discord.Open(one, delivery.Deps{}); ch == nil || err != nil {
		t.Errorf("one person: %v, %v", ch, err)
	}
}
