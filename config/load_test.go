package config_test

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openclaw-verifier/verifier/config"
	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/taint"
)

const (
	good  = "5f0c3b1d9a7e4c2288b6d1f3e0a9c7b4"
	other = "c41e7a90b2d84f6f93a5d7e1084b6c2f"
	third = "77d0e5b8a1c34962bf08e3d6915a4c2e"
)

func env(name string) (string, bool) {
	v, ok := map[string]string{
		"GOOD": good, "HALF": "91b3c5", "EMPTY": "", "VERIFIER_HMAC_SECRET": other, "TELEGRAM_VERIFIER_BOT_TOKEN": "1:" + third,
	}[name]
	return v, ok
}

func parse(t *testing.T, text string) (*config.Config, []config.Finding) {
	t.Helper()
	c, findings, err := config.Parse("v.yaml", []byte(text), env, chats)
	if err != nil {
		t.Fatalf("refused:\n%v\n%s", err, text)
	}
	return c, findings
}

// refusals are errors and hints, a line each.
func refusals(t *testing.T, text string) string {
	t.Helper()
	_, _, err := config.Parse("v.yaml", []byte(text), env, chats)
	all, ok := errors.AsType[config.Errors](err)
	if !ok {
		t.Fatalf("not refused: %v\n%s", err, text)
	}
	var b strings.Builder
	for _, e := range all {
		fmt.Fprintf(&b, "%v\nhint: %s\n", e, e.Hint)
	}
	return b.String()
}

func TestAnEmptyFileIsTheDefault(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "{}", "---\n{}\n"} {
		c, _ := parse(t, text)
		if diff := cmp.Diff(config.Default().Webhook, c.Webhook, cmp.AllowUnexported(config.Secret{})); diff != "" || c.Listen != "127.0.0.1:8787" || c.ApprovalTTL() != 30*time.Minute {
			t.Errorf("%q: %s", text, diff)
		}
		if c.Webhook.Hold != 25*time.Second || c.Webhook.MaxHold != 590*time.Second || c.Webhook.Tolerance != 5*time.Minute || c.Webhook.Path != "/verify" {
			t.Errorf("%q: webhook is %+v", text, c.Webhook)
		}
	}
}

//go:embed testdata/everything.yaml
var everything string

func TestEveryKeyLoads(t *testing.T) {
	c, _ := parse(t, strings.Replace(everything, "maxHold: 1.5", "maxHold: 90.5", 1))
	if c.Webhook.Tolerance != time.Minute || c.Webhook.Hold != 20*time.Second || c.Webhook.MaxHold != 90500*time.Millisecond {
		t.Errorf("durations: %+v", c.Webhook)
	}
	if c.OwnerToken.Reveal() != good || c.Clients()["7"][0].Reveal() != "pre-91b3c5-fix-d02c61" || c.Clients()[config.DefaultClient][0].Reveal() != other {
		t.Errorf("secrets are not what the file and the environment say: %v", c.Clients())
	}
	p := c.Policy
	if p.Profile != "strict" || *p.TaintPolicy.Shared != taint.Allow || *p.ToolOverrides["exec"].Any != taint.Confirm || *p.ToolOverrides["exec"].Untrusted != taint.Restrict {
		t.Errorf("policy: %+v", p)
	}
	if p.Trust.Tools["my_tool"] != taint.Shared || *p.Trust.UnknownSender != taint.External || *p.Taint.From != taint.Shared || p.MaxIterations != 20 || p.Agents["main"].MaxIterations != 5 {
		t.Errorf("policy: %+v", p)
	}
	want := []approval.Person{{Name: "Ann", IDs: []string{"telegram:123", "token:owner"}}, {Name: "Bob", IDs: []string{"token:Bob"}}}
	if diff := cmp.Diff(want, c.People()); diff != "" {
		t.Error(diff)
	}
	if tokens := c.Tokens(c.OwnerToken); len(tokens) != 2 || tokens["Bob"].Reveal() != "6e1b9d70-c2f4-48a5-b3d8" {
		t.Errorf("tokens: %v", tokens)
	}
	if diff := cmp.Diff(approval.Config{MaxMinutes: 30, MaxOpen: 3, Approvals: 1}, c.Approval); diff != "" || c.Audit != (config.Audit{Path: "/tmp/r.jsonl", Params: config.ParamsNames, Sync: config.SyncEach, RotateMB: 5, Keep: 3}) {
		t.Errorf("approval %+v, audit %+v", c.Approval, c.Audit)
	}
}

