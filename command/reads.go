package command

import (
	"iter"
	"path"
	"slices"
	"strings"
)

// Read is something that a command reads or lists.
type Read struct {
	Path string // absolute, below ~, or relative to where the command starts. It may hold patterns, and zero bytes for what only the shell knows
	Deep bool   // and all that is below it
	Name bool   // it shows no more than the name, the size or the age
	Some bool   // of what a pattern finds, or a directory holds, it shows some lines or nothing
}

// Unknown reports whether only the shell knows what is read.
func (r *Read) Unknown() bool { return strings.Contains(r.Path, "\x00") }

const (
	unknown  = "\x00" // in a path: only the shell knows it
	listed   = "\x01" // in a path: a file that a project keeps, whose name another command of the same line prints
	maxReads = 256    // more reads count as one that is unknown
)

// files collects what a command reads, and where.
type files struct {
	touches
	variables
	hidden bool     // patterns find hidden files
	names  bool     // the program at hand shows no more than names, sizes and ages
	some   bool     // it shows some lines of what a pattern finds, see [Read]
	fed    []string // names of files that come in from a pipe
	texts  []string // words of the program at hand that are patterns or code, and no files
}

// expansions notes what the words of a program become, unless it only says which names there are, in words that no other program takes for names.
func (f *files) expansions(n string, args []arg) {
	if !slices.ContainsFunc(args, func(a arg) bool { return a.values != nil }) || wrappers[n] != nil || saysNames[n] || n != "sed" && n != "gsed" && showsNames(n, args) {
		return
	}
	for _, a := range args {
		for _, v := range a.values {
			if v == a.text && !strings.ContainsAny(v, "*?[") {
				continue
			}
			for full := range f.resolved(strings.ReplaceAll(v, listed, "**/*")) {
				if len(f.Expands) < maxReads {
					f.Expands = once(f.Expands, full)
				}
			}
		}
	}
}

var saysNames = set("test [ stat")

// input notes what a program reads.
func (f *files) input(n string, args []arg) {
	f.some = runsFiles[n] || n == "git"
	if takesNames(n, args) {
		f.reads(arg{values: f.fedNames()}, false, true)
	}
	if slices.ContainsFunc(args, func(a arg) bool { return namesFiles(n, a.text) }) {
		f.path(unknown, false)
	}
	switch {
	case n == "date":
		f.fileOption(args, "f", "--file")
	case quietly[n]:
	case n == "printenv":
		f.printenv(args)
	case n == "set":
		f.Environment = f.Environment || len(args) == 0
	case n == "shopt" || n == "setopt":
		f.hidden = f.hidden || slices.ContainsFunc(args, func(a arg) bool { return strings.Contains(a.text, "dot") || !a.fixed })
	case searches[n]:
		f.search(n, args)
	case n == "find":
		f.find(args)
	case n == "git":
		f.git(args)
	case n == "tar":
		f.tar(args)
	case copies[n]:
		f.copies(n, args)
	case fetchers[n] && !messengers[n]:
	default:
		f.operands(n, args, plain[n] || checks[n] != nil)
	}
}

// namesFiles reports whether an option says that a file holds the names of those that are read.
func namesFiles(n, option string) bool {
	if !strings.HasPrefix(option, "-") {
		return false
	}
	head, _, _ := strings.Cut(option, "=")
	return strings.HasPrefix(option, "--files0") || strings.HasPrefix(option, "--files-from") || (n == "wc" || n == "du") && len(head) > 2 && strings.HasPrefix("--files0-from", head) ||
		sums[n] && (strings.HasPrefix(option, "--c") || !strings.HasPrefix(option, "--") && strings.Contains(option, "c"))
}

// sums compute sums of files, and compare them with a list.
var sums = set("md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum shasum")

// operands notes what a program reads that takes its operands for files.
func (f *files) operands(n string, args []arg, known bool) {
	rest := words(args, valued[n])
	if textFirst[n] != nil && len(rest) > 0 && !slices.ContainsFunc(args, takesFile) {
		f.texts = append(f.texts, rest[0].text)
		if textFirst[n].understand(n, args) { // otherwise an option may have given the text
			rest = rest[1:]
		}
	}
	if n == "diff" {
		for i := range rest {
			if !diffOptions.understand(n, args) || strings.HasSuffix(rest[i].text, "/") || strings.Trim(path.Base(rest[i].text), ".") == "" {
				f.reads(below(rest[i]), true, true) // of a directory all files may be shown
			}
		}
	}
	deep := archives[n]
	for i := range rest {
		f.reads(rest[i], deep, known)
		if deep {
			f.packs(rest[i], args)
		}
	}
	if !known || runsFiles[n] || listsHere[n] && len(rest) == 0 {
		f.path(".", deep)
	}
}

