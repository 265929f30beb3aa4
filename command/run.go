package command

import (
	"slices"
	"strings"
)

// run reads a simple command: a program, its arguments, and the text of its here-document.
func (r *reader) run(args []arg, doc *arg) {
	if len(args) == 0 {
		return
	}
	for i := range args {
		r.mention(args[i].text)
	}
	if doc != nil {
		r.docs = append(r.docs, doc.text)
	}
	p := &args[0]
	n := name(p.text)
	r.respells(n, args[1:], doc)
	if !p.fixed && (p.bare || !strings.Contains(p.text, "/") || strings.ContainsAny(n, "\x00*?[{")) {
		r.opaque("works out the name of a program only when it runs")
		r.named(p.may())
		r.suspect(args)
		return
	}
	if r.depth > maxDepth {
		r.opaque("is nested too deeply to be read")
		return
	}
	r.depth++
	defer func() { r.depth-- }()
	r.Programs = add(r.Programs, Program{Name: n})
	r.runsAt(p)
	r.Destroys = r.Destroys || destroys(n, args[1:])
	k := kindOf(n)
	if !r.StraysFar && !k.shell && !inBuild(n, args[1:]) {
		r.Strays, r.StraysFar = true, !isInspection(n, args[1:])
	}
	r.Wider = r.Wider || isWider(n, k, args[1:])
	r.Prompts = r.Prompts || prompts(n, args[1:], r.isFed || doc != nil)
	r.expansions(n, args[1:])
	r.alters(n, args[1:])
	r.picks(n, args[1:], r.fed != nil)
	r.givenNames(args[1:], doc)
	r.beyond(n, k, args[1:])
	r.note(n, k, args)
	usual := usualPlace(p)
	r.program(n, k, usual, args, doc)
	if k.wraps == nil { // else the program inside has printed
		r.prints = nil
		if usual {
			r.prints = r.printed(n, args[1:])
		}
	}
}

// named notes what a program may be called whose name the shell works out, each once.
func (r *reader) named(programs []string) {
	for _, v := range programs {
		if !r.mayRun[v] {
			r.MayRun, r.mayRun[v] = append(r.MayRun, v), true
		}
	}
}

// kind is what more than one reader asks of a program.
type kind struct {
	shell    bool     // its arguments are commands in a language that we read
	code     bool     // it runs code in a language that we don't read
	fetches  bool     // it reaches the network
	packages bool     // it runs a package that it fetches
	manages  bool     // it runs a script by its name, or installs packages
	contains bool     // it runs commands in containers
	wraps    *wrapper // its arguments are another command; nil: they are not
}

func kindOf(n string) kind {
	return kind{
		shell: shells[n], code: interpreters[unversioned(n)], fetches: entry(fetchers, n), packages: packageRunners[n], manages: packageManagers[n],
		contains: containers[n], wraps: wrappers[n],
	}
}

// usualPlace reports whether a program is named alone, or in a directory that only an administrator writes, and by its own letters.
func usualPlace(p *arg) bool {
	dir := strings.TrimSuffix(p.text, withoutDirectory(p.text))
	return p.fixed && (dir == "" || usualPlaces[dir]) && isAsWritten(p.text)
}

func (r *reader) program(n string, k kind, usual bool, args []arg, doc *arg) {
	if !k.shell && !k.code && k.wraps == nil {
		shows := showsNames(n, args[1:])
		r.texts, r.names = nil, shows
		r.input(n, args[1:])
		r.names, r.some = false, false
		r.own(n, args[1:])
		if !shows {
			r.net(n, args[1:])
		}
		if k.contains {
			r.inside(args[1:], doc)
		}
	}
	switch {
	case k.fetches:
		r.reaches(n, args[1:])
		r.touchHere()
		if k.packages {
			r.touchWords(args[1:])
		}
	case k.shell:
		r.elsewhere(n, usual)
		was := r.sh
		r.sh = n == "sh" || n == "dash" || n == "ash"
		r.shell(n, args[1:], doc)
		r.sh = was
	case k.code:
		r.elsewhere(n, usual)
		r.interpreter(n, unversioned(n), args[1:], doc)
	case k.wraps != nil && usual:
		r.wrapped(n, k.wraps, args[1:], doc)
	case n == "at" || n == "batch":
		r.opaque("runs what comes in as " + n + "'s input")
	case n == "eval" || n == "trap" || n == "alias" || n == "enable" || n == "hash" || n == "bind" || n == "complete":
		r.opaque("hands text to " + n)
		r.suspect(args[1:])
	case n == "source" || n == ".":
		r.script(n, args[1:])
	case usual && r.known(n, args[1:]):
	default:
		r.unknown(shown(n))
		r.publish(n, args[1:])
		if r.subcommand(n, args[1:]) {
			was := r.Sends
			defer func() { r.Sends = was }() // a package may be called axios
		}
		r.guess(args)
		r.touchUnknown(n, args[1:], doc)
	}
}

