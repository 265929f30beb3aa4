package config_test

import (
	"github.com/openclaw-verifier/verifier/channels/discord"
	"github.com/openclaw-verifier/verifier/channels/slack"
	"github.com/openclaw-verifier/verifier/channels/telegram"
	"github.com/openclaw-verifier/verifier/internal/approval"
)

// chats are platforms whose ids differ: most tests need some, and none all.
var chats = []approval.Platform{telegram.Platform(), discord.Platform(), slack.Platform()}