// diffOptions show nothing of a directory but the files that another has, too.
var diffOptions = optionsOf("-u -U: -c -C: -q -s -i -w -b -B -E -Z -a -y -W: --brief --stat --side-by-side --ignore-all-space --ignore-case")

// quietly are programs that read no file that they are given, or only say how large or how old it is. What follows
// from their options is in the other tables.
var quietly = set(`echo printf true false : tr seq sleep date cal uptime whoami uname nproc free ps tty kill test [ expr factor numfmt getconf locale
	mkdir touch rm rmdir chmod chown umask ulimit exit return break continue shift wait jobs fg bg times yes which whereis type hostname id groups users
	clear pgrep pstree lsblk lscpu arch unset read cd pushd popd pwd basename dirname realpath readlink stat df tee mktemp xargs history sw_vers eval trap
	alias enable hash bind complete at batch export local let getopts mapfile readarray command`)

// listsHere are programs that look at the directory where they run if they are given no other.
var listsHere = set("ls dir vdir tree du fd fdfind")

// runsFiles are programs of the table that read more than they are given.
var runsFiles = set("make gmake tsc jest vitest eslint prettier mocha pytest mypy black isort ruff flake8 pylint golangci-lint staticcheck rspec ctest goimports")

// textFirst are programs whose first operand is a text and no file, with the options that leave it so.
var textFirst = map[string]options{
	"sed": sedText, "gsed": sedText, "awk": awkText, "gawk": awkText, "mawk": awkText, "nawk": awkText, "jq": jqText, "yq": jqText, "fd": fdText, "fdfind": fdText,
}

var (
	fdText  = optionsOf("-e: --extension: -t: --type: -H --hidden -I --no-ignore -d: --max-depth: -E: --exclude: -i -s -g -a -l -0 -1 -L -p -x: -X:")
	sedText = optionsOf("-e: --expression: -n -E -r -s -u -z -i --quiet --silent --regexp-extended --separate --unbuffered --null-data --in-place")
	awkText = optionsOf("-F: -v:")
	jqText  = optionsOf("-r -c -e -n -s -S -M -C -j -a --raw-output --compact-output --exit-status --null-input --slurp --sort-keys --monochrome-output --color-output --join-output --ascii-output --indent: --tab")
)

// understand reports whether the options of a command are all in the list, as they are written there: then it is known which words are their values.
func (o options) understand(n string, args []arg) bool {
	for i := 0; i < len(args); i++ {
		a := &args[i]
		switch {
		case !strings.HasPrefix(a.text, "-") || a.text == "-":
		case !a.fixed:
			return false
		case !o.exactly(n, a.text):
			return false
		case o[a.text] || len(a.text) > 2 && !strings.HasPrefix(a.text, "--") && o["-"+a.text[len(a.text)-1:]]: // its value is the next word
			i++
		}
	}
	return true
}

// takesFile reports whether a word is, or holds, an option that names a file of text or patterns.
func takesFile(a arg) bool {
	return strings.HasPrefix(a.text, "--f") || strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "--") && strings.Contains(a.text, "f")
}

// valued are options whose value is no file that is read.
var valued = map[string]map[string]bool{
	"cut": set("-d -f -c -b"), "sort": set("-k -t -S -o"), "column": set("-s -o -c"), "paste": set("-d"), "head": set("-n -c"), "tail": set("-n -c -s"), "awk": set("-F -v"), "gawk": set("-F -v"),
	"uniq": set("-f -s -w"), "fold": set("-w"), "nl": set("-s -w -v"), "join": set("-t -1 -2 -o -e"), "tree": set("-L -I -P"), "fd": set("-e -t -d -E -x -X"), "du": set("-d"),
	"make": set("-j"), "jq": set("--indent"), "diff": set("-U -C -I"), "go": set("-o -coverprofile -cpuprofile -memprofile"),
}

