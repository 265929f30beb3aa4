package policy

import (
	"regexp"
	"strings"
	"unicode"
)

// destructiveActions can't be undone, where a tool takes an action.
var destructiveActions = setOfWords("delete remove purge wipe destroy uninstall reset kill ban kick unsend")

// destructive reports whether any word of an action is a destructive one: tools name
// theirs channel-delete, role_remove or removeParticipant. What is between
// signs is also read as one word, so that odd case (dELETE) hides none.
func destructive(action string) bool {
	for part := range strings.FieldsFuncSeq(action, func(c rune) bool { return !unicode.IsLetter(c) }) {
		if destructiveActions[strings.ToLower(part)] {
			return true
		}
		letters, from := []rune(part), 0
		for i := range letters {
			if i > 0 && startsWord(letters, i) {
				if destructiveActions[strings.ToLower(string(letters[from:i]))] {
					return true
				}
				from = i
			}
		}
		if destructiveActions[strings.ToLower(string(letters[from:]))] {
			return true
		}
	}
	return false
}

// startsWord reports whether case says that a word begins at i, as both do in
// kickURLUser.
func startsWord(letters []rune, i int) bool {
	return unicode.IsUpper(letters[i]) &&
		(!unicode.IsUpper(letters[i-1]) || i+1 < len(letters) && !unicode.IsUpper(letters[i+1]))
}

// attaches reports whether a line of a text begins with MEDIA:, after which OpenClaw attaches a file: then the text is
// more than what is said.
func attaches(text string) bool {
	for rest, found := text, true; found; {
		var before string
		before, rest, found = strings.Cut(rest, ":")
		if n := len(before) - len("media"); found && n >= 0 && strings.EqualFold(before[n:], "media") {
			return attachment.MatchString(text)
		}
	}
	return false
}

var attachment = regexp.MustCompile(`(?i)(?:^|[\n\r])[\s\v\x{85}\p{Z}\x60*_>"'-]*media:`)
