package command

import (
	"slices"
	"strings"
)

// ofOthers notes what a program shows that other people or programs wrote, in no file: the clipboard, a terminal.
func (c *reach) ofOthers(n string, args []arg) {
	has := func(test func(string) bool) bool {
		return slices.ContainsFunc(args, func(a arg) bool { return test(a.text) || !a.fixed })
	}
	switch n {
	case "pbpaste", "wl-paste":
		first(&c.Others, "the clipboard")
	case "xclip":
		if has(func(s string) bool { return strings.HasPrefix(s, "-o") }) {
			first(&c.Others, "the clipboard")
		}
	case "xsel":
		if !has(func(s string) bool {
			return s == "-i" || s == "--input" || s == "-c" || s == "--clear" || s == "-ib" || s == "-bi"
		}) {
			first(&c.Others, "the clipboard")
		}
	case "tmux", "screen":
		if has(func(s string) bool { return terminalShows[s] }) {
			first(&c.Others, "a terminal")
		}
	}
}

var terminalShows = set("capture-pane capturep show-buffer showb save-buffer saveb pipe-pane pipep hardcopy")

// inside reads the command that runs in a container: docker exec, kubectl exec. Its environment and its files are read as if they were the machine's.
func (r *reader) inside(args []arg, doc *arg) {
	at := slices.IndexFunc(args, func(a arg) bool { return a.text == "exec" })
	if at < 0 {
		return
	}
	args = args[at+1:]
	if end := slices.IndexFunc(args, func(a arg) bool { return a.text == "--" }); end >= 0 {
		r.run(args[end+1:], doc)
		return
	}
	for range 2 { // before the name of the container, and after it
		rest, ok := execOptions.leading(args)
		if !ok {
			r.Environment = true // any of its words may be the command
			return
		}
		args = rest
		if at >= 0 {
			args, at = rest[min(1, len(rest)):], -1
		}
	}
	r.run(args, doc)
}

var (
	containers  = set("docker podman nerdctl docker-compose podman-compose kubectl oc")
	execOptions = optionsOf("-i -t -d -T -q -u: -w: -e: -c: -n: --user: --workdir: --env: --container: --namespace: --index: --interactive --tty --detach --stdin --privileged --quiet")
)

// runsAt notes a program that is named by a path: what is there may be anyone's, unless only an administrator writes it.
func (f *files) runsAt(p *arg) {
	text := p.text
	if !isAbsolute(text) && !strings.HasPrefix(text, "../") || slices.ContainsFunc(ofAdministrator, func(dir string) bool { return strings.HasPrefix(text, dir) && !strings.Contains(text, "/..") }) {
		return
	}
	f.reads(*p, false, true)
}

var ofAdministrator = strings.Fields("/bin/ /sbin/ /usr/ /opt/ /nix/store/ /snap/ /System/ /Library/ /Applications/")

// leads notes a variable that says where programs look for files.
func (f *files) leads(name string, value *arg) {
	if !leading[name] {
		return
	}
	if value == nil {
		f.path(unknown, false)
		return
	}
	f.touch(*value)
	f.reads(*value, false, true)
}

var leading = set("GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_INDEX_FILE CDPATH cdpath")

// fileOption notes the files that an option names: -f FILE, -fFILE, at the end of other letters, --file FILE, --file=FILE.
func (f *files) fileOption(args []arg, letter, long string) {
	for i, a := range args {
		head, value, isPair := strings.Cut(a.text, "=")
		at := strings.Index(a.text, letter) + 1
		isLetter := strings.HasPrefix(a.text, "-") && at > 1 && strings.Trim(a.text[1:at], letters) == ""
		switch {
		case isPair && head == long:
			f.reads(behind(a, len(head)+1, value), false, true)
		case isLetter && at < len(a.text):
			f.reads(behind(a, at, a.text[at:]), false, true)
		case (isLetter || a.text == long) && i+1 < len(args):
			f.reads(args[i+1], false, true)
		}
	}
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// gitTexts notes options by which git shows what others wrote: texts of all branches and tags, or of those of others.
func (c *reach) gitTexts(verb string, args []arg) (shows bool) {
	shows = gitShows[verb] || gitNames[verb] && slices.ContainsFunc(args, func(a arg) bool {
		return strings.HasPrefix(a.text, "--pretty") || strings.HasPrefix(a.text, "--oneline") || strings.HasPrefix(a.text, "--header") ||
			strings.Contains(a.text, "%") && gitFormat.MatchString(a.text) || verb == "branch" && strings.HasPrefix(a.text, "-v") || verb == "tag" && strings.HasPrefix(a.text, "-n")
	})
	lists := verb == "show-branch" || verb == "branch" && shows
	for _, a := range args {
		if strings.HasPrefix(a.text, "-") && (shows && gitOfOthers.MatchString(a.text) || lists && gitRemoteLetters.MatchString(a.text)) {
			first(&c.Others, "other branches")
		}
	}
	if shows && (verb == "tag" || verb == "for-each-ref") {
		first(&c.Others, "tags")
	}
	return shows
}

var (
	gitFormat        = match(`^--format=?.*%(\((contents|subject|body|trailers)|[sbBN]|\+[sbB])|^%\((contents|subject|body)`)
	gitOfOthers      = match(`^--(remotes|glob|all|branches|tags)\b`)
	gitRemoteLetters = match(`^-[a-z]*[ra]|^--(remotes|all)$`)
	otherParent      = match(`\^([2-9@]|1[0-9])`)
)
