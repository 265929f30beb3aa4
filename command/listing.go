package command

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Names of files that one program prints, another may read: in a pipe into xargs, or in $(…). We follow them as patterns of paths.

// printed are the names of files that a program prints, if it prints nothing else; nil where it may print any text. Each option has to be
// in the table: grep --label, find -printf and git branch --format print any text.
func (r *reader) printed(n string, args []arg) []string {
	if r.declares {
		return nil
	}
	if o := choosers[n]; o != nil && r.fed != nil {
		t, ok := o.take(args)
		if ok && len(t.operands) <= count(strings.HasSuffix(n, "grep")) {
			return r.fed
		}
	}
	if n == "find" {
		if names, only := found(args); only {
			return names
		}
		return nil
	}
	if n == "git" && len(args) > 0 {
		n, args = n+" "+args[0].text, args[1:]
	}
	l, isLister := listers[n]
	if !isLister {
		return nil
	}
	t, ok := l.options.take(args)
	if !ok || l.needs != nil && !t.has(l.needs...) {
		return nil
	}
	return bounded(l.names(&t))
}

// bounded are names, or what is not known where they are too many, or none: grep -l x.
func bounded(names []string) []string {
	if len(names) == 0 || len(names) > maxValues {
		return []string{unknown}
	}
	return names
}

// lister is a program that prints names of files.
type lister struct {
	options options
	needs   []string // one of these options
	names   func(*taken) []string
}

var (
	listers = map[string]lister{
		"ls":     {optionsOf("-1 -a -A -t -r -S -R -d -f -U -X -v -c -u --all --almost-all --directory --recursive --reverse"), nil, listedByLs},
		"fd":     {fdNames, nil, listedByFd},
		"fdfind": {fdNames, nil, listedByFd},
		"rg":     {rgKept, strings.Fields("--files -l --files-with-matches"), listedByRg},
		"grep":   {searchCalm, strings.Fields("-l --files-with-matches"), listedByGrep},
		"which": {optionsOf("-a"), nil, func(t *taken) []string {
			return t.each(func(v string) []string { return []string{"/usr/bin/" + path.Base(v)} })
		}},
		"mktemp":        {optionsOf("-d -q"), nil, func(t *taken) []string { return append(t.each(itself), "/tmp/tmp.x") }},
		"git ls-files":  {optionsOf("-c -d -m -z --cached --deleted --modified --full-name --exclude-standard --error-unmatch"), nil, kept},
		"git ls-tree":   {optionsOf("-r -z --name-only --full-tree"), strings.Fields("--name-only"), listedByDiff},
		"git diff":      {optionsOf("--name-only --cached --staged --diff-filter: -z --relative"), strings.Fields("--name-only"), listedByDiff},
		"git grep":      {gitGrepKept, strings.Fields("-l --name-only --files-with-matches"), func(t *taken) []string { return kept(t.without(1)) }},
		"git rev-parse": {optionsOf("--show-toplevel"), strings.Fields("--show-toplevel"), func(*taken) []string { return []string{"."} }},
		"pwd":           {optionsOf("-P -L"), nil, func(*taken) []string { return []string{"."} }},
	}
	fdNames = optionsOf("-e: --extension: -t: --type: -H --hidden -I --no-ignore -u -d: --max-depth: -E: --exclude: -i -s -g -a -0 -1 -L -p")

	// choosers print some of the lines that come in.
	choosers = map[string]options{
		"sort": optionsOf("-u -n -r -z -V"), "uniq": optionsOf("-z"), "head": optionsOf("-n: -# -z"), "tail": optionsOf("-n: -# -z"),
		"grep": chooseLines, "egrep": chooseLines, "fgrep": chooseLines,
	}
	chooseLines = optionsOf("-v -i -E -F -P -w -x -z")
)

func itself(v string) []string { return []string{v} }

// alone reports whether a statement prints what its last program prints, and nothing else.
func alone(s *syntax.Stmt) bool {
	for _, d := range s.Redirs {
		if d.N == nil || d.N.Value != "2" || d.Word == nil || d.Word.Lit() != "/dev/null" {
			return false
		}
	}
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		return len(c.Args) > 0 && len(c.Assigns) == 0 && !s.Background && !s.Coprocess
	case *syntax.BinaryCmd:
		return c.Op == syntax.Pipe && alone(c.Y)
	default:
		return false
	}
}

