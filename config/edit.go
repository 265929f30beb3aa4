package config

import (
	"regexp"
	"strings"
)

// Add puts lines below a key at the top of a YAML file, and leaves every other line, comments included, as it is. The
// lines are those of a mapping or a list, not indented. It reports whether that was possible: it is not where the key has
// a value in brackets or the file is JSON. What comes of it is for [Parse] to say.
func Add(text, key, lines string) (string, bool) {
	if strings.HasPrefix(strings.TrimSpace(withoutComments(text)), "{") {
		return text, false
	}
	all := strings.SplitAfter(text, "\n")
	at, found := -1, regexp.MustCompile(`^["']?`+regexp.QuoteMeta(key)+`["']?\s*:(.*)$`)
	for i, line := range all {
		m := found.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		switch {
		case m == nil:
		case at >= 0 || withoutComments(m[1]) != "":
			return text, false
		default:
			at = i
		}
	}
	if at < 0 {
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		return text + "\n" + key + ":\n" + indented(lines, "  "), true
	}
	indent := "  "
	for _, line := range all[at+1:] {
		if body := strings.TrimLeft(line, " "); withoutComments(body) != "" {
			if indent = line[:len(line)-len(body)]; indent == "" && !strings.HasPrefix(body, "-") {
				indent = "  " // the key has nothing below it
			}
			break
		}
	}
	if !strings.HasSuffix(all[at], "\n") {
		all[at] += "\n"
	}
	all[at] += indented(lines, indent)
	return strings.Join(all, ""), true
}

var comment = regexp.MustCompile(`(?m)^\s*(#.*)?$|\s#.*$`)

func withoutComments(text string) string {
	return strings.TrimSpace(comment.ReplaceAllString(text, ""))
}

func indented(lines, by string) string {
	var out strings.Builder
	for line := range strings.Lines(strings.TrimRight(lines, "\n") + "\n") {
		out.WriteString(by + line)
	}
	return out.String()
}
