package command

import (
	"maps"
	"slices"
	"strings"
)

func set(list string) map[string]bool {
	words := strings.Fields(list)
	out := make(map[string]bool, len(words))
	for _, w := range words {
		out[w] = true
	}
	return out
}

// usualPlaces are directories that only an administrator writes.
var usualPlaces = set("/bin/ /usr/bin/ /usr/local/bin/ /sbin/ /usr/sbin/ /opt/homebrew/bin/")

// anywhere reach the network; a program that we don't know and that is given one of these names may run it.
var anywhere = set(`curl wget wget2 aria2c axel httpie xh xhs curlie
	ssh scp sftp rsync rclone ftp lftp tftp telnet nc ncat netcat socat mosh croc
	svn hg npx pnpx bunx uvx pipx gh glab aws gcloud gsutil az kubectl helm gog himalaya neomutt mutt mailx notmuch mbsync offlineimap gcalcli khal fetchmail
	lynx w3m elinks yt-dlp youtube-dl gallery-dl openclaw
	iwr irm iex invoke-webrequest invoke-restmethod invoke-expression start-bitstransfer certutil bitsadmin mshta net.webclient
	nslookup whois drill uudecode autossh sshfs sshpass sendmail msmtp swaks websocat grpcurl cloudflared ngrok`)

// fetchers reach the network where they are a command. Elsewhere some of them are plain words.
var fetchers = union(anywhere, set(`http https links mail host dig delv resolvectl getent ping ping6 fping hping3 traceroute tracepath mtr nmap arping
	slogin rsh rcp rlogin cvs bzr hub oc flyctl heroku vercel netlify wrangler doctl ssmtp
	redis-cli psql mysql mariadb mongosh mongo mosquitto_pub mosquitto_sub nsupdate snmpget ldapsearch smbclient logger
	tailscale wg-quick iperf iperf3 vegeta wrk siege cpan cpanm nix-shell nix-env guix playwright lwp-request lwp-download get post
	xdg-open sensible-browser firefox chromium google-chrome chrome`), messengers)

// messengers show what strangers wrote. What they are given may be files that they send.
var messengers = set(`wacli imsg bird xurl mcporter blogwatcher goplaces gifgrep ordercli bluebubbles summarize signal-cli telegram-cli tgcli icalbuddy aerc alpine mu mblaze mshow newsboat newsraft rss2email toot tut rainbowstream discordo
	jira linear acli tea`)

func union(sets ...map[string]bool) map[string]bool {
	out := map[string]bool{}
	for _, s := range sets {
		maps.Copy(out, s)
	}
	return out
}

// codeNames are what code in other languages reaches the network by.
var codeNames = set(`urllib urllib2 urllib3 urllib.request requests.get requests.post requests.put requests.session requests.request httpx aiohttp axios axios.get axios.post
	fetch net::http open-uri io::socket io::socket::inet lwp::simple lwp::useragent http.client http.server socket socket.socket socket.create_connection net.connect net.dial net.createconnection
	http.get https.get https.request xmlhttprequest smtplib ftplib telnetlib paramiko websocket websockets fsockopen file_get_contents curl_exec tcpsocket webclient net.webclient downloadstring`)

// shells run their arguments as commands in a language that we read.
var shells = set("sh bash dash ash rbash")

// shellOptions are their long options that read no file but the usual ones.
var shellOptions = set("--login --posix --norc --noprofile --verbose --restricted --noediting")

// interpreters run code in languages that we don't read.
var interpreters = set(`python pypy perl ruby node nodejs php lua luajit tclsh wish expect osascript pwsh powershell cmd ts-node tsx rscript r julia
	zsh ksh mksh pdksh oksh yash fish csh tcsh elvish nu xonsh jshell groovy scala ghci runghc ocaml sqlite gdb lldb irb ipython dc m4 ed ex`)

// versions only say which version it is, whatever is in the workspace. Others with such an option read their input: python -v, ed -v.
var versions = map[string]bool{
	"python --version": true, "python -V": true, "pypy --version": true, "node --version": true, "node -v": true, "nodejs --version": true, "nodejs -v": true,
	"ruby --version": true, "ruby -v": true, "perl --version": true, "perl -v": true, "php --version": true, "php -v": true,
	"gcc --version": true, "clang --version": true, "make --version": true, "docker --version": true, "pip --version": true, "pip3 --version": true,
}

