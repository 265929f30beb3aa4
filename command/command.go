// Package command says what a shell command does, as far as its text tells: which programs it runs, whether
// it can reach the network, which files it reads and writes, which hosts it names.
//
// It parses the command as bash does (mvdan.cc/sh) and looks at every word in command position: in pipes,
// substitutions, loops and functions, behind sudo, env, xargs or find -exec, and inside sh -c '…'. A command
// is harmless only if all of these are in a table of programs that stay on the machine, with options that
// are in the table too. The rest can reach the network or run anything. [Command.Opaque] names what can't be
// read by construction: text that doesn't parse, eval, an expansion where a program's name should be, or
// text that is piped into an interpreter.
//
// [Lines] gives the words of all commands in a text with their places, for redaction: it also reads texts that
// are no commands, or only in part.
//
// It refuses to guess: there is no error for a caller to ignore. A command that we can't read can do anything.
// It reads no file and runs nothing; what a script contains, it does not know.
package command

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const (
	maxText  = 64 << 10 // a longer command can do anything
	maxNests = 256      // so can one that nests deeper; the parser recurses
	maxDepth = 12       // of commands inside arguments: sudo sh -c "sh -c …"
)

// Command is what a command line does. Its zero value does nothing.
type Command struct {
	Programs  []Program // in the order of the text
	Fetcher   string    // the first program or name that reaches the network, or ""
	Sends     string    // the first that may send data out there, or change or publish something; "" where it only fetches, or reaches nothing
	Saves     bool      // what it fetches may be stored in files
	Hosts     []Host    // that it names to connect to
	Opaque    string    // why it can't be read at all, as the end of "This command …"; or ""
	Prompts   bool      // a program in it takes commands that are typed into it
	MayRun    []string  // programs whose names the shell works out, with patterns
	Unknown   []string  // programs that are not in the table, or used in a way that is not
	Runs      []string  // programs that execute what is in the workspace: make, go test, git commit
	Strays    bool      // it runs something that is no part of a build, see [Command.Builds]
	StraysFar bool      // and that does not show what git keeps either, see [Command.Inspects]
	Wider     bool      // it does more than to look at files that it names
	Writes    []string  // files that it writes, where the text names them
	Rewrites  bool      // it changes files of the workspace in ways that its text does not show: git checkout, git apply
	Respells  bool      // what it prints is not what its text says: echo -e, echo *
	Foreign   bool      // it puts files of another branch or commit into the workspace
	Outside   string    // a write that may reach beyond the workspace or into what runs later, or ""
	Destroys  bool      // it can't be undone
	Deletes   bool      // it deletes files
	Fetched   bool      // it runs what it has fetched
	RunsPage  bool      // what it runs is a text that it has fetched, and no package: curl | sh

	Reads       []Read   // files and directories that it reads or lists
	Seeks       []string // patterns that a search finds in files of any name, and shows the lines
	Words       []string // of programs that may show what files hold: any of them may name one
	Expands     []string // paths that a shell or another program works out, with patterns, whatever is done with them
	Alters      []string // directories of which it deletes or locks away all, or moves it
	Over        []string // files and directories that it writes over, moves or removes
	Touches     []string // these, and other paths that it may change: what git, a copy or a program that we don't know is given
	Picks       []string // patterns by which it chooses files: those of find, with ** for any directories, and of git. A star may be slashes, too
	Unnamed     bool     // it deletes or changes files whose names are only found when it runs
	Harms       string   // a program that changes the machine for later, or removes what is in no file that it names; or ""
	CodeShows   bool     // code in it reads the environment
	Climbs      bool     // a path that it reads, or where it or git works, goes up, which leads anywhere behind a link
	Device      bool     // it reads a device, or what is named like a pipe: that may never end
	GitIn       []string // where git works: "" is where the command starts. It holds what is unknown if the command changes the directory in another way than by one cd at its start
	Others      string   // commits of others that git shows, or ""
	Variables   []string // of the environment, by name, that it expands
	Environment bool     // it shows all of them
	Stores      bool     // it prints what is in a store of secrets: pass show
	Settings    bool     // it prints settings that may hold a secret: git config -l
	Code        bool     // it runs code in a language that we don't read, which may read anything
}

// Program is a word in command position, in lower case and without its directory.
type Program struct {
	Name string
	Sub  string // the subcommand, where the program has some: "commit" of git; "--version" of python
}

