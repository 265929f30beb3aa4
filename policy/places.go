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

// groundOf finds where a call works: it starts in its directory param, else in the directory that the runtime reports
// with the call, else in the workspace.
func (p *Policy) groundOf(c *protocol.Call, args []argument) (g ground) {
	g.inside = p.inside
	if dir, ok := cleanPath(c.Context.Workspace); ok && isWorkspace(dir) {
		g.inside, g.start = append(slices.Clip(p.inside), dir), dir
	} else if len(p.inside) == 1 {
		g.start = p.inside[0]
	}
	if dir, ok := cleanPath(c.Context.Directory); ok && !relative(dir) {
		g.start = dir
	}
	named := false
	for i := range args {
		a := &args[i]
		if !a.top || !directoryParams[a.name] || a.value == "" {
			continue
		}
		dir, ok := cleanPath(a.value)
		if relative(dir) && g.start != "" {
			dir = path.Join(g.start, dir)
		}
		odd := strings.TrimSpace(a.value) != a.value || strings.ContainsFunc(a.value, func(c rune) bool {
			return !unicode.IsGraphic(c)
		})
		if !ok || odd || named || relative(dir) { // some programs drop odd characters; of two, any could be taken
			g.start = ""
			return g
		}
		g.start, named = dir, true
	}
	return g
}

// in goes where a command works, which may begin with cd.
func (g *ground) in(line *command.Line) {
	if line.Dir == "" {
		return
	}
	if g.start = g.resolve(line.Dir); relative(g.start) {
		g.start = ""
	}
}

// patternCharacters are in what is not the name of one file, and mostPath is longer than systems take.
const (
	patternCharacters = "\x00$`*?%"
	mostPath          = 4096
)

// cleanPath takes away what makes no difference. A path that goes up, or is spelled in a way that only a shell or a
// browser understands, is none.
func cleanPath(name string) (string, bool) {
	name = withoutDrive(slashed(name))
	if name == "" || strings.Contains("/"+name+"/", "/../") || strings.ContainsAny(name, patternCharacters) ||
		strings.Contains(name, "://") {
		return "", false
	}
	return path.Clean(name), true
}

// slashed is a path without what is around it, such as an @ that OpenClaw drops, with the slashes of most systems.
func slashed(name string) string {
	return strings.ReplaceAll(strings.TrimPrefix(strings.TrimSpace(name), "@"), `\`, "/")
}

func withoutDrive(name string) string {
	if len(name) > 1 && name[1] == ':' && (name[0]|' ') >= 'a' && (name[0]|' ') <= 'z' {
		return name[2:]
	}
	return name
}

// resolve is a path as it is meant, without what makes no difference. It is relative where its start is not known.
func (g *ground) resolve(name string) string {
	name = withoutDrive(strings.TrimPrefix(strings.TrimPrefix(slashed(name), "file:"), "//localhost"))
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

func relative(clean string) bool {
	return !strings.HasPrefix(clean, "/") && !strings.HasPrefix(clean, "~")
}

func below(clean, place string) bool {
	place = strings.TrimSuffix(place, "/")
	return strings.HasPrefix(clean, place) && (len(clean) == len(place) || clean[len(place)] == '/')
}

// homes are where homes are, in small letters; below those that end with * they have the names of their owners.
var homes = strings.Fields("~/ /root/ /home/* /users/* /var/home/* /usr/home/* /mnt/c/users/*")

// inHome is what a path is below a home directory; "" for a home itself.
func inHome(clean string) (rest string, ok bool) {
	if clean == "~" || strings.EqualFold(clean, "/root") {
		return "", true
	}
	for _, home := range homes {
		above, many := strings.CutSuffix(home, "*")
		if len(clean) < len(above) || clean[1]|' ' != above[1] || !strings.EqualFold(clean[:len(above)], above) {
			continue
		}
		if rest = clean[len(above):]; many {
			_, rest, _ = strings.Cut(rest, "/")
		}
		return rest, true
	}
	return "", false
}

// within reports whether a path is below one of some directories. The owner may write ~/work for /home/ann/work.
func within(clean string, directories []string) bool {
	return slices.ContainsFunc(directories, func(dir string) bool {
		if below(clean, dir) || (clean[0] == '~') == (dir[0] == '~') {
			return below(clean, dir)
		}
		rest, home := inHome(clean)
		other, isHome := inHome(dir)
		return home && isHome && below(rest, other)
	})
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

// isBelowAny reports whether a path in a home, up to its first pattern character, begins with one of these.
func isBelowAny(rest string, all []string) bool {
	if at := strings.IndexAny(rest, "*?[{$`"); at >= 0 {
		rest = rest[:strings.LastIndexByte(rest[:at], '/')+1]
	}
	parts := strings.Split(rest, "/")
	return slices.ContainsFunc(all, func(begin string) bool {
		return isLike(strings.Join(parts[:min(strings.Count(begin, "/")+1, len(parts))], "/"), begin)
	})
}

