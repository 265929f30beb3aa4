package command

import "strings"

// prompts reports whether a program takes commands that are typed into it, as a shell does: a multiplexer, an editor, a pager, a debugger, a database's own shell. If its input is a text or a file
// (isFed), some don't.
func prompts(n string, args []arg, isFed bool) bool {
	plain := unversioned(n)
	with, once, starts := asksWith[plain], asksUnless[plain], startsOthers[n]
	if !asksForMore[plain] && with == nil && once == nil && !starts {
		return false
	}
	words, operands := make([]string, len(args)), 0
	for i := range args {
		words[i] = args[i].text
		operands += count(!args[i].option())
	}
	given := " " + strings.Join(words, " ") + " "
	switch {
	case asksForMore[plain]:
		return !endsAtOnce.MatchString(given) && (plain != "tmux" && plain != "screen" || !looksOnly.MatchString(given))
	case with != nil:
		return with.MatchString(given)
	case once != nil && !isFed:
		return !once.MatchString(given) && (plain != "sqlite" || operands < 2 || takesValue.MatchString(given))
	}
	return starts && startsShell.MatchString(given)
}

var (
	asksForMore = set(`script su login tmux screen byobu zellij rlwrap ed ex red vi vim nvim view vimdiff emacs nano pico joe micro helix hx kak less more most man info irb pry ipython bpython ptpython ghci gore jshell
		iex erl clj utop swipl octave telnet ftp sftp lftp gdb lldb jdb pdb ipdb ranger nnn expect`)
	endsAtOnce = match(` (--version|-V|--help|--?batch|--headless|-noshell|--eval) `)
	looksOnly  = match(`^ (ls|list-\S+|has(-session)?|capture-pane|capturep|kill-\S+|show\S*|display\S*|-ls|-list) `)
	// asksWith are options and subcommands with which a program does.
	asksWith = map[string]*pattern{
		"python": match(`^( -[WX] \S+| -\S+)* (-[a-zA-Z]*i|-m (code|pdb|ipdb|IPython|ptpython|asyncio)) | manage\.py (shell|shell_plus|dbshell) `), "node": match(`^( -\S+)* (-i|--interactive|inspect) `), "perl": match(`^( -\S+)* -d\S* `), "php": match(`^( -\S+)* (-a|--interactive) `),
		"lua": match(`^( -\S+)* -i `), "deno": match(`^ +$|^ repl `), "bun": match(`^ repl `), "rails": match(`^ (c|console|db|dbconsole) `), "sudo": match(`^( -[ugCpTRDh] \S+| -\S+)* (-[a-zA-Z]*[is]|--login|--shell) `), "doas": match(`^( -u \S+)* -s `),
		"docker": staysOpen, "podman": staysOpen, "nerdctl": staysOpen, "kubectl": staysOpen, "oc": staysOpen, "crontab": match(` -e `),
		"git":  match(`^( -\S+)* (rebase( \S+)* (-i|--interactive)( \S+)*|(add|checkout|reset|restore|stash)( \S+)* (-p|-i|--patch|--interactive)( \S+)*|commit( -[aqvs]+| --amend)*|config( \S+)* (-e|--edit)|mergetool( \S+)*|difftool( \S+)*) +$`),
		"make": readsInput, "gmake": readsInput, "awk": readsInput, "gawk": readsInput, "mawk": readsInput, "sed": readsInput, "gsed": readsInput,
	}
	staysOpen  = match(` (run|exec|start|debug)( -\S+)* -i | (-it|-ti|-itd|-dit|--interactive|--stdin) |^ (attach|edit) `)
	readsInput = match(` (-f|--file|--makefile)[ =]?(-|/dev/stdin) `)
	// asksUnless are the options with which such a program does one thing and ends.
	asksUnless = map[string]*pattern{
		"sqlite": match(` --?(help|version) `), "psql": match(` (-[a-zA-Z]*[cf]|-l|-V|--(command|file)(=\S+)?|--(list|version|help)) `), "mysql": match(` (-e|-V|--execute(=\S+)?|--(version|help)) `), "mariadb": match(` (-e|-V|--execute(=\S+)?|--(version|help)) `),
		"mongosh": match(` (--eval|-f|--file|--version|--help) | \S+\.js `), "duckdb": match(` (-c|-s|-f|--version|--help) `),
	}
	takesValue   = match(` --?(separator|cmd|init|newline|nullvalue|vfs|mmap|maxsize|lookaside|heap) `)
	startsOthers = set("chroot unshare nsenter strace ltrace flock systemd-run bwrap firejail proot fakeroot setarch faketime xvfb-run dbus-run-session runuser perf valgrind")
	startsShell  = match(`[ /'"](sh|bash|zsh|dash|ksh|fish|python[0-9.]*|node|perl|ruby|irb)['"]? *$`)
)