// String is the program with its subcommand: "git log".
func (p Program) String() string { return strings.TrimSpace(p.Name + " " + p.Sub) }

// Host is a place that a command names to connect to.
type Host struct {
	Name string // as it is written, in lower case
	Port string // "" where the command leaves it open
}

// Parse reads a command line as bash would.
func Parse(text string) Command { return ParseIn("", text) }

// ParseIn reads a command line that starts in a directory: where it is not "", as after cd.
func ParseIn(dir, text string) Command {
	r := newReader(dir)
	r.parse(text)
	return r.done()
}

func newReader(dir string) *reader {
	r := &reader{lang: syntax.LangBash, mayRun: map[string]bool{}}
	if dir != "" {
		r.at = resolve("", dir)
		r.Climbs = strings.Contains(dir, "..") && climbs(dir)
		r.moved = r.at != "." // it may be outside the workspace
	}
	return r
}

// Argv reads a program with its arguments, which no shell has to split.
func Argv(dir string, words []string) Command {
	r := newReader(dir)
	args := make([]arg, len(words))
	for i, w := range words {
		if strings.ContainsAny(w, unknown+listed) {
			r.opaque(odd)
		}
		args[i] = arg{text: w, fixed: true}
	}
	r.run(args, nil)
	return r.done()
}

// Typed reads text that goes into a running program, or that a tool takes besides a command: it may be a
// command, code in another language, or plain words. We never know what it does.
func Typed(dir, text string) Command {
	r := newReader(dir)
	r.loose = true
	r.parse(text)
	r.unknown("typed text")
	return r.done()
}

// With is a command line that more arguments are added to.
func With(dir, text string, args []string) Command {
	quoted := text
	for _, a := range args {
		quoted += " '" + strings.ReplaceAll(a, "'", `'\''`) + "'"
	}
	c := ParseIn(dir, quoted)
	if len(args) > 0 && strings.ContainsAny(text, "#\n'\"`\\<") { // they may be lost in a comment or in quotes
		c.Add(Argv(dir, append([]string{text}, args...)))
	}
	return c
}

// Network reports whether the command is known to reach the network.
func (c *Command) Network() bool { return c.Fetcher != "" || len(c.Hosts) > 0 }

// Fetches reports whether the command's output may come from outside: it reaches the network, or it can't be
// read by construction. A program or script that we merely don't know does not count.
func (c *Command) Fetches() bool { return c.Network() || c.Opaque != "" }

// Known reports whether the command stays on the machine and runs only programs that we know and what is in the
// workspace, wherever it writes.
func (c *Command) Known() bool { return !c.Fetches() && len(c.Unknown) == 0 }

// Contained reports whether it also writes only in the workspace.
func (c *Command) Contained() bool { return c.Known() && c.Outside == "" }

// Harmless reports whether the command stays on the machine and runs only programs that we know. Build and test
// commands, and all of git, run what files in the workspace say: they are not harmless by themselves.
func (c *Command) Harmless() bool { return c.Contained() && len(c.Runs) == 0 }

// Writing says whether the command writes files, and whether its text shows all that it writes. A command that we can't read
// to the end may write anything; one that fetches a page and prints it writes nothing. What builds and tests writes what is in the workspace already.
func (c *Command) Writing() (writes, shown bool) {
	shown = c.Opaque == "" && len(c.Unknown) == 0 && (!c.Network() || c.Fetcher != "" && !c.Saves) && c.Outside == "" && !c.Rewrites
	if len(c.Writes) > 0 {
		shown = shown && !c.Respells && len(c.Reads) == 0 && len(c.Variables) == 0 && !c.Environment &&
			!slices.ContainsFunc(c.Programs, func(p Program) bool { return !writesText[p.Name] })
	}
	return !shown || len(c.Writes) > 0, shown
}

// CarriesIn reports whether the command may put into files what it reads.
func (c *Command) CarriesIn() bool {
	return len(c.Writes) > 0 || slices.ContainsFunc(c.Programs, func(p Program) bool { return carriers[p.Name] || p.Name == "git" && !gitLeaves[p.Sub] })
}