// leadsOut reports whether a word of a command may be a path that leads out of where the command starts.
func leadsOut(word string) bool {
	if strings.Contains(word, "://") {
		return false
	}
	name := strings.ReplaceAll(word, `\`, "/")
	top, _, _ := strings.Cut(strings.TrimLeft(name, "/"), "/")
	return strings.HasPrefix(word, "~") || strings.HasPrefix(word, "$HOME") || strings.HasPrefix(word, "${HOME}") ||
		word == "/" || word == ".." || strings.Contains(word, "../") || strings.HasSuffix(word, "/..") ||
		withoutDrive(name) != name || strings.HasPrefix(name, "/") && topDirectories[strings.ToLower(top)]
}

// place is what a name of a file comes to, for a call that works somewhere.
type place struct {
	name   string // as it is written
	clean  string // as it is meant; relative where its start is not known
	lower  string // the same in small letters
	rest   string // what that is below a home directory
	home   bool   // it is in one
	inside bool   // it is in the workspace or the owner's directories
}

func (g *ground) place(name string) place {
	p := place{name: name, clean: g.resolve(name)}
	p.lower = strings.ToLower(p.clean)
	p.rest, p.home = inHome(p.lower)
	p.inside = !relative(p.clean) && within(p.clean, g.inside) && !strings.ContainsAny(p.clean, patternCharacters)
	return p
}

// holds reports whether a path is in the workspace. What is relative, from a start that is not known, is not.
func (g *ground) holds(name string) bool { return g.place(name).inside }

// isOutside reports whether a path is neither in the workspace nor temporary, nor a device that keeps nothing.
func (p *place) isOutside() bool {
	return !p.inside && !below(p.clean, "/tmp") && !below(p.clean, "/private/tmp") && p.clean != "/dev/null" &&
		!below(p.clean, "/dev/fd") && !strings.HasPrefix(p.clean, "/dev/std")
}

// isSecret reports whether a path is a place where secrets are kept: a hidden entry of a home directory, or its
// Library, but for what is known to hold none; or a name that files with secrets have.
func (p *place) isSecret() bool {
	name, clean := p.name, p.lower
	hidden := p.home && (strings.HasPrefix(p.rest, ".") || below(p.rest, "library"))
	isMember := strings.HasPrefix(name, ".") && !strings.Contains(name, "/") && strings.Count(name, ".") > 1 &&
		!strings.HasPrefix(name, ".env") // .data.key is a member of an object
	switch {
	case name == "", len(name) > mostPath, strings.Contains(name, "://") && !strings.HasPrefix(name, "file:"):
		return false
	case hidden && !p.inside && !isBelowAny(p.rest, noSecrets):
		return true
	case isMember:
		return false
	case slices.ContainsFunc(secretPaths, func(secret string) bool { return below(clean, secret) }),
		strings.HasPrefix(clean, "/proc/") && strings.HasSuffix(clean, "/environ"):
		return true
	case !secretNames.mayBeIn(clean):
		return false
	}
	above, end := -1, -1 // where the part above begins, and where this one ends
	for part := range strings.SplitSeq(clean, "/") {
		start := end + 1
		end = start + len(part)
		if secretNames.match(part) && !noSecretNames.match(part) || above >= 0 && secretNames.match(clean[above:end]) {
			return true
		}
		above = start
	}
	return false
}

// KeepsSecrets reports whether a path is a place where secrets are kept.
func (p *Policy) KeepsSecrets(name string) bool {
	g := ground{inside: p.inside}
	at := g.place(name)
	return at.isSecret()
}

// isAllOfHome reports whether a path is a home directory, one above it, or all that is directly below one.
func (g *ground) isAllOfHome(name string) bool {
	if name == "" || name[0] == '-' || !strings.ContainsAny(name[:1], "/~$%.@*fF\\") && len(g.start) > 1 {
		return false // an option, or below where it starts
	}
	clean := strings.ToLower(g.resolve(name))
	if dir, last := path.Split(clean); strings.ContainsAny(last, "*?[{") {
		clean = path.Clean(dir)
	}
	rest, home := inHome(clean)
	return home && rest == "" || clean == "/" || clean == "/home" || clean == "/users"
}

// fromOthers reports whether others wrote a file, by where it is. A workspace may be among downloads.
func (p *place) fromOthers() bool {
	if at := strings.LastIndexByte(p.lower, '.'); at > 0 && othersWrote.match(p.lower[at-1:]) {
		return true
	}
	above := func(dir pattern) bool { return below(p.rest, dir.text) }
	return !p.inside && (p.home && slices.ContainsFunc(othersWrote, above) ||
		below(p.lower, "/var/mail") || below(p.lower, "/var/spool/mail"))
}
