package command

import (
	"slices"
	"strings"
)

// isWider reports whether a program does more than to look at files that it names: git, a shell that works something out, a program that runs another one or code in a file, that compares with files elsewhere or takes their names from a list, that waits for more,
// or that looks at the machine.
func isWider(n string, k kind, args []arg) bool {
	isAny := func(is func(string) bool) bool {
		return slices.ContainsFunc(args, func(a arg) bool { return is(a.text) })
	}
	switch {
	case n == "git":
		return true
	case k.shell:
		return isAny(func(text string) bool { return !IsPlain(text) })
	case k.wraps != nil:
		return !plainWrappers[n]
	case n == "tail":
		return isAny(follows)
	case n == "jq":
		return isAny(loadsCode)
	case n == "strings":
		return isAny(func(text string) bool { return strings.HasPrefix(text, "@") }) // a file of options
	case saysPlaces[n]:
		return isAny(leadsOut)
	}
	return ofMachine[n] || isAny(func(text string) bool {
		return slices.ContainsFunc(comparing[n], func(option string) bool { return strings.HasPrefix(text, option) })
	})
}

var (
	// comparing are the beginnings of options that compare with files elsewhere, take names from a list, or run a program.
	comparing = map[string][]string{
		"date": {"-r", "--ref"}, "find": {"-newer", "-anewer", "-cnewer", "-mnewer", "-samefile", "-files0", "-exec", "-ok", "-f"}, "fd": {"-x", "-X", "--exec"}, "grep": {"--exclude-f"}, "egrep": {"--exclude-f"}, "fgrep": {"--exclude-f"},
	}
	// ofMachine are programs that show what other programs do and were told, that never end, or that change the shell.
	ofMachine = set("ps pgrep pstree history yes fg bg umask ulimit")
	// saysPlaces are programs that say of a file no more than where it is, or that it is there.
	saysPlaces = set("stat test [ readlink realpath df")
)

// follows reports whether an option makes tail wait for more: -f, -5F, --follow, --retry, --pid.
func follows(option string) bool {
	long, isLong := strings.CutPrefix(option, "--")
	return isLong && long != "" && strings.ContainsAny(long[:1], "frp") || !isLong && strings.HasPrefix(option, "-") && strings.ContainsAny(option, "fF")
}

// loadsCode reports whether an option makes jq run a program that is in a file, or look for one: -f, -nf, -L, --from-file.
func loadsCode(option string) bool {
	return strings.HasPrefix(option, "--f") || strings.HasPrefix(option, "--lib") || !strings.HasPrefix(option, "--") && strings.HasPrefix(option, "-") && strings.ContainsAny(option, "fL")
}

// leadsOut reports whether a path leads out of where a command runs, or may.
func leadsOut(path string) bool { return isAbsolute(path) || climbs(path) }

// climbs reports whether a path goes up anywhere. Behind a link that leads elsewhere.
func climbs(path string) bool {
	return slices.Contains(strings.Split(path, "/"), "..") || onlyDots(path)
}

// onlyDots reports whether a word is three dots or more: many a zsh has ... for ../..
func onlyDots(word string) bool { return len(word) > len("..") && strings.Trim(word, ".") == "" }