var (
	// carriers are programs that copy or unpack files.
	carriers = set("cp mv ln install rsync tar bsdtar unzip 7z 7za cpio pax dd patch ditto gunzip")
	// gitLeaves are verbs of git that put nothing into files.
	gitLeaves = set("status log diff show grep blame shortlog ls-files ls-tree rev-parse rev-list describe merge-base cat-file for-each-ref branch tag remote fetch add commit push config check-ignore")
)

// writesText are programs that write what their text says, as it is there.
var writesText = set("echo cat tee mkdir touch rm rmdir chmod cd true : test [ sh bash")

// Add adds what another command does.
func (c *Command) Add(o Command) {
	c.Programs = join(c.Programs, o.Programs)
	c.Hosts = join(c.Hosts, o.Hosts)
	c.Unknown = join(c.Unknown, o.Unknown)
	c.Runs = join(c.Runs, o.Runs)
	c.Writes = join(c.Writes, o.Writes)
	c.Reads = join(c.Reads, o.Reads)
	c.Words = join(c.Words, o.Words)
	c.Seeks = join(c.Seeks, o.Seeks)
	c.Expands = join(c.Expands, o.Expands)
	c.GitIn = join(c.GitIn, o.GitIn)
	c.Device = c.Device || o.Device
	c.Climbs = c.Climbs || o.Climbs
	c.Alters = join(c.Alters, o.Alters)
	c.Over = join(c.Over, o.Over)
	c.Touches = join(c.Touches, o.Touches)
	c.Picks = join(c.Picks, o.Picks)
	c.Unnamed = c.Unnamed || o.Unnamed
	c.CodeShows = c.CodeShows || o.CodeShows
	first(&c.Harms, o.Harms)
	c.Variables = join(c.Variables, o.Variables)
	c.Destroys = c.Destroys || o.Destroys
	c.Deletes = c.Deletes || o.Deletes
	c.Fetched = c.Fetched || o.Fetched
	c.RunsPage = c.RunsPage || o.RunsPage
	c.Rewrites = c.Rewrites || o.Rewrites
	c.Respells = c.Respells || o.Respells
	c.Foreign = c.Foreign || o.Foreign
	c.Strays = c.Strays || o.Strays
	c.StraysFar = c.StraysFar || o.StraysFar
	c.Prompts = c.Prompts || o.Prompts
	c.MayRun = append(c.MayRun, o.MayRun...)
	c.Wider = c.Wider || o.Wider
	c.Stores = c.Stores || o.Stores
	c.Settings = c.Settings || o.Settings
	c.Environment = c.Environment || o.Environment
	c.Code = c.Code || o.Code
	first(&c.Fetcher, o.Fetcher)
	first(&c.Sends, o.Sends)
	c.Saves = c.Saves || o.Saves
	first(&c.Opaque, o.Opaque)
	first(&c.Outside, o.Outside)
	first(&c.Others, o.Others)
}

func join[T any](a, b []T) []T {
	if len(a) == 0 {
		return b
	}
	return append(a, b...)
}

// Says tells a person what the command can do, in a sentence; "" where it is harmless.
func (c *Command) Says() string {
	switch {
	case c.Fetcher != "" || len(c.Hosts) > 0:
		return "This can reach the network: " + c.network() + "."
	case c.Opaque != "":
		return "This command " + c.Opaque + ": it could reach the network or run anything."
	case len(c.Unknown) > 0:
		return "We don't know what `" + c.Unknown[0] + "` does: it could reach the network or run anything."
	case c.Outside != "":
		return "This writes " + c.Outside + ", which may run something later."
	case len(c.Runs) > 0:
		return "`" + c.Runs[0] + "` runs what is in the workspace, which the agent may have changed."
	default:
		return ""
	}
}

// network names what reaches the network, and the host.
func (c *Command) network() string {
	what := c.Fetcher
	for _, h := range c.Hosts {
		if quiet(h.Name) {
			return strings.TrimSpace(what + " " + h.Name)
		}
	}
	if what == "" {
		return "it names an address"
	}
	return what
}

func first(to *string, from string) {
	if *to == "" {
		*to = from
	}
}

