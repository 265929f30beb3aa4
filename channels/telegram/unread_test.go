package telegram_test

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/channels/delivery"
	"github.com/openclaw-verifier/verifier/channels/telegram/telegramtest"
)

// The library puts an update that it can't read into its error.
func TestAnUpdateThatCanNotBeReadIsNotQuotedInTheLog(t *testing.T) {
	s, log := telegramtest.New(t, token), &buffer{}
	h := newHeard()
	ch := open(t, config(s), delivery.Deps{Log: slog.New(slog.NewTextHandler(log, nil))})
	listen(t, ch, h)
	for _, more := range []map[string]any{
		{"external_reply": map[string]any{"origin": map[string]any{}}},
		{"date": "soon"},
	} {
		s.Say(alice, alice.ID, 0, ".approve exec bf619df9", more)
	}
	s.Say(alice, alice.ID, 0, ".pending", nil)
	if a := h.next(t); a.Text != ".pending" {
		t.Errorf("heard %+v", a)
	}
	if strings.Contains(log.String(), "bf619df9") || ch.Health() != nil && strings.Contains(ch.Health().Error(), "bf619df9") {
		t.Errorf("the log says\n%s\n%v", log, ch.Health())
	}
}
