package config_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
)

func TestH07EmptyAndPlaceholderSecretsAreRefused(t *testing.T) {
	weak := map[string][]string{
		"is empty":                 {""},
		"is a placeholder":         {"changeme", "secret", "SECRET", "password", "your-secret-here", "Your_Secret_Here_1234", "xxxxxxxxxxxxxxxxxxxxxxxx", "example", "my-example-secret-for-docs", "aaaaaaaaaaaaaaaaaaaaaaaa", "--------------------------------", "verifier-test-secret", "0123456789abcdef0123456789abcdef", "1234567890123456"},
		"is too short":             {"5f0c3b1d9a7e4c2"},
		"repeats a few characters": {"abababababababababababababababababab"},
		"has a line break":         {good + "\n"},
		"white space around it":    {" " + good},
	}
	for want, values := range weak {
		for _, v := range values {
			for _, form := range []string{"webhook: {secret: %q}", "webhook: {secrets: [%q]}", "webhook: {clients: {a: [%q]}}", "webhook: {bearer: %q}", "ownerToken: %q", "approvers: [{name: a, token: %q}]", "store: {key: %q}"} {
				got := refusals(t, fmt.Sprintf(form, v))
				if !strings.Contains(got, want) || !strings.Contains(got, "openssl rand -hex 32") || !strings.Contains(got, "verifier init") {
					t.Errorf("%s with %q: got\n%s", form, v, got)
				}
			}
		}
	}
}

// The agent's runtime knows the webhook secret: as the owner token it would let
// the agent approve itself.
func TestOneSecretForTwoThingsIsRefused(t *testing.T) {
	got := refusals(t, "ownerToken: "+good+"\nwebhook:\n  secret: "+good+"\n")
	if !strings.Contains(got, "v.yaml:3:3: webhook.secret: is the same secret as ownerToken") {
		t.Error(got)
	}
}

func TestSecretsFromEnvironmentAndFiles(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "private"), good+"\n", 0o600)
	write(t, filepath.Join(dir, "open"), good+"\n", 0o644)
	write(t, filepath.Join(dir, "empty"), "", 0o600)
	for _, tt := range []struct{ value, want string }{
		{"${GOOD}", ""},
		{"file:" + filepath.Join(dir, "private"), ""},
		{"file:private", ""},
		{"${NOT_SET}", "v.yaml:2:3: ownerToken: the environment variable NOT_SET is not set"},
		{"${EMPTY}", "the environment variable EMPTY is empty"},
		{"${not-a-name}", "does not name an environment variable"},
		{"x${GOOD", "does not name an environment variable"},
		{"file:open", "can be read by others"},
		{"file:none", "does not exist"},
		{"file:.", "is not a regular file"},
		{"file:empty", "is empty"},
	} {
		path := filepath.Join(dir, "v.yaml")
		write(t, path, "ownerToken:\n  \""+tt.value+"\"\n", 0o600)
		c, _, err := config.Load(path, env, chats)
		switch {
		case tt.want == "" && (err != nil || c.OwnerToken.Reveal() != good):
			t.Errorf("%s: %v", tt.value, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: got %v, want %s", tt.value, err, tt.want)
		}
	}
}

func TestTheStoreURLIsResolvedAndHidden(t *testing.T) {
	c, _ := parse(t, `store: {url: "redis://:${GOOD}@127.0.0.1:6379/0"}`)
	if c.Store.URL.Reveal() != "redis://:"+good+"@127.0.0.1:6379/0" || strings.Contains(fmt.Sprintf("%+v", c.Store), good) {
		t.Errorf("store is %+v", c.Store)
	}
	if got := refusals(t, `store: {url: "mysql://:${GOOD}@h"}`); strings.Contains(got, good) {
		t.Errorf("the password stands in %s", got)
	}
}

func TestNoFormatPrintsASecret(t *testing.T) {
	c, _ := parse(t, "ownerToken: "+good)
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "token", c.OwnerToken, "config", c)
	asJSON, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	printed := log.String() + string(asJSON)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%T"} {
		printed += fmt.Sprintf(verb, c.OwnerToken) + fmt.Sprintf(verb, *c)
	}
	if strings.Contains(printed, good) || strings.Contains(printed, fmt.Sprintf("%x", good)) || !strings.Contains(printed, "[secret]") {
		t.Errorf("printed %s", printed)
	}
}

func TestNoErrorRepeatsASecret(t *testing.T) {
	for _, text := range []string{
		"ownerToken: [" + good + "]", "ownerToken: " + good[:15], "ownerToken: " + good + ": x", "webhook: {secret: " + good + ", secret: " + other + "}",
		"store: {url: " + good + "}", "ownerToken: '" + good,
	} {
		if got := refusals(t, text); strings.Contains(got, good[:15]) {
			t.Errorf("%s: %s", text, got)
		}
	}
}