// taken is what arguments say, where each option is in a table.
type taken struct {
	given    []option
	operands []arg
}

// option is one that is given, with its values.
type option struct {
	name   string
	values []string
}

// has reports whether one of these options is given.
func (t *taken) has(options ...string) bool {
	return slices.ContainsFunc(t.given, func(o option) bool { return slices.Contains(options, o.name) })
}

// values are those of options that mean the same.
func (t *taken) values(options ...string) (out []string) {
	for _, name := range options {
		for _, o := range t.given {
			if o.name == name {
				out = append(out, o.values...)
			}
		}
	}
	return out
}

// give notes an option, and values of it.
func (t *taken) give(name string, values ...string) {
	at := slices.IndexFunc(t.given, func(o option) bool { return o.name == name })
	if at < 0 {
		at, t.given = len(t.given), add(t.given, option{name: name})
	}
	t.given[at].values = append(t.given[at].values, values...)
}

// take reads arguments by a table. It reports false where an option is not in it, or a word may become one.
func (o options) take(args []arg) (t taken, ok bool) {
	for i := 0; i < len(args); i++ {
		a := &args[i]
		isPattern := a.values != nil && !strings.HasPrefix(a.text, "-")
		switch {
		case isPattern && a.isOpen() || strings.Contains(a.text, unknown) && !isPattern:
			return t, false
		case a.text == "--":
			t.operands = append(t.operands, args[i+1:]...)
			return t, true
		case isPattern || !a.option():
			if t.operands == nil {
				t.operands = make([]arg, 0, len(args)-i)
			}
			t.operands = append(t.operands, *a)
			continue
		}
		takes, in := o.has(a)
		if !in {
			return t, false
		}
		name, value := o.named(&t, a.text)
		if takes && i+1 < len(args) {
			i++
			t.give(name, args[i].may()...)
		} else if value != "" {
			t.give(name, value)
		}
	}
	return t, true
}

// named notes the options that a word of the table gives. It returns the last, and a value that is in the same word.
func (o options) named(t *taken, text string) (name, value string) {
	head, value, _ := strings.Cut(text, "=")
	if _, whole := o[head]; whole {
		t.give(head)
		return head, value
	}
	for i := 1; i < len(text); i++ { // a cluster of letters
		name = "-" + text[i:i+1]
		t.give(name)
		if o[name] {
			return name, text[i+1:]
		}
	}
	return name, ""
}

// each are the names that the operands make.
func (t *taken) each(of func(string) []string) (out []string) {
	out = []string{}
	for i := range t.operands {
		for _, v := range t.operands[i].may() {
			out = append(out, of(v)...)
		}
	}
	return out
}

// without leaves the first operands out, unless an option gives the pattern.
func (t *taken) without(n int) *taken {
	if len(t.values("-e", "--regexp")) > 0 || t.has("--files") {
		return t
	}
	out := *t
	out.operands = t.operands[min(n, len(t.operands)):]
	return &out
}

// kept are the files that a project keeps, below the operands: git tracks them, rg and fd don't leave them out.
func kept(t *taken) []string {
	if len(t.operands) == 0 {
		return []string{listed}
	}
	return t.each(func(v string) []string {
		if v == "." {
			return []string{listed}
		}
		if isHidden(v) {
			return append(anyDepth(v, []string{"*"}), v)
		}
		out := []string{v, v + "/" + listed}
		if beginsOpen(v) && !EndsPlainly(v) { // to git a star is a dot, too
			out = append(out, "."+v)
		}
		return out
	})
}

// isHidden reports whether a path leads into a hidden directory, or is a hidden file. In OpenClaw's is the workspace.
func isHidden(p string) bool {
	for part := range strings.SplitSeq(p, "/") {
		if len(part) > 1 && part[0] == '.' && part != ".." && part != ".openclaw" && part != ".github" {
			return true
		}
	}
	return false
}

// listedByDiff are files that git has. The operands may be commits, or files.
func listedByDiff(t *taken) []string { return append(t.each(itself), listed) }

// listedByLs are the operands, and the names in them.
func listedByLs(t *taken) []string {
	out := t.each(itself)
	opens := len(t.operands) == 0 || slices.ContainsFunc(out, func(v string) bool { return !strings.ContainsAny(v, "*?[") || !EndsPlainly(v) })
	if t.has("-d", "--directory") || !opens {
		return out
	}
	out = append(out, "*")
	if t.has("-a", "-A", "-f", "--all", "--almost-all") {
		out = append(out, ".*")
	}
	return out
}