// workspaceModules are what python -m builds and tests with.
var workspaceModules = set("pytest unittest compileall py_compile json.tool mypy ruff black flake8 isort pylint tox venv coverage")

// installers fetch with some of their subcommands.
var installers = subcommands(map[string]string{
	"git":                     "clone pull fetch push ls-remote submodule remote archive lfs send-email request-pull svn p4 daemon imap-send http-fetch http-push fetch-pack send-pack upload-pack upload-archive remote-https remote-http remote-ftp",
	"pip":                     "install download search index wheel",
	"uv":                      "install add sync run tool pip lock",
	"npm pnpm yarn bun":       "install i add ci exec x update upgrade view info search publish dlx create init audit outdated login",
	"cargo":                   "install add fetch update search publish login",
	"go":                      "get install download tidy vendor sync",
	"gem bundle":              "install fetch update push",
	"brew":                    "install update upgrade fetch info search tap",
	"apt apt-get aptitude":    "install update upgrade search download source dist-upgrade full-upgrade",
	"apk":                     "add update upgrade fetch search",
	"dnf yum zypper":          "install update upgrade search download",
	"pacman":                  "-s -sy -syu -ss",
	"snap flatpak":            "install refresh update find search",
	"conda mamba micromamba":  "install create update search",
	"poetry pdm rye composer": "install add update require publish",
	"docker podman nerdctl":   "pull push run build search exec compose login create start buildx",
	"terraform tofu":          "init apply plan",
	"ansible":                 "all",
	"deno":                    "run install add",
	"openssl":                 "s_client s_time ocsp enc base64",
	"php":                     "-s",
	"java mvn gradle gradlew": "install deploy package dependency:get dependency:resolve",
	"dotnet nuget":            "restore add install push",
	"systemctl":               "start",
	"busybox toybox":          "wget nc telnet ftpget ftpput tftp nslookup ping ssl_client sendmail httpd",
	"gpg gpg2":                "--recv-keys --send-keys --search-keys --refresh-keys --keyserver",
	"opam cabal stack":        "install update init get",
	"helmfile skaffold":       "sync apply run",
	"svnadmin fossil":         "sync clone",
})

// destroyers can't be undone, and destroying are subcommands and options that can't.
var (
	destroyers = set(`rm rmdir unlink shred srm mkfs mkfs.ext4 mkfs.xfs mkfs.vfat mkfs.btrfs dd wipefs fdisk parted truncate del erase rd
		shutdown reboot halt poweroff userdel dropdb killall pkill crontab visudo iptables remove-item`)
	destroying = subcommands(map[string]string{
		"git":                   "reset clean --force -f --force-with-lease filter-branch",
		"kubectl":               "delete drain",
		"terraform tofu":        "destroy",
		"docker podman nerdctl": "rm rmi prune kill",
		"find fd":               "-delete",
		"systemctl":             "stop disable mask",
		"gh aws gcloud az":      "delete rm rb terminate-instances",
	})
)

var drops = match(`drop (table|database|schema)`)

func destroys(n string, args []arg) bool {
	if destroyers[n] {
		return true
	}
	subs := destroying[n]
	return slices.ContainsFunc(args, func(a arg) bool {
		if subs == nil && !strings.Contains(a.text, " ") {
			return false
		}
		text := strings.ToLower(a.text)
		return subs[text] || strings.Contains(text, "drop ") && drops.MatchString(text)
	})
}

// wrapper is a program whose arguments are another command.
type wrapper struct {
	options options
	skip    int  // operands before the command
	assigns bool // NAME=value may be before it
	text    bool // one operand is a text for a shell
}

