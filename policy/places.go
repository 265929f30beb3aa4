package policy

import (
	"cmp"
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
		odd := strings.TrimSpace(a.value) != a.value || strings.ContainsFunc(a.value, isUnseen)
		if !ok || odd || named || relative(dir) { // some programs drop odd characters; of two, any could be taken
			g.start = ""
			return g
		}
		g.start, named = dir, true
	}
	return g
}

func isUnseen(c rune) bool {
	return unicode.IsControl(c) || c > unicode.MaxASCII && unicode.Is(unicode.Cf, c)
}

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
	name = withoutDrive(slashed(name))
	goesUp := strings.Contains(name, "..") && slices.Contains(strings.Split(name, "/"), "..")
	if name == "" || goesUp || strings.ContainsAny(name, patternCharacters) || strings.Contains(name, "://") {
		return "", false
	}
	return path.Clean(name), true
}

// patternCharacters are in what is not the name of one file.
const patternCharacters = "\x00$`*?%"

// slashed is a path without what is around it, with slashes as all systems but one have them.
func slashed(name string) string {
	return strings.ReplaceAll(strings.TrimPrefix(strings.TrimSpace(name), "@"), `\`, "/")
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

// within reports whether a path is one of some directories or below one, whose owner may write ~/work, and the agent
// /home/ann/work.
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

// place is what a name of a file comes to, for a call that works somewhere.
type place struct {
	name   string // as it is written
	clean  string // as it is meant; relative where its start is not known
	rest   string // what that is below a home directory, in small letters
	home   bool   // it is in one
	inside bool   // it is in the workspace or the owner's directories
	plain  bool   // it names nothing but, perhaps, what is directly where the call starts
}

func (g *ground) place(name string) place {
	p := place{name: name, clean: g.resolve(name)}
	p.plain = !strings.ContainsAny(name, "./~_$%") && !strings.Contains(g.start, "/.")
	p.rest, p.home = inHome(p.clean)
	p.rest = strings.ToLower(p.rest)
	p.inside = !relative(p.clean) && !strings.ContainsAny(p.clean, patternCharacters) && within(p.clean, g.inside)
	return p
}

// holds reports whether a path is in the workspace. What is relative, from a start that is not known, is not.
func (g *ground) holds(name string) bool { return g.place(name).inside }

// isOutside reports whether a path is neither in the workspace nor below a directory for what does not last, nor a
// device that keeps nothing.
func (p *place) isOutside() bool {
	return !p.inside && !below(p.clean, "/tmp") && !below(p.clean, "/private/tmp") && p.clean != "/dev/null" &&
		!below(p.clean, "/dev/fd") && !strings.HasPrefix(p.clean, "/dev/std")
}

// belowWorkspace is where a command starts, seen from the workspace.
func (g *ground) belowWorkspace() string {
	for _, dir := range g.inside {
		if rest, ok := strings.CutPrefix(g.start, dir); ok {
			return rest
		}
	}
	return g.start
}

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
func (p *place) isSecret() bool {
	name := p.name
	if p.plain && !secretNames.names[strings.ToLower(name)] || len(name) > mostPath ||
		strings.Contains(name, "://") && !strings.HasPrefix(name, "file:") {
		return false
	}
	if p.home && (strings.HasPrefix(p.rest, ".") || below(p.rest, "library")) && !p.inside &&
		!isBelowAny(p.rest, noSecrets) {
		return true
	}
	if strings.HasPrefix(name, ".") && !strings.Contains(name, "/") && strings.Count(name, ".") > 1 &&
		!strings.HasPrefix(name, ".env") {
		return false // .data.key is a member of an object
	}
	clean := strings.ToLower(p.clean)
	if slices.ContainsFunc(secretPaths, func(secret string) bool { return below(clean, secret) }) ||
		strings.HasPrefix(clean, "/proc/") && strings.HasSuffix(clean, "/environ") {
		return true
	}
	parts := strings.Split(clean, "/")
	for i, part := range parts {
		if secretNames.match(part) && !noSecretNames.match(part) || i > 0 && secretNames.names[parts[i-1]+"/"+part] {
			return true
		}
	}
	return false
}

// isSecret reports whether a word names a place where secrets are kept.
func (g *ground) isSecret(word string) bool {
	p := g.place(word)
	return word != "" && p.isSecret()
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
	rest, home := inHome(clean)
	return home && rest == "" || clean == "/" || clean == "/home" || clean == "/users"
}

// fromOthers reports whether others wrote a file, by where it is. A workspace may be among downloads.
func (p *place) fromOthers() bool {
	lower := strings.ToLower(p.clean)
	if at := strings.LastIndexByte(lower, '.'); at > 0 && othersWrote.match(lower[at-1:]) {
		return true
	}
	switch {
	case p.inside:
		return false
	case !p.home:
		return below(lower, "/var/mail") || below(lower, "/var/spool/mail")
	}
	return slices.ContainsFunc(lists["others wrote"], func(dir string) bool { return below(p.rest, dir) })
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

// named is what the words of a call's command name, or else its files.
type named struct {
	secret   string // a place where secrets are kept, the first
	others   bool   // a file that others wrote
	outside  bool   // one neither in the workspace nor temporary, nor an agent's own notes
	away     bool   // one that is outside for sure, notes or not
	settings bool   // where an agent reads which hooks it runs
	later    bool   // a file that is written and runs, or is obeyed by agents, later; or we don't know which
	asked    string // the beginning of a command that a coding agent asks about each time
	deletes  bool   // a command that deletes
	agent    bool   // the program of an agent
	obeys    bool   // a program that obeys what is typed into it, with nothing else to do: python, bash -i
}

// namedFiles says what the files of a call name, and its words where we don't know what its arguments mean. A text with
// blanks is something that is said.
func (s *said) namedFiles(r *rule) (n named) {
	reads, writes := r.reads, r.writes
	secret := func(p *place) string {
		switch {
		case isAddress(p.name):
		case p.isSecret():
			return SourceLabel(p.name, "")
		case reads && s.isAllOfHome(p.name):
			return homeFiles
		}
		return ""
	}
	s.readFiles()
	n.later = writes && len(s.files) == 0
	for _, name := range s.files {
		p := s.place(name)
		n.secret = cmp.Or(n.secret, secret(&p))
		n.others = n.others || reads && p.fromOthers()
		n.settings = n.settings || writes && isSettings(p.clean)
		if writes && p.isOutside() {
			n.away = n.away || !relative(p.clean)
			n.outside = n.outside || !p.home || !isBelowAny(p.rest, notes)
		}
		for part := range strings.SplitSeq(strings.ToLower(strings.ReplaceAll(name, `\`, "/")), "/") {
			n.later = n.later || writes && runsLater[part]
		}
	}
	for i := 0; n.secret == "" && (!r.known || r.leaves) && i < len(s.args); i++ {
		if a := &s.args[i]; a.isText && !strings.ContainsAny(a.value, " \n\t") {
			p := s.place(a.value)
			n.secret = secret(&p)
		}
	}
	return n
}

// namedBy says what the words of a command name. The programs themselves may be anywhere.
func (p *Policy) namedBy(line *command.Line, g *ground) (n named) {
	here, leading := false, []string(nil)
	hidden, known := strings.Contains(g.start, "/."), line.Effect != command.Anything
	for _, word := range line.Words {
		if g.isBare(word) {
			here = true
			continue
		}
		at := g.place(word)
		isFile := hidden || strings.ContainsAny(word, `./~$\`) || othersWrote.names[strings.ToLower(word)]
		here = here || !isFile
		if n.secret == "" && !known && at.isSecret() {
			n.secret = SourceLabel(word, "")
		}
		n.others = n.others || isFile && at.fromOthers()
		n.settings = n.settings || g.isSettingsWord(word)
		if leadsOut(word) && at.isOutside() {
			leading = append(leading, word)
		}
	}
	if at := g.place("."); here && !n.others {
		n.others = at.fromOthers()
	}
	n.settings = n.settings || g.isSettingsWord(g.belowWorkspace())
	if known { // what looks like a place in a text is said
		n.secret = g.secretOperand(line)
	}
	if slices.ContainsFunc(line.Paths, g.isAllOfHome) {
		n.secret = homeFiles
	}
	programs := map[string]bool{}
	for _, words := range line.Commands {
		if p.begins.mark(&n, words); len(leading) > 0 {
			programs[words[0]] = true
		}
		if !known && n.secret != ofCommands && words[0] != "cd" &&
			slices.ContainsFunc(words[1:], func(w string) bool { return w != "" && w[0] != '-' && g.isAllOfHome(w) }) {
			n.secret = homeFiles
		}
	}
	n.outside = slices.ContainsFunc(leading, func(word string) bool { return !programs[word] })
	n.away = n.outside && line.Effect != command.Look
	return n
}

// isBare reports whether a word names nothing but, perhaps, what is directly where the call starts, as most words do.
func (g *ground) isBare(word string) bool {
	for i := range len(word) {
		if c := word[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return !secretNames.names[word] && !othersWrote.names[word] && !strings.Contains(g.start, "/.")
}

// secretOperand is the first secret place among the words of a known command. A word with blanks is a text.
func (g *ground) secretOperand(line *command.Line) string {
	for _, words := range line.Commands {
		for _, word := range words {
			if g.isBare(word) || strings.ContainsAny(word, " \n\t") {
				continue
			}
			if g.isSecret(word) {
				return SourceLabel(word, "")
			}
			for part := range strings.FieldsFuncSeq(word, func(c rune) bool { return c == '=' || c == ':' || c == ',' }) {
				if len(part) < len(word) && g.isSecret(part) {
					return SourceLabel(part, "")
				}
			}
		}
	}
	return ""
}

// readFiles finds the paths that a call names: in its params, or in the headers of a patch.
func (s *said) readFiles() {
	for i := range s.args {
		a := &s.args[i]
		switch {
		case s.Tool == "apply_patch":
			for line := range strings.Lines(a.value) {
				header, found := strings.CutPrefix(strings.TrimSpace(line), "***")
				if _, name, named := strings.Cut(header, ":"); found && named {
					s.files = append(s.files, strings.TrimSpace(name))
				}
			}
		case fileParams[a.name] || a.name == "pattern" && s.Tool == "glob" || strings.HasPrefix(a.value, "file:"):
			s.files = append(s.files, a.value)
		}
	}
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
	return g.isSecret(name)
}
