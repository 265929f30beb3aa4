package command

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// net keeps the words of a program that may show what files hold: any of them may name a file, whatever the tables of options
// say. What is a pattern or a program for sure is left out, and so is what only says which files to leave out.
func (r *reader) net(n string, args []arg) {
	to := &r.Words
	switch {
	case silent[n] || n == "git" && silentVerb(args):
		return
	case showsNames(n, args):
		to = &r.listing
		r.listsHidden(n, args)
	}
	for i := range args {
		if at := slices.Index(r.texts, args[i].text); at >= 0 {
			r.texts = slices.Delete(r.texts, at, at+1)
			continue
		}
		if strings.HasPrefix(args[i].text, "--exclude") || strings.HasPrefix(args[i].text, "!") {
			continue
		}
		for _, v := range args[i].values {
			r.keep(to, v)
		}
		r.keep(to, args[i].text)
	}
}

// keep adds a word, and what stands right behind the letter of an option.
func (r *reader) keep(to *[]string, word string) {
	r.keepOne(to, word)
	if len(word) > 2 && word[0] == '-' && word[1] != '-' {
		r.keepOne(to, word[2:])
	}
}

// keepOne adds a word. More than a few hundred count as a file that is unknown.
func (r *reader) keepOne(to *[]string, word string) {
	switch {
	case word == "":
	case len(*to) < maxReads:
		*to = once(*to, word)
	default:
		r.path(unknown, false)
	}
}

var (
	// silent are programs that show nothing of what a file holds.
	silent = union(quietly, set("set shopt setopt printenv exit cp mv ln install"))
	// namesOnly show names of files. What these hold counts where another command gets the names.
	namesOnly = set("ls dir vdir tree du fd fdfind find")
	// sizes say how large a file is, or of what kind.
	sizes = set("wc file")
	// counts say how much there is, or whether it changed.
	counts = set("wc md5sum sha1sum sha256sum cksum b2sum file cd")
	// gitSilent are verbs that show nothing of what a file holds.
	gitSilent = set("add commit status mv rm check-ignore branch tag init rev-parse ls-files remote")
)

// showsNames reports whether a program shows no more of a file than its name, its size or its age.
func showsNames(n string, args []arg) bool {
	switch n {
	case "git":
		return verbIn(args, gitQuiet)
	case "find":
		return !slices.ContainsFunc(args, func(a arg) bool { return a.text == "-files0-from" })
	default:
		return (namesOnly[n] || sizes[n]) && !slices.ContainsFunc(args, takesFile)
	}
}

// gitQuiet are verbs of git that show names. What add takes, a push may send.
var gitQuiet = set("rm check-ignore ls-files")

// silentVerb reports whether git is told to do something that shows nothing.
func silentVerb(args []arg) bool { return verbIn(args, gitSilent) }

// verbIn reports whether git's verb is one of these.
func verbIn(args []arg, verbs map[string]bool) bool {
	for len(args) > 0 && strings.HasPrefix(args[0].text, "-") {
		args = args[min(len(args), 1+count(gitValues[args[0].text])):]
	}
	return len(args) > 0 && verbs[args[0].text]
}

// listsHidden notes where a program lists hidden files among others.
func (r *reader) listsHidden(n string, args []arg) {
	switch n {
	case "find":
		if findsHidden(args) {
			for _, root := range r.roots {
				r.hiddenAt = append(r.hiddenAt, path.Join(root.Path, ".*"))
			}
		}
	case "ls", "dir", "vdir", "fd", "fdfind":
		all := "aAf"
		if strings.HasPrefix(n, "fd") {
			all = "Hu"
		}
		if slices.ContainsFunc(args, func(a arg) bool {
			return !strings.HasPrefix(a.text, "--") && strings.HasPrefix(a.text, "-") && strings.ContainsAny(a.text, all) ||
				slices.Contains([]string{"--all", "--almost-all", "--hidden", "--unrestricted"}, a.text)
		}) {
			r.hiddenAt = append(r.hiddenAt, r.resolved(".*")...)
		}
	}
}

