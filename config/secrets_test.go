package config_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
)

func TestH126AllSecretsOfAConfigAreKnown(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "bot"), []byte("fileTokenOfABot12345\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("OUR_APP_TOKEN", "0123456789abcdef0123456789abcdef")
	path := filepath.Join(dir, "verifier.yaml")
	text := `
ownerToken: "own-51d08fa6c2e94b71b3aa"
webhook:
  secrets: ["one-0f5c1d7e93ab42868e14", "two-7be2690cd15f4a3c8877"]
  clients: {ci: ["cli-9a6e3c1f08d7425bb264"]}
  bearer: "brr-7be2690cd15f4a3c8877"
store: {url: "redis://user:p%40ssw0rd-of-redis@127.0.0.1:6379/0", key: "key-9a6e3c1f08d7425bb2640f5c1d7e93ab"}
approvers: [{name: ann, telegram: 7, token: "ann-51d08fa6c2e94b71b3aa"}]
channels:
  telegram: {botToken: "file:` + filepath.Join(dir, "bot") + `"}
  slack: {appToken: "${OUR_APP_TOKEN}"}
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _, err := config.Load(path, os.LookupEnv, chats)
	if err != nil {
		t.Fatal(err)
	}
	have := c.SecretTexts()
	for _, want := range []string{
		"own-51d08fa6c2e94b71b3aa", "one-0f5c1d7e93ab42868e14", "two-7be2690cd15f4a3c8877", "cli-9a6e3c1f08d7425bb264", "brr-7be2690cd15f4a3c8877",
		"p@ssw0rd-of-redis", "key-9a6e3c1f08d7425bb2640f5c1d7e93ab", "ann-51d08fa6c2e94b71b3aa", "fileTokenOfABot12345", "0123456789abcdef0123456789abcdef",
	} {
		if !slices.Contains(have, want) {
			t.Errorf("%s is not known", want)
		}
	}
}
