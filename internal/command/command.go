// Package command says what a shell command is known to do, by one table (programs.txt). Text can't say what a program
// does: a command that does not fit the table can do anything.
//
// What an allow rests on (Effect, Dir, Paths) is read strictly: a word has one meaning in sh, bash and zsh, or none.
// What only makes things worse (Words, Commands, Network, Joined) is read loosely, from any text.
package command

import (
	"cmp"
	"slices"
	"strings"
)

// Effect is what a command can do at most. Larger is worse.
type Effect uint8

// The effects, from the least to the worst.
const (
	Look     Effect = iota // reads what it names, and runs nothing
	Local                  // also runs what the workspace says: builds, tests, git without a remote
	install                // what a package manager installs; a Line has Anything instead
	Anything               // not in the table
)

// Line is a command line as far as its text tells. It comes from [Read] or [Argv].
type Line struct {
	Effect   Effect
	Commands [][]string // the words of each simple command, and of what sudo, env, sh -c and their like run
	Dir      string     // where the line runs, if it begins with cd, as written
	Paths    []string   // the words of a known line that name files or directories, as written
	Words    []string   // every word of it and of the texts quoted in it
	Network  bool       // it is not known, and reaches the network by network.txt or a URL
	Joined   bool       // it has a pipe or a substitution
	Install  bool       // it is not known only because a package manager installs what it or the workspace names
	Why      string     // what is not known, as a sentence
}

const (
	longest = 64 << 10    // bytes that are parsed
	deepest = 1000        // brackets in a text that is parsed
	most    = 4 * longest // bytes that are read, those in quotes again
	costs   = 128         // bytes that a simple command counts for
)

// Read reads a command line as a shell would.
func Read(text string) *Line {
	r := &reader{left: most}
	r.text(text)
	return r.line(text)
}

// Argv reads a program with its arguments, which no shell touches.
func Argv(words []string) *Line {
	if len(words) == 0 {
		return Read("")
	}
	r := &reader{left: most}
	r.list([]simple{{words: words}})
	return r.line(strings.Join(words, " "))
}

type reader struct {
	Line
	left   int // bytes that are still read
	quoted int // how deep in texts that are arguments; these are not judged
}

func (r *reader) worse(effect Effect, why string) {
	if r.quoted == 0 {
		r.Effect, r.Why = max(r.Effect, effect), cmp.Or(r.Why, why)
	}
}

func (r *reader) line(text string) *Line {
	if r.left < 0 {
		r.worse(Anything, "The command is too long.")
		r.unparsed(text)
	}
	if r.Install = r.Effect == install; r.Effect < install {
		r.Network = false // what looks like it is an argument
	} else {
		r.Network = r.Network || r.Install || slices.ContainsFunc(r.Words, isAddress)
		r.Effect, r.Paths = Anything, nil
	}
	return &r.Line
}

// text reads a text as a shell would. What is more than a list of plain commands can do anything.
func (r *reader) text(text string) {
	if r.left -= len(text); r.left < 0 {
		return
	}
	list, why := split(text)
	r.Words = slices.Grow(r.Words, strings.Count(text, " ")*3/2)
	if why == "" {
		r.list(list)
		return
	}
	if file := parse(text); file != nil {
		r.search(text, file)
	} else {
		why = unreadable
		r.unparsed(text)
	}
	r.worse(Anything, why)
}

func (r *reader) list(list []simple) {
	r.Commands = slices.Grow(r.Commands, 2*len(list))
	for i, c := range list {
		r.simple(c.words, i == 0 && len(list) > 1)
		r.Joined = r.Joined || c.joint == "|"
		if r.Dir != "" && i > 0 && c.joint != "&&" && (i == 1 || c.joint != "|") {
			r.judge([]string{"cd"})
		}
	}
	for _, c := range list {
		for _, w := range c.words {
			switch {
			case r.Effect >= install:
				r.word(w)
			case strings.ContainsAny(w, " \t\n") && !slices.Contains(r.Paths, w): // it is a text
			case strings.ContainsAny(w, "=:,"):
				parts := strings.FieldsFunc(w, func(c rune) bool { return c == '=' || c == ':' || c == ',' })
				r.Words = append(append(r.Words, w), parts...)
			default:
				r.Words = append(r.Words, w)
			}
		}
	}
}

// simple reads a command without pipes and lists. The first of a line may set the directory of the rest: cd DIR. cd -
// and cd +1 go to where the shell was before, which is not known.
func (r *reader) simple(words []string, begins bool) {
	if begins && len(r.Commands) == 0 && len(words) == 2 && words[0] == "cd" && words[1] != "" &&
		strings.IndexAny(words[1], "-+") != 0 {
		r.Dir = words[1]
	} else {
		r.judge(words)
	}
	r.command(words)
}

// judge compares a simple command with the table, unless the line can do anything already.
func (r *reader) judge(words []string) {
	if r.quoted > 0 || r.Effect == Anything {
		return
	}
	effect, files := lookup(words)
	r.Paths = append(r.Paths, files...)
	if effect < install {
		r.worse(effect, "")
		return
	}
	shown := name(words)
	why := "`" + shown + "` is not on the list of known commands."
	switch {
	case effect == install:
		why = "`" + shown + "` installs packages."
	case words[0] == "cd":
		why = "It changes the directory on the way."
	case programs()[shown] != nil:
		why = "`" + shown + "` is on the list of known commands, but not with these arguments."
	}
	r.worse(effect, why)
}
