package command

import (
	"slices"
	"strings"
	"unicode"
)

// IsPlain reports whether a text is a command line without anything that a shell works out: no variables, patterns, braces, input or
// other commands in it, and no assignments. What is in quotes may be any text that stays as it is.
func IsPlain(text string) bool {
	var quote byte
	odd := false // it may hold what is otherwise
	for i := range len(text) {
		c := text[i]
		odd = odd || c == '[' || c >= 0x80
		switch {
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case quote == '\'' && c == quote && text[i-1] == '\\': // for fish they go on
			return false
		case quote != 0 && c == quote:
			quote = 0
		case c < ' ' || c == 0x7f:
			return false
		case quote == '"' && strings.IndexByte("$`\\!", c) >= 0:
			return false
		case quote == 0 && !isPlainByte(c):
			return false
		}
	}
	if quote != 0 || odd && otherwise.MatchString(text) {
		return false
	}
	for word := range strings.FieldsSeq(text) {
		if name, _, found := strings.Cut(word, "="); found && (name == "" || isName(name)) { // zsh takes =x for the program x
			return false
		}
	}
	return true
}

// otherwise is what not all programs read alike: quotes that PowerShell takes for plain ones; characters that can't be seen, which a file system may leave out;
// letters that it takes for others; a command in the index of a list, which shells run even in quotes.
var otherwise = match("[\u2018-\u201f]|\\p{Cf}|[\u017f\u212a\ufb00-\ufb06]|\\[[^\\]]*(\\$[({]|`)")

func isPlainByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte(" _./:=,+-@%^&|;>", c) >= 0
}

// IsPlainAnywhere is [IsPlain] for a shell that may be cmd or PowerShell as well: no character means more to one of them than to the others.
// For cmd, single quotes quote nothing, and percent signs name variables in any quotes. PowerShell may hand double quotes on to a program that
// reads them once more, takes a comma for the end of a word, and what follows @ for a variable.
func IsPlainAnywhere(text string) bool {
	if !IsPlain(text) || opensNames(text) {
		return false
	}
	var quote rune
	begin := 0
	for i, c := range text {
		switch {
		case quote == 0 && (c == '\'' || c == '"'):
			quote, begin = c, i+1
		case quote == 0 && (strings.ContainsRune("%^,;:", c) || c == '@' && (i == 0 || text[i-1] == ' ')):
			return false
		case quote == 0:
		case c == quote:
			if quote == '\'' && !isPlainInCmd(text[begin:i]) {
				return false
			}
			quote = 0
		case c == '%', c == '~' && i+1 < len(text) && '0' <= text[i+1] && text[i+1] <= '9', // a short name of Windows: GIT~1
			c >= 0x80 && (!unicode.IsLetter(c) || c >= firstWide): // Windows turns some of these into quotes and backslashes
			return false
		}
	}
	return true
}

// opensNames reports whether PowerShell would open files that sh does not: there cat and ls take patterns in quotes, too, and open what comes in by a pipe,
// as in ls .env | cat.
func opensNames(text string) bool {
	var quote rune
	begin, piped := 0, false
	opens := func(part string) bool {
		name, operands, _ := strings.Cut(strings.TrimSpace(part), " ")
		return powerShellReads[name] && (piped || strings.ContainsAny(operands, "*?["))
	}
	for i, c := range text {
		switch {
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case c == quote:
			quote = 0
		case quote == 0 && (c == '|' || c == '&' && !strings.HasSuffix(text[:i], ">")): // not 2>&1
			if opens(text[begin:i]) {
				return true
			}
			begin, piped = i+1, c == '|'
		}
	}
	return opens(text[begin:])
}

// powerShellReads are programs that are others in PowerShell.
var powerShellReads = set("cat ls cd")

// firstWide is where Unicode has other forms of quotes, dashes and letters.
const firstWide = 0xff00

// isPlainInCmd reports whether a text in single quotes says nothing to cmd, and no more than words to a program: each of its words becomes an argument there.
func isPlainInCmd(quoted string) bool {
	if strings.ContainsAny(quoted, `&|<>^"`) {
		return false
	}
	return !strings.Contains(quoted, " ") || !slices.ContainsFunc(strings.Fields(quoted), func(w string) bool { return !sentenceWord.MatchString(w) })
}

// sentenceWord is a word of a sentence: no option, and no path.
var sentenceWord = match(`^[\pL\d(#][\pL\d()-]*[.,:!?)]*$`)
