package telegram_test

import (
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/channels/channeltest"
	"github.com/openclaw-verifier/verifier/channels/delivery"
	"github.com/openclaw-verifier/verifier/channels/telegram"
	"github.com/openclaw-verifier/verifier/channels/telegram/telegramtest"
	"github.com/openclaw-verifier/verifier/internal/approval"
)

func TestTheOneWhoMayApproveIsWrittenTo(t *testing.T) {
	s := telegramtest.New(t, token)
	ch := open(t, telegram.Config{BotToken: token, AllowedUserIDs: []delivery.ID{"1001"}, APIURL: s.URL() + "/"}, delivery.Deps{})
	if _, err := ch.Send(t.Context(), settledCard()); err != nil {
		t.Fatal(err)
	}
	if m := s.Messages(); len(m) != 1 || m[0].Chat != 1001 {
		t.Errorf("%+v", m)
	}
}

// settledCard has expired: it is shown without buttons.
func settledCard() *approval.Card { return channeltest.Fixtures()[0].Card }

// asked is a card of a call by this agent.
func asked(agent string) *approval.Card {
	c := *settledCard()
	c.Ask.Agent = agent
	return &c
}

func TestACardGoesToTheChatOfItsAgent(t *testing.T) {
	s := telegramtest.New(t, token)
	c := config(s)
	c.ThreadID, c.Chats = 42, map[string]delivery.ID{"Dev": "-1009", "ops": "1001"}
	ch := open(t, c, delivery.Deps{})
	const all = -1001234567890
	for i, want := range []struct {
		card   *approval.Card
		chat   int64
		thread int64
	}{
		{asked("main"), all, 42}, {asked("dev"), -1009, 0}, {asked("OPS"), 1001, 0}, {asked(""), all, 42},
	} {
		at, err := ch.Send(t.Context(), want.card)
		if err != nil {
			t.Fatal(err)
		}
		m := s.Messages()[i]
		if m.Chat != want.chat || m.Thread != want.thread {
			t.Errorf("%d: in chat %d, topic %d", i, m.Chat, m.Thread)
		}
		if err := ch.Settle(t.Context(), at, want.card, approval.Outcome{Kind: approval.Counted, State: approval.Denied, Text: "Denied."}); err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
	if who, err := ch.Probe(t.Context()); err != nil || who != "@verifier_test_bot in chat -1001234567890, -1009, 1001" {
		t.Errorf("%q, %v", who, err)
	}
	c.Chats = map[string]delivery.ID{"dev": "here"}
	if _, err := telegram.Open(c, delivery.Deps{}); err == nil || !strings.Contains(err.Error(), "chats must give each agent the number of a chat") {
		t.Errorf("a chat that is no number: %v", err)
	}
}

func TestACardGoesToItsTopic(t *testing.T) {
	s := telegramtest.New(t, token)
	c := config(s)
	c.ThreadID = 42
	ch := open(t, c, delivery.Deps{})
	if _, err := ch.Send(t.Context(), settledCard()); err != nil {
		t.Fatal(err)
	}
	if m := s.Messages(); len(m) != 1 || m[0].Thread != 42 {
		t.Errorf("%+v", m)
	}
}
