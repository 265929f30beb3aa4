package redact_test

import (
	"os"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/redact"
)

// TestBearsIsWhatThePluginFinds: the plugin for OpenClaw is held to the same file.
func TestBearsIsWhatThePluginFinds(t *testing.T) {
	t.Parallel()
	b, err := os.ReadFile("../docs/spec/secret-vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Vectors []struct {
			Text   string `json:"text"`
			Secret bool   `json:"secret"`
		} `json:"vectors"`
	}
	if err := json.Unmarshal(b, &file); err != nil || len(file.Vectors) < 20 {
		t.Fatal(err, len(file.Vectors))
	}
	r, err := redact.New(redact.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, v := range file.Vectors {
		if got := r.Bears(v.Text); got != v.Secret {
			t.Errorf("%q: %v", v.Text, got)
		}
	}
}
