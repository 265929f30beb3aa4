package slack_test

import (
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/channels/delivery"
	"github.com/openclaw-verifier/verifier/channels/slack"
	"github.com/openclaw-verifier/verifier/channels/slack/slacktest"
)

func (s *station) connected() {
	s.Helper()
	s.until("it is connected", func() bool { return s.Connections() == 1 })
}

// Slack ends connections every few hours, and networks do when they like.
func TestAConnectionIsMadeAnew(t *testing.T) {
	for name, end := range map[string]func(*slacktest.Server){
		"when Slack asks for it": (*slacktest.Server).AskToReconnect, "when it breaks": (*slacktest.Server).Disconnect,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStation(t, nil)
			for range 3 {
				s.connected()
				end(s.Server)
				s.sync()
			}
			if err := s.channel.Health(); err != nil {
				t.Errorf("its health: %v", err)
			}
		})
	}
}

// What is not acknowledged comes again, and after a while Slack switches it off.
func TestEverythingIsAcknowledged(t *testing.T) {
	s := newStation(t, nil)
	s.connected()
	for id, frame := range map[string]map[string]any{
		"an unknown event": {"type": "events_api", "payload": map[string]any{"type": "event_callback", "event": map[string]any{"type": "of_tomorrow"}}},
		"a slash command":  {"type": "slash_commands", "payload": map[string]any{"command": "/x"}},
		"a strange tap":    {"type": "interactive", "payload": map[string]any{"type": "block_actions", "actions": []any{}}},
		"a shortcut":       {"type": "interactive", "payload": map[string]any{"type": "shortcut"}},
		"an unknown type":  {"type": "of_tomorrow", "payload": map[string]any{}},
	} {
		frame["envelope_id"] = id
		s.Push(frame)
		if err := s.Acked(patience(t), id); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	s.sync()
	if n := len(s.heard()); n != 1 {
		t.Errorf("heard %+v", s.heard())
	}
}

func TestAnEventThatComesTwiceIsTakenOnce(t *testing.T) {
	s := newStation(t, nil)
	s.connected()
	for _, id := range []string{"one", "two"} {
		s.Push(map[string]any{"type": "events_api", "envelope_id": id, "payload": map[string]any{
			"type": "event_callback", "event_id": "Ev1",
			"event": map[string]any{"type": "message", "user": alice, "text": ".pending", "ts": "1.1", "channel": "D0ALICE", "channel_type": "im", "team": slacktest.Team},
		}})
		if err := s.Acked(patience(t), id); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	s.sync()
	s.stop()
	if n := count(s, "slack:"+alice); n != 1 {
		t.Errorf("heard %d times", n)
	}
}

// What is wrong with connecting is said, with what to do, and mended by itself.
func TestARefusedConnectionSaysWhy(t *testing.T) {
	for word, want := range map[string]string{
		"invalid_auth": "the app token is wrong", "missing_scope": "connections:write", "ratelimited": "rate limit", "internal_error": "internal_error",
	} {
		t.Run(word, func(t *testing.T) {
			t.Parallel()
			s := newStation(t, nil)
			s.connected()
			s.Refuse(word)
			s.Disconnect()
			s.until("its health says why", func() bool {
				err := s.channel.Health()
				return err != nil && strings.Contains(err.Error(), want)
			})
			s.Refuse("")
			s.sync()
			s.until("its health is good again", func() bool { return s.channel.Health() == nil })
		})
	}
}

func TestProbe(t *testing.T) {
	p := newPlatform(t, slacktest.Channel)
	ch := open(t, p.config(), delivery.Deps{})
	if who, err := ch.Probe(t.Context()); err != nil || who != "@verifier of Example, writing to "+slacktest.Channel {
		t.Errorf("%q, %v", who, err)
	}
	if n := len(p.Messages()); n > 0 {
		t.Errorf("%d messages came of it", n)
	}
	c := p.config()
	c.AppToken = "xapp-another-token-than-the-real-one"
	if _, err := open(t, c, delivery.Deps{}).Probe(t.Context()); err == nil || !strings.Contains(err.Error(), "the app token is wrong") || strings.Contains(err.Error(), c.AppToken) {
		t.Errorf("got %v", err)
	}
}

func TestAWrongBotTokenSaysSo(t *testing.T) {
	s := newStation(t, func(c *slack.Config) { c.BotToken = "xoxb-another-token-than-the-real-one" })
	s.until("its health says why", func() bool {
		err := s.channel.Health()
		return err != nil && strings.Contains(err.Error(), "the bot token is wrong")
	})
}
