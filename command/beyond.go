package command

import (
	"slices"
	"strings"
)

// What a program does beyond the workspace, as far as its words tell. All of it makes a command stricter, and none of it looser.

// changes collects what a command writes, moves and removes, in the workspace and beyond.
type changes struct {
	files
	moved  bool  // it may not run where the agent's workspace is
	made   []arg // links that it makes
	links  []arg // where they lead
	writes bool  // code in it writes or deletes files
}

// beyond notes what a program sends out, changes or removes outside the workspace.
func (w *changes) beyond(n string, k kind, args []arg) {
	w.verb(n, args)
	w.targets(n, k, args)
	w.places(n, k, args)
	w.harms(n, k, args)
	switch {
	case publishers[n] || strings.HasPrefix(n, "git-"):
		first(&w.Sends, shown(n))
	case n == "git":
		w.gitBeyond(args)
	case k.contains:
		w.containerBeyond(n, args)
	case editors[n] && opensEditor(args):
		first(&w.Sends, n)
	case k.packages && slices.ContainsFunc(args, func(a arg) bool { return a.text == "-c" || strings.HasPrefix(a.text, "--call") }):
		first(&w.Sends, n+" -c")
	case k.code:
		for i := range args {
			w.codeBeyond(n, args[i].text)
		}
	}
}

// publishers send something out, whatever their arguments are.
var publishers = set(`surge gh-pages np localtunnel lt vercel netlify serverless sls pulumi goreleaser dput debrelease osc s3cmd mc b2 skopeo crane oras
	telegram-send slack ssh-copy-id ansible ansible-playbook open start`)

// verbTable are the subcommands of a program that send nothing out, and the options that may be before them. Others, and a word that is only
// known when the command runs, could be anything: an alias, a plug-in, push.
type verbTable struct {
	options options
	verbs   map[string]bool
}

var verbTables = map[string]verbTable{
	"git": {optionsOf("--no-pager -P -p --paginate --no-optional-locks -C: -c: --literal-pathspecs --git-dir: --work-tree: --bare --version -v --help -h"), union(set(`bisect worktree config notes gc fsck prune maintenance
		format-patch range-diff cherry sparse-checkout update-index update-ref hash-object help version mergetool difftool rerere stage show-branch diff-tree diff-index diff-files write-tree read-tree
		commit-tree mktree pack-refs repack bundle archive verify-commit verify-tag replace filter-branch filter-repo fast-export fast-import interpret-trailers stripspace check-attr check-mailmap patch-id
		merge-tree merge-file lfs clone pull fetch ls-remote submodule remote http-fetch fetch-pack credential subtree flow blame annotate`), verbsOf("git"))},
	"npm": {optionsOf("--prefix: -C: -w: --workspace: --workspaces -ws --silent -s -q --quiet --loglevel: --no-fund --no-audit --no-color -v --version -h --help"), set(`install i ci add test t tst run run-script exec x
		start stop restart ls list la ll outdated view info show search audit init create update up upgrade uninstall remove rm un link ln pack version config c get set cache dedupe ddp explain fund help doctor
		prune rebuild rb root prefix bin why ping query sbom explore edit completion diff whoami shrinkwrap pkg install-test it clean-install install-clean cit`)},
	"cargo": {optionsOf("-q --quiet -v --verbose --version -V --locked --offline --frozen --color: --help -h"), union(set(`install add fetch update search run r b c t d new init remove rm fix vendor generate-lockfile
		locate-project pkgid version help nextest watch expand tarpaulin llvm-cov audit deny outdated udeps bloat miri insta machete hack package uninstall info report`), verbsOf("cargo"))},
	"terraform": terraformVerbs, "tofu": terraformVerbs,
	"docker": dockerVerbs, "podman": dockerVerbs, "nerdctl": dockerVerbs,
}

var (
	terraformVerbs = verbTable{optionsOf("-chdir: -version --version -help"), set("init plan fmt validate show output version providers graph get console")}
	dockerVerbs    = verbTable{optionsOf("-D --debug -l: --log-level: -v --version --help"), set(`build run ps images image logs pull exec compose inspect version info create start stop restart kill rm rmi tag network volume
		container buildx builder system stats top port wait cp diff history events search load save import export attach rename pause unpause help`)}
)