// findsHidden reports whether find may give names of hidden files where secrets are kept: unless each of its branches has a
// name that begins or ends in a plain way, or hidden ones are left out.
func findsHidden(args []arg) bool {
	plainNames, branches, out := 0, 1, false
	for i := range args {
		switch text := args[i].text; {
		case text == "-o" || text == "-or" || text == ",":
			branches++
		case (text == "!" || text == "-not") && i+2 < len(args):
			if !findNames[args[i+1].text] {
				return true
			}
			out = out || strings.HasPrefix(path.Base(args[i+2].text), ".*")
		case findNames[text] && i+1 < len(args) && (i == 0 || args[i-1].text != "!" && args[i-1].text != "-not"):
			plainNames += count(plainName.MatchString(path.Base(args[i+1].text)))
		}
	}
	return !out && plainNames < branches
}

var (
	findNames = set("-name -iname -path -ipath -wholename -iwholename")
	plainName = regexp.MustCompile(`^([A-Za-z0-9_].*|[^.].*\.[A-Za-z0-9]+)$`)
)

// showsListed reports whether a program gets to see what the listed files hold.
func (r *reader) showsListed() bool {
	return slices.ContainsFunc(r.Programs, func(p Program) bool {
		return !silent[p.Name] && !namesOnly[p.Name] && !counts[p.Name] && wrappers[p.Name] == nil && !shells[p.Name]
	})
}

// own notes what the language of a program can read by itself: awk, jq and sed have words for files and for the environment.
func (r *reader) own(n string, args []arg) {
	holds := func(is *regexp.Regexp) bool {
		return slices.ContainsFunc(args, func(a arg) bool { return is.MatchString(a.text) })
	}
	environment, files := awkEnvironment, awkFiles
	switch {
	case strings.HasSuffix(n, "awk"):
		if holds(awkArguments) {
			r.path(unknown, false)
		}
	case n == "jq" || n == "yq":
		environment, files = jqEnvironment, jqFiles
	case n == "sed" || n == "gsed":
		r.sedReads(args)
		return
	case n == "ps":
		r.Environment = r.Environment || len(args) > 0 && psEnvironment.MatchString(args[0].text)
		return
	default:
		said := sentence(n, args)
		r.Stores = r.Stores || stores[n].shows(said) || strings.HasPrefix(n, "git-credential")
		r.Settings = r.Settings || settings[n].shows(said)
		if logs[n].shows(said) {
			first(&r.Others, "a log")
		}
		r.ofOthers(n, args)
		return
	}
	r.Environment = r.Environment || holds(environment)
	if holds(files) {
		r.codeOf(args)
	}
}

// codeOf notes a program in the arguments that says itself which files it reads.
func (r *reader) codeOf(args []arg) {
	r.Code = true
	for i := range args {
		r.literals(args[i].text)
	}
}

var (
	awkEnvironment = regexp.MustCompile(`ENVIRON`)
	awkFiles       = regexp.MustCompile(`getline|@include|@load`)
	awkArguments   = regexp.MustCompile(`ARGV`)
	jqEnvironment  = regexp.MustCompile(`(^|[^.\w$"])(env|\$ENV|\$__prog_args)\b|\$ENV\b|\benv\(`)
	jqFiles        = regexp.MustCompile(`\b(import|include)\s+"|\b(load|input_filename)\b`)
	sedRead        = regexp.MustCompile(`(?:^|[\s;{}0-9$/!])[rR]\s*([^\s;}]+)`)
	psEnvironment  = regexp.MustCompile(`^[a-zA-Z]*e[a-zA-Z]*$`)
)

// sedReads notes the files that a script of sed reads: r FILE. With options that we don't know any word may be the script.
func (r *reader) sedReads(args []arg) {
	scripts, files, _, ok := sedParts(args)
	switch {
	case !ok:
		scripts = args
	case len(scripts) == 0:
		scripts = files[:min(1, len(files))]
	}
	for i := range scripts {
		if script := strings.TrimPrefix(scripts[i].text, "--expression="); !sedScript(script) {
			for _, m := range sedRead.FindAllStringSubmatch(script, 16) {
				r.path(m[1], false)
			}
		}
	}
}