// words are what a program may take for a file: its operands, the values of options, and what is behind an equals sign
// or a letter in an option. Behind -- all of them are.
func words(args []arg, noFile map[string]bool) []arg {
	out := make([]arg, 0, len(args))
	for i := 0; i < len(args); i++ {
		a := args[i]
		head, value, isPair := strings.Cut(a.text, "=")
		switch {
		case a.text == "--":
			return append(out, args[i+1:]...)
		case a.text == "-":
		case noFile[a.text]:
			i++
		case !strings.HasPrefix(a.text, "-"):
			out = append(out, a)
		case noFile[head] || noFile[a.text[:min(2, len(a.text))]]:
		case isPair:
			out = append(out, behind(a, len(head)+1, value))
		case len(a.text) > 2 && a.text[1] != '-' && strings.ContainsAny(a.text, "/~."):
			out = append(out, behind(a, 2, a.text[2:]))
		}
	}
	return out
}

// behind is the end of a word, which begins at n.
func behind(a arg, n int, text string) arg {
	out := arg{text: text, fixed: a.fixed}
	for _, v := range a.values {
		out.values = append(out.values, v[min(n, len(v)):])
	}
	return out
}

// reads notes that a word names what is read. Where the program is not known to take it for a file, only what looks like one counts.
func (f *files) reads(a arg, deep, sure bool) {
	for _, v := range a.may() {
		if sure || !strings.Contains(v, unknown) || strings.Contains(v, "/") {
			f.path(v, deep)
		}
	}
}

// path notes one path.
func (f *files) path(p string, deep bool) {
	f.Climbs = f.Climbs || strings.Contains(p, "..") && climbs(p)
	f.Device = f.Device || strings.HasPrefix(p, "/dev/") && p != "/dev/null" || namesPipe(p)
	if p == "" || p == "-" || strings.Contains(p, "://") || strings.HasPrefix(p, "/dev/fd/") || devices[p] {
		return
	}
	some := f.some
	if before, after, found := strings.Cut(p, listed); found {
		switch {
		case after != "" || strings.Contains(before, "..") || before != "" && !strings.HasSuffix(before, "/"):
			p = unknown
		default:
			p, deep, some = before+".", true, true
		}
	}
	for full := range f.resolved(p) {
		f.Environment = f.Environment || strings.HasPrefix(full, "/proc/") && path.Base(full) == "environ"
		f.addRead(Read{Path: full, Deep: deep, Some: some})
	}
}

// devices bring in nothing that was written by anyone.
var devices = set("/dev/null /dev/stdin /dev/stdout /dev/stderr /dev/tty /dev/zero /dev/random /dev/urandom")

// namesPipe reports whether a path ends in a name that people give to pipes and sockets.
func namesPipe(p string) bool {
	base := Fold(p[strings.LastIndexByte(p, '/')+1:])
	return base == "pipe" || strings.HasSuffix(base, ".pipe") || strings.HasSuffix(base, ".sock") || strings.HasSuffix(base, ".socket") ||
		strings.HasPrefix(base, "fifo") || strings.Contains(base, ".fifo") || strings.Contains(base, "_fifo") || strings.Contains(base, "-fifo")
}

func (f *files) addRead(read Read) {
	read.Name = read.Name || f.names
	switch {
	case slices.Contains(f.Reads, read):
	case len(f.Reads) < maxReads:
		f.Reads = add(f.Reads, read)
	case !f.Reads[maxReads-1].Unknown():
		f.Reads[maxReads-1] = Read{Path: unknown, Deep: true}
	}
}

// resolved are the paths that a path may be: below the directory where the command is by then, or below one before, should
// cd have failed. What goes up is taken from the last alone.
func (here *place) resolved(p string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !yield(resolve(here.at, p)) || isAbsolute(p) || strings.HasPrefix(p, "..") {
			return
		}
		for _, dir := range here.before {
			if !yield(resolve(dir, p)) {
				return
			}
		}
	}
}

func isAbsolute(p string) bool { return strings.HasPrefix(p, "/") || strings.HasPrefix(p, "~") }

// resolve joins a directory and a path, and takes away what makes no difference. Behind a pattern, what goes up is not known.
func resolve(dir, p string) string {
	switch {
	case isAbsolute(p) || dir == "":
	case p == ".":
		return dir
	default:
		p = dir + "/" + p
	}
	if before, after, found := strings.Cut(p, "/.."); found && (after == "" || after[0] == '/') && strings.ContainsAny(before, "*?[\x00") {
		return unknown
	}
	if !strings.HasPrefix(p, "~") {
		return Clean(p)
	}
	home, rest, _ := strings.Cut(p, "/")
	if rest = path.Clean(rest); rest == ".." || strings.HasPrefix(rest, "../") {
		return path.Join("/home/user", rest)
	}
	return path.Join(home, rest)
}