// verbsOf are the subcommands of a family.
func verbsOf(family string) map[string]bool {
	out := map[string]bool{}
	for verb := range families[family] {
		out[verb] = true
	}
	return out
}

// verb notes a subcommand that is not in the table.
func (c *reach) verb(n string, args []arg) {
	table, in := verbTables[n]
	if !in {
		return
	}
	if n == "cargo" && len(args) > 0 && strings.HasPrefix(args[0].text, "+") {
		args = args[1:]
	}
	rest, ok := table.options.leading(args)
	if !ok {
		first(&c.Sends, n)
		return
	}
	if len(rest) > 0 && slices.ContainsFunc(rest[0].may(), func(v string) bool { return !table.verbs[v] }) {
		first(&c.Sends, strings.TrimSpace(n+" "+shownWord(rest[0].text)))
	}
}

// shownWord is a word of a command as a card may show it, or "".
func shownWord(s string) string {
	if quiet(s) {
		return s
	}
	return ""
}

// targets notes words of a script, a task or a target by which it says that it publishes something, wherever in the name they are.
func (c *reach) targets(n string, k kind, args []arg) {
	if n != "lsb_release" && namesPublishing(bareName(n)) {
		first(&c.Sends, shown(n))
	}
	runs := k.shell || k.code || n == "source" || n == "."
	if !runs && !k.manages && !k.packages && !tasks[n] {
		return
	}
	operands := words(args, nil)
	switch {
	case runs:
		if len(operands) > 0 && namesPublishing(bareName(operands[0].text)) {
			first(&c.Sends, shown(n)+" "+shownWord(bareName(operands[0].text)))
		}
		if k.code {
			c.publish(n, operands)
		}
		return
	case k.manages && len(operands) > 0 && !runsTask[operands[0].text]:
		operands = operands[:1]
	case k.manages:
		operands = operands[:min(2, len(operands))]
	case k.packages:
		operands = operands[:min(1, len(operands))]
	}
	for _, o := range operands {
		if slices.ContainsFunc(o.may(), publishesAs) {
			first(&c.Sends, strings.TrimSpace(n+" "+shownWord(o.text)))
		}
	}
}

// publishesAs reports whether a task or a package says by its name that it publishes, or only the shell knows its name.
func publishesAs(task string) bool {
	return !strings.Contains(task, "=") && (strings.Contains(task, unknown) || namesPublishing(task) || livePlaces[strings.ToLower(task)] || publishers[bareName(task)])
}

// livePlaces are names of tasks that say where something goes, and no more: build:prod only builds.
var livePlaces = set("prod production live golive go-live promote rollout roll-out")

// editors take code from a marketplace, and run it from then on.
var editors = set("code code-insiders codium vscodium cursor windsurf")

// opensEditor reports whether an editor installs what others wrote, or lets others in.
func opensEditor(args []arg) bool {
	operands := words(args, nil)
	return slices.ContainsFunc(args, func(a arg) bool {
		return !a.fixed || strings.HasPrefix(a.text, "--install-") || strings.HasPrefix(a.text, "--update-ext")
	}) ||
		len(operands) > 0 && (operands[0].text == "tunnel" || operands[0].text == "serve-web")
}

var (
	// packageManagers run a script by its name, or install packages, whose names say nothing of what they do.
	packageManagers = set("npm pnpm yarn bun cargo uv poetry pdm rye composer deno pipx")
	runsTask        = set("run run-script exec x dlx create start")
	// tasks run what a project names.
	tasks = union(taskRunners, set("bazel bazelisk nix mix ninja mise tox nox fab cap ant sbt lein mvn mvnw turbo nx lerna moon poe hatch rails phing grunt gulp"))
)

// namesPublishing reports whether a part of a name says that it publishes: deploy-prod, ci:publish, predeploy, publishToMavenCentral. What tests such a thing does not.
func namesPublishing(text string) bool {
	found := false
	for part := range strings.FieldsFuncSeq(text, partsNames) {
		if part == "test" || part == "tests" || part == "spec" {
			return false
		}
		found = found || partPublishes(part)
	}
	return found && !strings.HasPrefix(text, "-")
}

