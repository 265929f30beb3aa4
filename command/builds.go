package command

import (
	"slices"
	"strings"
)

// Builds reports whether the command builds, tests or commits what is in the workspace, in the usual way, and does nothing else. What
// it runs is what the files there say: it loads no other settings or code, names no file to write, deletes nothing and changes
// no history. It must be [Command.Contained] as well.
func (c *Command) Builds() bool { return !c.Strays && c.onlyRuns() }

// onlyRuns reports whether the command is known to do nothing but by what it runs from the workspace.
func (c *Command) onlyRuns() bool {
	return c.Contained() && len(c.Runs) > 0 && !c.Destroys && !c.Rewrites && len(c.Writes) == 0 && len(c.Variables) == 0 && !c.Environment && c.Others == ""
}

// buildTargets are the targets of make, and the scripts of npm, that build and test by convention. What any other does, its name does
// not say: deploy, release and publish leave the machine, clean deletes, fmt and generate write.
var buildTargets = set("all build test tests check lint vet typecheck type-check unit unit-test test-unit compile coverage cover bench test-race")

// builds are the programs that [Command.Builds] knows, with the options that add nothing to what the workspace says. Those with
// subcommands are listed by both.
var builds = map[string]*sub{
	"make": targets("-j: -k -s -w --silent --no-print-directory --keep-going"), "gmake": targets("-j: -k -s -w --silent --no-print-directory --keep-going"),
	"go test":    most(-1, "-v -race -run: -count: -short -cover -bench: -benchmem -benchtime: -timeout: -tags: -json -failfast -parallel: -cpu: -p: -list: -skip: -shuffle: -trimpath"),
	"go vet":     most(-1, "-v -tags: -json"),
	"go build":   most(-1, "-v -race -tags: -p: -trimpath"),
	"go version": most(0, ""), "go list": most(-1, "-deps -test -e -json -m"),
	"go env":        {operands: set("GOARCH GOBIN GOCACHE GOMOD GOMODCACHE GOOS GOPATH GOROOT GOTOOLCHAIN GOVERSION GOWORK CGO_ENABLED"), most: -1, least: 1}, // others hold proxies with passwords
	"npm --version": most(0, ""), "npm -v": most(0, ""), "npm ls": most(0, "--depth:"), "cargo --version": most(0, ""),
	"cargo build": most(0, cargoBuilds), "cargo check": most(0, cargoBuilds), "cargo clippy": most(0, cargoBuilds), "cargo test": most(1, cargoBuilds+" --no-run --no-fail-fast"),
	"npm test": most(0, "--silent -s"), "npm t": most(0, "--silent -s"), "npm run": targets("--silent -s"), "npm run-script": targets("--silent -s"),
	"pnpm test": most(0, "--silent -s"), "pnpm t": most(0, "--silent -s"), "pnpm run": targets("--silent -s"),
	"yarn test": most(0, "--silent -s"), "yarn build": most(0, "--silent -s"), "yarn lint": most(0, "--silent -s"), "yarn run": targets("--silent -s"),
	"bun test": most(0, ""), "bun run": targets(""),
	"pytest": most(-1, pytestOptions), "python -m pytest": most(-1, pytestOptions), "python -m unittest": most(0, "-v -q -f -b"),
	"jest": most(-1, "-t: --testNamePattern: --coverage --runInBand -i --verbose --silent --ci"), "mocha": most(-1, "-g: --grep: --exit --bail -b"),
	"vitest": {options: optionsOf("--run --coverage"), operands: set("run"), most: 1},
	"tsc":    needs("--noEmit", "--noEmit --pretty"), "eslint": most(-1, "--quiet --ext: --max-warnings:"), "mypy": most(-1, "--strict --ignore-missing-imports --no-error-summary --pretty"),
	"ruff": {operands: set("check"), most: 1}, "golangci-lint": {options: optionsOf("-v --timeout:"), operands: set("run"), most: 1}, "staticcheck": most(-1, "-tests:"),
	"ctest": most(0, "-V --verbose --output-on-failure -R: -j:"), "flake8": most(-1, "--max-line-length: --select: --ignore:"),
	"git status": most(-1, "-s -b -v -u --short --branch --porcelain --untracked-files --long -z -uno -uall"),
	"git diff":   most(-1, gitBuildLooks),
	"git add":    most(-1, "-A -u -v -n --all --update --verbose --dry-run"),                         // not what the owner's .gitignore leaves out
	"git commit": most(-1, "-m: -a -q -v -s --message: --all --quiet --verbose --signoff --dry-run"), // its hooks run, and no other commit changes
}