// elsewhere notes a program that has a name that we know, but may be any file.
func (c *reach) elsewhere(n string, usual bool) {
	if !usual {
		c.unknown(shown(n))
	}
}

// mention keeps what may be an address for [reader.done].
func (r *reader) mention(s string) {
	if strings.Contains(s, "/") && (strings.Contains(s, "://") || strings.Contains(s, "/dev/")) {
		r.says = append(r.says, s)
	}
}

// guess looks in the arguments of a program that we don't know for names that reach the network.
func (c *reach) guess(args []arg) {
	for i := range args {
		c.scan(args[i].text)
	}
}

// suspect is [reach.guess] for words that may also name files to change.
func (r *reader) suspect(args []arg) {
	r.guess(args)
	r.touchWords(args)
}

// subcommand finds what fetches by its subcommand: git clone, npm install. It reports whether all that follows are names of what is fetched.
func (c *reach) subcommand(n string, args []arg) bool {
	subs := entry(installers, n)
	if len(args) == 0 && (n == "yarn" || n == "bundle") { // they install
		return c.fetches(n, "", args)
	}
	if subs == nil && n != "go" {
		return false
	}
	for i := range args {
		if n == "go" && strings.Contains(args[i].text, "@") { // go run module@version
			c.fetches("go", "", args)
			c.hosts(args[i:])
			return false
		}
		if sub := strings.ToLower(args[i].text); subs[sub] {
			only := c.fetches(n, sub, args)
			c.hosts(args[i+1:])
			return only && !runsToo[sub]
		}
	}
	return false
}

// known reports whether the table has a program with these arguments, and notes what it writes and runs.
func (r *reader) known(n string, args []arg) bool {
	if plain[n] {
		return true
	}
	if len(args) == 1 && versions[n+" "+args[0].text] {
		r.Programs[len(r.Programs)-1].Sub = args[0].text
		return true
	}
	switch n {
	case "popd":
		return checkCd(r, []arg{{text: "-"}}) && len(args) == 0
	case "cd", "pushd":
		return checkCd(r, args)
	case "find":
		return checkFind(r, args)
	case "fd", "fdfind":
		return checkFd(r, args)
	case "xargs":
		return checkXargs(r, args)
	}
	if check := checks[n]; check != nil {
		return check(r, args)
	}
	if subs := families[n]; subs != nil {
		return r.family(n, subs, args)
	}
	return false
}

// family checks a program that has subcommands. All of them obey settings in the workspace, which can name programs
// to run: git its fsmonitor, pager and filters, go and cargo a toolchain, npm and yarn a script. Options before the subcommand are under the name "".
func (r *reader) family(n string, subs map[string]*sub, args []arg) bool {
	at := 0
	if global := subs[""]; global != nil {
		rest, ok := global.options.leading(args)
		if !ok {
			return false
		}
		at = len(args) - len(rest)
	}
	if at >= len(args) {
		return at > 0
	}
	s := subs[args[at].text]
	if !args[at].fixed || s == nil {
		return false
	}
	rest, ok := s.options.all(args[at+1:])
	if !ok || s.operands != nil && slices.ContainsFunc(rest, func(a arg) bool { return !a.fixed || !s.operands[a.text] }) {
		return false
	}
	if s.most >= 0 && len(rest) > s.most {
		return false
	}
	for i := range args[at+1:] {
		r.output(s, args[at+1+i:])
	}
	verb := args[at].text
	r.Programs[len(r.Programs)-1].Sub = verb
	r.workspace(n + " " + verb)
	return true
}

// output notes the file of an option such as -o, at the start of the arguments.
func (w *changes) output(s *sub, args []arg) {
	for _, opt := range s.files {
		rest, found := strings.CutPrefix(args[0].text, opt)
		if value, ok := strings.CutPrefix(rest, "="); found && ok {
			w.write(arg{text: value, fixed: args[0].fixed})
		}
		if found && rest == "" && len(args) > 1 {
			w.write(args[1])
		}
	}
}

// shell reads sh and its like: a text after -c, a script, or its input.
func (r *reader) shell(n string, args []arg, doc *arg) {
	text, input := false, false
	for len(args) > 0 && (strings.HasPrefix(args[0].text, "-") || strings.HasPrefix(args[0].text, "+") || args[0].bare) {
		opt := args[0]
		args = args[1:]
		switch {
		case !opt.fixed:
			r.opaque("starts " + n + " in a way that we can't read")
		case opt.text == "--version":
			return
		case opt.text == "-", opt.text == "--":
			if input { // the rest are arguments of what comes in
				args = nil
			}
			r.script(n, args)
			return
		case shellOptions[opt.text]:
		case strings.HasPrefix(opt.text, "--"), strings.Count(strings.ToLower(opt.text), "o") > 1:
			r.opaque("starts " + n + " in a way that we can't read")
		case strings.ContainsAny(opt.text, "oO") && len(args) > 0:
			if !args[0].fixed {
				r.opaque("starts " + n + " in a way that we can't read")
			}
			args = args[1:]
			fallthrough
		default:
			text = text || strings.Contains(opt.text, "c")
			input = input || strings.Contains(opt.text, "s")
		}
	}
	if input && !text {
		r.opaque("runs what comes in as " + n + "'s input")
	}
	switch {
	case text && len(args) > 0 && args[0].fixed:
		r.parse(args[0].text)
	case text:
		r.opaque("works out what " + n + " runs only when it runs")
		r.suspect(args)
	case len(args) > 0:
		r.script(n, args)
	case doc != nil && doc.fixed:
		r.parse(doc.text)
	default:
		r.opaque("runs what comes in as " + n + "'s input")
	}
}

