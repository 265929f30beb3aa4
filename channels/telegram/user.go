package telegram

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/openclaw-verifier/verifier/approval"
)

// Platform says how Telegram names its users.
func Platform() approval.Platform {
	return approval.Platform{
		Name: Name, Title: "Telegram", IsUser: isUser, Looks: "a positive number",
		Find: "it is the number of the account, which Telegram never changes; a name such as @ann can be taken over, and a negative number is a group",
		Setup: approval.Setup{
			Tokens: []approval.Token{{Key: "botToken", Find: "the token of a bot of its own: write /newbot to @BotFather in Telegram"}},
			Anyone: "1",
			Pair: func(who, code string) string {
				return fmt.Sprintf("On your phone, open https://t.me/%s?start=%s and press Start,\nor write to %[3]s: .pair %[2]s", strings.TrimPrefix(who, "@"), code, who)
			},
		},
	}
}

var plainNumber = regexp.MustCompile(`^[1-9][0-9]*$`)

// isUser knows that ids of Telegram have at most 52 bits.
func isUser(id string) bool {
	n, err := strconv.ParseInt(id, 10, 64)
	return err == nil && n < 1<<52 && plainNumber.MatchString(id)
}