var wrappers = map[string]*wrapper{
	"sudo":       {options: optionsOf("-n -E -H -S -k -u: -g: --preserve-env --non-interactive"), assigns: true},
	"doas":       {options: optionsOf("-n -u:")},
	"env":        {options: optionsOf("-i - -u: --unset: --ignore-environment -0"), assigns: true},
	"nohup":      {},
	"time":       {options: optionsOf("-p -v")},
	"timeout":    {options: optionsOf("-k: -s: --signal: --kill-after: --foreground --preserve-status -v"), skip: 1},
	"gtimeout":   {options: optionsOf("-k: -s: --foreground"), skip: 1},
	"nice":       {options: optionsOf("-n: -#")},
	"ionice":     {options: optionsOf("-c: -n: -t")},
	"setsid":     {options: optionsOf("-f -w -c")},
	"stdbuf":     {options: optionsOf("-i: -o: -e: --output: --input: --error:")},
	"taskset":    {options: optionsOf("-c"), skip: 1},
	"chrt":       {options: optionsOf("-b -i -o"), skip: 1},
	"exec":       {},
	"command":    {options: optionsOf("-p -v -V")},
	"builtin":    {},
	"caffeinate": {options: optionsOf("-i -s -d -m")},
	"watch":      {options: optionsOf("-n: -d -t -b -e -g -c"), text: true},
	"busybox":    {},
	"toybox":     {},
	"unbuffer":   {},
}

// harmlessVariables may be set to anything.
var (
	harmlessVariables = set(`CGO_ENABLED GOOS GOARCH GOARM GOAMD64 GOMAXPROCS GOGC NODE_ENV CI LANG LC_ALL LC_CTYPE TZ DEBUG VERBOSE NO_COLOR FORCE_COLOR CLICOLOR TERM COLUMNS
		RUST_BACKTRACE RUST_LOG PYTHONDONTWRITEBYTECODE PYTHONUNBUFFERED PYTHONHASHSEED DEBIAN_FRONTEND IFS OPTIND REPLY`)
	harmlessValues = set("PAGER=cat GIT_PAGER=cat PAGER= GIT_PAGER= GOFLAGS=-mod=vendor GOFLAGS=-count=1 GIT_OPTIONAL_LOCKS=0 GIT_TERMINAL_PROMPT=0 GIT_EDITOR=true GOPROXY=off GOFLAGS=")
)

// obeyed are variables in lower case that zsh or npm obey.
var obeyed = set("path fpath cdpath manpath module_path functions dis_functions aliases galiases saliases dis_aliases commands options nameddirs userdirs builtins modules")

// plain programs stay on the machine, write nothing and run nothing, whatever their arguments.
var plain = set(`ls dir vdir cat tac head tail wc pwd echo true false : basename dirname realpath readlink stat du df
	cal uptime whoami uname nproc free ps tty sleep seq cut paste tr rev nl fold fmt expand unexpand column comm join cmp diff
	md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum od hexdump strings jq grep egrep fgrep
	which whereis type expr factor numfmt printenv getconf locale lsblk lscpu pgrep pstree tsort fg bg times ulimit umask
	return exit break continue shift yes pathchk sw_vers md5 shasum zcat bzcat xzcat`)

