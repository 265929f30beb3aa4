package telegram_test

import (
	"testing"

	"github.com/openclaw-verifier/verifier/channels/delivery"
	"github.com/openclaw-verifier/verifier/channels/telegram/telegramtest"
)

// Older servers of the Bot API mark what was forwarded in other members.
func TestH140AForwardedLineIsNoAnswerByAnyMarkOfIt(t *testing.T) {
	const line = ".approve exec bf619df9"
	marks := map[string]any{
		"forward_from": map[string]any{"id": 7, "is_bot": false, "first_name": "M"}, "forward_date": 1, "is_automatic_forward": true,
		"forward_from_chat": map[string]any{"id": group, "type": "channel"}, "forward_from_message_id": 3, "forward_signature": "x",
		"forward_sender_name": "x", "forward_origin": map[string]any{"type": "hidden_user", "date": 1, "sender_user_name": "x"},
	}
	s, h := telegramtest.New(t, token), newHeard()
	listen(t, open(t, config(s), delivery.Deps{}), h)
	for mark, value := range marks {
		s.Say(alice, alice.ID, 0, line, map[string]any{mark: value})
	}
	s.Say(alice, alice.ID, 0, ".pending", nil)
	if a := h.next(t); a.Text != ".pending" {
		t.Errorf("got %+v", a)
	}
}
