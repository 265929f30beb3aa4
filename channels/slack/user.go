package slack

import (
	"fmt"
	"regexp"

	"github.com/openclaw-verifier/verifier/approval"
)

// Platform says how Slack names its users.
func Platform() approval.Platform {
	return approval.Platform{
		Name: Name, Title: "Slack", IsUser: memberID.MatchString, Looks: "a U or a W and capital letters and digits, such as U024BE7LH; with the workspace in front if it is not the app's own, such as T0SISTER/U024BE7LH",
		Find: "choose Copy member ID in the person's Slack profile; a name can be taken over",
		Setup: approval.Setup{
			Tokens: []approval.Token{
				{Key: "botToken", Find: "the bot's token, xoxb-…: in the app's settings, OAuth & Permissions"},
				{Key: "appToken", Find: "the token for Socket Mode, xapp-…: in the app's settings, Basic Information, App-Level Tokens, with connections:write"},
			},
			Anyone: "U00",
			Pair: func(who, code string) string {
				return fmt.Sprintf("In Slack, choose %s under Apps and write to it: .pair %s", who, code)
			},
		},
	}
}

var memberID = regexp.MustCompile(`^([TE][A-Z0-9]{2,20}/)?[UW][A-Z0-9]{2,20}$`)
