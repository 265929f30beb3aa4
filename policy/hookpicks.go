package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/command"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// picksHooks reports whether a command changes, or hands to a program that we don't know, files that it finds by a pattern, and the pattern may find what names hooks.
func picksHooks(c *toolcall.Call, t *text, does *command.Command) bool {
	isDeep := func(name string) bool { return strings.Contains(name, "**/") }
	isUsed := len(does.Picks) > 0 && (does.Unnamed || len(does.Unknown) > 0 || does.Code || does.Opaque != "")
	if !isUsed && !slices.ContainsFunc(does.Touches, isDeep) {
		return false
	}
	starts := []string{c.Context.Workspace, c.Context.Directory}
	for at, value := range t.strings {
		if at != value && directoryParams[at] {
			starts = append(starts, value)
		}
	}
	for i := range starts {
		starts[i] = strings.TrimSuffix(strings.ToLower(slashed(starts[i])), "/") + "/"
	}
	found := func(pick string) bool { return hookPick(starts, pick, does.Unnamed) }
	return isUsed && slices.ContainsFunc(does.Picks, func(pick string) bool { return found(pick) || does.Unnamed && hasAllHidden(starts, pick) }) ||
		slices.ContainsFunc(does.Touches, func(name string) bool { return isDeep(name) && found(name) })
}

// hookPick reports whether a pattern may find a file that names hooks, or the directory of one. A star in it may be slashes, too. A pattern for all files
// of a kind, such as *.json, counts only if such patterns are to count and it is looked for in all of the project, or in more.
func hookPick(starts []string, pick string, kinds bool) bool {
	if runsHooks(pick, true) {
		return true
	}
	pick = strings.ToLower(withoutClasses(slashed(pick)))
	root, rest := pick[:0], pick
	if at := strings.IndexAny(pick, "*?["); at < 0 {
		return false
	} else if end := strings.LastIndexByte(pick[:at], '/') + 1; end > 0 {
		root, rest = pick[:end], pick[end:]
	}
	base := path.Base(rest)
	if base == unknownName {
		return holdsProject(starts, root)
	}
	isOpen := isPattern(base[:1])
	isKind := isOpen && strings.HasPrefix(strings.TrimLeft(base, "*?"), ".")
	switch {
	case strings.Trim(rest, "*?./") == "", isOpen && !holdsProject(starts, root), isKind && (!kinds || !strings.HasPrefix(rest, "**/")):
		return false
	}
	return slices.ContainsFunc(hookSamples, func(sample string) bool {
		return (!isKind || strings.HasPrefix(sample, "/.") || strings.Count(sample, "/") == 1) && namedBy("*"+strings.ReplaceAll(rest, "/", ":"), strings.ReplaceAll(sample, "/", ":"))
	})
}

// hookSamples are paths that such patterns are tried on.
var hookSamples = func() (out []string) {
	for _, p := range asksPaths {
		if out = append(out, path.Join("/", p.dir, p.name)); strings.HasPrefix(p.dir, ".") {
			out = append(out, "/"+p.dir)
		}
	}
	return append(out, "/opencode/plugin/verifier.js", "/bin/"+hookProgram, "/bin/verifier")
}()

// unknownName is a name that only the shell knows.
const unknownName = "\x00"

// holdsProject reports whether a directory is one where the call starts, or above it, or a home directory.
func holdsProject(starts []string, dir string) bool {
	return dir == "" || strings.HasPrefix(dir, "../") || isAllOfHome(strings.TrimSuffix(dir, "/")) || slices.ContainsFunc(starts, func(start string) bool { return strings.HasPrefix(start, dir) })
}

// hasAllHidden reports whether a pattern is for all hidden files or directories of the project: **/.*, .*/*.
func hasAllHidden(starts []string, pick string) bool {
	parts := strings.Split(strings.ToLower(slashed(pick)), "/")
	at := slices.IndexFunc(parts, isAllHidden)
	if at < 0 || strings.Trim(withoutClasses(strings.Join(parts[at:], "")), "*?.") != "" {
		return false
	}
	before := strings.TrimRight(strings.Join(parts[:at], "/")+"/", "*/") // a star may be slashes, too
	return before == "" || holdsProject(starts, before+"/")
}

// isAllHidden reports whether a path is a pattern for all hidden files of a directory: .* and .[!.]*, but not those that find may find below another.
func isAllHidden(name string) bool {
	dir, base := path.Split(name)
	hidden, found := strings.CutPrefix(base, ".")
	return found && hidden != "" && strings.Trim(withoutClasses(hidden), "*?") == "" && !strings.HasSuffix(dir, "**/")
}