func partsNames(c rune) bool {
	switch c {
	case '-', '_', ':', '.', '/', '#', '@', ' ':
		return true
	}
	return false
}

func partPublishes(part string) bool {
	if at := strings.IndexFunc(part, func(c rune) bool { return 'A' <= c && c <= 'Z' }); at > 0 {
		part = part[:at]
	}
	if len(part) < len("push") {
		return false
	}
	return publishingParts[strings.ToLower(part)]
}

var publishingParts = func() map[string]bool {
	out := map[string]bool{}
	for _, before := range []string{"", "pre", "post", "re", "auto"} {
		for what := range strings.FieldsSeq("publish deploy push release upload unpublish yank destroy ship undeploy") {
			out[before+what] = true
		}
	}
	return out
}()

// places notes the files and directories that a program writes over, moves or removes.
func (w *changes) places(n string, k kind, args []arg) {
	switch {
	case removers[n], n == "mv", n == "tee", n == "truncate", n == "gio" && hasText(args, "trash"), strings.HasPrefix(n, "mkfs"), strings.HasSuffix(n, "tar") && hasText(args, "--remove-files"):
		w.over(words(args, nil)...)
	case k.packages || k.manages:
		operands := words(args, nil)
		if slices.ContainsFunc(operands, func(a arg) bool { return removers[name(a.text)] }) {
			w.over(operands...)
		}
	case n == "cp" || n == "install":
		operands := words(args, nil)
		w.touch(operands...)
		if slices.ContainsFunc(args, func(a arg) bool { return strings.HasPrefix(a.text, "-t") || strings.HasPrefix(a.text, "--target") }) {
			w.over(operands...)
			return
		}
		if last := len(operands) - 1; last >= 0 {
			w.touchCopies(operands[:last], &operands[last])
			w.over(operands[last])
		}
	case n == "ln":
		operands := words(args, nil)
		w.touch(operands...)
		last := max(0, len(operands)-1)
		w.links, w.made = append(w.links, operands[:last]...), append(w.made, operands[last:]...)
	case n == "dd":
		for i := range args {
			if to, found := strings.CutPrefix(args[i].text, "of="); found {
				w.over(behind(args[i], len("of="), to))
			}
		}
	case n == "sed" || n == "gsed":
		w.sedOver(args)
	default:
		w.stored(n, args)
	}
}

// sedOver notes the files that sed changes in place.
func (w *changes) sedOver(args []arg) {
	scripts, files, inPlace, ok := sedParts(args)
	switch {
	case ok && inPlace:
		w.over(files[min(len(files), count(len(scripts) == 0)):]...)
	case !ok && slices.ContainsFunc(args, func(a arg) bool { return strings.HasPrefix(a.text, "-") && strings.Contains(a.text, "i") }):
		w.over(words(args, nil)...)
	}
}

// stored notes the files and directories in which a program stores what it fetches or unpacks.
func (w *changes) stored(n string, args []arg) {
	switch {
	case n == "curl":
		w.overValues(args, "-o", "--output", "--output-dir")
	case n == "wget":
		w.overValues(args, "-O", "--output-document", "-P", "--directory-prefix")
	case strings.HasSuffix(n, "tar"):
		if extracts(args) {
			w.overValues(args, "-C", "--directory", "--one-top-level")
		}
	case n == "unzip":
		w.overValues(args, "-d")
	case copies[n]:
		w.touch(words(args, nil)...)
	}
}

// removers remove the files that they name.
var removers = set("trash trash-put rimraf del-cli shred srm")

func hasText(args []arg, text string) bool {
	return slices.ContainsFunc(args, func(a arg) bool { return a.text == text })
}

// extracts reports whether tar may take files out of an archive.
func extracts(args []arg) bool {
	return len(args) > 0 && (strings.Contains(strings.TrimLeft(args[0].text, "-"), "x") || hasText(args, "--extract") || hasText(args, "--get") || hasText(args, "-x"))
}

