package command

import (
	"path"
	"slices"
	"strings"
	"unicode"
)

// MostTouched is how many paths there are at most in [Command.Touches], and in [Command.Picks]. Of a command with so many, others were left out.
const MostTouched = 4096

// touches collects the paths that a command may change, and the patterns by which it chooses files.
type touches struct {
	reach
	place
	touched map[string]bool // what is in Touches
}

// touch notes paths that a program may write, move or remove.
func (f *touches) touch(places ...arg) {
	for i := range places {
		for _, v := range places[i].may() {
			f.touchPath(v)
		}
	}
}

func (f *touches) touchPath(p string) {
	if f.touched == nil {
		f.touched = map[string]bool{}
	}
	for full := range f.resolved(p) {
		if len(f.Touches) >= MostTouched {
			return
		}
		if !f.touched[full] {
			f.touched[full] = true
			f.Touches = add(f.Touches, full)
		}
	}
}

// touchCopies notes the names that copies get in a directory.
func (f *touches) touchCopies(from []arg, to *arg) {
	for _, dir := range to.may() {
		for i := range from {
			for _, v := range from[i].may() {
				f.touchPath(dir + "/" + path.Base(v))
			}
		}
	}
}

// touchHere notes where a program runs that may store files there.
func (f *touches) touchHere() {
	if f.at != "" {
		f.touchPath(".")
	}
}

// touchWords notes each word of arguments of which we don't know what they are, and of texts in them, and where the program runs.
func (f *touches) touchWords(args []arg) {
	f.touchHere()
	args = slices.DeleteFunc(slices.Clone(args), func(a arg) bool { return leftAlone.MatchString(a.text) })
	f.touch(words(args, nil)...)
	for i := range args {
		if strings.ContainsAny(args[i].text, endsPath) {
			f.touchText(args[i].text)
		}
	}
}

// leftAlone is an option that says what a program leaves alone.
var leftAlone = match(`^--(ignore|exclude|exclude-dir|skip)=[^ ]*$`)

// touchUnknown notes what a program that we don't know is given. Git's own words are read by its verb.
func (f *touches) touchUnknown(n string, args []arg, doc *arg) {
	if n != "git" {
		f.touchWords(args)
		f.touchInput(doc)
	}
}

// touchText notes what may be a path in a text that we don't read, such as code.
func (f *touches) touchText(text string) {
	for word := range strings.FieldsFuncSeq(text, func(c rune) bool { return strings.ContainsRune(endsPath, c) }) {
		if f.at != "" || strings.ContainsAny(word, "./") {
			f.touchPath(word)
		}
	}
}

// touchInput notes what may be a path in a here-document.
func (f *touches) touchInput(doc *arg) {
	if doc != nil {
		f.touchText(doc.text)
	}
}

// endsPath are characters that end a path in code and in texts of a shell.
const endsPath = " \t\r\n'\"`(){},;=<>|&"

// touchUnnamed notes that a program changes what a word names, if the word is only known when it runs.
func (f *touches) touchUnnamed(a *arg) {
	text := a.text
	if rest, found := strings.CutPrefix(text, unknown); found && beginsOpen(rest) { // a pattern
		text = rest
	}
	f.Unnamed = f.Unnamed || strings.Contains(text, unknown)
}

// gitTouches notes the paths that git may change, and the patterns by which it chooses files.
func (f *touches) gitTouches(verb string, args []arg) {
	changes := !gitLeaves[verb]
	if !changes && !gitLists[verb] {
		return
	}
	for i := range args {
		if changes && strings.Contains(args[i].text, " ") && !isGitText(verb, args, i) { // a command: rebase --exec
			f.touchText(args[i].text)
		}
	}
	for _, a := range words(args, nil) {
		for _, v := range a.may() {
			spec, found := pathspec(v)
			if !found {
				continue
			}
			if changes {
				f.touchPath(spec)
			}
			if strings.ContainsAny(spec, "*?[") {
				f.Unnamed = f.Unnamed || changes
				f.pick(spec)
			}
		}
	}
}

var (
	// gitLists are verbs that print names of files by patterns.
	gitLists = set("ls-files ls-tree diff")
	// gitTexted are verbs that may change files and take a text for people.
	gitTexted = set("merge stash notes subtree")
)

// isGitText reports whether a word of git is a text for people: -m x, -mx, --message=x, stash save x.
func isGitText(verb string, args []arg, at int) bool {
	if !gitTexted[verb] {
		return false
	}
	text := args[at].text
	return strings.HasPrefix(text, "-m") || strings.HasPrefix(text, "--message=") || at > 0 && (args[at-1].text == "-m" || args[at-1].text == "--message" || verb == "stash" && args[0].text == "save")
}

// givenNames notes that a program takes the names of files from its input, or from a file: git rm --pathspec-from-file=-.
func (f *touches) givenNames(args []arg, doc *arg) {
	if !slices.ContainsFunc(args, func(a arg) bool { return isNameOption(a.text) }) {
		return
	}
	f.Unnamed = true
	f.touchInput(doc)
}

