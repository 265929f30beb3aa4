package discord

import (
	"fmt"
	"strconv"

	"github.com/openclaw-verifier/verifier/approval"
)

// Platform says how Discord names its users.
func Platform() approval.Platform {
	return approval.Platform{
		Name: Name, Title: "Discord", IsUser: isUser, Looks: "a number of up to 20 digits",
		Find: "switch on Developer Mode in Discord and choose Copy User ID; a name can be taken over",
		Setup: approval.Setup{
			Tokens: []approval.Token{{Key: "botToken", Find: "the token of a bot of its own: in the Developer Portal, Bot, Reset Token"}},
			Anyone: "1",
			Pair: func(who, code string) string {
				return fmt.Sprintf("In Discord, write a direct message to %s: .pair %s\nIf you don't see the bot, add it to a server of yours first: in the Developer Portal, Installation.", who, code)
			},
		},
	}
}

// isUser knows that ids of Discord have 64 bits.
func isUser(id string) bool {
	_, err := strconv.ParseUint(id, 10, 64)
	return err == nil && idShape.MatchString(id)
}
