package slack_test

import (
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/openclaw-verifier/verifier/channels/slack/slacktest"
)

// A connection of Socket Mode is no request any more that the fake's HTTP server
// would wait for: it must end with the fake all the same, however young it is.
func TestTheFakeEndsWithItsConnections(t *testing.T) {
	for range 50 {
		s := slacktest.Open(keys)
		address := "ws" + strings.TrimSuffix(strings.TrimPrefix(s.URL(), "http"), "/api") + "/link"
		conn, res, err := websocket.DefaultDialer.DialContext(t.Context(), address, nil)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		s.Close()
		conn.Close()
	}
}
