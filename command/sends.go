package command

import (
	"slices"
	"strings"
)

// fetch notes that something reaches the network in a way that may send data out or change something there, and that what
// comes back may be stored anywhere.
func (c *reach) fetch(name string) {
	first(&c.Fetcher, name)
	first(&c.Sends, name)
	c.Saves = true
}

// gets notes that a program reaches the network and only fetches.
func (c *reach) gets(name string, saves bool) {
	first(&c.Fetcher, name)
	c.Saves = c.Saves || saves
}

// reaches notes a program that reaches the network, by its name.
func (c *reach) reaches(n string, args []arg) {
	if only, saves := onlyGets(n, args); only {
		c.gets(n, saves)
		c.hosts(args)
		return
	}
	c.fetch(n)
	c.hosts(args)
	c.guess(args)
}

// onlyGets reports whether a program that reaches the network only fetches what its arguments name, and whether it may store
// that. What a shell works out could be data, so that such arguments count as sent.
func onlyGets(n string, args []arg) (only, saves bool) {
	if slices.ContainsFunc(args, func(a arg) bool { return !a.fixed }) {
		return false, false
	}
	switch {
	case n == "curl":
		return curlGets(args)
	case n == "wget":
		return wgetGets(args)
	case lookups[n]:
		return !slices.ContainsFunc(args, func(a arg) bool { return a.option() }), false
	case packageRunners[n] && len(args) > 0:
		return publishes(n, args) == "" && !slices.ContainsFunc(args, func(a arg) bool { return fetchers[name(a.text)] && !packageRunners[name(a.text)] }), true
	case n == "gh":
		return ghReads(args), true
	case n == "kubectl":
		return len(args) > 0 && clusterReads[args[0].text] && !slices.ContainsFunc(args, func(a arg) bool {
			return strings.Contains(a.text, "secret") || strings.HasPrefix(a.text, "--kubeconfig")
		}), false
	}
	return false, false
}

// lookups ask for a name or an answer, which is less than a page.
var lookups = set("host dig nslookup getent ping ping6 traceroute tracepath whois")

// clusterReads are subcommands of kubectl that show.
var clusterReads = set("get describe logs version explain api-resources top")

// curlGets reports whether curl only gets pages, and whether it stores them.
func curlGets(args []arg) (only, saves bool) {
	if operands, ok := localOptions.all(args); ok && len(operands) > 0 && !slices.ContainsFunc(operands, func(a arg) bool { return !isLoopback(a.text) }) {
		return true, slices.ContainsFunc(args, func(a arg) bool { return strings.HasPrefix(a.text, "-o") || a.text == "-O" })
	}
	operands, ok := curlOptions.all(args)
	for i := range args {
		text := args[i].text
		short := !strings.HasPrefix(text, "--") && strings.HasPrefix(text, "-")
		saves = saves || strings.HasPrefix(text, "--output") || strings.HasPrefix(text, "--remote-name") || short && strings.ContainsAny(text, "oO")
		ok = ok && curlOptionGets(args[i:], short)
	}
	return ok && len(operands) > 0 && !slices.ContainsFunc(operands, func(a arg) bool { return !isPage(a.text) }), saves
}

// isPage reports whether curl reads an address as that of a page or a file. Without a scheme it guesses by the host's name.
func isPage(address string) bool {
	scheme, _, found := strings.Cut(strings.ToLower(address), "://")
	return found && pageSchemes[scheme] || !found && !otherHosts.MatchString(address)
}

var (
	pageSchemes = set("http https file")
	otherHosts  = match(`(?i)^(ftp|dict|ldap|imap|smtp|pop3)\.|:/`)
)

