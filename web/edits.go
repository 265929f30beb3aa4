package web

import "strings"

// changedLine is a line of a change: it goes, comes or stays.
type changedLine struct{ Kind, Text string }

// changedLines tells the lines of a change or a patch apart by their first character.
func changedLines(text string) (out []changedLine) {
	for _, line := range lines(text) {
		kind := "same"
		switch {
		case strings.HasPrefix(line, "+"):
			kind = "add"
		case strings.HasPrefix(line, "-"):
			kind = "del"
		case strings.HasPrefix(line, "@@"), strings.HasPrefix(line, "***"), strings.HasPrefix(line, "edit "):
			kind = "gap"
		}
		out = append(out, changedLine{kind, line})
	}
	return out
}
