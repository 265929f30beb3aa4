package policy

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/openclaw-verifier/verifier/internal/command"
	"github.com/openclaw-verifier/verifier/internal/protocol"
)

// ground is where a call works.
type ground struct {
	inside []string // the workspace and the owner's directories
	start  string   // from where its relative paths are meant; "" where that is not known
}

var directoryParams = setOf("directory params")

// groundOf finds where a call works: it starts in its directory param, else in the directory that the runtime reports
// with the call, else in the workspace.
func (p *Policy) groundOf(c *protocol.Call, args []argument) (g ground) {
	g.inside = p.inside
	if place, ok := cleanPath(c.Context.Workspace); ok && isWorkspace(place) {
		g.inside, g.start = append(slices.Clone(p.inside), place), place
	} else if len(p.inside) == 1 {
		g.start = p.inside[0]
	}
	if dir, ok := cleanPath(c.Context.Directory); ok && !relative(dir) {
		g.start = dir
	}
	named := false
	for i := range args {
		a := &args[i]
		if !directoryParams[a.name] || a.path != topOf(a.path) || a.value == "" {
			continue
		}
		dir, ok := cleanPath(a.value)
		if relative(dir) && g.start != "" {
			dir = path.Join(g.start, dir)
		}
		odd := strings.TrimSpace(a.value) != a.value || strings.ContainsFunc(a.value, isUnseen)
		if !ok || odd || named || relative(dir) { // some programs drop odd characters; of two, any could be taken
			g.start = ""
			return g
		}
		g.start, named = dir, true
	}
	return g
}

func isUnseen(c rune) bool { return unicode.IsControl(c) || unicode.Is(unicode.Cf, c) }

// in goes where a command works, which may begin with cd.
func (g *ground) in(line *command.Line) {
	dir := line.Dir
	if first := line.Commands; dir == "" && line.Effect == command.Anything && len(first) > 1 && len(first[0]) == 2 &&
		first[0][0] == "cd" {
		dir = first[0][1]
	}
	if dir != "" {
		if g.start = g.resolve(dir); relative(g.start) {
			g.start = ""
		}
	}
}

