package command

import "strings"

// prompts reports whether a program takes commands from whoever types into it, as a shell does: a multiplexer, an editor, a pager, a debugger, a database's own shell.
func prompts(n string, args []arg, doc *arg) bool {
	if asksForMore[n] {
		return true
	}
	words, operands := make([]string, len(args)), 0
	for i := range args {
		words[i] = args[i].text
		operands += count(!args[i].option())
	}
	given, plain := " "+strings.Join(words, " ")+" ", unversioned(n)
	if with := asksWith[plain]; with != nil && with.MatchString(given) {
		return true
	}
	if batch := asksUnless[plain]; batch != nil && doc == nil && !batch.MatchString(given) {
		return plain != "sqlite" || operands < 2
	}
	return startsOthers[n] && startsShell.MatchString(given)
}

var (
	asksForMore = set(`script su login tmux screen byobu zellij rlwrap ed ex red vi vim nvim view vimdiff emacs nano pico joe micro helix hx kak less more most man info irb pry ipython bpython ptpython ghci gore jshell
		iex erl clj utop swipl octave telnet ftp sftp lftp gdb lldb jdb pdb ipdb mc ranger nnn expect`)
	// asksWith are options and subcommands with which a program does.
	asksWith = map[string]*pattern{
		"python": match(`^( -\S+)* (-[a-zA-Z]*i|-m (code|pdb|ipdb|IPython|ptpython|asyncio)) `), "node": match(`^( -\S+)* (-i|--interactive|inspect) `), "perl": match(`^( -\S+)* -d\S* `), "php": match(`^( -\S+)* (-a|--interactive) `), "lua": match(`^( -\S+)* -i `),
		"deno": match(`^ +$|^ repl `), "bun": match(`^ repl `), "rails": match(`^ (c|console|db|dbconsole) `), "sudo": match(`^( -[ugCpTRDh] \S+| -\S+)* (-[a-zA-Z]*[is]|--login|--shell) `), "doas": match(`^( -u \S+)* -s `),
		"docker": staysOpen, "podman": staysOpen, "nerdctl": staysOpen, "kubectl": staysOpen, "oc": staysOpen,
		"make": readsInput, "gmake": readsInput, "awk": readsInput, "gawk": readsInput, "mawk": readsInput, "sed": readsInput, "gsed": readsInput,
	}
	staysOpen  = match(` (run|exec|start|debug) -i | (-it|-ti|-itd|-dit|--interactive|--stdin|attach) `)
	readsInput = match(` (-f|--file|--makefile)[ =]?(-|/dev/stdin) `)
	// asksUnless are the options with which such a program does one thing and ends.
	asksUnless = map[string]*pattern{
		"sqlite": match(` --?(help|version) `), "psql": match(` (-[a-zA-Z]*[clf]|--(command|file|list|version|help))`), "mysql": match(` (-[a-zA-Z]*[eV]|--(execute|version|help))`), "mariadb": match(` (-[a-zA-Z]*[eV]|--(execute|version|help))`),
		"mongosh": match(` (--eval|-f|--file|--version|--help)| \S+\.js `), "duckdb": match(` (-c|-s|-f|--version|--help)`),
	}
	startsOthers = set("chroot unshare nsenter strace ltrace flock systemd-run bwrap firejail proot fakeroot setarch faketime xvfb-run dbus-run-session runuser perf valgrind")
	startsShell  = match(`[ /'"](sh|bash|zsh|dash|ksh|fish|python[0-9.]*|node|perl|ruby|irb)['"]? *$`)
)
