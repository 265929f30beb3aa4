package command

import (
	"slices"
	"strings"
)

// prompts reports whether a program takes commands that are typed into it, as a shell does: a multiplexer, an editor, a pager, a debugger, a database's own shell. If its input is a text or a file
// (isFed), some don't.
func prompts(n string, args []arg, isFed bool) bool {
	plain := unversioned(n)
	with, once, starts := asksWith[plain], asksUnless[plain], startsOthers[n]
	if !asksForMore[plain] && with == nil && once == nil && !starts {
		return false
	}
	words := make([]string, len(args))
	for i := range args {
		words[i] = strings.Join(strings.Fields(args[i].text), "\x01") // an argument stays one word
	}
	given := " " + strings.Join(words, " ") + " "
	has := func(options map[string]bool) bool {
		return slices.ContainsFunc(words, func(w string) bool { return options[w] })
	}
	switch {
	case asksForMore[plain]:
		alone := len(words) == 1 || !startsMore[plain]
		looks := plain == "tmux" && looksOnly.MatchString(given) && !strings.Contains(given, ";")
		return !looks && !has(endsOf[plain]) && (!alone || !has(endsAtOnce))
	case with != nil:
		return with.MatchString(given) && (!isFed || with != staysOpen)
	case once != nil:
		return !isFed && !once.MatchString(given) && (!takesText[plain] || operandsOf(words) < 2)
	}
	return startsShell.MatchString(given) || startsAlone.MatchString(given)
}

// operandsOf counts the words that are neither options nor values of those that take one.
func operandsOf(words []string) (n int) {
	for i, w := range words {
		if !strings.HasPrefix(w, "-") && (i == 0 || !valuesOf[strings.TrimLeft(words[i-1], "-")] || !strings.HasPrefix(words[i-1], "-")) {
			n++
		}
	}
	return n
}

var (
	asksForMore = set(`script su login tmux screen byobu zellij rlwrap ed ex red vi vim nvim view vimdiff emacs nano pico joe micro helix hx kak less more most man info irb pry ipython bpython ptpython ghci gore jshell
		iex erl utop swipl octave telnet ftp sftp lftp gdb lldb jdb pdb ipdb ranger nnn expect`)
	startsMore = set("script su screen tmux rlwrap expect byobu") // their arguments may be another program's
	endsAtOnce = set("--version --help")
	endsOf     = map[string]map[string]bool{
		"gdb": set("-batch --batch"), "lldb": set("-b --batch"), "emacs": set("--batch -batch"), "vim": set("-es -Es"), "nvim": set("--headless -es"), "erl": set("-noshell"), "octave": set("--eval"), "swipl": set("-g"), "screen": set("-ls -list"), "tmux": set("-V"),
	}
	looksOnly = match(`^ (ls|list-\S+|has(-session)?|capture-pane|capturep|kill-\S+|show\S*|display|display-message) `)
	// asksWith are options and subcommands with which a program does.
	asksWith = map[string]*pattern{
		"python": match(`^( -[WX] \S+| -\S+)* (-[a-zA-Z]*i|-[a-zA-Z]*m ?(code|pdb|ipdb|IPython|ptpython|asyncio)) |[ /]manage\.py (shell|shell_plus|dbshell) +$`), "node": match(`^( -\S+)* (-i|--interactive|inspect) `), "perl": match(`^( -\S+)* -d\S* `), "php": match(`^( -\S+)* (-a|--interactive) `),
		"lua": match(`^( -\S+)* -i `), "deno": match(`^ +$|^ repl `), "bun": match(`^ repl `), "rails": match(`^ (c|console|db|dbconsole) `), "sudo": match(`^( -[ugCpTRDh] \S+| -\S+)* (-[AbBEHknNPS]*[ise]\S*|--login|--shell|--edit) `), "doas": match(`^( -u \S+)* -s `),
		"docker": staysOpen, "podman": staysOpen, "nerdctl": staysOpen, "kubectl": staysOpen, "oc": staysOpen, "crontab": match(` -e `),
		"git":  match(`^( -[Cc] \S+| -\S+)* (rebase( \S+)* (-i|--interactive|--continue)( \S+)*|(add|checkout|reset|restore|commit|stash|stash push|stash save)( -\S+)* (-p|-i|--patch|--interactive)( \S+)*|commit( -[aqvs]+| --amend| --no-verify| -S| [^- ]\S*)*|config( \S+)* (-e|--edit)( \S+)*|mergetool( \S+)*|difftool( \S+)*|tag -a \S+) +$`),
		"make": readsInput, "gmake": readsInput, "awk": readsInput, "gawk": readsInput, "mawk": readsInput, "sed": readsInput, "gsed": readsInput,
	}
	staysOpen  = match(` (run|exec|start|debug)( -\S+( [^- ]\S*)?)*? -[a-z]*i[a-z]* | (--interactive|--stdin) |^( -\S+( [^- ]\S*)?)* (attach|edit|rsh|compose run) `)
	readsInput = match(` (-f|--file|--makefile)[ =]?(-|/dev/stdin) `)
	// asksUnless are the options with which such a program does one thing and ends.
	asksUnless = map[string]*pattern{
		"sqlite": match(` --?(help|version) `), "psql": match(` (-[aAbeEHnqsStwWxXz1]*[cf](\S+)? +([^- ]|-c)|-l|-V|--(command|file)[= ][^-]|--(list|version|help) )`), "mysql": clientOnce, "mariadb": clientOnce,
		"mongosh": match(` (--eval|-f|--file|--version|--help)[ =]| \S+\.js `), "duckdb": match(` (-c|-s|-f|--version|--help) `),
	}
	clientOnce   = match(` (-[BNsrtv]*e\S*|-V|--execute[= ]\S*|--version|--help) `)
	takesText    = set("sqlite duckdb") // as their second operand
	valuesOf     = set("separator cmd init newline nullvalue vfs mmap maxsize lookaside heap")
	startsOthers = set("chroot unshare nsenter strace ltrace flock systemd-run bwrap firejail proot fakeroot setarch faketime xvfb-run dbus-run-session runuser perf valgrind")
	startsShell  = match(`[ /](sh|bash|zsh|dash|ksh|fish|python[0-9.]*|node|perl|ruby|irb)( -\S+)* +$`)
	startsAlone  = match(`^( -\S+| /\S*)* +$`) // they start a shell where no command is named
)