// cleanPath takes away what makes no difference. A path that goes up, or is spelled in a way that only a shell or a
// browser understands, is none. OpenClaw drops an @ before it.
func cleanPath(name string) (string, bool) {
	name = withoutDrive(strings.ReplaceAll(strings.TrimPrefix(strings.TrimSpace(name), "@"), `\`, "/"))
	goesUp := name == ".." || strings.HasPrefix(name, "../") || strings.HasSuffix(name, "/..") ||
		strings.Contains(name, "/../")
	if name == "" || goesUp || strings.ContainsAny(name, "\x00$`*?%") || strings.Contains(name, "://") {
		return "", false
	}
	return path.Clean(name), true
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

func relative(clean string) bool {
	return !strings.HasPrefix(clean, "/") && !strings.HasPrefix(clean, "~")
}

func below(clean, place string) bool {
	rest, found := strings.CutPrefix(clean, strings.TrimSuffix(place, "/"))
	return clean == place || found && strings.HasPrefix(rest, "/")
}

// within reports whether a path is one of some directories or below one, whose owner may write ~/work, and the agent
// /home/ann/work. What is relative is the agent's own workspace; what could lead out of it is not.
func within(name string, places []string) bool {
	clean, ok := cleanPath(name)
	if !ok || relative(clean) {
		return ok
	}
	rest, home := inHome(clean)
	return slices.ContainsFunc(places, func(place string) bool {
		if below(clean, place) {
			return true
		}
		other, isHome := inHome(place)
		return home && isHome && (clean[0] == '~') != (place[0] == '~') && below(rest, other)
	})
}

// holds reports whether a path is in the workspace. What is relative, from a start that is not known, is not.
func (g *ground) holds(name string) bool {
	clean := g.resolve(name)
	return !relative(clean) && within(clean, g.inside)
}

// isTemporary reports whether a path is below a directory for what does not last, or a device that keeps nothing.
func isTemporary(clean string) bool {
	return below(clean, "/tmp") || below(clean, "/private/tmp") || clean == "/dev/null" || below(clean, "/dev/fd") ||
		strings.HasPrefix(clean, "/dev/std")
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
	if strings.Contains(word, "://") {
		return false
	}
	if strings.HasPrefix(word, "~") || strings.HasPrefix(word, "$HOME") || strings.HasPrefix(word, "${HOME}") ||
		word == "/" || word == ".." || strings.Contains(word, "../") || strings.HasSuffix(word, "/..") {
		return true
	}
	name := withoutDrive(strings.ReplaceAll(word, `\`, "/"))
	top, _, _ := strings.Cut(strings.TrimLeft(name, "/"), "/")
	return len(name) < len(word) || strings.HasPrefix(name, "/") && topDirectories[strings.ToLower(top)]
}

// outside is the first path of a command that is neither in the workspace nor temporary; "" where there is none. The
// program itself may be anywhere.
func (g *ground) outside(line *command.Line) string {
	programs := map[string]bool{}
	for _, words := range line.Commands {
		programs[words[0]] = true
	}
	for _, word := range line.Words {
		if leadsOut(word) && !programs[word] && g.isOutside(word) {
			return word
		}
	}
	return ""
}

// homes are where homes are, in small letters; below those that end with * they have the names of their owners.
var homes = strings.Fields("~/ /root/ /home/* /users/* /var/home/* /usr/home/* /mnt/c/users/*")

// inHome is what a path is below a home directory; "" for a home itself.
func inHome(clean string) (rest string, ok bool) {
	if relative(clean) {
		return "", false
	}
	for _, home := range homes {
		above, many := strings.CutSuffix(home, "*")
		switch n := len(above); {
		case !many && strings.EqualFold(clean, home[:n-1]):
			return "", true
		case len(clean) < n || !strings.EqualFold(clean[:n], above):
		case many:
			_, rest, _ = strings.Cut(clean[n:], "/")
			return rest, true
		default:
			return clean[n:], true
		}
	}
	return "", false
}

var (
	secretNames   = patternsOf("secret names")
	noSecretNames = patternsOf("no secret names")
	noSecrets     = lists["no secrets below"]
	secretPaths   = slices.DeleteFunc(slices.Clone(lists["secret names"]), relative)
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
//
//nolint:gocognit // one question after the other
func (g *ground) secretIn(line *command.Line) string {
	for _, words := range line.Commands {
		if showsEnvironment(words) {
			return ofCommands
		}
		for i, word := range words {
			if i > 0 && line.Effect == command.Anything && words[0] != "cd" && word != "" && word[0] != '-' &&
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

// showsEnvironment reports whether a command is printenv, or an env that names no command.
func showsEnvironment(words []string) bool {
	name := program(words[0])
	return name == "printenv" || name == "env" && !slices.ContainsFunc(words[1:], func(word string) bool {
		return !strings.HasPrefix(word, "-") && !strings.Contains(word, "=")
	})
}

func endsName(c rune) bool { return c == '=' || c == ':' || c == ',' }

func (g *ground) firstSecret(words []string) string {
	if i := slices.IndexFunc(words, g.isSecret); i >= 0 {
		return bounded(words[i], "")
	}
	return ""
}

var fileParams = setOf("file params")

// filesOf are the paths that a call names: in its params, or in the headers of a patch.
func filesOf(tool string, args []argument) (out []string) {
	for i := range args {
		a := &args[i]
		switch {
		case tool == "apply_patch":
			for line := range strings.Lines(a.value) {
				header, found := strings.CutPrefix(strings.TrimSpace(line), "***")
				if _, name, named := strings.Cut(header, ":"); found && named {
					out = append(out, strings.TrimSpace(name))
				}
			}
		case fileParams[a.name] || a.name == "pattern" && tool == "glob" || strings.HasPrefix(a.value, "file:"):
			out = append(out, a.value)
		}
	}
	return out
}

// secretGiven is the place where secrets are kept that a call of a tool names by a path, or by a word where we don't
// know what its arguments mean; "" where it names none. A text with blanks is something that is said.
func (s *said) secretGiven(r *rule) string {
	names := s.files
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
		case s.isSecret(name):
			return bounded(name, "")
		case fileReaders[r.name] && s.isAllOfHome(name):
			return homeFiles
		}
	}
	return ""
}

// isWorkspace reports whether a directory may be one project's. A home directory is none, wherever homes are, nor is
// what holds one, or a disk, nor what is at the top of a disk and belongs to the system.
func isWorkspace(clean string) bool {
	if rest, ok := inHome(clean); ok {
		return rest != ""
	}
	top, found := strings.CutPrefix(strings.ToLower(clean), "/")
	return found && top != "" && !topDirectories[top]
}

// KeepsSecrets reports whether a path is a place where secrets are kept.
func (p *Policy) KeepsSecrets(name string) bool {
	g := ground{inside: p.inside}
	return name != "" && g.isSecret(name)
}