// pathspec is a path or a pattern of git's without what it begins with: :/x, :(top)x. It reports false for what only leaves files out.
func pathspec(word string) (spec string, found bool) {
	spec, magic := strings.CutPrefix(word, ":")
	switch {
	case !magic: // sparse-checkout leaves out what follows an exclamation mark
		spec = strings.TrimPrefix(spec, "!")
	case strings.HasPrefix(spec, "("):
		var kinds string
		kinds, spec, _ = strings.Cut(spec[1:], ")")
		return spec, !slices.Contains(strings.Split(kinds, ","), "exclude")
	default:
		short := spec[:len(spec)-len(strings.TrimLeft(spec, "/!^:"))]
		return spec[len(short):], !strings.ContainsAny(short, "!^")
	}
	return spec, true
}

// picks notes the patterns by which a program chooses the files that it finds, or of the names that come in, if it is fed with such.
func (f *touches) picks(n string, args []arg, fed bool) {
	here := []arg{{text: "."}}
	switch {
	case n == "find":
		f.findPicks(args)
	case n == "fd" || n == "fdfind":
		if at := slices.IndexFunc(args, func(a arg) bool { return fdExecs[a.text] }); at >= 0 {
			args = args[:at]
		}
		for _, a := range words(args, nil) {
			f.pickBelow(here, a.text)
			f.pickWords(here, a.text)
		}
	case fed && choosers[n] != nil && strings.HasSuffix(n, "grep") && !hasText(args, "-v"):
		for _, a := range words(args, nil) {
			f.pickWords(here, a.text)
		}
	}
}

func (f *touches) findPicks(args []arg) {
	roots, tests := findRoots(args)
	all := findTestsOf(tests)
	for i := range tests[:max(0, len(tests)-1)] {
		test := strings.TrimPrefix(strings.TrimPrefix(tests[i].text, "-"), "i")
		if len(f.Picks) >= MostTouched || all.leavesOut(i) {
			continue
		}
		for _, v := range tests[i+1].may() {
			switch {
			case test == "name", test == "lname", v == unknown && findPaths[test]:
				f.pickBelow(roots, v)
			case test == "regex":
				f.pickWords(roots, v)
			case findPaths[test]:
				f.pick(v)
			}
		}
	}
}

// findPaths are the tests of find by a whole path.
var findPaths = set("path wholename samefile regex")

// pickBelow notes a pattern of names below directories.
func (f *touches) pickBelow(roots []arg, name string) {
	for i := range roots {
		if len(f.Picks) >= MostTouched {
			return
		}
		f.pick(roots[i].may()[0] + "/**/" + name)
	}
}

// findTests are the words of find behind its directories.
type findTests struct {
	words   []arg
	group   int  // where the first group begins
	act     int  // where the last action is
	chooses bool // there is an alternative
}

func findTestsOf(words []arg) *findTests {
	t := findTests{words: words, group: len(words)}
	for i := range words {
		switch text := words[i].text; {
		case text == "(":
			t.group = min(t.group, i)
		case text == "-o", text == "-or", text == ",":
			t.chooses = true
		case findActs[text]:
			t.act = i
		}
	}
	return &t
}

var findActs = set("-delete -print -print0 -printf -ls -exec -execdir -ok -okdir -fprint -fprint0 -fprintf -fls")

// leavesOut reports whether a test only says what is left alone: ! -name x, without an alternative; -name x -prune -o … -delete. Without an action, what is pruned is printed, too.
func (t *findTests) leavesOut(at int) bool {
	is := func(i int, words ...string) bool {
		return i >= 0 && i < len(t.words) && slices.Contains(words, t.words[i].text)
	}
	if is(at+2, "-prune") && is(at+3, "-o", "-or") {
		return at < t.group && at < t.act
	}
	return !t.chooses && is(at-1, "!", "-not") && !is(at-2, "!", "-not", "(")
}

// pickWords notes the words in a regular expression as patterns of names below directories.
func (f *touches) pickWords(roots []arg, expression string) {
	for word := range strings.FieldsFuncSeq(strings.ReplaceAll(strings.ReplaceAll(expression, ".*", " "), `\`, ""), func(c rune) bool { return c == '/' || !inName(unicode.ToLower(c)) }) {
		if len(word) > len(".js") {
			f.pickBelow(roots, "*"+word+"*")
		}
	}
}

// pick notes a pattern. Backslashes in it quote the next character. A name that is only known when the command runs stays unknown.
func (f *touches) pick(pattern string) {
	if pattern = strings.ReplaceAll(pattern, `\`, ""); path.Base(pattern) != unknown {
		pattern = strings.ReplaceAll(strings.ReplaceAll(pattern, unknown, "*"), listed, "*")
	}
	for full := range f.resolved(pattern) {
		if len(f.Picks) < MostTouched {
			f.Picks = add(f.Picks, full)
		}
	}
}