const (
	cargoBuilds   = "--release --all --workspace -p: --package: --lib --bins --bin: --test: --tests --examples --features: --all-features --no-default-features -q --quiet -v --verbose --all-targets --offline --locked --frozen -j: --jobs: --no-deps"
	pytestOptions = "-v -vv -vvv -q -x -s -k: -m: -n: --tb: --lf --ff --maxfail: --no-header --durations: --collect-only --co -ra -rA --last-failed --failed-first --verbose --quiet --exitfirst --no-cov --cov"
	gitBuildLooks = "--oneline --stat --shortstat --numstat --name-only --name-status --graph --decorate --no-color -p -U: -n: -# --patch --cached --staged --since: --until: --author: --grep: --format: --pretty --abbrev-commit --no-ext-diff --no-textconv -w -b --max-count: --no-patch --unified:"
)

func most(operands int, options string) *sub {
	return &sub{options: optionsOf(options), most: operands}
}

func targets(options string) *sub {
	return &sub{options: optionsOf(options), operands: buildTargets, most: -1, least: 1}
}

func needs(option, options string) *sub { return &sub{options: optionsOf(options), needs: option} }

// asides are what people write around builds: they choose from the output, and read no file.
var asides = map[string]*sub{
	"cd": most(1, ""), "echo": most(-1, "-n"), "true": most(0, ""), "false": most(0, ""), ":": most(0, ""),
	"head": most(0, "-n: -c: -#"), "tail": most(0, "-n: -c: -#"), "wc": most(0, "-l -c -w"), "sort": most(0, "-u -n -r"), "uniq": most(0, "-c"),
	"grep": most(1, grepAside), "egrep": most(1, grepAside),
}

const grepAside = "-v -i -E -F -c -n -o -w"

// plainWrappers run their command as it is, for a time.
var plainWrappers = set("timeout gtimeout time nice command")

// inBuild reports whether a program that is no shell belongs to a build.
func inBuild(n string, args []arg) bool {
	aside := asides[n]
	return aside != nil && aside.fits(n, args) || plainWrappers[n] || isBuild(n, args)
}

// isBuild reports whether a program with these arguments is in the table.
func isBuild(n string, args []arg) bool {
	n, args = verbOf(n, args)
	s := builds[n]
	if s == nil || slices.ContainsFunc(args, func(a arg) bool { return a.text == "--" }) {
		return false
	}
	return s.fits(n, args)
}

// verbOf is a program with its subcommand, as the tables have it, and the arguments of that; "" where there is none that is known.
func verbOf(n string, args []arg) (verb string, rest []arg) {
	if len(args) > 1 && unversioned(n) == "python" && args[0].text == "-m" && args[1].fixed {
		n, args = "python -m "+args[1].text, args[2:]
	}
	if subs := families[n]; subs != nil {
		if global := subs[""]; global != nil {
			rest, ok := global.options.leading(args)
			if !ok {
				return "", nil
			}
			args = rest
		}
		if len(args) == 0 || !args[0].fixed {
			return "", nil
		}
		n, args = n+" "+args[0].text, args[1:]
	}
	return n, args
}

// fits reports whether these are arguments of the table: each option exactly as it is there, and operands that are places in the workspace.
func (s *sub) fits(n string, args []arg) bool {
	if slices.ContainsFunc(args, func(a arg) bool { return a.option() && !s.options.exactly(n, a.text) }) {
		return false
	}
	operands, ok := s.options.all(args)
	if !ok || len(operands) < s.least || s.most >= 0 && len(operands) > s.most {
		return false
	}
	if s.needs != "" && !slices.ContainsFunc(args, func(a arg) bool { return a.text == s.needs }) {
		return false
	}
	if n == "git diff" && (slices.ContainsFunc(args, asksGPG) || slices.ContainsFunc(operands, func(a arg) bool { return !isOwn(a.text) })) {
		return false
	}
	if n == "git commit" && !slices.ContainsFunc(args, isMessage) || gitStages[n] && slices.ContainsFunc(operands, isOpenPattern) {
		return false
	}
	return !slices.ContainsFunc(operands, func(a arg) bool { return !s.accepts(n, a) })
}

