package server_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/server"
	"github.com/openclaw-verifier/verifier/verifier"
)

func TestAnEmptySecretOrTokenMakesNoServer(t *testing.T) {
	for name, make := range map[string]func() (*server.Auth, error){
		"no client": func() (*server.Auth, error) { return server.NewAuth(nil, "", nil) },
		"no secret": func() (*server.Auth, error) { return server.NewAuth(map[string][]string{"a": nil}, "", nil) },
		"an empty secret": func() (*server.Auth, error) {
			return server.NewAuth(map[string][]string{"a": {secret, ""}}, "", nil)
		},
		"an empty token": func() (*server.Auth, error) {
			return server.NewAuth(map[string][]string{"a": {secret}}, "", map[string]string{"Ann": ""})
		},
	} {
		if _, err := make(); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

// panics is a decision with a bug in it.
type panics struct{}

func (*panics) Verify(_ context.Context, c *protocol.Call) verifier.Decision {
	panic(c)
}

func (*panics) Reject(_ context.Context, c *protocol.Call, _, reason string) verifier.Decision {
	panic(errors.New("boom: " + reason))
}

func TestAPanicIsADeny(t *testing.T) {
	var log bytes.Buffer
	s, _ := newServer(t, func(o *server.Options) {
		o.Verifier, o.Log = &panics{}, slog.New(server.WithRequestIDs(slog.NewJSONHandler(&log, nil)))
	})
	w := post(s, "{}", signed("{}")...)
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"decision":"deny"`) || strings.Contains(w.Body.String(), "boom") {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
	if said := log.String(); strings.Contains(said, "boom") || !strings.Contains(said, "*errors.errorString") ||
		!strings.Contains(said, "server_test.(*panics).Reject:") || !strings.Contains(said, `"rid":"`+w.Header().Get(server.RequestIDHeader)) {
		t.Errorf("the log says %s", said)
	}
}