// checks are programs whose arguments matter.
var checks = map[string]check{
	"sed": checkSed, "gsed": checkSed, "date": checkDate, "unzip": checkUnzip, "gofmt": checkGofmt, "goimports": checkGoimports,
	"arch": only(0, ""), "wait": given(""), "jobs": given("-l -p -r -s"), "file": given("-b -i -I -L -h -k -s -N -n -r -p -v -F: --brief --mime --mime-type --mime-encoding --dereference"),
	"id": only(0, "-u -g -n -G -r"), "groups": only(0, ""), "users": only(0, ""),
	"awk": checkAwk, "gawk": checkAwk, "mawk": checkAwk, "nawk": checkAwk, "tar": checkTar, "make": checkMake, "gmake": checkMake,
	"set": checkSet, "shopt": checkShopt, "test": checkTest, "[": checkTest, "printf": checkPrintf, "read": checkRead, "unset": checkUnset,
	"base64": checkDecoder("base64", "-d -D -i -w: -b: --decode --wrap:"), "base32": checkDecoder("base32", "-d --decode -w:"),
	"xxd":      checkDecoder("xxd", "-p -r -l: -c: -s: -g: -u -b -i -ps"),
	"hostname": only(0, ""), "clear": only(0, ""), "history": only(0, ""),
	"sort": given("-n -r -u -k: -t: -h -V -f -b -d -g -i -M -R -s -z -c -C -m --reverse --unique --numeric-sort --key: --field-separator: --version-sort --human-numeric-sort --stable"),
	"uniq": only(1, "-c -d -D -u -i -f: -s: -w: -z --count --repeated --unique --ignore-case"),
	"shuf": given("-n: -e -r -z -i:"),
	"tree": checkTree,
	"rg":   given(`-n -i -l -c -o -v -w -x -e: -g: -t: -T: -A: -B: -C: -F -S -s -u -uu -uuu -H -h -I -L -m: -M: -U -P -r: -0 -j: --files --hidden --no-ignore --type: --glob: --iglob: --count --count-matches --json --no-heading --heading --line-number --no-line-number --files-with-matches --files-without-match --ignore-case --smart-case --fixed-strings --multiline --max-count: --max-depth: --context: --after-context: --before-context: --color: --only-matching --sort: --type-list --stats --no-messages --word-regexp --invert-match --pcre2 --column --vimgrep --with-filename --no-filename --trim --passthru --replace: --follow --type-not:`),
	"tee":  writesAll("-a -i --append"), "touch": writesAll("-a -m -c -t: -d: -r:"), "mkdir": writesAll("-p -v -m: --parents"),
	"cp": writesAll("-p -f -n -v -u -i --verbose --force --no-clobber"),
	"mv": writesAll("-f -n -v -i -u --force --no-clobber --verbose"), "ln": writesAll("-s -f -n -v --symbolic --force"),
	"rm": writesAll("-r -R -f -i -v -d --recursive --force --verbose"), "rmdir": writesAll("-p -v"), "chmod": writesRest("-R -v -c -f"),
	"gzip": writesAll("-k -d -9 -1 -f -v -c -l -t -n"), "gunzip": writesAll("-k -f -v -c -t -l"), "bzip2": writesAll("-k -d -f -v -c -t"), "xz": writesAll("-k -d -f -v -c -t -l -T: -9"),
	"tsc": runsWorkspace("tsc", "--noEmit -p: --project: -b --build --pretty --version -v --watch"), "jest": runsWorkspace("jest", "-t: --testNamePattern: --coverage --watch --runInBand -i --verbose --silent --ci"),
	"vitest": runsWorkspace("vitest", "-t: --coverage --run --watch"), "eslint": runsWorkspace("eslint", "--fix --quiet --ext: --max-warnings: --cache -f: --format:"),
	"prettier": runsWorkspace("prettier", "--check --write -c -w -l --list-different --log-level:"), "mocha": runsWorkspace("mocha", "-g: --grep: --exit --bail -b"),
	"pytest": runsWorkspace("pytest", "-v -vv -vvv -q -x -s -k: -m: -n: --tb: --lf --ff --maxfail: --cov: --cov-report: --no-header --durations: --collect-only --co -ra -rA --last-failed --failed-first --verbose --quiet --exitfirst --no-cov"),
	"mypy":   runsWorkspace("mypy", "--strict --ignore-missing-imports --no-error-summary --pretty"), "black": runsWorkspace("black", "--check --diff -q -l: --line-length:"), "isort": runsWorkspace("isort", "--check --check-only --diff"),
	"ruff": runsWorkspace("ruff", "--fix --select: --ignore: --output-format: --check --diff"), "flake8": runsWorkspace("flake8", "--max-line-length: --select: --ignore: --exclude:"), "pylint": runsWorkspace("pylint", "--disable: --enable: -E"),
	"golangci-lint": runsWorkspace("golangci-lint", "--fix --timeout: -v -E: -D: --enable: --disable: --new-from-rev:"), "staticcheck": runsWorkspace("staticcheck", "-checks: -f: -tags: -tests:"),
	"rspec": runsWorkspace("rspec", "-f: --format: -e: --fail-fast --color"), "ctest": runsWorkspace("ctest", "-V --verbose --output-on-failure -R: -j: --test-dir:"), "shellcheck": given("-s: -S: -e: -f: -x -a"),
}

// usualTargets are the targets of make, and the scripts of npm, that build and test.
var usualTargets = set("all build test tests check lint fmt format vet clean typecheck type-check unit unit-test test-unit compile generate docs coverage cover bench test-race")

// socatKinds are what socat writes before an address.
var socatKinds = set("tcp tcp4 tcp6 tcp-connect tcp4-connect tcp6-connect udp udp4 udp6 udp-connect openssl openssl-connect ssl sctp socks4 socks5 proxy")

// subcommands lists some subcommands and options of each program; the keys are
// programs that share them.
func subcommands(of map[string]string) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for names, subs := range of {
		for n := range strings.FieldsSeq(names) {
			out[n] = set(subs)
		}
	}
	return out
}
