package policy

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/openclaw-verifier/verifier/internal/command"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// ground is where a call works.
type ground struct {
	inside []string // the workspace and the owner's directories
	start  string   // from where its relative paths are meant; "" where that is not known
}

var directoryParams = setOf("directory params")

// ground finds where a call works: it starts in its directory param, else in the directory that the runtime reports
// with the call, else in the workspace.
func (p *Policy) ground(c *toolcall.Call, s *said) (g ground) {
	g.inside = p.inside
	if place, ok := cleanPath(withoutDrive(c.Context.Workspace)); ok && isWorkspace(place) {
		g.inside = append(slices.Clone(p.inside), place)
		g.start = place
	} else if len(p.inside) == 1 {
		g.start = p.inside[0]
	}
	if dir, ok := cleanPath(withoutDrive(c.Context.Directory)); ok && !relative(dir) {
		g.start = dir
	}
	named := false
	for i := range s.args {
		a := &s.args[i]
		if !directoryParams[a.name] || a.path != topOf(a.path) || a.value == "" {
			continue
		}
		dir, ok := cleanPath(withoutDrive(a.value))
		// which some programs take away
		ok = ok && strings.TrimSpace(a.value) == a.value &&
			!strings.ContainsFunc(
				a.value,
				func(c rune) bool { return unicode.IsControl(c) || unicode.Is(unicode.Cf, c) },
			)
		if ok && relative(dir) && g.start != "" {
			dir = path.Join(g.start, dir)
		}
		if !ok || named || relative(dir) { // of two, programs could take either
			g.start = ""
			return g
		}
		g.start, named = dir, true
	}
	return g
}

// of is the ground of a command, which may begin with cd.
func (g ground) of(line *command.Line) ground {
	dir := line.Dir
	if dir == "" && line.Effect == command.Anything && len(line.Commands) > 1 && line.Commands[0][0] == "cd" &&
		len(line.Commands[0]) == 2 {
		dir = line.Commands[0][1]
	}
	if dir != "" {
		if g.start = g.resolve(dir); relative(g.start) {
			g.start = ""
		}
	}
	return g
}