// script reads what runs a file.
func (r *reader) script(n string, args []arg) {
	if len(args) == 0 {
		r.opaque("runs what comes in as " + n + "'s input")
		return
	}
	if file := args[0].text; file == "\x00" || file == "-" || strings.HasPrefix(file, "/dev/") || strings.HasPrefix(file, "/proc/") {
		r.opaque("runs the output of other commands")
	}
	r.reads(args[0], false, true)
	r.unknown(shown(n))
	r.publish(n, args)
	r.suspect(args)
}

// interpreter reads what runs code in another language.
func (r *reader) interpreter(n, short string, args []arg, doc *arg) {
	if len(args) == 1 && versions[short+" "+args[0].text] {
		r.Programs[len(r.Programs)-1].Sub = args[0].text
		return
	}
	if short == "python" && r.module(args) {
		return
	}
	r.code(short, args, doc)
	if short == "osascript" && slices.ContainsFunc(args, func(a arg) bool { return tellsApplication.MatchString(a.text) }) {
		first(&r.Others, "another application") // such as mail
	}
	r.unknown(shown(n))
	r.publish(n, args[:min(1, len(args))])
	r.suspect(args)
	r.subcommand(n, args) // php -s
	if doc != nil {
		r.scan(doc.text)
		r.touchText(doc.text)
		r.codeBeyond(n, doc.text)
		return
	}
	last := len(args) - 1
	if last < 0 || args[last].text == "-" || len(args) == 1 && args[0].option() && !strings.ContainsAny(args[0].text, "ceE=") ||
		args[0].text == "\x00" || strings.HasPrefix(args[0].text, "/dev/") || strings.HasPrefix(args[0].text, "/proc/") {
		r.opaque("runs what comes in as " + n + "'s input")
	}
}

var tellsApplication = match(`(?i)tell\s+app|\bapp(lication)?\s*["(]`)

// module reads python -m, which runs a program by its module's name.
func (r *reader) module(args []arg) bool {
	if len(args) < 2 || args[0].text != "-m" || !args[1].fixed {
		return false
	}
	switch m := args[1].text; {
	case workspaceModules[m]:
		operands := words(args[2:], nil)
		for _, a := range operands {
			r.reads(a, false, false)
		}
		r.touch(operands[min(1, len(operands)):]...) // json.tool writes the second
		r.path(".", false)
		r.workspace("python -m " + m)
		return true
	case m == "pip":
		r.program("pip", kindOf("pip"), true, args[1:], nil)
		return true
	default:
		return false
	}
}

// wrapped reads a program whose arguments are another command.
func (r *reader) wrapped(n string, w *wrapper, args []arg, doc *arg) {
	rest, ok := w.options.leading(args)
	if !ok {
		r.path(unknown, false) // it may say where the command runs, or what
		r.unknown(n)
		r.suspect(args)
		return
	}
	if n == "command" && len(rest) < len(args) && (args[0].text == "-v" || args[0].text == "-V") {
		return
	}
	for w.assigns && len(rest) > 0 && strings.Contains(rest[0].text, "=") && !rest[0].bare {
		key, value, _ := strings.Cut(rest[0].text, "=")
		r.variable(key, &arg{text: value, fixed: rest[0].fixed})
		r.mention(value)
		rest = rest[1:]
	}
	if splits(rest[:min(w.skip, len(rest))]) {
		r.unknown(n)
		r.suspect(args)
		return
	}
	rest = rest[min(w.skip, len(rest)):]
	if len(rest) == 0 {
		r.Environment = r.Environment || n == "env"
		return
	}
	if w.text { // watch 'a | b' hands its words to a shell
		words := make([]string, len(rest))
		for i := range rest {
			words[i] = rest[i].text
		}
		joined := strings.Join(words, " ")
		was := r.sh
		defer func() { r.sh = was }()
		r.sh = true
		r.shell(n, []arg{{text: "-c", fixed: true}, {text: joined, fixed: !slices.ContainsFunc(rest, func(a arg) bool { return !a.fixed })}}, nil)
		return
	}
	r.run(rest, doc)
}
