package slack

import (
	"regexp"

	"github.com/openclaw-verifier/verifier/approval"
)

// Platform says how Slack names its users.
func Platform() approval.Platform {
	return approval.Platform{
		Name: Name, Title: "Slack", IsUser: memberID.MatchString, Looks: "a U or a W and capital letters and digits, such as U024BE7LH; with the workspace in front if it is not the app's own, such as T0SISTER/U024BE7LH",
		Find: "choose Copy member ID in the person's Slack profile; a name can be taken over",
	}
}

var memberID = regexp.MustCompile(`^([TE][A-Z0-9]{2,20}/)?[UW][A-Z0-9]{2,20}$`)
