package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"testing"
	"time"

	gw "github.com/openclaw-verifier/verifier/test/gateway"
)

// Whatever stands in for the server is found out.
func TestTheCommandTestFindsImpostors(t *testing.T) {
	t.Parallel()
	g := gw.Start(t, "")
	at, err := url.Parse(g.URL)
	if err != nil {
		t.Fatal(err)
	}
	server := httputil.NewSingleHostReverseProxy(at)
	for name, c := range map[string]struct {
		change func(w http.ResponseWriter, req *http.Request, next http.Handler)
		want   string // an expression: a clock that is set back by an hour may be seen a second later
	}{
		"answers for everyone": {func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { w.WriteHeader(http.StatusOK) }, "FAILED  server     what answers at"},
		"takes any signature": {func(w http.ResponseWriter, req *http.Request, next http.Handler) {
			if req.Method == http.MethodPost {
				w.WriteHeader(http.StatusOK)
				return
			}
			next.ServeHTTP(w, req)
		}, "FAILED  refusal    a call with a wrong signature got HTTP status 200"},
		"changes the answer": {func(w http.ResponseWriter, req *http.Request, next http.Handler) {
			rec := httptest.NewRecorder()
			next.ServeHTTP(rec, req)
			for k, v := range rec.Header() {
				w.Header()[k] = v
			}
			w.Header().Del("Content-Length")
			w.WriteHeader(rec.Code)
			_, _ = w.Write(bytes.Replace(rec.Body.Bytes(), []byte(`"deny"`), []byte(`"allow"`), 1))
		}, "FAILED  signature  the answer is not signed with this secret"},
		"lives in the past": {func(w http.ResponseWriter, req *http.Request, next http.Handler) {
			w.Header().Set("Date", time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat))
			next.ServeHTTP(w, req)
		}, "FAILED  clock      the server's clock is 1h0m[0-9]s behind this machine's"},
		"is a little late, and has no store": {func(w http.ResponseWriter, req *http.Request, next http.Handler) {
			w.Header().Set("Date", time.Now().Add(-time.Minute).UTC().Format(http.TimeFormat))
			if req.URL.Path != "/readyz" {
				next.ServeHTTP(w, req)
				return
			}
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, "store: it is gone\nhint: bring it back\nrecord: ok\n")
		}, "ok      clock      the server's is 1m[0-9]s behind this machine's, and may be 5m0s off\nFAILED  ready      store: it is gone\n        hint: bring it back\nok      owner"},
	} {
		s := httptest.NewServer(
			http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { c.change(w, req, server) }),
		)
		var out bytes.Buffer
		code := run(t.Context(), []string{"test", "--state", g.State.Dir(), "--url", s.URL}, &out, &out)
		s.Close()
		if code != exitError || !regexp.MustCompile(c.want).Match(out.Bytes()) {
			t.Errorf("%s: exit code %d:\n%s", name, code, &out)
		}
	}
}