// overValues notes the files that options name: -o FILE, -oFILE, -sSfo FILE, --output FILE, --output=FILE.
func (w *changes) overValues(args []arg, options ...string) {
	for i, a := range args {
		for _, o := range options {
			at := strings.Index(a.text, o[len(o)-1:]) + 1
			isCluster := len(o) == 2 && len(a.text) > 1 && a.text[0] == '-' && a.text[1] != '-' && at > 1 && strings.Trim(a.text[1:at], letters) == ""
			switch {
			case (a.text == o || isCluster && at == len(a.text)) && i+1 < len(args):
				w.over(args[i+1])
			case isCluster && at < len(a.text):
				w.over(behind(a, at, a.text[at:]))
			case len(o) > 2 && strings.HasPrefix(a.text, o+"="):
				w.over(behind(a, len(o)+1, a.text[len(o)+1:]))
			}
		}
	}
}

// over notes files that are written over, moved or removed.
func (w *changes) over(places ...arg) {
	w.touch(places...)
	for _, place := range places {
		w.touchUnnamed(&place)
		for _, v := range place.may() {
			if v == "" || v == "-" || devices[v] {
				continue
			}
			for full := range w.resolved(v) {
				if len(w.Over) < maxReads {
					w.Over = once(w.Over, full)
				}
			}
		}
	}
}

// harms notes what changes the machine for later, or removes what is in no file that the command names.
func (c *reach) harms(n string, k kind, args []arg) {
	switch {
	case n == "crontab" && !hasText(args, "-l"), n == "launchctl" && (len(args) == 0 || args[0].text != "list"), n == "dropdb", n == "wipefs", strings.HasPrefix(n, "mkfs"):
		first(&c.Harms, n)
	case k.contains && removesVolumes.MatchString(line(args)):
		first(&c.Harms, n)
	}
}

var removesVolumes = match(` (prune|volumes? (rm|remove)|down .*(-v|--volumes|--rmi)) `)

// gitBeyond notes settings and addresses by which git runs a program, another place to push to, and changes of another directory.
func (w *changes) gitBeyond(args []arg) {
	verb, rest := gitVerbOf(args)
	dir := "."
	for i := range args {
		text, value := args[i].text, ""
		if i+1 < len(args) {
			value = args[i+1].text
		}
		leads := i < len(args)-len(rest)-1
		switch {
		case (leads || verb == "clone") && text == "-c" && !calmSetting.MatchString(value), gitRuns(text):
			first(&w.Sends, "git")
		case leads && (text == "-C" || text == "--work-tree"):
			dir = value
		case leads && strings.HasPrefix(text, "--work-tree="):
			dir = strings.TrimPrefix(text, "--work-tree=")
		}
	}
	if verb == "remote" && len(rest) > 0 && strings.HasPrefix(rest[0].text, "set-") {
		first(&w.Sends, "git remote")
	}
	if gitDiscards[verb] {
		w.over(arg{text: dir})
	}
}

var (
	// calmSetting is a setting of git that runs nothing and leads nowhere.
	calmSetting = match(`(?i)^(user\.(name|email)|color\.\w+|advice\.\w+|core\.(quotepath|autocrlf|filemode|longpaths)|init\.defaultbranch|(commit|tag)\.gpgsign|diff\.(renames|mnemonicprefix|noprefix)|merge\.conflictstyle|pull\.(rebase|ff)|protocol\.version)(=[^!]*)?$|^(core\.pager|pager\.\w+)=(cat|)$|^core\.editor=true$`)
	gitDiscards = set("reset clean restore rm")
)

// gitRuns reports whether a word is an address or an option by which git runs a program: ext::sh.
func gitRuns(word string) bool {
	kind, _, isAddress := strings.Cut(word, "::")
	return isAddress && kind != "" && strings.Trim(kind, "abcdefghijklmnopqrstuvwxyz0123456789+-") == "" ||
		slices.ContainsFunc(gitRunners, func(begin string) bool { return strings.HasPrefix(word, begin) })
}

var gitRunners = strings.Fields("--upload-pack --receive-pack --exec --config")

