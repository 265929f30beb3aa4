package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/command"
)

// worksOut is what of ours a command reaches by words that a shell works out: patterns, braces, variables, names that find prints. It is "" for nothing.
// To read a whole home directory is not refused: it counts as reading secrets. A pattern of names below it is.
func (g *guard) worksOut(does *command.Command) string {
	for _, p := range does.Expands {
		if find(g.words, p) != nil || !findsAllOfHome(p) && mayReach(p, g.paths, g.runtimes) {
			return "what is guarded, by a pattern"
		}
	}
	if slices.ContainsFunc(does.MayRun, g.isOurProgram) {
		return "our own command"
	}
	for i := range does.Reads {
		r := &does.Reads[i]
		all := r.Path
		if r.Deep {
			all = strings.TrimSuffix(r.Path, "/.*") + "/**/*"
		}
		if !r.Some && !r.Name && isRooted(all) && !findsAllOfHome(all) && mayReach(all, g.paths) {
			return "files among which is what is guarded"
		}
	}
	if slices.ContainsFunc(does.Alters, func(dir string) bool { return holds(dir, g.paths) }) {
		return "a directory in which is what is guarded"
	}
	return ""
}

// isOurProgram reports whether a path, which may be a pattern with some letters, may be our own program.
func (g *guard) isOurProgram(name string) bool {
	base := strings.TrimSuffix(strings.ToLower(path.Base(name)), ".exe")
	return literalsOf([]string{base}) > 2 && slices.ContainsFunc(g.commands, func(c []byte) bool {
		found, err := path.Match(withoutClasses(base), string(c))
		return found && err == nil
	})
}

// holds reports whether one of these paths is in a directory, which may be a pattern.
func holds(dir string, paths [][]string) bool {
	if dir == "/" {
		return true
	}
	parts := partsOf(dir)
	below := belowHome(parts)
	return slices.ContainsFunc(paths, func(ours []string) bool {
		home := belowHome(ours)
		return isRooted(dir) && (leadsTo(parts, ours) || below != nil && home != nil && leadsTo(below, home))
	})
}

// leadsTo reports whether a directory is above a path, or is it.
func leadsTo(dir, ours []string) bool {
	return len(dir) <= len(ours) && meets(dir, ours[:len(dir)], true)
}

// findsAllOfHome reports whether a pattern is every file below a home directory, whatever its name.
func findsAllOfHome(p string) bool { return findsInHome(p) && strings.Trim(path.Base(p), "*.") == "" }

func isRooted(p string) bool { return strings.HasPrefix(p, "/") || strings.HasPrefix(p, "~") }

// mayReach reports whether a pattern may be one of these paths.
func mayReach(pattern string, lists ...[][]string) bool {
	if !isPattern(pattern) {
		return false
	}
	parts := partsOf(withoutClasses(pattern))
	if at := slices.Index(parts, "**"); at >= 0 && at < len(parts)-1 { // what is between, and the end
		parts = slices.Concat(parts[:at+1], parts[len(parts)-1:])
	}
	below, rooted := belowHome(parts), isRooted(pattern)
	if !rooted && literalsOf(parts[:len(parts)-1]) <= 1 {
		return false
	}
	isOurs := func(ours []string) bool {
		if rooted {
			home := belowHome(ours)
			return meets(parts, ours, false) || below != nil && home != nil && meets(below, home, false)
		}
		for at := range max(0, len(ours)-1) { // an end of the path that has more than one name
			if meets(parts, ours[at:], false) {
				return true
			}
		}
		return false
	}
	return slices.ContainsFunc(lists, func(paths [][]string) bool { return slices.ContainsFunc(paths, isOurs) })
}

// partsOf are the names in a path, in lower case. Where it goes up from is not known.
func partsOf(p string) []string {
	parts := strings.Split(strings.Trim(strings.ToLower(p), "/"), "/")
	for len(parts) > 1 && (parts[0] == ".." || parts[0] == ".") {
		parts = parts[1:]
	}
	return parts
}

// belowHome is a path without the home directory that it begins with; nil where it does not.
func belowHome(parts []string) []string {
	switch {
	case strings.HasPrefix(parts[0], "~"), parts[0] == "root":
		return parts[1:]
	case len(parts) > 1 && (parts[0] == "home" || parts[0] == "users"):
		return parts[2:]
	}
	return nil
}

// literalsOf counts the letters that a pattern has.
func literalsOf(parts []string) (n int) {
	for _, part := range parts {
		n += len(part) - strings.Count(part, "*") - strings.Count(part, "?")
	}
	return n
}

// meets reports whether a pattern may be a path, or be below it. Two stars are any directories: what follows them has to be the end of the path.
func meets(pattern, ours []string, whole bool) bool {
	switch {
	case len(pattern) == 0:
		return len(ours) == 0
	case pattern[0] == "**":
		for at := range len(ours) + 1 {
			if meets(pattern[1:], ours[at:], true) {
				return true
			}
		}
		return false
	case len(ours) == 0:
		return !whole
	}
	found, err := path.Match(pattern[0], ours[0])
	if !found && err == nil || strings.HasPrefix(ours[0], ".") && !strings.HasPrefix(pattern[0], ".") {
		return false
	}
	return meets(pattern[1:], ours[1:], whole)
}
