package hook

import (
	"encoding/json"
	"os"
	"testing"
)

// TestSecretsAreThoseOfTheGateway: the gateway and the plugin for OpenClaw are held to the same file.
func TestSecretsAreThoseOfTheGateway(t *testing.T) {
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
	for _, v := range file.Vectors {
		if got := bearsSecret(v.Text); got != v.Secret {
			t.Errorf("%q: %v", v.Text, got)
		}
	}
}
