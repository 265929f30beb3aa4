package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/config"
)

// verifierOf003 is what seed 003 writes under tools.verifier, word for word.
func verifierOf003(t *testing.T) string {
	t.Helper()
	_, block, _ := strings.Cut(seed003, `"verifier": `)
	end := strings.LastIndex(block, "    }\n  }\n}")
	if end < 0 {
		t.Fatal("the example has another shape")
	}
	return block[:end] + "    }"
}

// Seed 003: agents.list[].tools.verifier with the same schema.
func TestSeed003PerAgentLoadsWordForWord(t *testing.T) {
	block := verifierOf003(t)
	c, findings := parse(t, "{\"tools\": {\"verifier\": "+block+"},\n\"agents\": {\"list\": [{\"id\": \"main\", \"tools\": {\"verifier\": "+block+"}}, {\"id\": \"other\"}]}}")
	if got := strings.Join(c.Policy.Agents["main"].Scope.Include, " "); got != "exec write edit apply_patch" || len(c.Policy.Agents) != 2 {
		t.Errorf("%+v", c.Policy.Agents)
	}
	if a := c.AskedFor()["main"]; a.Channels != nil || a.Approvers != nil { // Telegram is off in the example
		t.Errorf("%+v", a)
	}
	for _, want := range []string{
		"agents.list[0].tools.verifier.enabled: is the client's switch",
		"agents.list[0].tools.verifier.failMode: belongs to the client and is left out: set agents.<id>.failMode",
		"agents.list[0].tools.verifier.webhook.url: belongs to the client and is left out: the plugin has one url for all agents",
		"agents.list[0].tools.verifier.webhook.timeout", "agents.list[0].tools.verifier.webhook.headers",
	} {
		if !said(findings, want) {
			t.Errorf("%q is missing in\n%+v", want, findings)
		}
	}
}

const perAgent = `approvers:
  - {name: Ann, telegram: 11}
channels:
  telegram: {enabled: true, botToken: "${TELEGRAM_VERIFIER_BOT_TOKEN}", chatId: -5, allowedUserIds: [22]}
  slack: {botToken: x}
agents:
  dev: {maxIterations: 3}
  list:
    - id: main
      tools: {verifier: {scope: {exclude: [read]}, telegram: %s}}
`

func TestAnAgentsTelegramSaysWhoIsAskedAndWhere(t *testing.T) {
	for own, want := range map[string]string{
		"{enabled: true}": "{[] [telegram]}",
		"{enabled: true, botToken: '${TELEGRAM_VERIFIER_BOT_TOKEN}', chatId: '-5', timeout: 120}": "{[] [telegram]}",
		"{enabled: true, allowedUserIds: [11, 22]}":                                               "{[Ann telegram 22] [telegram]}",
		"{enabled: false, chatId: 7}":                                                             "{[] [terminal slack]}",
	} {
		c, findings := parse(t, fmt.Sprintf(perAgent, own))
		if got := fmt.Sprint(c.AskedFor()["main"]); got != want {
			t.Errorf("%s is %v", own, got)
		}
		if c.Policy.Agents["dev"].MaxIterations != 3 || c.Policy.Agents["main"].Scope.Exclude[0] != "read" {
			t.Errorf("%+v", c.Policy.Agents)
		}
		if !said(findings, "10:52 agents.list[0].tools.verifier.telegram: is read as agents.main: channels: [") {
			t.Errorf("%+v", findings)
		}
	}
}

// An agent may have another chat of the same bot.
func TestAnAgentsOwnChatIsOneOfTheBots(t *testing.T) {
	for section, want := range map[string]string{
		"chatId: -5":                      "map[main:-6]",
		"chatId: -5, chats: {dev: 8}":     "map[dev:8 main:-6]",
		"allowedUserIds: [22], chatId: 6": "map[main:-6]",
	} {
		file := strings.Replace(fmt.Sprintf(perAgent, "{enabled: true, chatId: -6}"), "chatId: -5, allowedUserIds: [22]", section, 1)
		c, findings := parse(t, file)
		var got struct {
			Enabled        bool                     `yaml:"enabled"`
			BotToken       string                   `yaml:"botToken"`
			ChatID         config.UserID            `yaml:"chatId"`
			AllowedUserIDs []config.UserID          `yaml:"allowedUserIds"`
			Chats          map[string]config.UserID `yaml:"chats"`
		}
		if err := c.Channels["telegram"].Decode(&got); err != nil || fmt.Sprint(got.Chats) != want || got.BotToken == "" {
			t.Errorf("%s: %+v, %v", section, got, err)
		}
		if !said(findings, "agents.list[0].tools.verifier.telegram: is read as agents.main: channels: [telegram], in the chat -6") {
			t.Errorf("%s: %+v", section, findings)
		}
	}
	twice := strings.Replace(fmt.Sprintf(perAgent, "{enabled: true, chatId: -6}"), "chatId: -5", "chatId: -5, chats: {main: 8}", 1)
	c, _ := parse(t, twice)
	var got struct {
		Chats map[string]config.UserID `yaml:"chats"`
	}
	if err := c.Channels["telegram"].Decode(&got); err == nil || !strings.Contains(err.Error(), "v.yaml:10:86: channels.telegram.chats.main: is here for the second time") {
		t.Errorf("two chats for one agent: %v", err)
	}
}
