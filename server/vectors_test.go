package server_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/server"
)

// vector is a request or an answer that another implementation would try; which members there are depends on what
// it is.
type vector struct {
	Name, Path, RequestID, Body, Signature, WrongSignature, Answer, AnswerSignature, Client, Tool, Digest string
}

type vectorFile struct {
	Secret                               string
	Requests, Answers, Events, Malformed []vector
}

func vectors(t *testing.T, file string) (v vectorFile) {
	t.Helper()
	text, err := os.ReadFile("../docs/spec/" + file)
	if err == nil {
		err = json.Unmarshal(text, &v, json.MatchCaseInsensitiveNames(true))
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// The vectors in docs are what another implementation would run; they must be
// what this one does.
func TestTheDocumentedVectorsHold(t *testing.T) {
	v := vectors(t, "vectors.json")
	secret := []byte(v.Secret)
	for _, r := range v.Requests {
		if r.WrongSignature != "" {
			if hmac.Match(r.WrongSignature, []byte(r.Body), secret) >= 0 {
				t.Errorf("%s: the signature was accepted", r.Name)
			}
			continue
		}
		for _, header := range []string{r.Signature, "sha256=" + r.Signature} {
			if hmac.Match(header, []byte(r.Body), secret) != 0 {
				t.Errorf("%s: %s was refused", r.Name, header)
			}
		}
		call, err := protocol.Decode([]byte(r.Body))
		if call.Client = r.Client; err != nil || call.Tool != r.Tool || call.Digest() != r.Digest {
			t.Errorf("%s: tool %s, digest %s, %v", r.Name, call.Tool, call.Digest(), err)
		}
	}
	for _, a := range v.Answers {
		if !hmac.MatchAnswer(secret, a.RequestID, []byte(a.Body), a.Signature) {
			t.Errorf("the answer %s does not carry its signature", a.Body)
		}
	}
	for _, m := range v.Malformed {
		if _, err := protocol.Decode([]byte(m.Body)); err == nil {
			t.Errorf("%s was decoded", m.Name)
		}
	}
	if len(v.Requests) < 2 || len(v.Answers) < 2 || len(v.Malformed) < 5 {
		t.Error("the file has lost its vectors")
	}
}

// The same of events, and of /approve, which the server itself answers.
func TestTheDocumentedEventVectorsHold(t *testing.T) {
	v := vectors(t, "event-vectors.json")
	auth, err := server.NewAuth(map[string][]string{"default": {v.Secret}}, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	s, _ := newServer(t, func(o *server.Options) {
		o.Auth = func() *server.Auth { return auth }
		o.Desk = &hearing{says: `"exec" approved for 30 minutes by Ann (telegram through default).`}
		o.Relays = func(client, platform string) bool { return client == "default" && platform == "telegram" }
		o.Now = func() time.Time { return time.Date(2026, 2, 12, 15, 30, 0, 0, time.UTC) }
	})
	approved := 0
	for _, e := range append(v.Events, v.Malformed...) {
		if e.Signature == "" {
			e.Signature = hmac.Sign([]byte(v.Secret), []byte(e.Body))
		}
		if hmac.Match(e.Signature, []byte(e.Body), []byte(v.Secret)) != 0 || e.Answer != "" &&
			!hmac.MatchAnswer([]byte(v.Secret), e.RequestID, []byte(e.Answer), e.AnswerSignature) {
			t.Errorf("%s: a signature is wrong", e.Name)
		}
		var a protocol.Answer
		if strings.HasPrefix(e.Answer, `{"accepted"`) &&
			(json.Unmarshal([]byte(e.Answer), &a) != nil || string(a.JSON()) != e.Answer) {
			t.Errorf("%s: we would write %s", e.Name, a.JSON())
		}
		if e.Path != "/approve" {
			continue
		}
		approved++
		w := tell(s, e.Path, e.Body, hmac.RequestHeader, e.Signature)
		switch got := w.Body.String(); {
		case e.Answer == "" && !strings.HasPrefix(got, `{"kind":"misunderstood",`), e.Answer != "" && got != e.Answer:
			t.Errorf("%s: got %s, want %s", e.Name, got, e.Answer)
		case e.AnswerSignature != "" && w.Header().Get(hmac.AnswerHeader) != e.AnswerSignature:
			t.Errorf("%s: another signature", e.Name)
		}
	}
	if len(v.Events) < 20 || approved < 3 {
		t.Error("the file has lost its vectors")
	}
}
