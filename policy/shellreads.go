package policy

import (
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/command"
)

// The programs that show the environment, that read all files below a directory, and
// that read those which they copy.
var (
	dumps   = words("env printenv set")
	deep    = words("grep egrep fgrep zgrep rgrep rg ag ack zip 7z 7za tar find")
	copiers = words("cp rsync")
)

// readsWidely says what a command reads that may hold secrets, though it names no place
// where they are kept: the environment, all of a home directory, or hidden files
// by a pattern or a variable. It is "" for any other.
func readsWidely(text string, does *command.Command) string {
	shows := slices.ContainsFunc(does.Programs, func(p command.Program) bool { return dumps[p.Name] })
	follows := strings.Contains(text, "-exec") || strings.Contains(text, "-ok") || strings.Contains(text, "xargs")
	inHome := false
	for part := range strings.FieldsFuncSeq(text, func(c rune) bool { return strings.ContainsRune("\x00\n;|&()\"'`", c) }) {
		name, args := programOf(part)
		switch {
		case (shows || name == "export" || name == "declare" || name == "typeset") && showsAll(name, args):
			return ofCommands
		case name == "cd" || name == "pushd":
			inHome = len(args) == 0 || isHome(args[0])
		case (deep[name] || copiers[name]) && readsHome(name, args, follows, inHome):
			return homeFiles
		}
	}
	if namesHidden(text) {
		return homeFiles
	}
	return ""
}

// programOf is the program of a simple command, behind what only leads to it, and
// its arguments.
func programOf(part string) (name string, args []string) {
	words := strings.Fields(part)
	for len(words) > 0 && words[0] != "env" && (prefixWords[words[0]] || strings.HasPrefix(words[0], "-") || strings.Contains(words[0], "=")) {
		words = words[1:]
	}
	if len(words) == 0 {
		return "", nil
	}
	return words[0][strings.LastIndexByte(words[0], '/')+1:], words[1:]
}

// readsHome reports whether a program reads all of a home directory.
func readsHome(name string, args []string, follows, inHome bool) bool {
	if copiers[name] && len(args) > 0 {
		args = args[:len(args)-1] // where it copies to
	}
	return deepRead(name, args, follows) && slices.ContainsFunc(args, func(a string) bool { return isAllOfHome(a) || inHome && a == "." })
}

// namesHidden reports whether a word may be a hidden file, by a pattern or a variable.
func namesHidden(text string) bool {
	for word := range strings.FieldsFuncSeq(text, func(c rune) bool { return c <= ' ' || strings.ContainsRune(";|&<>()\"'=,", c) }) {
		if hiddenPattern(word) {
			return true
		}
	}
	for word := range strings.FieldsFuncSeq(text, func(c rune) bool { return c <= ' ' }) {
		if word == ".*" || word == "./.*" { // what is quoted is no pattern of names
			return true
		}
	}
	return false
}

// showsAll reports whether a program shows the environment with these arguments.
func showsAll(name string, args []string) bool {
	if to := slices.IndexFunc(args, func(a string) bool { return strings.ContainsAny(a, "<>") }); to >= 0 {
		args = args[:to]
	}
	switch name {
	case "printenv":
		return true
	case "env":
		return !slices.ContainsFunc(args, func(a string) bool { return !strings.HasPrefix(a, "-") && !strings.Contains(a, "=") })
	case "export", "declare", "typeset":
		return len(args) == 0 || len(args) == 1 && strings.HasPrefix(args[0], "-") || strings.HasPrefix(args[0], "-p")
	default:
		return name == "set" && len(args) == 0
	}
}

// deepRead reports whether a program reads what is below a directory.
func deepRead(name string, args []string, follows bool) bool {
	option := func(letters string) bool {
		return slices.ContainsFunc(args, func(a string) bool {
			return strings.HasPrefix(a, "--recursive") || strings.HasPrefix(a, "--archive") ||
				strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.ContainsAny(a, letters)
		})
	}
	switch {
	case name == "find":
		return follows
	case name == "tar": // the first word may lack its dash
		return len(args) > 0 && (strings.HasPrefix(args[0], "--create") || !strings.HasPrefix(args[0], "--") && strings.ContainsAny(args[0], "cru") && !strings.Contains(args[0], "x"))
	case strings.HasSuffix(name, "grep") && name != "rgrep" || copiers[name]:
		return option("ra") // in lower case
	}
	return true
}

// isAllOfHome is [isHome] for a word that may end in a pattern.
func isAllOfHome(word string) bool {
	for _, end := range []string{"/*", "/.*", "/.[!.]*", "/.??*"} {
		word = strings.TrimSuffix(word, end)
	}
	return strings.HasPrefix(word, "/") && strings.Trim(word, "/") == "" || isHome(word)
}

// hiddenPattern reports whether a word is a path by which a shell may find hidden
// files without their names: ~/.s*/x, .e*v, ~/$d/x.
func hiddenPattern(word string) bool {
	const pattern, fills = "*?[{$`", "${`"
	first, rest, _ := strings.Cut(word, "/")
	home := isHome(first)
	if !home {
		rest = word
		for _, root := range []string{"/root/", "/home/", "/users/"} {
			if below, ok := strings.CutPrefix(word, root); ok {
				if home, rest = true, below; root != "/root/" {
					_, rest, _ = strings.Cut(below, "/")
				}
			}
		}
	}
	for i, part := range strings.Split(rest, "/") {
		name, hidden := strings.CutPrefix(part, ".")
		switch at := strings.IndexAny(name, pattern); {
		case home && strings.ContainsAny(part, fills):
			return true
		case home && i == 0 && hidden && name != "openclaw" && name != "." && name != "" && strings.ContainsAny(rest, pattern):
			return true
		case hidden && at >= 0 && (home || name[0] != '*' && name[0] != '.'):
			return true
		}
	}
	return false
}
