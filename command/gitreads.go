package command

import (
	"slices"
	"strings"
)

// git notes what git reads: the directory, files, and what others wrote.
func (f *files) git(args []arg) {
	was := f.place
	defer func() { f.place = was }()
	args = f.gitPlace(args)
	f.GitIn = once(f.GitIn, f.at)
	f.path(".", false)
	if len(args) == 0 {
		return
	}
	f.gitVerb(args[0].text, args[1:])
}

// gitPlace reads the options before the verb, which say where git works, and returns the rest.
func (f *files) gitPlace(args []arg) []arg {
	for len(args) > 0 && args[0].option() {
		takes := gitValues[args[0].text]
		head, value, isPair := strings.Cut(args[0].text, "=")
		switch {
		case args[0].text == "-C" && len(args) > 1:
			f.Climbs = f.Climbs || slices.ContainsFunc(args[1].may(), climbs)
			f.goTo(args[1:2])
		case gitPlaces[args[0].text] && len(args) > 1:
			f.touch(args[1])
			f.reads(args[1], false, true)
		case isPair && gitPlaces[head]:
			place := behind(args[0], len(head)+1, value)
			f.touch(place)
			f.reads(place, false, true)
		case args[0].text == "-c" && len(args) > 1:
			f.literals(args[1].text)
			f.touchText(args[1].text) // core.worktree=x
		}
		args = args[min(len(args), 1+count(takes)):]
	}
	return args
}

// gitVerb reads which command git runs.
func (f *files) gitVerb(verb string, args []arg) {
	operands := gitOperands(verb, args)
	starts := len(operands) == 0 && slices.ContainsFunc(args, func(a arg) bool { return gitStarts[a.text] })
	lists := verb == "stash" && len(args) > 0 && args[0].text == "list"
	f.Rewrites = f.Rewrites || gitRewrites[verb] && !starts && !lists
	f.gitFrom(verb, args, operands)
	f.gitTouches(verb, args)
	shows := f.gitTexts(verb, args)
	if verb == "grep" {
		f.gitSearch(args)
		return
	}
	if gitMessages[verb] {
		f.fileOption(args, "F", "--file")
		f.fileOption(args, "t", "--template")
	}
	noIndex := verb == "diff" && slices.ContainsFunc(args, func(a arg) bool { return strings.HasPrefix(a.text, "--no-i") })
	for i := range operands {
		if noIndex {
			f.reads(below(operands[i]), true, true)
		}
		for _, v := range operands[i].may() {
			f.gitOperand(verb, v, shows)
		}
	}
}

// gitFrom notes that files of another branch or commit come into the workspace. Which of these are the owner's own we don't know.
func (c *reach) gitFrom(verb string, args, operands []arg) {
	if !gitMoves[verb] {
		return
	}
	if verb == "restore" {
		t, _ := gitSource.take(slices.DeleteFunc(slices.Clone(args), func(a arg) bool {
			return !strings.HasPrefix(a.text, "-s") && !strings.HasPrefix(a.text, "--source") && strings.HasPrefix(a.text, "-")
		}))
		operands = nil
		for _, v := range t.values("-s", "--source") {
			operands = append(operands, arg{text: v, fixed: true})
			if isRemote(v) {
				first(&c.Others, v)
			}
		}
	} else if at := slices.IndexFunc(args, func(a arg) bool { return a.text == "--" }); at >= 0 {
		operands = gitOperands(verb, args[:at])
	}
	c.Foreign = c.Foreign || slices.ContainsFunc(operands, func(a arg) bool {
		return !a.fixed || !ownCommit.MatchString(a.text) && (verb != "checkout" || !looksLikePath.MatchString(a.text))
	})
}

var (
	gitMoves      = set("checkout switch restore reset merge cherry-pick rebase read-tree worktree")
	gitSource     = optionsOf("-s: --source:")
	ownCommit     = match(`^(HEAD|@|stash)([~^@].*)?$`)
	looksLikePath = match(`^\.{1,2}$|^\.{0,2}/|/$|\.[A-Za-z0-9]+$`)
)