// containerBeyond notes where a build goes, and the directories that a container gets.
func (w *changes) containerBeyond(n string, args []arg) {
	builds := hasText(args, "build") || hasText(args, "bake")
	for i := range args {
		text := args[i].text
		switch {
		case builds && (strings.HasPrefix(text, "-o") || strings.HasPrefix(text, "--output") || strings.HasPrefix(text, "--push")), text == "context":
			first(&w.Sends, n+" "+shownWord(text))
		case strings.HasPrefix(text, "--mount="), strings.HasPrefix(text, "--volume="):
			_, value, _ := strings.Cut(text, "=")
			w.mounts(value)
		case (text == "-v" || text == "--volume" || text == "--mount") && i+1 < len(args):
			w.mounts(args[i+1].text)
		}
	}
}

// mounts notes a directory that a container gets: SOURCE:TARGET, or type=bind,source=SOURCE. A name alone is a volume.
func (w *changes) mounts(value string) {
	for part := range strings.SplitSeq(value, ",") {
		key, source, found := strings.Cut(part, "=")
		if !found {
			source, _, _ = strings.Cut(part, ":")
		} else if key != "source" && key != "src" {
			continue
		}
		if isAbsolute(source) || strings.HasPrefix(source, ".") {
			w.over(arg{text: source})
		}
	}
}

// codeBeyond notes what code in another language says that it does: it reads the environment, opens the network, runs programs or hidden code, or writes and deletes files.
func (w *changes) codeBeyond(n, code string) {
	w.CodeShows = w.CodeShows || codeEnvironment.MatchString(code)
	if codeReaches.MatchString(code) {
		first(&w.Sends, shown(n))
	}
	if codeWrites.MatchString(code) || drops.MatchString(strings.ToLower(code)) {
		w.writes = true
	}
}

var (
	codeEnvironment = match(`process\.env|\benviron\b|[gG]et_?[eE]nv|\$_?ENV\b|%ENV|\bENV\b|Deno\.env|Bun\.env|ProcessEnv`)
	codeReaches     = match(`(?i)(require|import|from)\W{0,4}(node:)?(https?|http2|net|tls|dgram|dns|undici|axios|node-fetch|got|ws|child_process|cluster|subprocess|pty|requests|urllib\w*|httpx|aiohttp|socket\w*|ssl|asyncio|smtplib|ftplib|telnetlib|imaplib|paramiko|ctypes|open-uri|open3|socket|faraday)\b` +
		`|net/(http|ftp|smtp)|(\b|-M)(IO::Socket|Net::|LWP|WWW::|HTTP::Tiny|TCPSocket|UDPSocket|XMLHttpRequest|WebSocket)|\b(fsockopen|stream_socket|curl_\w+|file_get_contents|os\.(system|popen|exec\w*|spawn\w*)|system|popen|passthru|shell_exec|proc_open|execsync|spawn(sync)?|execfile(sync)?)\s*\(|\b(system|exec|qx)\s*["'(]|__import__|\beval\s*\(|importlib|fromhex|b64decode|fromCharCode|\batob\s*\(|\bIO\.popen`)
	codeWrites = match(`(?i)write_?(file|text|bytes)|append_?file|truncate|rename|copy_?file|shutil\.(move|copy|rmtree)|file_put_contents|File\.(write|delete|unlink|rename)|FileUtils|(rm|unlink|rmdir|cp)(Sync)?\s*\(|['"][wax]b?\+?['"]|\bunlink\b|remove`)
)

// finishBeyond draws the conclusions that need the whole command.
func (w *changes) finishBeyond() {
	if w.Deletes || len(w.Over) > 0 { // it may follow a link that it makes
		w.over(w.links...)
	}
	w.over(w.made...)
	if w.writes {
		for _, read := range w.Reads {
			w.Over = once(w.Over, read.Path)
		}
	}
}

// steering are variables that say where programs connect, or which they run.
var steering = match(`^(DOCKER_(HOST|CONTEXT)|BUILDX_BUILDER|(?i:\w+_proxy)|GIT_(SSH|SSH_COMMAND|CONFIG\w*|PROXY_COMMAND|EXTERNAL_DIFF|ASKPASS|EXEC_PATH)|LD_PRELOAD|BASH_ENV|(?i:npm_config_registry))$`)