// reader collects what a command does. It walks the command, and is made of layers that each know those below: what the command
// reaches and what is not known of it, what it reads, and what it changes.
type reader struct {
	changes
	downloads
	loose   bool // the text need not be a command
	sh      bool // a shell reads it that is not bash everywhere
	lang    syntax.LangVariant
	depth   int
	decodes string   // a program that turns data into text
	says    []string // words that may hold an address: they count if a program that we don't know may use them
	docs    []string // here-documents, which such a program may run
	isFed   bool     // a file is its input
	mayRun  map[string]bool

	cds, leadingCds int // how often it changes the directory, and how often at the start of all that follows, see [leadsBy]

	declares bool     // it declares a function, which may have any program's name
	prints   []string // the names of files that the last program printed, see [reader.printed]
}

// parse reads a text and adds what it does.
func (r *reader) parse(text string) {
	if r.depth >= maxDepth {
		r.opaque(tooDeep)
		return
	}
	r.depth++
	was := r.place
	defer func() { r.depth, r.place = r.depth-1, was }()
	if r.sh && r.lang == syntax.LangBash { // sh may be bash, or know less
		known := len(r.Programs)
		r.lang = syntax.LangPOSIX
		r.read(text)
		r.lang, r.Programs, r.place = syntax.LangBash, r.Programs[:known], was
	}
	r.read(text)
	if r.writes { // code may get a name from any other command: echo .claude | python3 -c …
		r.touchText(text)
	}
}

// read reads a text in the language of a shell.
func (r *reader) read(text string) {
	if isWord(text) {
		r.run([]arg{{text: text, fixed: true}}, nil)
		return
	}
	file, why := parse(r.lang, text)
	switch {
	case file != nil:
		r.collect(file)
		r.leadingCds += count(leadsBy(file))
		for _, s := range file.Stmts {
			r.stmt(s)
		}
	case why != unparsable:
		r.opaque(why)
	default:
		if !r.loose {
			r.opaque(why)
		}
		r.scan(text)
	}
}

// isWord reports whether a text is one word that no shell changes and that means nothing to its grammar.
func isWord(text string) bool {
	if text == "" || len(text) > maxPath {
		return false
	}
	for i := range len(text) {
		if !isAlnum(text[i]) && strings.IndexByte("_./:@%+,-", text[i]) < 0 {
			return false
		}
	}
	return !grammar[text]
}

// grammar are words that mean something to a shell where a program's name could be.
var grammar = set("if then elif else fi while until for in do done case esac select function time coproc declare typeset export local readonly nameref let")

const (
	unparsable = "can't be parsed"
	tooDeep    = "is nested too deeply to be read"
	tooLong    = "is too long to be read"
	odd        = "holds characters that no command has"
)

// parse parses a text within our bounds, or says why it can't, as the end of "This command …".
func parse(lang syntax.LangVariant, text string) (file *syntax.File, why string) {
	if len(text) > maxText {
		return nil, tooLong
	}
	if strings.ContainsAny(text, unknown+listed) { // our own signs; a shell may drop the first
		return nil, odd
	}
	if len(text) > maxNests && nests(text) > maxNests {
		return nil, tooDeep
	}
	file, err := syntax.NewParser(syntax.Variant(lang)).Parse(strings.NewReader(text), "")
	if err != nil {
		return nil, unparsable
	}
	return file, ""
}

// nests is an upper bound of how deep a text can nest: what opens something, and words that do.
func nests(text string) int {
	n := 0
	for i := range len(text) {
		switch text[i] {
		case '(', '{', '[', '`', '!':
			n++
		}
	}
	for w := range strings.FieldsSeq(text) {
		switch w {
		case "if", "while", "until", "for", "case", "select", "time", "function", "coproc", "elif", "then", "do":
			n++
		}
	}
	return n
}

// done draws the conclusions that need the whole command.
func (r *reader) done() Command {
	runsCode := len(r.Unknown) > 0 || r.Opaque != ""
	if runsCode {
		for _, s := range r.says {
			r.addresses(s)
		}
		for _, s := range r.docs {
			r.scan(s)
		}
	}
	if runsCode && r.decodes != "" {
		r.opaque("runs text that " + r.decodes + " decodes")
	}
	if len(r.GitIn) > 0 && (r.cds > r.leadingCds || r.cds > 1) {
		r.GitIn = once(r.GitIn, unknown)
	}
	r.finish()
	r.finishBeyond()
	r.runsDownloaded()
	return r.Command
}

func once(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return add(list, s)
}

// add appends to a list, and leaves room for a few more at the first.
func add[T any](list []T, item T) []T {
	if list == nil {
		list = make([]T, 0, 8)
	}
	return append(list, item)
}