// accepts reports whether an operand is one of the table.
func (s *sub) accepts(n string, a arg) bool {
	switch {
	case !a.fixed:
		return false
	case s.operands != nil:
		return s.operands[a.text]
	case s.shape != nil && !s.shape.MatchString(a.text), runners[n] && !looksLikeTest(a.text):
		return false
	}
	return reads[n] || isBelow(n, a.text)
}

// isOwn reports whether an operand is one of the owner's commits, by the names that are no one else's, a range of them, or the path of a file. Any other name may be a branch that came from elsewhere.
func isOwn(operand string) bool {
	if EndsPlainly(operand) || operand == "." || strings.HasPrefix(operand, "./") || strings.HasSuffix(operand, "/") {
		return true
	}
	first, second, isRange := strings.Cut(operand, "..")
	return isOwnCommit(first) && (!isRange || isOwnCommit(strings.TrimPrefix(second, ".")))
}

func isOwnCommit(name string) bool {
	return name == "" || usualBranches[name] || ownCommit.MatchString(name) && !isRemote(name)
}

// asksGPG reports whether a format lets git check signatures, for which GnuPG may look for keys on the network.
func asksGPG(a arg) bool { return strings.Contains(a.text, "%") && signature.MatchString(a.text) }

var signature = match(`%[-+ ]?G`)

// isMessage reports whether an option gives a commit its message. Without one git opens an editor, which runs what is typed into it.
func isMessage(a arg) bool {
	return strings.HasPrefix(a.text, "--message") || strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "--") && strings.HasSuffix(a.text, "m")
}

// gitStages are the commands of git that take the files which they are given into a commit.
var gitStages = map[string]bool{"git add": true, "git commit": true}

// isOpenPattern reports whether an operand may find any file, to git also a hidden one: '[.]env'. '*.go' does not.
func isOpenPattern(a arg) bool {
	return strings.ContainsAny(a.text, "*?[") && !EndsPlainly(a.text)
}

// reads are asides whose operands are no places: a text, a pattern.
var reads = set("echo grep egrep")

// runners run the files that they are given, so these must be tests.
var runners = set("pytest jest mocha bun")

func looksLikeTest(path string) bool {
	path = strings.ToLower(path)
	return strings.Contains(path, "test") || strings.Contains(path, "spec")
}

// exactly reports whether an option is in the list as it is written: by its whole name, with a value only where it takes one, as a letter and a
// number, or as letters of which only the last takes a value. What another program would read differently is not.
func (o options) exactly(n, text string) bool {
	head, _, valued := strings.Cut(text, "=")
	if takes, in := o[head]; in {
		return !valued || takes || equalSigns[head]
	}
	if strings.HasPrefix(text, "--") || valued || len(text) < 2 || strings.HasPrefix(n, "go ") {
		return false
	}
	if number := text[2:]; number != "" && strings.Trim(number, "0123456789") == "" && o[text[:2]] {
		return true
	}
	if o.hasNumber() && strings.Trim(text[1:], "0123456789") == "" {
		return true
	}
	for i := 1; i < len(text); i++ {
		takes, in := o["-"+text[i:i+1]]
		if !in || takes && i < len(text)-1 {
			return false
		}
	}
	return true
}

// equalSigns are options that may be given a word.
var equalSigns = set("--pretty --format --porcelain --untracked-files --decorate --stat --color --colour")

// isBelow reports whether an operand is a place in the workspace and nothing else: for go a directory, not a package by its name.
func isBelow(n, operand string) bool {
	if strings.HasPrefix(n, "go ") {
		rest, found := strings.CutPrefix(operand, ".")
		if !found || rest != "" && rest[0] != '/' {
			return false
		}
	}
	return operand != "" && !strings.ContainsAny(operand[:1], "/~@-+:") && (!strings.Contains(operand, "..") || !slices.Contains(strings.Split(operand, "/"), ".."))
}
