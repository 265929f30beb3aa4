package policy

import (
	"regexp"
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/internal/command"
)

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

var patchHeader = regexp.MustCompile(`(?m)^[\s\p{Z}]*\*\*\*[^:\n]*:(.*)$`)

// namedFiles says what the files of a call name, and its words where we don't know what its arguments mean. A text with
// blanks is something that is said.
func (s *said) namedFiles(r *rule) (n named) {
	reads, writes := r.reads, r.writes
	seek := func(p *place) {
		switch {
		case n.secret != "" || isAddress(p.name):
		case p.isSecret():
			n.secret = SourceLabel(p.name, "")
		case reads && s.isAllOfHome(p.name):
			n.secret = homeFiles
		}
	}
	s.listFiles()
	n.later = writes && len(s.files) == 0
	for _, name := range s.files {
		p := s.place(name)
		seek(&p)
		n.others = n.others || reads && p.fromOthers()
		if writes {
			n.written(&p)
		}
	}
	for i := 0; n.secret == "" && (!r.known || r.leaves) && i < len(s.args); i++ {
		if a := &s.args[i]; a.isText && !strings.ContainsAny(a.value, " \n\t") {
			p := s.place(a.value)
			seek(&p)
		}
	}
	return n
}

// listFiles finds the files that a call names.
func (s *said) listFiles() {
	for i := range s.args {
		a := &s.args[i]
		switch {
		case s.Tool == "apply_patch":
			for _, header := range patchHeader.FindAllStringSubmatch(a.value, -1) {
				s.files = append(s.files, header[1])
			}
		case fileParams[a.name] || a.name == "pattern" && s.Tool == "glob" || strings.HasPrefix(a.value, "file:"):
			s.files = append(s.files, a.value)
		}
	}
}

// written adds what a file names that is written.
func (n *named) written(p *place) {
	n.settings = n.settings || isSettings(p.clean)
	if p.isOutside() {
		n.away = n.away || !relative(p.clean)
		n.outside = n.outside || !p.home || !isBelowAny(p.rest, notes)
	}
	for part := range strings.SplitSeq(strings.ToLower(slashed(p.name)), "/") {
		n.later = n.later || runsLater[part]
	}
}

// namedBy says what the words of a command name. The programs themselves may be anywhere.
func (p *Policy) namedBy(line *command.Line, g *ground) (n named) {
	leading := n.words(line, g)
	if slices.ContainsFunc(line.Paths, g.isAllOfHome) {
		n.secret = homeFiles
	}
	programs, known := map[string]bool{}, line.Effect != command.Anything
	for _, words := range line.Commands {
		if p.begins.mark(&n, words); len(leading) > 0 && leadsOut(words[0]) {
			programs[words[0]] = true
		}
		if !known && n.secret != ofCommands && words[0] != "cd" && slices.ContainsFunc(words[1:], g.isAllOfHome) {
			n.secret = homeFiles
		}
	}
	n.outside = slices.ContainsFunc(leading, func(word string) bool { return !programs[word] })
	n.away = n.outside && line.Effect != command.Look
	return n
}

// words adds what the words of a command name, and gives those that lead out.
func (n *named) words(line *command.Line, g *ground) (leading []string) {
	here, hidden := false, strings.Contains(g.start, "/.")
	for _, word := range line.Words {
		if !hidden && isBare(word) {
			here = true
			continue
		}
		at := g.place(word)
		isFile := hidden || strings.ContainsAny(word, `./~$\`) || othersWrote.match(strings.ToLower(word))
		here = here || !isFile
		if n.secret == "" && at.isSecret() {
			n.secret = SourceLabel(word, "")
		}
		n.others = n.others || isFile && at.fromOthers()
		n.settings = n.settings || at.isSettingsWord()
		if leadsOut(word) && at.isOutside() {
			leading = append(leading, word)
		}
	}
	at := g.place(".")
	n.others = n.others || here && at.fromOthers()
	start := g.start // seen from the workspace
	for _, dir := range g.inside {
		start = strings.TrimPrefix(start, dir)
	}
	at = g.place(start)
	n.settings = n.settings || at.isSettingsWord()
	return leading
}

// isBare reports whether a word names nothing but, perhaps, what is directly where the call starts, as most words do.
func isBare(word string) bool {
	for i := range len(word) {
		if c := word[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return !filesByName[word]
}