// A channel decodes its own section, as strictly as the rest, with places.
func TestAChannelDecodesItsOwnSection(t *testing.T) {
	c, _ := parse(t, everything[:strings.Index(everything, "  maxHold")]+everything[strings.Index(everything, "profile:"):])
	var telegram struct {
		Enabled        bool          `yaml:"enabled"`
		BotToken       string        `yaml:"botToken"`
		ChatID         string        `yaml:"chatId"`
		Timeout        time.Duration `yaml:"timeout"`
		AllowedUserIDs []int64       `yaml:"allowedUserIds"`
	}
	if err := c.Channels["telegram"].Decode(&telegram); err != nil {
		t.Fatal(err)
	}
	if !telegram.Enabled || telegram.BotToken != "1:"+third || telegram.Timeout != 2*time.Minute || telegram.AllowedUserIDs[0] != 123 {
		t.Errorf("%+v", telegram)
	}
	var less struct {
		Enabled bool `yaml:"enabled"`
	}
	err := c.Channels["telegram"].Decode(&less)
	if err == nil || !strings.Contains(err.Error(), "channels.telegram.botToken: unknown key") || !strings.Contains(err.Error(), "v.yaml:3") {
		t.Errorf("an unknown key of a channel: %v", err)
	}
}

func TestH48WhatNoLineOfAFileCanHoldIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"listen: \xff\n":              "is not UTF-8",
		strings.Repeat("[", 100_000):  "is nested too deeply",
		strings.Repeat("- ", 100_000): "is nested too deeply",
	} {
		if got := refusals(t, text); !strings.Contains(got, want) {
			t.Errorf("got\n%swant\n%s", got, want)
		}
	}
}

func TestAllErrorsAreReportedInTheOrderOfTheFile(t *testing.T) {
	got := refusals(t, "lisen: x\nwebhook:\n  hold: 20m\n  secret: changeme\nmaxIterations: many\n")
	at := -1
	for _, want := range []string{"v.yaml:1:1: lisen", "v.yaml:3:3: webhook.hold", "v.yaml:4:3: webhook.secret", "v.yaml:5:16: maxIterations"} {
		i := strings.Index(got, want)
		if i <= at {
			t.Fatalf("%q is missing or out of order in\n%s", want, got)
		}
		at = i
	}
}

func TestAFileThatIsNotThere(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]string{filepath.Join(dir, "no.yaml"): "there is no such file", dir: "is a directory"} {
		_, _, err := config.Load(path, env, chats)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Load(%s) = %v, want %s", path, err, want)
		}
	}
}

func TestASecretInAFileThatOthersCanRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "v.yaml")
	for text, refused := range map[string]bool{
		"ownerToken: " + good + "\n":                                 true,
		"webhook: {secret: 'a${GOOD}'}\n":                            true,
		"channels: {telegram: {botToken: '1:" + third + "'}}\n":      true,
		"ownerToken: ${GOOD}\n":                                      false,
		"channels: {telegram: {botToken: '${GOOD}', chatId: 'x'}}\n": false,
		"listen: 127.0.0.1:1\n":                                      false,
		"store: {url: 'redis://127.0.0.1:6379/0'}\n":                 false,
		"store: {url: 'redis://:pw@127.0.0.1:6379/0'}\n":             true,
		"store: {url: 'redis://127.0.0.1:6379/0?password=pw'}\n":     true,
	} {
		write(t, path, text, 0o640)
		_, _, err := config.Load(path, env, chats)
		if refused != (err != nil && strings.Contains(err.Error(), "a secret is in a file that others can read")) {
			t.Errorf("%q: %v", text, err)
		}
		write(t, path, text, 0o600)
		if _, _, err := config.Load(path, env, chats); err != nil {
			t.Errorf("%q at 0600: %v", text, err)
		}
	}
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func FuzzLoad(f *testing.F) {
	for _, s := range []string{everything, "", "a: [", "{\"taintPolicy\": {\"shared\": \"allow\"}}", "webhook: {hold: .inf}", "? a\n: b", "a: *b", "a: |\n  x", "ownerToken: ${", "ownerToken: file:/", "approvers: [[]]", "1: 2", "a.b[0]: {}", "scope: {include: [a, {b: c}]}", "agents: {list: [{id: a, tools: {verifier: {scope: {include: [exec]}, telegram: {enabled: true}}}}, 5]}", fmt.Sprintf(perAgent, "{chatId: -5, allowedUserIds: [11]}")} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		c, _, err := config.Parse("f.yaml", text, env, chats)
		if (c == nil) == (err == nil) {
			t.Fatalf("config %v, error %v", c, err)
		}
		if _, ok := errors.AsType[config.Errors](err); err != nil && !ok {
			t.Fatalf("error of type %T", err)
		}
	})
}
