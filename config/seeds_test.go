package config_test

import (
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/taint"
)

// The smaller examples of seed 000 load unchanged; the installation is in
// TestSeed000LoadsWordForWord.
func TestSeed000Examples(t *testing.T) {
	for name, text := range map[string]string{
		"taint policy":   `{"taintPolicy": {"system": "allow", "owner": "allow", "local": "allow", "shared": "confirm", "external": "confirm", "untrusted": "confirm"}}`,
		"tool overrides": `{"toolOverrides": {"gateway": { "*": "confirm" }, "read": { "*": "allow" }, "exec": { "external": "restrict", "untrusted": "restrict" }}}`,
		"browser":        `{"toolOverrides": {"browser": {"owner": "allow", "local": "allow", "shared": "confirm", "external": "confirm", "untrusted": "confirm"}}}`,
		"paranoid":       `{"taintPolicy": {"shared": "restrict", "external": "restrict", "untrusted": "restrict"}}`,
		"permissive":     `{"taintPolicy": {"shared": "allow", "external": "allow", "untrusted": "confirm"}}`,
		"interactive":    `{"taintPolicy": {"external": "confirm", "untrusted": "restrict"}}`,
		"reference":      `{"approvalTtlSeconds": 60, "maxIterations": 10, "toolOverrides": {}}`,
	} {
		t.Run(name, func(t *testing.T) { parse(t, text) })
	}
	c, _ := parse(t, `{"taintPolicy": {"external": "confirm", "untrusted": "restrict"}}`)
	if p := c.Policy.TaintPolicy; p.Shared != nil || *p.External != taint.Confirm || *p.Untrusted != taint.Restrict {
		t.Errorf("interactive is %+v", p)
	}
}

// What seed 003 says to a server loads in its spelling.
func TestSeed003(t *testing.T) {
	c, _ := parse(t, `{
      "scope": {"include": ["exec", "write", "edit", "apply_patch"]},
      "webhook": {"secret": "${VERIFIER_HMAC_SECRET}"},
      "channels": {"telegram": {
        "enabled": false,
        "botToken": "${TELEGRAM_VERIFIER_BOT_TOKEN}",
        "chatId": "123456789",
        "timeout": 120,
        "allowedUserIds": [123456789]
      }}
    }`)
	if c.Clients()["default"][0].Reveal() != other || len(c.Policy.Scope.Include) != 4 {
		t.Errorf("%+v", c.Webhook)
	}
}

// What seed 003 says to the client is told apart, each with a word of why.
func TestSeed003WhatBelongsToTheClient(t *testing.T) {
	got := refusals(t, `{
  "enabled": true,
  "failMode": "deny",
  "webhook": {
    "url": "https://my-verifier.example.com/verify",
    "timeout": 30,
    "headers": {"Authorization": "Bearer ${VERIFIER_TOKEN}"},
    "secret": "${VERIFIER_HMAC_SECRET}"
  },
  "telegram": {"enabled": false},
  "agents": {"main": {"failMode": "allow"}}
}`)
	for _, want := range []string{
		"v.yaml:2:3: enabled: is the client's switch",
		"v.yaml:3:3: failMode: belongs to the client: it says what the client does when it can't ask; a server that is asked and can't decide always denies",
		"v.yaml:5:5: webhook.url: belongs to the client",
		"v.yaml:6:5: webhook.timeout: belongs to the client",
		"v.yaml:7:5: webhook.headers: belongs to the client",
		"hint: write it as channels.telegram",
		"v.yaml:11:23: agents.main.failMode: belongs to the client",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
}
