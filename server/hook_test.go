package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/server"
)

// Nothing that a chat is called at can stand before the door of calls.
func TestAHookThatWouldTakeTheServersOwnPathIsRefused(t *testing.T) {
	auth, err := server.NewAuth(map[string][]string{"laptop": {secret}}, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{"/verify", "/approve", "/answered", "/hooks/session_end", "/owner/answer", "/*"} {
		_, err := server.New(server.Options{
			Auth: func() *server.Auth { return auth }, Verifier: &decider{}, Desk: noApprovers{},
			Hooks: map[string]http.Handler{at: http.NotFoundHandler()},
		})
		if err == nil || !strings.Contains(err.Error(), at) {
			t.Errorf("%s: %v", at, err)
		}
	}
}