// listedByFd are the files that fd finds: by a part of their name, by their ending, or all. It leaves hidden ones out, and those that git ignores, unless an option says otherwise.
func listedByFd(t *taken) []string {
	places, names := *t, []string{"*"}
	places.operands = t.operands[min(1, len(t.operands)):]
	all := t.has("-H", "--hidden", "-I", "--no-ignore", "-u")
	if len(t.operands) > 0 && !all {
		if t.has("-g") {
			names[0] = t.operands[0].text
		} else if part := plainParts.Replace(t.operands[0].text); strings.Trim(part, ".*") != "" && plainName.MatchString(part) {
			names[0] = "*" + part + "*"
		}
	}
	if ends := t.values("-e", "--extension"); len(ends) > 0 {
		stem := names[0]
		names = nil
		for _, end := range ends {
			names = append(names, stem+"."+strings.TrimPrefix(end, "."))
		}
	}
	switch {
	case all:
		return places.below(names)
	case names[0] == "*":
		return kept(&places)
	}
	if len(places.operands) == 0 {
		places.operands = []arg{{text: "."}}
	}
	found := places.each(func(v string) []string {
		if isHidden(v) {
			return append(anyDepth(v, []string{"*"}), v)
		}
		out := []string{v, v + "/" + listed}
		for _, name := range names {
			out = append(out, v+"/**/"+name)
		}
		return out
	})
	if len(found) > maxValues {
		return kept(&places)
	}
	return found
}

// plainName is a part of a name, with stars, and plainParts make one of a simple expression: \.go$
var (
	plainName  = match(`^[A-Za-z0-9_.*-]+$`)
	plainParts = strings.NewReplacer(`\.`, ".", ".*", "*", "^", "", "$", "")
)

func listedByRg(t *taken) []string {
	places := t.without(1)
	if globs := t.globs(); len(globs) > 0 {
		return places.below(globs)
	}
	return kept(places)
}

func listedByGrep(t *taken) []string {
	places := t.without(1)
	switch {
	case !t.deep():
		return places.each(itself)
	case len(t.globs()) > 0:
		return places.below(t.globs())
	}
	return places.below([]string{"*"})
}

// deep reports whether grep looks below directories.
func (t *taken) deep() bool {
	return t.has("-r", "-R", "--recursive", "--dereference-recursive")
}

// globs are the names of files that options of grep or rg limit them to.
func (t *taken) globs() (out []string) {
	for _, g := range t.values("--include", "-g", "--glob", "--iglob") {
		if !strings.HasPrefix(g, "!") {
			out = append(out, braces(g)...)
		}
	}
	return out
}

// below are all names of a kind below the operands.
func (t *taken) below(names []string) []string {
	if len(t.operands) == 0 {
		return anyDepth(".", names)
	}
	return t.each(func(v string) []string { return append(anyDepth(v, names), v) })
}

// anyDepth are the files with such names below a directory, hidden ones among them.
func anyDepth(root string, names []string) (out []string) {
	for _, name := range names {
		out = append(out, root+"/**/"+name)
		if base := path.Base(name); beginsOpen(base) && !EndsPlainly(base) {
			out = append(out, root+"/**/."+base)
		}
	}
	return out
}

// beginsOpen reports whether a pattern may begin with any letter.
func beginsOpen(pattern string) bool { return strings.IndexAny(pattern, "*?[") == 0 }

// plainEnd are ends of names of source code or text. Hidden files that end so are like others that do; .env.local is not.
var plainEnd = set(`.go .mod .sum .js .jsx .ts .tsx .cjs .cjsx .cts .ctsx .mjs .mjsx .mts .mtsx .vue .svelte .py .pyi .ipynb .rb .rs .java .kt .kts .scala .c .h .cc .cpp .cxx .hpp .m .mm .cs .fs .php
	.swift .dart .lua .pl .r .jl .ex .exs .erl .hs .clj .zig .nim .sh .bash .zsh .md .mdx .rst .adoc .txt .htm .html .css .sass .scss .less .sql .proto .graphql .svg .png .jpg .jpeg .gif .log .lock .csv .tsv
	.tex .toml .yml .yaml .json .xml`)

// EndsPlainly reports whether a name or a pattern ends as those of source code or text do.
func EndsPlainly(name string) bool { return plainEnd[path.Ext(name)] }

