package policy

import (
	"regexp"
	"strings"
)

// destructive finds the word of an action that can't be undone: tools name theirs channel-delete, role_remove or
// removeParticipant. A word begins after what is no letter, or with a capital, and no small letter goes on with it.
var destructive = func() *regexp.Regexp {
	words := strings.Fields("Delete Remove Purge Wipe Destroy Uninstall Reset Kill Ban Kick Unsend")
	one := "(?:" + strings.Join(words, "|") + ")"
	return regexp.MustCompile(`(?:^|\PL)(?i:` + one + `)(?:\P{Ll}|$)|` + one + `(?:\P{Ll}|$)`)
}()

// saysMore reports whether a text is more than what is said: a line of it begins with MEDIA:, after which OpenClaw
// attaches a file, or it is a subject of more than one line, of which a mail program may take the second for a header.
func saysMore(a argument) bool {
	if a.name == "subject" && strings.ContainsAny(a.value, "\r\n") {
		return true
	}
	for rest, found := a.value, true; found; {
		var before string
		before, rest, found = strings.Cut(rest, ":")
		if n := len(before) - len("media"); found && n >= 0 && strings.EqualFold(before[n:], "media") {
			return attachment.MatchString(a.value)
		}
	}
	return false
}

var attachment = regexp.MustCompile(`(?i)(?:^|[\n\r])[\s\v\x{85}\p{Z}\x60*_>"'-]*media:`)
