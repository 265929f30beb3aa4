package command

import (
	"slices"
	"strings"
	"unicode"
)

// searched notes what a search shows: of files that it names, and of all below a directory.
func (f *files) searched(n string, args, places []arg, deep bool) {
	o, keeps := searchKnown, n == "rg" || n == "ag"
	f.names = f.names || keeps && slices.ContainsFunc(args, func(a arg) bool { return a.text == "--files" })
	if keeps {
		o = rgKept
	}
	t, ok := o.take(args)
	if !ok { // any of its options may show more
		t, keeps = taken{}, false
	}
	keeps = keeps && !isHidden(f.at) && !slices.ContainsFunc(places, func(a arg) bool { return slices.ContainsFunc(a.may(), isHidden) })
	source := !slices.ContainsFunc(places, func(a arg) bool { return !inSource(&a) })
	some := ok && t.showsSome(source || keeps)
	globs := t.globs()
	everything := deep && !keeps && len(globs) == 0
	if everything && some && !source && !t.counts() {
		f.Seeks = append(f.Seeks, t.patterns()...)
	}
	for _, place := range places {
		f.some = some || deep && !slices.ContainsFunc(place.may(), isAbsolute) // what a project keeps is below it
		f.reads(place, deep, true)
		f.some = some
		if everything && !some {
			f.reads(below(place), true, true)
		}
		if deep {
			f.globbed(place, globs)
		}
	}
}

// globbed notes the files below a place whose names a search gets.
func (f *files) globbed(place arg, globs []string) {
	for _, root := range place.may() {
		if len(globs) > 0 {
			f.reads(arg{values: anyDepth(root, globs)}, false, true)
		}
	}
}

// showsSome reports whether a search shows but some lines: those of a pattern that names something, and nothing around them. Among source code a few
// lines around do no harm.
func (t *taken) showsSome(source bool) bool {
	if t.counts() {
		return true
	}
	for _, o := range t.given {
		_, more := searchMore[o.name]
		switch {
		case !more:
		case !source || len(o.values) == 0 || slices.ContainsFunc(o.values, func(v string) bool { return len(v) != 1 }):
			return false
		}
	}
	patterns := t.patterns()
	return len(patterns) > 0 && !slices.ContainsFunc(patterns, FindsMost)
}

// counts reports whether a search shows names of files, numbers, or nothing.
func (t *taken) counts() bool {
	return t.has(searchCounts...)
}

// patterns are what a search looks for.
func (t *taken) patterns() []string {
	given := t.values("-e", "--regexp")
	if len(given) == 0 && len(t.operands) > 0 {
		if first := t.operands[0]; first.fixed {
			return []string{first.text}
		}
		given = t.operands[0].may()
	}
	return given
}

// inSource reports whether a place is a directory where people keep source code. Secrets are kept beside it.
func inSource(a *arg) bool {
	return !slices.ContainsFunc(a.may(), func(v string) bool {
		first, _, _ := strings.Cut(strings.TrimPrefix(v, "./"), "/")
		return !sourceDirectories[first] || strings.Contains(v, "..")
	})
}

