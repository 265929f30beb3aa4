package server_test

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	ours "github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/server"
	"github.com/openclaw-verifier/verifier/toolcall"
	"github.com/openclaw-verifier/verifier/verifier"
)

// emptyKey signs as anyone can who has no secret.
func emptyKey(body string) string {
	h := hmac.New(sha256.New, nil)
	h.Write([]byte(body))
	return hex.EncodeToString(h.Sum(nil))
}

func TestH01WhatIsNotSignedIsCountedAndNothingElse(t *testing.T) {
	s, d := newServer(t, nil)
	body, name := `{"version":1}`, ours.RequestHeader
	right := ours.Sign([]byte(secret), []byte(body))
	for i, tt := range []struct {
		name    string
		headers []string
	}{
		{"no signature", nil},
		{"an empty one", []string{name, ""}},
		{"the scheme alone", []string{name, "sha256="}},
		{"one digit short", []string{name, right[1:]}},
		{"one digit long", []string{name, right + "0"}},
		{"not hex", []string{name, strings.Repeat("g", 64)}},
		{"white space inside", []string{name, right[:32] + " " + right[33:]}},
		{"another scheme", []string{name, "sha1=" + right}},
		{"another secret", []string{name, ours.Sign([]byte(secret+"x"), []byte(body))}},
		{"an empty secret", []string{name, emptyKey(body)}},
		{"another body", []string{name, ours.Sign([]byte(secret), []byte(body+" "))}},
		{"the right one twice", []string{name, right, name, right}},
		{"a wrong one first", []string{name, strings.Repeat("0", 64), name, right}},
		{"two in one header", []string{name, right + "," + right}},
		{"in another header", []string{"X-Hub-Signature", right}},
		{"an answer's signature", []string{name, ours.SignAnswer([]byte(secret), "", []byte(body))}},
	} {
		w := post(s, body, tt.headers...)
		if w.Code != http.StatusUnauthorized || w.Header().Get(ours.AnswerHeader) != "" || strings.Contains(w.Body.String(), "decision") {
			t.Errorf("%s: got %d %s", tt.name, w.Code, w.Body)
		}
		if s.Rejected() != int64(i+1) {
			t.Errorf("%s: counted %d", tt.name, s.Rejected())
		}
	}
	if d.verified.Load()+d.rejected.Load() != 0 {
		t.Error("a call that is not ours reached the decision")
	}
	for _, header := range []string{right, "sha256=" + right, strings.ToUpper(right)} {
		if w := post(s, body, name, header); w.Code != http.StatusOK {
			t.Errorf("%s: got %d", header, w.Code)
		}
	}
}

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

func TestTheBearerIsDemandedWhereItIsConfigured(t *testing.T) {
	auth, err := server.NewAuth(map[string][]string{"laptop": {secret}}, bearer, map[string]string{"Ann": ann})
	if err != nil {
		t.Fatal(err)
	}
	s, d := newServer(t, func(o *server.Options) { o.Auth = func() *server.Auth { return auth } })
	body := `{"version":1}`
	for name, headers := range map[string][]string{
		"none": {}, "wrong": {"Authorization", "Bearer " + bearer + "x"}, "empty": {"Authorization", "Bearer "},
		"another scheme": {"Authorization", "Basic " + bearer}, "bare": {"Authorization", bearer},
		"a person's token": {"Authorization", "Bearer " + ann},
		"twice":            {"Authorization", "Bearer " + bearer, "Authorization", "Bearer " + bearer},
	} {
		if w := post(s, body, append(signed(body), headers...)...); w.Code != http.StatusUnauthorized {
			t.Errorf("%s: got %d", name, w.Code)
		}
	}
	if d.verified.Load()+d.rejected.Load() != 0 {
		t.Error("a call without the bearer reached the decision")
	}
	if w := post(s, body, "Authorization", "Bearer "+bearer); w.Code != http.StatusUnauthorized {
		t.Errorf("the bearer without a signature: got %d", w.Code)
	}
	if w := post(s, body, append(signed(body), "Authorization", "bearer "+bearer)...); w.Code != http.StatusOK {
		t.Errorf("both: got %d", w.Code)
	}
}

func TestTheOwnersDoorTakesOnlyAPersonsToken(t *testing.T) {
	s, _ := newServer(t, nil)
	for _, path := range []string{"GET /owner/pending", "POST /owner/answer", "POST /owner/reply"} {
		method, at, _ := strings.Cut(path, " ")
		for token, want := range map[string]int{
			"": 401, "Bearer": 401, "Bearer ": 401, "Bearer x" + ann: 401, "Bearer " + secret: 401, "Basic " + ann: 401,
			"Bearer " + ann: 403,
		} {
			req := httptest.NewRequestWithContext(t.Context(), method, at, strings.NewReader(`{"text":".pending"}`))
			if strings.HasSuffix(at, "answer") {
				req = httptest.NewRequestWithContext(t.Context(), method, at, strings.NewReader(`{"ref":"7Q4K","allow":true}`))
			}
			if token != "" {
				req.Header.Set("Authorization", token)
			}
			w := httptest.NewRecorder()
			s.Handler().ServeHTTP(w, req)
			if w.Code != want {
				t.Errorf("%s with %q: got %d %s, want %d", path, token, w.Code, w.Body, want)
			}
		}
	}
}

// panics is a decision with a bug in it.
type panics struct{}

func (*panics) Verify(_ context.Context, c *toolcall.Call) verifier.Decision {
	panic(c)
}

func (*panics) Reject(_ context.Context, c *toolcall.Call, _, reason string) verifier.Decision {
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

func TestNothingIsFoundElsewhere(t *testing.T) {
	s, _ := newServer(t, nil)
	for request, want := range map[string]int{
		"GET /verify": 405, "PUT /verify": 405, "POST /verify/": 404, "POST /VERIFY": 404, "GET /": 404, "GET /owner": 404,
		"GET /owner/../verify": 404, "GET /debug/pprof/": 404, "GET /metrics": 404,
	} {
		method, path, _ := strings.Cut(request, " ")
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody))
		if w.Code != want && (want != 404 || w.Code != 401) {
			t.Errorf("%s: got %d, want %d", request, w.Code, want)
		}
	}
}
