package server_test

import (
	"os"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/hmac"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// The vectors in docs are what another implementation would run; they must be
// what this one does.
func TestTheDocumentedVectorsHold(t *testing.T) {
	text, err := os.ReadFile("../docs/spec/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Secret   string `json:"secret"`
		Requests []struct {
			Name           string `json:"name"`
			Body           string `json:"body"`
			Signature      string `json:"signature"`
			WrongSignature string `json:"wrongSignature"`
			Client         string `json:"client"`
			Tool           string `json:"tool"`
			Digest         string `json:"digest"`
		} `json:"requests"`
		Answers []struct {
			RequestID string `json:"requestId"`
			Body      string `json:"body"`
			Signature string `json:"signature"`
		} `json:"answers"`
		Malformed []struct {
			Name string `json:"name"`
			Body string `json:"body"`
		} `json:"malformed"`
	}
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
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
		call, err := toolcall.Decode([]byte(r.Body))
		if err != nil {
			t.Fatalf("%s: %v", r.Name, err)
		}
		call.Client = r.Client
		if call.Tool != r.Tool || call.Digest().String() != r.Digest {
			t.Errorf("%s: tool %s, digest %s", r.Name, call.Tool, call.Digest())
		}
	}
	for _, a := range v.Answers {
		if !hmac.MatchAnswer(secret, a.RequestID, []byte(a.Body), a.Signature) {
			t.Errorf("the answer %s does not carry its signature", a.Body)
		}
	}
	for _, m := range v.Malformed {
		if _, err := toolcall.Decode([]byte(m.Body)); err == nil {
			t.Errorf("%s was decoded", m.Name)
		}
	}
	if len(v.Requests) < 2 || len(v.Answers) < 2 || len(v.Malformed) < 5 {
		t.Error("the file has lost its vectors")
	}
}
