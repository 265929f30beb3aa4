package config_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/openclaw-verifier/verifier/channels/delivery"
)

func TestWhereAChannelTakesItsSecretsFromIsGuardedBeforeItIsRead(t *testing.T) {
	c, _ := parse(t, `{"channels": {"telegram": {"botToken": "${NOT_SET_YET}", "webhook": {"secret": "file:secret.txt"}}}}`)
	file, err := filepath.Abs("secret.txt")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(c.SecretVariables(), "NOT_SET_YET") || !slices.Contains(c.SecretFiles(), file) {
		t.Errorf("variables %q, files %q", c.SecretVariables(), c.SecretFiles())
	}
}

func TestAnIDMayBeANumberOrText(t *testing.T) {
	for _, text := range []string{`-1001234567890`, `"-1001234567890"`} {
		c, _ := parse(t, `{"channels": {"telegram": {"chatId": `+text+`}}}`)
		var got struct {
			Chat delivery.ID `yaml:"chatId"`
		}
		if err := c.Channels["telegram"].Decode(&got); err != nil || got.Chat != "-1001234567890" {
			t.Errorf("%s: %q, %v", text, got.Chat, err)
		}
	}
	c, _ := parse(t, `{"channels": {"telegram": {"chatId": [1]}}}`)
	var got struct {
		Chat delivery.ID `yaml:"chatId"`
	}
	if err := c.Channels["telegram"].Decode(&got); err == nil {
		t.Errorf("a list is taken for an id: %q", got.Chat)
	}
}
