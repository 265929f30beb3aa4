package discord

import (
	"strconv"

	"github.com/openclaw-verifier/verifier/approval"
)

// Platform says how Discord names its users.
func Platform() approval.Platform {
	return approval.Platform{
		Name: Name, Title: "Discord", IsUser: isUser, Looks: "a number of up to 20 digits",
		Find: "switch on Developer Mode in Discord and choose Copy User ID; a name can be taken over",
	}
}

// isUser knows that ids of Discord have 64 bits.
func isUser(id string) bool {
	_, err := strconv.ParseUint(id, 10, 64)
	return err == nil && idShape.MatchString(id)
}
