package server_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/server"
)

var drawn = regexp.MustCompile(`^[a-z2-9]{16}$`)

func TestEveryAnswerCarriesAnIDThatWasDrawnHere(t *testing.T) {
	s, _ := newServer(t, nil)
	seen := map[string]bool{}
	for _, request := range []string{"POST /verify", "GET /healthz", "GET /readyz", "GET /nowhere", "DELETE /verify", "GET /owner/pending"} {
		method, path, _ := strings.Cut(request, " ")
		req := httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody)
		req.Header.Set(server.RequestIDHeader, "from-outside")
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, req)
		id := w.Header().Get(server.RequestIDHeader)
		if !drawn.MatchString(id) || seen[id] {
			t.Errorf("%s: got the id %q", request, id)
		}
		seen[id] = true
	}
}

func TestALogLineNamesItsRequest(t *testing.T) {
	var log bytes.Buffer
	s, _ := newServer(t, func(o *server.Options) {
		o.Log = slog.New(server.WithRequestIDs(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})).WithGroup("g").WithAttrs(nil))
	})
	body := `{"a secret":"hunter2"}`
	w := post(s, body, append(signed(body), "Authorization", "Bearer hunter2", "Cookie", "hunter2")...)
	w2 := httptest.NewRecorder()
	s.Handler().ServeHTTP(w2, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/owner/pending?token=hunter2", http.NoBody))
	w3 := httptest.NewRecorder()
	s.Handler().ServeHTTP(w3, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/hunter2", http.NoBody))
	for status, w := range map[string]*httptest.ResponseRecorder{"200": w, "401": w2, "404": w3} {
		line := regexp.MustCompile(`.*rid=` + w.Header().Get(server.RequestIDHeader) + `.*`).FindString(log.String())
		if !strings.Contains(line, "status="+status) {
			t.Errorf("the line of the request with %s is %q in\n%s", status, line, &log)
		}
	}
	if strings.Contains(log.String(), "hunter2") {
		t.Errorf("the log holds what was sent:\n%s", &log)
	}
}

func TestAPanicBeforeAnyHandlerIsAnswered(t *testing.T) {
	var log bytes.Buffer
	s, _ := newServer(t, func(o *server.Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/healthz", http.NoBody)
	req.URL = nil // breaks the router
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, req)
	if w.Code != http.StatusInternalServerError || !strings.Contains(log.String(), "a request ended in a panic") {
		t.Errorf("got %d, and the log says %s", w.Code, &log)
	}
}