// resolve is a path as it is meant, without what makes no difference. It is relative where its start is not known.
func (g *ground) resolve(name string) string {
	name = strings.ReplaceAll(strings.TrimPrefix(strings.TrimSpace(name), "@"), `\`, "/")
	name = withoutDrive(strings.TrimPrefix(strings.TrimPrefix(name, "file:"), "//localhost"))
	for _, home := range []string{"$HOME", "${HOME}", "$USERPROFILE", "%USERPROFILE%"} {
		if rest, ok := strings.CutPrefix(name, home); ok && (rest == "" || rest[0] == '/') {
			name = "~" + rest
		}
	}
	if strings.HasPrefix(name, "~") {
		_, rest, _ := strings.Cut(name, "/")
		return path.Clean("~/" + rest)
	}
	for strings.HasPrefix(name, "./") {
		name = strings.TrimLeft(name[1:], "/")
	}
	switch {
	case strings.HasPrefix(name, "/") || g.start == "":
	case name == ".":
		name = g.start
	default:
		name = g.start + "/" + name
	}
	return path.Clean(name)
}

func withoutDrive(name string) string {
	if len(name) > 1 && name[1] == ':' && (name[0]|' ') >= 'a' && (name[0]|' ') <= 'z' {
		return name[2:]
	}
	return name
}

// holds reports whether a path is in the workspace. What is relative, from a start that is not known, is not.
func (g *ground) holds(name string) bool {
	clean := g.resolve(name)
	return !relative(clean) && within(clean, g.inside)
}

// isTemporary reports whether a path is below a directory for what does not last, or a device that keeps nothing.
func isTemporary(clean string) bool {
	return below(clean, "/tmp") || below(clean, "/private/tmp") || clean == "/dev/null" ||
		strings.HasPrefix(clean, "/dev/std") ||
		below(clean, "/dev/fd")
}

// isOutside reports whether a path is neither in the workspace nor temporary.
func (g *ground) isOutside(name string) bool { return !g.holds(name) && !isTemporary(g.resolve(name)) }

// belowWorkspace is where a command starts, seen from the workspace.
func (g *ground) belowWorkspace() string {
	for _, place := range g.inside {
		if rest, ok := strings.CutPrefix(g.start, place); ok {
			return rest
		}
	}
	return g.start
}

var topDirectories = setOf("top directories")

// leadsOut reports whether a word of a command may be a path that leads out of where the command starts.
func leadsOut(word string) bool {
	switch {
	case strings.Contains(word, "://"):
		return false
	case strings.HasPrefix(word, "~"),
		strings.HasPrefix(word, "$HOME"),
		strings.HasPrefix(word, "${HOME}"),
		word == "/",
		word == "..",
		strings.Contains(word, "../"),
		strings.HasSuffix(word, "/.."):
		return true
	}
	name := withoutDrive(strings.ReplaceAll(word, `\`, "/"))
	top, _, _ := strings.Cut(strings.TrimLeft(name, "/"), "/")
	return len(name) < len(word) || strings.HasPrefix(name, "/") && topDirectories[strings.ToLower(top)]
}

// outside is the first path of a command that is neither in the workspace nor temporary; "" where there is none. The
// program
// itself may be anywhere.
func (g *ground) outside(line *command.Line) string {
	programs := map[string]bool{}
	for _, words := range line.Commands {
		if strings.Contains(words[0], "/") {
			programs[words[0]] = true
		}
	}
	for _, word := range line.Words {
		if leadsOut(word) && !programs[word] && g.isOutside(word) {
			return word
		}
	}
	return ""
}

// inHome is what a path is below a home directory; "" for a home itself.
func inHome(clean string) (rest string, ok bool) {
	if clean == "~" || clean == "/root" {
		return "", true
	}
	for _, home := range []string{"~/", "/root/"} {
		if rest, ok = strings.CutPrefix(clean, home); ok {
			return rest, true
		}
	}
	for _, homes := range []string{"/home/", "/users/", "/var/home/", "/usr/home/", "/mnt/c/users/"} {
		if rest, ok = strings.CutPrefix(clean, homes); ok {
			_, rest, _ = strings.Cut(rest, "/")
			return rest, true
		}
	}
	return "", false
}

var (
	secretNames   = patternsOf("secret names")
	noSecretNames = patternsOf("no secret names")
	noSecrets     = lists["no secrets below"]
	secretPaths   = slices.DeleteFunc(
		slices.Clone(lists["secret names"]),
		func(name string) bool { return !strings.HasPrefix(name, "/") },
	)
)

// isBelowAny reports whether a path in a home begins with one of these, part by part, before its first pattern
// character.
func isBelowAny(rest string, all []string) bool {
	if at := strings.IndexAny(rest, "*?[{$`"); at >= 0 {
		rest = rest[:strings.LastIndexByte(rest[:at], '/')+1]
	}
	parts := strings.Split(rest, "/")
	return slices.ContainsFunc(all, func(begin string) bool {
		n := strings.Count(begin, "/") + 1
		found, _ := path.Match(begin, strings.Join(parts[:min(n, len(parts))], "/"))
		return found
	})
}

// mostPath is longer than systems take.
const mostPath = 4096

// isSecret reports whether a path is a place where secrets are kept: a hidden entry of a home directory, or its
// Library, but for what is known to hold none; or a name that files with secrets have.
func (g *ground) isSecret(name string) bool {
	if len(name) > mostPath || strings.Contains(name, "://") && !strings.HasPrefix(name, "file:") {
		return false
	}
	if !strings.ContainsAny(name, "./~_$%") && !strings.Contains(g.start, "/.") &&
		!secretNames.names[strings.ToLower(name)] {
		return false // most words name nothing
	}
	clean := strings.ToLower(g.resolve(name))
	if rest, ok := inHome(clean); ok && (strings.HasPrefix(rest, ".") || below(rest, "library")) &&
		!isBelowAny(rest, noSecrets) && !within(g.resolve(name), g.inside) {
		return true
	}
	if strings.HasPrefix(name, ".") && !strings.Contains(name, "/") && strings.Count(name, ".") > 1 &&
		!strings.HasPrefix(name, ".env") {
		return false // .data.key is a member of an object
	}
	for _, place := range secretPaths {
		if below(clean, place) {
			return true
		}
	}
	if strings.HasPrefix(clean, "/proc/") && strings.HasSuffix(clean, "/environ") {
		return true
	}
	for rest, dir := clean, ""; rest != ""; {
		var part string
		part, rest, _ = strings.Cut(rest, "/")
		if secretNames.names[dir+"/"+part] || part != "" && secretNames.match(part) && !noSecretNames.match(part) {
			return true
		}
		dir = part
	}
	return false
}

