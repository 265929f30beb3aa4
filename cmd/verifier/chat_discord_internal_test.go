package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/channels/discord/discordtest"
	"github.com/openclaw-verifier/verifier/config"
)

var discordToken = base64.RawURLEncoding.EncodeToString([]byte(discordtest.BotID)) + ".GaBcDe.planted_bot_token_that_must_not_show"

var discordOwner = discordtest.Person{ID: "1001", Name: "Owner"}

// discordRig is a gateway whose owner gets direct messages on Discord.
func discordRig(t *testing.T) (*rig, *discordtest.Server) {
	t.Helper()
	s := discordtest.New(t, discordToken)
	r := newRig(t, func(c *config.Config) {
		section(t, c, fmt.Sprintf(`{channels: {discord: {botToken: %q, allowedUserIds: [1001], apiUrl: %q}}}`, discordToken, s.URL()))
	})
	untilReady(t, r)
	return r, s
}

// discordCard waits for a card.
func discordCard(t *testing.T, s *discordtest.Server) discordtest.Message {
	t.Helper()
	waitFor(t, "a card is there", func() bool { return len(s.Messages()) > 0 })
	return s.Messages()[0]
}

func TestATapOnDiscordReleasesTheCall(t *testing.T) {
	t.Parallel()
	r, s := discordRig(t)
	held := r.hold(call{tool: "exec", params: `{"command":"date"}`})
	m := discordCard(t, s)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if told, err := s.Tap(ctx, discordOwner, m.Channel, m.ID, m.Rows[0][0].CustomID); err != nil || told.Failed {
		t.Fatalf("%+v, %v", told, err)
	}
	if a := <-held; !a.allowed() {
		t.Errorf("got %d %s", a.status, a.raw)
	}
	waitFor(t, "the card is settled", func() bool {
		now := s.Messages()[0]
		return strings.Contains(now.Content, "once by Owner at ") && len(now.Rows) == 0
	})
	for where, text := range map[string]string{"log": r.log.String(), "record": r.record(), "health": r.page("/readyz"), "metrics": r.page("/metrics")} {
		if strings.Contains(text, "planted_bot_token") || strings.Contains(text, "interaction-token-") {
			t.Errorf("a token stands in the %s:\n%s", where, text)
		}
	}
}

func TestABrokenDiscordSectionKeepsTheGatewayFromStarting(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{channels: {discord: {botToken: nonsense, userId: 1}}}`:                         "the Developer Portal shows it once",
		fmt.Sprintf(`{channels: {discord: {botToken: %q}}}`, discordToken):               "say where cards go",
		fmt.Sprintf(`{channels: {discord: {botToken: %q, channelid: 1}}}`, discordToken): "did you mean \"channelId\"?",
	} {
		c := config.Default()
		section(t, c, text)
		var b strings.Builder
		if err := builtin.check(c); err != nil {
			report(&b, err)
		}
		if !strings.Contains(b.String(), want) || strings.Contains(b.String(), "planted_bot_token") {
			t.Errorf("%s: %q", text, b.String())
		}
	}
}