// gitSearch reads git grep. With options that are not in the table it may look at files of any name.
func (f *files) gitSearch(args []arg) {
	t, ok := gitGrepKept.take(args)
	if !ok {
		f.search("rgrep", args)
		return
	}
	f.texts = append(f.texts, t.patterns()...)
	for _, a := range t.without(1).operands {
		for _, v := range a.may() {
			f.gitOperand("grep", v, true)
		}
	}
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

var (
	gitValues = set("-C -c --git-dir --work-tree --namespace --exec-path")
	gitPlaces = set("--git-dir --work-tree")
	// gitMessages take a text from a file.
	gitMessages = set("commit commit-tree tag merge notes")
	gitShows    = set("log show shortlog whatchanged grep diff blame")
	// gitRewrites change the files of the workspace; not so where they only start a branch here.
	gitRewrites = set("checkout switch restore reset merge cherry-pick revert rebase stash apply am mv rm clean pull")
	gitStarts   = set("-b -c --create")
	// gitNames are what only say which commits there are.
	gitNames = set("rev-parse merge-base branch status describe name-rev show-ref for-each-ref rev-list remote config tag")
)

// gitOperands are the arguments of a subcommand without its options, as far as we know them.
func gitOperands(verb string, args []arg) []arg {
	if s := families["git"][verb]; s != nil && verb != "" {
		if rest, ok := s.options.all(args); ok {
			return rest
		}
	}
	return words(args, nil)
}

// gitOperand reads a commit, a range of commits, or a path.
func (f *files) gitOperand(verb, word string, shows bool) {
	commits, isRange := []string{word}, true
	if a, b, found := strings.Cut(word, "..."); found {
		if commits = []string{a, b}; verb == "diff" {
			commits = commits[1:] // what changed since they parted
		}
	} else if a, b, found := strings.Cut(word, ".."); found && !strings.HasSuffix(a, "/") && (a != "" || b != "" && b[0] != '/') {
		if commits = []string{a, b}; verb == "log" || verb == "shortlog" || verb == "whatchanged" {
			commits = commits[1:] // without the first
		}
	} else {
		isRange = false
	}
	if !gitNames[verb] || shows {
		if at := slices.IndexFunc(commits, isRemote); at >= 0 {
			first(&f.Others, commits[at])
		}
	}
	if isRange || strings.HasPrefix(word, "^") || len(word) == 0 || word == ".." {
		return
	}
	commit, file, inCommit := strings.Cut(word, ":")
	if inCommit && commit != "" {
		word = file
	}
	f.gitPath(word, shows)
}

// gitPath reads a path, or a pattern of git's.
func (f *files) gitPath(word string, shows bool) {
	was := f.some
	if shows && strings.ContainsAny(word, "*?[") {
		f.some = false
		if !EndsPlainly(word) { // to git a star is a dot and a slash, too
			f.reads(arg{text: ".*"}, false, true)
		}
	}
	f.reads(arg{text: word}, false, false)
	f.some = was
}

// isRemote reports whether a name is that of a commit which came from elsewhere. Which remotes there are we don't know: these
// are the usual names.
func isRemote(commit string) bool {
	commit, _, _ = strings.Cut(commit, ":")
	name, rest, below := strings.Cut(commit, "/")
	switch {
	case below && (usualRemotes[name] || usualBranches[rest] && !usualDirectories[name] && !strings.HasPrefix(name, "^")):
		return true
	case strings.Contains(commit, "^") && otherParent.MatchString(commit):
		return true
	case strings.HasPrefix(commit, "refs/remotes/") || strings.HasPrefix(commit, "refs/pull/"):
		return true
	}
	return isHead(commit, "FETCH_HEAD") || isHead(commit, "MERGE_HEAD") || commit == "origin" || commit == "upstream" || strings.Contains(commit, "@{u") || strings.Contains(commit, "@{push")
}

// isHead reports whether a commit is a head of this name, or one that is reached from it: FETCH_HEAD~1.
func isHead(commit, name string) bool {
	rest, found := strings.CutPrefix(commit, name)
	return found && (rest == "" || rest[0] != '_' && !isLetter(rest[0]))
}

// Of any other remote, these are branches that most have. The same words below a usual directory are a path.
var (
	usualBranches    = set("main master HEAD develop trunk")
	usualDirectories = set("src app cmd lib pkg test tests internal . ..")
)

var usualRemotes = set("origin upstream fork remotes pull pr")