var (
	sourceDirectories = set("src lib cmd pkg internal test tests spec docs")

	// searchCalm are options of grep that show no more than the lines of a pattern, and searchMore those that do. With -z a line is a whole file.
	searchCalm = optionsOf(`-r -R -n -i -w -x -E -F -P -G -o -l -L -c -q -s -h -H -I -a -b -T -Z -y -e: -m: -d: -D: --include: --exclude: --exclude-dir: --color: --colour: --recursive
		--dereference-recursive --line-number --ignore-case --word-regexp --line-regexp --fixed-strings --extended-regexp --perl-regexp --basic-regexp --only-matching --files-with-matches
		--files-without-match --count --quiet --silent --no-messages --no-filename --with-filename --max-count: --binary-files: --text --regexp: --null --initial-tab --byte-offset`)
	searchMore   = optionsOf("-A: -B: -C: -v -z --after-context: --before-context: --context: --invert-match --null-data --passthru -U --multiline")
	searchKnown  = options(union(searchCalm, searchMore))
	searchCounts = strings.Fields("-l -L -c -q --files-with-matches --files-without-match --count --quiet --silent --name-only")

	// rgKept are options with which rg looks at the files that a project keeps: no hidden ones, and none that git ignores.
	rgKept = optionsOf(`-n -i -l -c -o -v -w -x -e: -g: -t: -T: -A: -B: -C: -F -S -s -H -h -I -L -m: -M: -U -P -r: -0 -j: -N -p --files --type: --glob: --iglob: --count --count-matches --json --no-heading --heading
		--line-number --no-line-number --files-with-matches --files-without-match --ignore-case --smart-case --fixed-strings --multiline --max-count: --max-depth: --context: --after-context: --before-context:
		--color: --only-matching --sort: --type-list --stats --no-messages --word-regexp --invert-match --pcre2 --column --vimgrep --with-filename --no-filename --trim --replace: --type-not: --passthru --regexp: --max-columns:`)
	// gitGrepKept are options with which git looks at the files that it tracks.
	gitGrepKept = optionsOf("-n -i -l -c -w -v -e: -E -F -P -G -I -h -H -A: -B: -C: -p -W -o -q -a -L --name-only --files-with-matches --count --cached --heading --line-number --ignore-case --word-regexp --break --and --or --not -# --color --no-color --show-function --function-context --max-depth:")
)

// FindsMost reports whether a pattern may find most lines of any file. It names something only if each of its alternatives has three letters in a row that are
// in every text that it finds.
func FindsMost(pattern string) bool {
	if strings.Contains(pattern, unknown) {
		return true
	}
	if strings.ContainsAny(pattern, `()[\*?{`) { // without these, none of the expressions finds anything
		if openPattern.MatchString(pattern) {
			return true
		}
		pattern = letterOrNot.regexp().ReplaceAllString(letterOf.regexp().ReplaceAllString(pattern, " "), " ")
	}
	for one := range strings.FieldsFuncSeq(alternatives.Replace(" "+pattern+" "), func(c rune) bool { return c == '\x02' }) {
		if !namesWord(one) {
			return true
		}
	}
	return false
}

// namesWord reports whether a text has three letters or digits in a row.
func namesWord(text string) bool {
	row := 0
	for _, c := range text {
		if row++; c != '_' && (c < '0' || c > '9') && !unicode.IsLetter(c) {
			row = 0
		}
		if row == 3 {
			return true
		}
	}
	return false
}

var (
	// openPattern are parts of patterns that we don't read: groups that may be left out, classes in classes, letters by their number.
	openPattern  = match(`\)\\?([*?{]|\+[*?+{])|\\\)\\?([*?{]|\+\\?[*?+{])|\(\?|\[\[|\[\^?\]|\\[^wWsSdDbBntr<>\W]`)
	alternatives = strings.NewReplacer("|", " \x02 ", "\n", " \x02 ")
	letterOf     = match(`\[[^\]]*\](\\?(\*|\?|\{[^}]*\}))?`)         // one of a kind
	letterOrNot  = match(`\\?[^\\]\\?(\*|\?|\{[^}]*\})|\\[a-zA-Z<>]`) // a letter that may be left out, or a sign
)

// takesNames reports whether a program reads the files whose names come in, or are in a file.
func takesNames(n string, args []arg) bool {
	for i := range args {
		text := args[i].text
		isLong, isOption := strings.HasPrefix(text, "--"), strings.HasPrefix(text, "-")
		switch {
		case isLong && isNameOption(text), n == "zip" && text == "-@", n == "git" && strings.HasPrefix(text, "--batch"), n == "tar" && (isOption && !isLong || i == 0) && strings.Contains(text, "T"):
			return true
		}
	}
	return takers[n]
}

// isNameOption reports whether an option names a file of names, with its value or without.
func isNameOption(option string) bool {
	head, _, _ := strings.Cut(option, "=")
	return nameOptions[head]
}

var (
	takers      = set("cpio pax parallel")
	nameOptions = set("--files-from --files0-from --pathspec-from-file")
)

// fedNames are the names that come in from a pipe.
func (f *files) fedNames() []string {
	if f.fed == nil {
		return []string{unknown}
	}
	return f.fed
}