// Clean is [path.Clean], which most paths don't need: they have no empty part, and none that begins with a dot.
func Clean(p string) string {
	if p == "" || p[0] == '.' || strings.HasSuffix(p, "/") || strings.Contains(p, "//") || strings.Contains(p, "/.") {
		return path.Clean(p)
	}
	return p
}

// goTo notes a change of directory.
func (here *place) goTo(args []arg) {
	args = slices.DeleteFunc(slices.Clone(args), func(a arg) bool { return a.text == "--" || a.text == "-P" || a.text == "-L" || a.text == "-e" })
	last, to := here.at, "~"
	switch {
	case slices.ContainsFunc(args, isOddPlace) || len(args) > 0 && args[0].text == "-" && !here.went: // where the shell was before only the shell knows
		to = unknown
	case len(args) > 0 && args[0].text == "-":
		to = here.last
	case len(args) > 0 && len(args[0].may()) == 1:
		to = resolve(here.at, strings.ReplaceAll(args[0].may()[0], listed, unknown))
	case len(args) > 0:
		to = unknown
	}
	if last != "" && last != to && !slices.Contains(here.before, last) && len(here.before) < 8 {
		here.before = append(slices.Clone(here.before), last)
	}
	if len(to) > maxPath {
		to = unknown
	}
	here.at, here.last, here.went = to, last, true
}

// isOddPlace reports whether a shell may take a word of cd for another place than the directory of this name: for options in one word, as in -PP, for an
// entry of its list, for a variable, or for what zsh has for ...
func isOddPlace(a arg) bool {
	return strings.HasPrefix(a.text, "-") && a.text != "-" || strings.HasPrefix(a.text, "+") || placeVariables[a.text] || onlyDots(a.text)
}

// placeVariables are variables with a directory: some shells can be set to take such a word for what is in it.
var placeVariables = set("HOME OLDPWD PWD")

// place is where a command runs.
type place struct {
	at     string   // "" is where it starts
	last   string   // for cd -
	went   bool     // there was a cd before
	before []string // where it still is if a cd failed
}

// search notes what grep and its like read.
func (f *files) search(n string, args []arg) {
	s := searching{deep: !strings.HasSuffix(n, "grep") || n == "rgrep"}
	for i := 0; i < len(args); i++ {
		if s.take(args[i:]) || searchOptions(n)[args[i].text] && !takesFile(args[i]) {
			i++
		}
	}
	f.texts = append(f.texts, s.texts...)
	rest := s.rest
	if !s.given && len(rest) > 0 && !slices.ContainsFunc(args, func(a arg) bool { return a.text == "--files" }) {
		f.texts = append(f.texts, rest[0].text)
		rest = rest[1:]
	}
	if s.deep && len(rest) == 0 {
		rest = []arg{{text: ".", fixed: true}}
	}
	f.searched(n, args, rest, s.deep)
	if !searchOptions(n).understand(n, args) { // any word may be a file
		behind := false
		for i := range args {
			if behind || !strings.HasPrefix(args[i].text, "-") {
				f.reads(args[i], s.deep, true)
			}
			behind = behind || args[i].text == "--"
		}
	}
}

// searchOptions are those of grep or its like of which it is known whether they take a value.
func searchOptions(n string) options {
	switch n {
	case "grep", "egrep", "fgrep", "rgrep", "zgrep":
		return grepOptions
	case "rg":
		return rgOptions
	}
	return nil
}

// below is the pattern of hidden files in a directory.
func below(dir arg) arg {
	out := arg{text: dir.text + "/.*"}
	for _, v := range dir.may() {
		out.values = append(out.values, v+"/.*")
	}
	return out
}

// searching is what the arguments of grep say so far.
type searching struct {
	deep  bool     // it looks below directories
	given bool     // an option gives the pattern
	rest  []arg    // operands, and files of patterns
	texts []string // patterns
}

