package command

import (
	"slices"
	"strings"
)

// net keeps the words of a program that may show more of files than [showsNames] says: any of them may name a file, whatever the tables of options
// say. What is a pattern or a program for sure is left out, and so is what only says which files to leave out.
func (f *files) net(n string, args []arg) {
	if silent[n] || n == "git" && silentVerb(args) {
		return
	}
	for i := range args {
		if at := slices.Index(f.texts, args[i].text); at >= 0 {
			f.texts = slices.Delete(f.texts, at, at+1)
			continue
		}
		if strings.HasPrefix(args[i].text, "--exclude") || strings.HasPrefix(args[i].text, "!") {
			continue
		}
		for _, v := range args[i].values {
			f.keep(v)
		}
		f.keep(args[i].text)
	}
}

// keep adds a word, and what is right behind the letter of an option.
func (f *files) keep(word string) {
	f.keepOne(word)
	if len(word) > 2 && word[0] == '-' && word[1] != '-' {
		f.keepOne(word[2:])
	}
}

// keepOne adds a word. More than a few hundred count as a file that is unknown.
func (f *files) keepOne(word string) {
	switch {
	case word == "":
	case len(f.Words) < maxReads:
		f.Words = once(f.Words, word)
	default:
		f.path(unknown, false)
	}
}

var (
	// silent are programs that show nothing of what a file holds.
	silent = union(quietly, set("set shopt setopt printenv exit cp mv ln install"))
	// gitSilent are verbs that show nothing of what a file holds.
	gitSilent = set("add commit status mv rm check-ignore branch tag init rev-parse ls-files remote")
)

// showsNames reports whether a program shows no more of a file than its name, its size or its age, with options that are all in the table.
func showsNames(n string, args []arg) bool {
	switch n {
	case "git":
		verb, rest := gitVerbOf(args)
		if s := families["git"][verb]; s != nil && gitQuiet[verb] {
			_, ok := s.options.all(rest)
			return ok
		}
		return false
	case "ls", "dir", "vdir":
		return true
	case "find":
		return !slices.ContainsFunc(args, func(a arg) bool { return a.text == "-files0-from" })
	case "sed", "gsed": // in place it shows nothing
		scripts, files, inPlace, ok := sedParts(slices.DeleteFunc(slices.Clone(args), func(a arg) bool { return a.values != nil && !strings.HasPrefix(a.text, "-") && !a.isOpen() }))
		if len(scripts) == 0 && len(files) > 0 {
			scripts = files[:1]
		}
		return ok && inPlace && !slices.ContainsFunc(scripts, func(a arg) bool { return !sedScript(a.text) })
	}
	o := sizes[n]
	if o == nil {
		return false
	}
	_, ok := o.take(args)
	return ok
}

// sizes are programs that say how large a file is, of what kind, or where it is.
var sizes = map[string]options{
	"wc": optionsOf("-l -c -w -m -L --lines --bytes --words --chars"), "file": optionsOf("-b -i -I -L -h -k -s -N -n --brief --mime --mime-type --mime-encoding --dereference"),
	"du": optionsOf("-s -h -a -c -k -m -b -x -d: --max-depth: --summarize --human-readable --all --total --apparent-size"), "fd": fdOptions, "fdfind": fdOptions,
	"tree": treeOptions,
}

// gitQuiet are verbs of git that show names. What add takes, a push may send.
var gitQuiet = set("rm check-ignore ls-files")

// silentVerb reports whether git runs a command that shows nothing.
func silentVerb(args []arg) bool { return verbIn(args, gitSilent) }

// verbIn reports whether git's verb is one of these.
func verbIn(args []arg, verbs map[string]bool) bool {
	verb, _ := gitVerbOf(args)
	return verbs[verb]
}

// gitVerbOf is the command that git runs, and what follows.
func gitVerbOf(args []arg) (verb string, rest []arg) {
	for len(args) > 0 && strings.HasPrefix(args[0].text, "-") {
		args = args[min(len(args), 1+count(gitValues[args[0].text])):]
	}
	if len(args) == 0 {
		return "", nil
	}
	return args[0].text, args[1:]
}

// own notes what the language of a program can read by itself: awk, jq and sed have words for files and for the environment.
func (f *files) own(n string, args []arg) {
	holds := func(is *pattern) bool {
		return slices.ContainsFunc(args, func(a arg) bool { return is.MatchString(a.text) })
	}
	environment, files := awkEnvironment, awkFiles
	switch {
	case strings.HasSuffix(n, "awk"):
		if holds(awkArguments) {
			f.path(unknown, false)
		}
	case n == "jq" || n == "yq":
		environment, files = jqEnvironment, jqFiles
	case n == "sed" || n == "gsed":
		f.sedReads(args)
		return
	case n == "ps":
		f.Environment = f.Environment || len(args) > 0 && psEnvironment.MatchString(args[0].text)
		return
	default:
		if store, setting, log := stores[n], settings[n], logs[n]; store.prints != nil || setting.prints != nil || log.prints != nil {
			said := line(args)
			f.Stores = f.Stores || store.shows(said)
			f.Settings = f.Settings || setting.shows(said)
			if log.shows(said) {
				first(&f.Others, "a log")
			}
		}
		f.Stores = f.Stores || strings.HasPrefix(n, "git-credential")
		f.ofOthers(n, args)
		return
	}
	f.Environment = f.Environment || holds(environment)
	if holds(files) {
		f.codeOf(args)
	}
}

// codeOf notes a program in the arguments that says itself which files it reads.
func (f *files) codeOf(args []arg) {
	f.Code = true
	for i := range args {
		f.literals(args[i].text)
	}
}

var (
	awkEnvironment = match(`ENVIRON|SYMTAB`) // SYMTAB has every variable by its name, which may be put together
	awkFiles       = match(`getline|@include|@load`)
	awkArguments   = match(`ARGV|SYMTAB`)
	jqEnvironment  = match(`(^|[^.\w$"])(env|\$ENV|\$__prog_args)\b|\$ENV\b|\benv\(`)
	jqFiles        = match(`\b(import|include)\s*"|\b(load|input_filename)\b`)
	sedRead        = match(`(?:^|[\s;{}0-9$/!])[rR]\s*([^\s;}]+)`)
	psEnvironment  = match(`^[a-zA-Z]*e[a-zA-Z]*$`)
)

// sedReads notes the files that a script of sed reads: r FILE. With options that we don't know any word may be the script.
func (f *files) sedReads(args []arg) {
	scripts, files, _, ok := sedParts(args)
	switch {
	case !ok:
		scripts = args
	case len(scripts) == 0:
		scripts = files[:min(1, len(files))]
	}
	for i := range scripts {
		if script := strings.TrimPrefix(scripts[i].text, "--expression="); !sedScript(script) {
			for _, m := range sedRead.regexp().FindAllStringSubmatch(script, 16) {
				f.path(m[1], false)
			}
		}
	}
}
