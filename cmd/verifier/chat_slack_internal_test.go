package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/channels/slack/slacktest"
	"github.com/openclaw-verifier/verifier/config"
)

var slackKeys = slacktest.Keys{
	BotToken: "xoxb-1111111111-2222222222-plantedSlackToken", AppToken: "xapp-1-A0VERIFIER-3333-plantedSlackToken",
}

// slackRig is a gateway whose owner is on Slack.
func slackRig(t *testing.T) (*rig, *slacktest.Server) {
	t.Helper()
	s := slacktest.New(t, slackKeys)
	r := newRig(t, func(c *config.Config) {
		section(t, c, fmt.Sprintf(`{channels: {slack: {botToken: %q, allowedUserIds: [U0OWNER], apiUrl: %q, appToken: %q}}}`, slackKeys.BotToken, s.URL(), slackKeys.AppToken))
	})
	untilReady(t, r)
	return r, s
}

func slackCard(t *testing.T, s *slacktest.Server) slacktest.Message {
	t.Helper()
	waitFor(t, "a card is in the chat", func() bool { return len(s.Messages()) > 0 })
	return s.Messages()[0]
}

func tapSlack(t *testing.T, s *slacktest.Server, m slacktest.Message, label string) {
	t.Helper()
	b, ok := m.Seen().Button(label)
	if !ok {
		t.Fatalf("no button %q on %+v", label, m.Seen())
	}
	if _, err := s.Tap(t.Context(), slacktest.Person{ID: "U0OWNER", Name: "Owner"}, m.Channel, m.TS, b.Data); err != nil {
		t.Fatal(err)
	}
}

func TestATapOnSlackReleasesTheCall(t *testing.T) {
	t.Parallel()
	r, s := slackRig(t)
	held := r.hold(call{tool: "exec", params: `{"command":"date"}`})
	m := slackCard(t, s)
	if m.Channel != slacktest.DirectWith("U0OWNER") {
		t.Errorf("the card is in %s", m.Channel)
	}
	tapSlack(t, s, m, "Allow once")
	if a := <-held; !a.allowed() {
		t.Errorf("got %d %s", a.status, a.raw)
	}
	waitFor(t, "the card is settled", func() bool {
		now := s.Messages()[0]
		seen := now.Seen()
		return strings.Contains(seen.Text, "Approved once by Owner at ") && len(seen.Buttons) == 0
	})
	for where, text := range map[string]string{"log": r.log.String(), "record": r.record(), "health": r.page("/readyz"), "metrics": r.page("/metrics")} {
		if strings.Contains(strings.ToLower(text), "plantedslacktoken") {
			t.Errorf("a token stands in the %s:\n%s", where, text)
		}
	}
}

// A typed line comes with an id alone. People read a name, where Slack tells it.
func TestATypedLineOnSlackIsByAPersonWithAName(t *testing.T) {
	t.Parallel()
	for want, names := range map[string]map[string]string{"Ann Owner": {"U0OWNER": "Ann Owner"}, "slack U0OWNER": nil} {
		t.Run(want, func(t *testing.T) {
			r, s := slackRig(t)
			s.Names = names
			held := r.hold(call{tool: "exec", params: `{"command":"date"}`})
			slackCard(t, s)
			line := ".approve exec " + inText(t, r.waits().Text, `\.approve exec ([0-9a-f]{8})`)
			s.Say(slacktest.Person{ID: "U0OWNER"}, slacktest.DirectWith("U0OWNER"), "", line, nil)
			if a := <-held; !a.allowed() {
				t.Errorf("got %d %s", a.status, a.raw)
			}
			waitFor(t, "the card says who it was", func() bool {
				return strings.Contains(s.Messages()[0].Seen().Text, "Approved once by "+want+" at ")
			})
		})
	}
}

func TestABrokenSlackSectionIsExplained(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{channels: {slack: {botTokn: x}}}`: "did you mean \"botToken\"?",
		fmt.Sprintf(`{channels: {slack: {botToken: %q, appToken: %q, channelId: C1AB}}}`, slackKeys.AppToken, slackKeys.BotToken): "botToken is an app-level token",
		fmt.Sprintf(`{channels: {slack: {botToken: %q, channelId: C1AB}}}`, slackKeys.BotToken):                                   "appToken is missing",
	} {
		c := config.Default()
		section(t, c, text)
		var b strings.Builder
		if err := builtin.check(c); err != nil {
			report(&b, err)
		}
		if !strings.Contains(b.String(), want) || strings.Contains(strings.ToLower(b.String()), "plantedslacktoken") {
			t.Errorf("%s: %q", text, b.String())
		}
	}
}