// curlOptionGets reports whether the first argument, with its value, only says how to get a page. A method may be another than GET, and a header may be a file's text.
func curlOptionGets(args []arg, short bool) bool {
	value := ""
	if len(args) > 1 {
		value = args[1].text
	}
	switch text := args[0].text; text {
	case "-X", "--request":
		return value == "GET" || value == "HEAD"
	case "-w", "--write-out":
		return !strings.Contains(value, "%output") && !strings.HasPrefix(value, "@")
	case "-H", "--header":
		return value != "" && !strings.HasPrefix(value, "@")
	default:
		return !strings.HasPrefix(text, "--request=") && !strings.HasPrefix(text, "--header=") && !strings.Contains(text, "%output") && (!short || !strings.ContainsAny(text, "XH"))
	}
}

var curlOptions = optionsOf(`-s -S -f -L -k -i -I -v -g -4 -6 -# -N -o: -O -J -H: -A: -m: -w: -X: --silent --show-error --fail --fail-with-body --location --insecure --include --head --verbose
	--globoff --ipv4 --ipv6 --compressed --no-progress-meter --progress-bar --no-buffer --output: --output-dir: --remote-name --header: --user-agent: --max-time: --connect-timeout:
	--retry: --retry-delay: --max-redirs: --write-out: --http1.1 --http2 --request: --create-dirs`)

// localOptions are for calls of a server on this machine, to which data may be sent. They follow no redirect.
var localOptions = optionsOf("-s -S -f -i -I -v -N -o: -O -H: -X: -d: -m: -w: -u: -F: --silent --show-error --fail --include --head --verbose --header: --request: --data: --data-raw: --data-binary: --json: --form: --max-time: --user:")

// controls are ports of services that act on this machine or beyond it: Docker, Kubernetes, etcd, Consul, Nomad, a browser's debugger.
var controls = set("2375 2376 2377 2379 4646 6443 8001 8500 9222 10250")

// isLoopback reports whether an address is one of this machine that a developer's own server may have, and says no more than scheme, host, port and path.
func isLoopback(address string) bool {
	_, after, found := strings.Cut(address, "://")
	if !found {
		after = address
	} else if !strings.HasPrefix(address, "http://") && !strings.HasPrefix(address, "https://") {
		return false
	}
	end := strings.IndexAny(after+"/", "/?#")
	host, port, _ := strings.Cut(after[:end], ":")
	return (host == "localhost" || host == "127.0.0.1") && strings.Trim(port, "0123456789") == "" && !controls[strings.TrimLeft(port, "0")] && !strings.ContainsAny(address, "{}[]\\@ \t\n")
}

// wgetGets reports whether wget only gets pages, and whether it stores them.
func wgetGets(args []arg) (only, saves bool) {
	operands, ok := wgetOptions.all(args)
	saves = true
	for i := range args {
		text := args[i].text
		toStdout := text == "-qO-" || text == "-O-" || text == "--output-document=-" || (text == "-O" || text == "-qO" || text == "--output-document") && i+1 < len(args) && args[i+1].text == "-"
		saves = saves && !toStdout && text != "--spider"
	}
	return ok && len(operands) > 0, saves
}

var wgetOptions = optionsOf(`-q -O: -P: -c -N -S -nc -nd -np -nv -T: -t: -U: -4 -6 --quiet --no-verbose --output-document: --directory-prefix: --continue --timestamping --server-response --spider
	--timeout: --tries: --user-agent: --no-check-certificate --no-clobber --no-parent --show-progress --progress: --https-only`)

// ghReads reports whether gh only shows something of GitHub, or fetches it.
func ghReads(args []arg) bool {
	if len(args) == 0 {
		return false
	}
	if args[0].text == "api" {
		return len(args) == 2 && !args[1].option() && args[1].text != "graphql" && !strings.Contains(args[1].text, "://")
	}
	return len(args) > 1 && ghShows[args[0].text+" "+args[1].text] && !slices.ContainsFunc(args, func(a arg) bool { return strings.HasPrefix(a.text, "--show-token") || a.text == "-t" })
}