// take reads the first of the arguments. It reports whether the next is a pattern.
func (s *searching) take(args []arg) bool {
	a := args[0]
	head, value, isPair := strings.Cut(a.text, "=")
	pattern, isLetter := patternOf(a.text)
	switch {
	case !strings.HasPrefix(a.text, "-"):
		s.rest = append(s.rest, a)
	case a.text == "--regexp" || isLetter && pattern == "":
		s.given = true
		if len(args) > 1 {
			s.texts = append(s.texts, args[1].text)
		}
		s.recurses(a.text)
		return true
	case head == "--regexp" || isLetter:
		s.given = true
		s.texts = append(s.texts, a.text)
		s.recurses(a.text[:max(strings.IndexByte(a.text, 'e'), 2)])
	case head == "--file" && isPair:
		s.given = true
		s.rest = append(s.rest, behind(a, len(head)+1, value))
	case a.text == "--file" || takesFile(a) && !strings.HasPrefix(a.text, "--"):
		s.given = true
		if at := strings.IndexByte(a.text, 'f') + 1; at < len(a.text) && a.text != "--file" {
			s.rest = append(s.rest, behind(a, at, a.text[at:]))
		}
		s.recurses(a.text[:2])
	case strings.HasPrefix(a.text, "-") && len(a.text) > 1:
		s.deep = s.deep || len(head) > 2 && slices.ContainsFunc(deepening, func(long string) bool { return strings.HasPrefix(long, head) })
		s.recurses(a.text)
	default:
		s.rest = append(s.rest, a)
	}
	return false
}

// deepening are options of grep that look below directories, which may be written shorter.
var deepening = []string{"--recursive", "--dereference-recursive", "--directories"}

// patternOf is what is behind -e, which other letters that take no value may be before.
func patternOf(option string) (pattern string, ok bool) {
	before, pattern, found := strings.Cut(option, "e")
	letters, isOption := strings.CutPrefix(before, "-")
	return pattern, found && isOption && strings.Trim(letters, "abchHiIlLnoqrRsuvwxzEFGPUVSNp.") == ""
}

// recurses notes an option, or letters of options, that look below directories.
func (s *searching) recurses(option string) {
	s.deep = s.deep || strings.HasPrefix(option, "--recursive") || strings.HasPrefix(option, "--dereference-recursive") ||
		!strings.HasPrefix(option, "--") && !strings.Contains(option, "=") && strings.ContainsAny(option, "rRd")
}

var (
	searches    = set("grep egrep fgrep zgrep rgrep rg ag ack")
	grepOptions = optionsOf(`-a -b -c -E -F -G -h -H -i -I -l -L -n -o -P -q -r -R -s -v -w -x -A: -B: -C: -m: -e: -f: -# --recursive --line-number --ignore-case --files-with-matches
		--files-without-match --count --word-regexp --line-regexp --invert-match --no-messages --only-matching --extended-regexp --fixed-strings --perl-regexp --with-filename --no-filename --quiet --text --color --colour
		--include: --exclude: --exclude-dir: --max-count: --context: --after-context: --before-context: --regexp: --file:`)
	rgOptions = optionsOf(`-a -b -c -F -H -i -I -l -n -N -o -P -q -s -S -u -U -v -w -x -0 -p -A: -B: -C: -g: -t: -T: -m: -M: -j: -e: -f: --hidden --no-ignore --line-number --no-line-number --no-heading --heading
		--files --files-with-matches --files-without-match --count --ignore-case --smart-case --case-sensitive --fixed-strings --word-regexp --multiline --only-matching --with-filename --no-filename --vimgrep --json
		--stats --trim --no-messages --invert-match --glob: --iglob: --type: --type-not: --max-count: --max-depth: --context: --after-context: --before-context: --color: --sort: --sortr: --replace: --regexp:
		--file: --max-columns:`)
	archives = set("zip 7z 7za")
	copies   = set("cp mv ln install rsync scp")
)

// find notes where find looks.
func (f *files) find(args []arg) {
	roots, _ := findRoots(args)
	for i := range roots {
		f.reads(roots[i], false, true)
	}
	if at := slices.IndexFunc(args, func(a arg) bool { return a.text == "-files0-from" }); at >= 0 && at+1 < len(args) {
		f.reads(args[at+1], false, true)
	}
}

// copies notes what is copied: all operands but the last. A link shows all that is below, and what is moved takes it along.
func (f *files) copies(n string, args []arg) {
	deep := n == "ln" || n == "mv" || slices.ContainsFunc(args, func(a arg) bool {
		return strings.HasPrefix(a.text, "--recursive") || a.text == "--archive" || strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "--") && strings.ContainsAny(a.text, "raR")
	})
	rest := words(args, nil)
	to := slices.ContainsFunc(args, func(a arg) bool {
		return strings.HasPrefix(a.text, "-t") || strings.HasPrefix(a.text, "--target-directory")
	})
	f.some = to && !deep
	if len(rest) > 1 && !to {
		last := rest[len(rest)-1].text
		f.some = !deep && (strings.HasSuffix(last, "/") || path.Base(last) == "." || path.Base(last) == "..") // each keeps its name
		rest = rest[:len(rest)-1]
	}
	for i := range rest {
		f.reads(rest[i], deep, true)
	}
}