// found are the files that find finds. It reports whether find prints their names and does nothing else.
func found(args []arg) (names []string, only bool) {
	if slices.ContainsFunc(args, func(a arg) bool {
		return slices.ContainsFunc(a.may(), func(v string) bool { return strings.Contains(v, unknown) })
	}) {
		return []string{unknown}, false
	}
	roots, tests := findRoots(args)
	f := finder{only: true, at: finds{name: "*"}}
	for i := 0; i < len(tests); i++ {
		i += f.read(tests[i:])
	}
	f.end()
	for i := range roots {
		for _, root := range roots[i].may() {
			names = append(names, root)
			for _, at := range f.all {
				if f.any {
					at = finds{name: "*"}
				}
				below := anyDepth(root, []string{at.name})
				if at.visible {
					below = below[:1]
				}
				names = append(names, below...)
			}
		}
	}
	return bounded(names), f.only
}

// findRoots are where find looks, and what it looks for.
func findRoots(args []arg) (roots, tests []arg) {
	end := 0
	for ; end < len(args); end++ {
		text := args[end].text
		if text == "--" {
			continue
		}
		if text == "(" || text == "!" || strings.HasPrefix(text, "-") && !findFirst.MatchString(text) {
			if strings.HasPrefix(text, "-") && strings.Contains(text, "/") { // find -xf/etc, elsewhere
				roots = append(roots, arg{text: unknown})
			}
			break
		}
		if text == "-D" { // what it is to print of itself
			end++
		} else if !strings.HasPrefix(text, "-") {
			roots = append(roots, args[end])
		}
	}
	if len(roots) == 0 {
		roots = []arg{{text: ".", fixed: true}}
	}
	return roots, args[min(end, len(args)):]
}

// finds is what one of the alternatives of find finds.
type finds struct {
	name    string
	visible bool // hidden files are left out
	acted   bool // it has printed or run something: what is tested after that leaves nothing out
}

// finder reads the tests of find.
type finder struct {
	at   finds
	all  []finds
	any  bool // a test is not in the table: it finds anything
	only bool // it only prints names
}

func (f *finder) end() { f.all, f.at = append(f.all, f.at), finds{name: "*"} }

// read reads the first of the tests. It returns how many words belong to it besides.
func (f *finder) read(tests []arg) int {
	text, value := tests[0].text, ""
	if len(tests) > 1 {
		value = tests[1].may()[0]
	}
	switch {
	case text == "-o" || text == "-or" || text == ",":
		f.end()
	case text == "!" || text == "-not":
		switch {
		case findNames[value] && len(tests) > 2:
			f.at.visible = f.at.visible || !f.at.acted && path.Base(tests[2].text) == ".*"
			return 2
		case value == "(" || value == "!" || value == "-not":
			f.any = true
		}
	case findNames[text]:
		f.named(value, strings.HasSuffix(text, "name") && !strings.HasPrefix(text, "-w") && !strings.HasPrefix(text, "-iw"))
		return 1
	case strings.HasPrefix(text, "-exec"):
		f.only, f.at.acted = false, true
		return max(0, execEnd(tests[1:])+1)
	case strings.HasPrefix(text, "-print"):
		f.at.acted = true
		f.only = f.only && findFlags[text]
	case findValues[text]:
		return 1
	case !findFlags[text]:
		f.only, f.any = false, true
	}
	return 0
}

// named notes a test of the name, or of the whole path, in which a star is a slash, too.
func (f *finder) named(pattern string, isName bool) {
	base := path.Base(pattern)
	switch {
	case f.at.acted:
	case isName, !strings.ContainsAny(base, "*?[") && strings.Contains(pattern, "/"):
		f.at.name = base
	case EndsPlainly(base):
		f.at.name = "*" + path.Ext(base)
	}
}

var (
	// findFirst are options that are before where find looks, of GNU and of BSD. -f is one that names such a place.
	findFirst  = match(`^-([EHLPXdsxf]+|D|O.*)$`)
	findNames  = set("-name -iname -path -ipath -wholename -iwholename")
	findValues = set("-type -maxdepth -mindepth -mtime -mmin -ctime -cmin -newer -size -user -group -perm -regex -iregex -regextype")
	findFlags  = set("( ) -a -and -print -print0 -prune -empty -xdev -mount -depth -follow -readable -writable -executable -daystart -quit")
)