var ghShows = func() map[string]bool {
	out := map[string]bool{}
	for what, verbs := range map[string]string{
		"pr": "view list diff checks status checkout", "issue": "view list status", "run": "view list watch download", "release": "view list download", "repo": "view list clone",
		"workflow": "view list", "search": "code commits issues prs repos", "auth": "status", "label": "list", "gist": "view list clone",
	} {
		for verb := range strings.FieldsSeq(verbs) {
			out[what+" "+verb] = true
		}
	}
	return out
}()

// bringsIn are subcommands that fetch, and send no more than what they fetch.
var bringsIn = subcommands(map[string]string{
	"git":                     "clone pull fetch ls-remote submodule remote archive lfs http-fetch fetch-pack",
	"pip":                     "install download index wheel search",
	"uv":                      "install add sync run tool pip lock",
	"npm pnpm yarn bun":       "install i add ci exec x update upgrade view info search dlx create init audit outdated",
	"cargo":                   "install add fetch update search",
	"go":                      "get install download tidy vendor sync",
	"gem bundle":              "install fetch update",
	"brew":                    "install update upgrade fetch info search tap",
	"apt apt-get aptitude":    "install update upgrade search download source dist-upgrade full-upgrade",
	"apk":                     "add update upgrade fetch search",
	"dnf yum zypper":          "install update upgrade search download",
	"pacman":                  "-s -sy -syu -ss",
	"snap flatpak":            "install refresh update find search",
	"conda mamba micromamba":  "install create update search",
	"poetry pdm rye composer": "install add update require",
	"docker podman nerdctl":   "pull run build search exec compose create start buildx",
	"terraform tofu":          "init plan",
	"deno":                    "run install add",
	"mvn gradle gradlew":      "install package dependency:get dependency:resolve",
	"dotnet nuget":            "restore add install",
	"opam cabal stack":        "install update init get",
})

// runsToo are subcommands that also run a command, which follows.
var runsToo = set("run exec x dlx tool compose create start buildx submodule")

// fetches notes a subcommand that reaches the network. It reports whether it only fetches.
func (c *reach) fetches(n, sub string, args []arg) bool {
	called := strings.TrimSpace(n + " " + sub)
	if (sub == "" || entry(bringsIn, n)[sub]) && publishes(n, args) == "" && !slices.ContainsFunc(args, func(a arg) bool { return !a.fixed }) {
		c.gets(called, true)
		return true
	}
	c.fetch(called)
	return false
}

// publishing are words by which programs, scripts and targets say that they send something out for others to use.
var publishing = set("publish deploy push release upload send-email --push")

// taskRunners run targets that a project names.
var taskRunners = set("make gmake just task rake invoke npm pnpm yarn bun npx gradle gradlew")

// publishes is the word by which a program says that it publishes something, or "": its name or one of its arguments. These words can only make a command stricter.
func publishes(n string, args []arg) string {
	if program := bareName(n); publishing[program] {
		return program
	}
	isTask := len(args) > 0 && taskRunners[n]
	for _, a := range args {
		word, _, _ := strings.Cut(bareName(a.text), ":")
		if isTask && !strings.HasPrefix(word, "-") {
			word = word[:strings.IndexAny(word+"-", "-_")]
		}
		if publishing[word] {
			return word
		}
	}
	return ""
}

// bareName is a program or a script without its directory and what says its language.
func bareName(text string) string {
	text = name(text)
	if !strings.Contains(text, ".") {
		return text
	}
	for _, end := range []string{".sh", ".py", ".js", ".mjs", ".ts", ".rb", ".pl"} {
		text = strings.TrimSuffix(text, end)
	}
	return text
}

// publish notes a program that publishes by its words.
func (c *reach) publish(n string, args []arg) {
	switch word := publishes(n, args); word {
	case "":
	case bareName(n):
		first(&c.Sends, shown(n))
	default:
		first(&c.Sends, shown(n)+" "+word)
	}
}