// tar notes what goes into an archive, or the archive.
func (f *files) tar(args []arg) {
	if len(args) == 0 {
		return
	}
	mode := args[0].text
	creates := false
	for i := range args {
		text := args[i].text
		letters := i == 0 || strings.HasPrefix(text, "-") && !strings.HasPrefix(text, "--")
		creates = creates || strings.HasPrefix(text, "--create") || strings.HasPrefix(text, "--append") || letters && strings.ContainsAny(text, "cru") && !strings.Contains(text, "x")
	}
	was := f.place
	defer func() { f.place = was }()
	if !creates || strings.HasPrefix(mode, "--") {
		f.fileOption(args, "f", "--file")
	}
	f.fileOption(args, "T", "--files-from")
	for i := count(!strings.HasPrefix(mode, "-")); i < len(args); i++ {
		switch a := args[i]; {
		case a.text == "-C" && creates && i+1 < len(args):
			f.goTo(args[i+1 : i+2])
			i++
		case a.text == "-C", a.text == "--exclude", creates && a.text == "-f":
			i++
		case strings.HasPrefix(a.text, "-"):
		case creates && i == 1 && !strings.HasPrefix(mode, "--") && strings.Contains(mode, "f"): // the archive
		default:
			f.reads(a, creates, true)
			if creates {
				f.packs(a, args)
			}
		}
	}
}

// packs notes that all of the directory where a command runs goes into an archive, hidden files among the rest.
func (f *files) packs(a arg, args []arg) {
	all := func(p string) bool { return path.Clean(p) == "." || path.Clean(p) == ".." }
	leaves := func(a arg) bool { return strings.Contains(a.text, ".env") || strings.Contains(a.text, "/.*") }
	if slices.ContainsFunc(a.may(), all) && !slices.ContainsFunc(args, leaves) {
		f.reads(below(a), true, true)
	}
}

// printenv notes the variables that are shown.
func (f *files) printenv(args []arg) {
	for i := range args {
		if !args[i].option() {
			f.expands(args[i].text)
		}
	}
	f.Environment = f.Environment || !slices.ContainsFunc(args, func(a arg) bool { return a.fixed && !a.option() })
}

// expands notes that a variable is read which the command does not set.
func (f *files) expands(name string) {
	if name == "" || f.sets(name) {
		return
	}
	if len(f.Variables) == maxReads {
		f.Environment = true
		return
	}
	f.Variables = once(f.Variables, name)
}

// finish notes what follows from the whole command: a pattern finds hidden files where the shell was told so.
func (f *files) finish() {
	if f.hidden {
		for _, read := range slices.Clone(f.Reads) {
			dir, last := path.Split(read.Path)
			if strings.HasPrefix(last, "*") || strings.HasPrefix(last, "?") || strings.HasPrefix(last, "[") {
				f.addRead(Read{Path: dir + "." + last, Deep: read.Deep})
			}
		}
	}
}

// code notes what a program reads that runs a script, or code in its arguments or its input: such code may read anything.
func (f *files) code(short string, args []arg, doc *arg) {
	f.path(".", false)
	at := slices.IndexFunc(args, func(a arg) bool { return !a.option() && a.text != "-" })
	isCode := at < 0 || short == "cmd" || short == "pwsh" || short == "powershell"
	for i := range args[:max(at, 0)] {
		text := args[i].text
		isCode = isCode || text == "-" || !args[i].fixed || strings.HasPrefix(text, "--eval") || strings.HasPrefix(text, "--print") ||
			!strings.HasPrefix(text, "--") && text != "-m" && strings.ContainsAny(text, "ceEpr")
	}
	if doc != nil {
		f.literals(doc.text)
	}
	f.Code = f.Code || isCode
	for i := range args {
		if isCode {
			f.literals(args[i].text)
		} else {
			f.reads(args[i], false, i == at)
		}
	}
}

// literals notes the paths in the text of a program that lead out of the workspace.
func (f *files) literals(code string) {
	for w := range strings.FieldsFuncSeq(code, func(c rune) bool { return c <= ' ' || strings.ContainsRune("\"'`()[]{},;=+|<>", c) }) {
		if len(w) > 2 && (isAbsolute(w) || strings.HasPrefix(w, "../")) && !strings.HasPrefix(w, "//") {
			f.path(w, false)
		}
	}
}