// isAllOfHome reports whether a path is a home directory, one above it, or all that is directly below one.
func (g *ground) isAllOfHome(name string) bool {
	if name == "" || !strings.ContainsAny(name[:1], "/~$%.@*fF\\") && len(g.start) > 1 {
		return false // below where it starts
	}
	clean := strings.ToLower(g.resolve(name))
	if dir, last := path.Split(clean); strings.ContainsAny(last, "*?[{") {
		clean = path.Clean(dir)
	}
	if rest, ok := inHome(clean); ok {
		return rest == ""
	}
	return clean == "/" || clean == "/home" || clean == "/users"
}

// What a secret is called that has no name of its own.
const (
	keptSecrets   = "a store of secrets"
	otherSessions = "other conversations"
	homeFiles     = "files of your home directory"
	ofCommands    = "the environment of your commands"
	ofDevice      = "the screen or the notifications of a device"
)

// plainSecrets quote nothing of a call.
var plainSecrets = []string{keptSecrets, otherSessions, homeFiles, ofCommands, ofDevice}

// secretIn is the place where secrets are kept that a command names; "" where it names none.
func (g *ground) secretIn(line *command.Line) string {
	for _, words := range line.Commands {
		if len(words) > 0 &&
			(program(words[0]) == "printenv" || program(words[0]) == "env" && !slices.ContainsFunc(words[1:],
				func(word string) bool {
					return !strings.HasPrefix(word, "-") && !strings.Contains(word, "=") // it names a command
				})) {
			return ofCommands
		}
		for i, word := range words {
			if i > 0 && line.Effect == command.Anything && words[0] != "cd" && !strings.HasPrefix(word, "-") &&
				g.isAllOfHome(word) {
				return homeFiles
			}
		}
	}
	if slices.ContainsFunc(line.Paths, g.isAllOfHome) {
		return homeFiles
	}
	if line.Effect == command.Anything {
		return g.firstSecret(line.Words)
	}
	for _, words := range line.Commands {
		for i, word := range words { // that a text with blanks is said, in a command that is known
			if strings.ContainsAny(word, " \n\t") {
				continue
			}
			parts := words[i : i+1]
			if strings.ContainsAny(word, "=:,") {
				parts = append(parts[:1:1], strings.FieldsFunc(word, endsName)...)
			}
			if found := g.firstSecret(parts); found != "" {
				return found
			}
		}
	}
	return ""
}

func endsName(c rune) bool { return c == '=' || c == ':' || c == ',' }

func (g *ground) firstSecret(words []string) string {
	if i := slices.IndexFunc(words, g.isSecret); i >= 0 {
		return bounded(words[i], "")
	}
	return ""
}

var fileParams = setOf("file params")

// files are the paths that a call names: in its params, or in the headers of a patch.
func (s *said) files(tool string) (out []string) {
	for i := range s.args {
		a := &s.args[i]
		switch {
		case tool == "apply_patch":
			out = append(out, patched(a.value)...)
		case fileParams[a.name] || a.name == "pattern" && tool == "glob" || strings.HasPrefix(a.value, "file:"):
			out = append(out, a.value)
		}
	}
	return out
}

// patched are the files that the headers of a patch name.
func patched(patch string) (files []string) {
	for line := range strings.Lines(patch) {
		header, found := strings.CutPrefix(strings.TrimSpace(line), "***")
		if _, name, named := strings.Cut(header, ":"); found && named {
			files = append(files, strings.TrimSpace(name))
		}
	}
	return files
}

// secretGiven is the place where secrets are kept that a call of a tool names by a path, or by a word where we don't
// know what its arguments mean; "" where it names none. A text with blanks is something that is said.
func (g *ground) secretGiven(r *rule, tool string, s *said) string {
	names := s.files(tool)
	if !r.known || r.leaves {
		for i := range s.args {
			if a := &s.args[i]; a.isText && !strings.ContainsAny(a.value, " \n\t") {
				names = append(names, a.value)
			}
		}
	}
	for _, name := range names {
		switch {
		case isAddress(name):
		case g.isSecret(name):
			return bounded(name, "")
		case fileReaders[r.name] && g.isAllOfHome(name):
			return homeFiles
		}
	}
	return ""
}

// isWorkspace reports whether a directory may be one project's. A home directory is none, wherever homes are, nor is
// what holds one, or a disk, nor what is at the top of a disk and belongs to the system.
func isWorkspace(clean string) bool {
	lower := strings.ToLower(clean)
	if rest, ok := inHome(lower); ok {
		return rest != ""
	}
	top, found := strings.CutPrefix(lower, "/")
	return found && top != "" && !topDirectories[top]
}

// KeepsSecrets reports whether a path is a place where secrets are kept.
func (p *Policy) KeepsSecrets(name string) bool {
	g := ground{inside: p.inside}
	return name != "" && g.isSecret(name)
}
