package command

import "strings"

// sub is a subcommand that stays on the machine.
type sub struct {
	options  options
	operands map[string]bool // those that it may have; nil is any
	shape    *pattern        // what they look like; nil is any
	most     int             // how many operands it may have; -1 is any number
	least    int             // and how many it must have
	needs    string          // an option that it must have; "" is none
	files    []string        // options that name a file to write
}

// families are programs with subcommands. Options before the subcommand are under "".
var families = map[string]map[string]*sub{
	"git": subs(
		"", "--no-pager -P --no-optional-locks -C: --literal-pathspecs",
		"status", "-s -b -v -u --short --branch --porcelain --untracked-files --ignored --long -z -uno -uall --show-stash --ahead-behind",
		"log show diff whatchanged shortlog", gitLooks,
		"blame", "-L: -w -M -C -e -l -s --date: --porcelain -p",
		"ls-files", "-c -d -m -o -s -u -z --cached --deleted --modified --others --stage --exclude-standard --full-name --error-unmatch -t",
		"ls-tree", "-r -d -t -l -z --name-only --full-tree --long",
		"cat-file", "-t -s -p -e",
		"rev-parse", "--short --abbrev-ref --show-toplevel --verify --git-dir --is-inside-work-tree --symbolic-full-name --show-prefix --show-cdup --quiet -q --all",
		"rev-list", "--count --all --max-count: -n: --reverse --oneline -#",
		"describe", "--tags --always --dirty --abbrev: --long --match: --exact-match --all",
		"branch", "-a -r -v -vv -d -D -m -M -l --list --show-current --all --remotes --contains: --merged --no-merged --sort: --format: --delete --no-color --color",
		"tag", "-l -n -d -a -m: --list --sort: --contains: --points-at:",
		"reflog", "-n: -#",
		"name-rev merge-base show-ref for-each-ref symbolic-ref check-ignore var count-objects", "--short --name-only --tags --all --format: --sort: --count: --heads -v --is-ancestor -q",
		"add", "-A -u -N -v -n -f --all --update --intent-to-add --dry-run --verbose --force -p",
		"mv", "-f -k -v -n",
		"rm", "-r -f -n -q --cached --force --quiet --dry-run --ignore-unmatch",
		"init", "-q -b: --initial-branch: --quiet",
		"grep", "-n -i -l -c -w -v -e: -E -F -P -I -h -H -A: -B: -C: --name-only --count --cached --untracked --heading --line-number --no-index",
		"commit", "-m: -a -am: -F: -v -q -s -n --amend --no-edit --all --message: --allow-empty --no-verify --quiet --signoff --dry-run --fixup: --author: --date: --no-gpg-sign --only --include",
		"checkout switch", "-b: -B: -c: -C: -f -q -d --detach --force --ours --theirs --create: --orphan: --quiet --track --no-track -",
		"restore", "-s: -S -W --source: --staged --worktree --ours --theirs -q --quiet",
		"reset", "-q --hard --soft --mixed --keep --merge --quiet",
		"stash", "-u -a -k -q -m: -p --include-untracked --all --keep-index --message: --index --stat",
		"merge", "-m: -q --no-ff --ff-only --ff --squash --no-commit --abort --continue --no-edit --quiet --stat",
		"cherry-pick revert", "-n -x -s -m: --no-commit --abort --continue --skip --no-edit --quit",
		"rebase", "--abort --continue --skip --onto: --quiet -q --autostash --no-autostash",
		"clean", "-n -f -d -x -X -q --dry-run --force",
		"remote=0", "-v --verbose",
		"config=0", "--get: --get-all: -l --list --show-origin --local --global",
		"apply am", "--check --stat --numstat --summary -p: -R --reverse --cached --index --3way -3 --abort --continue",
	),
	"go": subs(
		"version env", "-json",
		"doc", "-all -src -u -short -c -cmd",
		"list", "-f: -m -json -deps -test -e -find -compiled",
		"fmt", "-n -x",
		"vet build test", "-v -race -run: -count: -short -cover -coverprofile: -covermode: -coverpkg: -bench: -benchmem -benchtime: -timeout: -tags: -x -json -failfast -parallel: -cpu: -p: -o: -trimpath -n -list: -vet: -fuzz: -fuzztime: -skip: -shuffle: -a -i -work -buildvcs: -gcflags:",
		"generate", "-v -run: -x -n -skip:",
		"clean", "-cache -testcache -i -n -x",
	),
	"cargo": subs(
		"build check test clippy bench doc", "--release --all --workspace -p: --package: --lib --bins --bin: --test: --tests --examples --features: --all-features --no-default-features -q --quiet -v --verbose --no-run --all-targets --offline --locked --frozen -j: --jobs: --message-format: --no-deps --fix --allow-dirty --nocapture",
		"fmt", "--all --check -q",
		"--version=0", "",
		"tree metadata", "--offline --locked --frozen -p: --depth: --format-version: --no-deps",
		"clean", "-p: --release -q",
	),
	"npm": scripts("test t tst", "--silent -s", "ls=0", "--depth:"), "pnpm": scripts("test t", "--silent -s -r"), "yarn": scripts("test build lint", "--silent -s"), "bun": scripts("test", ""),
}

const gitLooks = `--oneline --stat --shortstat --numstat --name-only --name-status --graph --all --decorate --no-decorate --no-color --color -p -u -U: -n: -# --patch --cached --staged
	--since: --until: --after: --before: --author: --grep: --format: --pretty --abbrev-commit --abbrev --follow --first-parent --merges --no-merges --reverse -S: -G: --diff-filter: --no-ext-diff --no-textconv
	-w -b --word-diff --check --quiet -q --exit-code --no-index --summary --date: --left-right --cherry-pick --max-count: --skip: --relative --raw -z --full-index --binary --minimal --histogram --color-words
	-M -C --find-renames --topo-order -L: --no-renames --no-patch -s -e --no-prefix --unified: --ignore-all-space --ignore-space-change --ignore-blank-lines --branches --tags --remotes -i --committer: --merge-base --no-walk --dirstat --compact-summary`

// subs reads pairs of subcommands and their options. =0 at the end of the names says that they
// take no operands.
func subs(pairs ...string) map[string]*sub {
	out := map[string]*sub{}
	for i := 0; i+1 < len(pairs); i += 2 {
		names := pairs[i]
		s := &sub{options: optionsOf(pairs[i+1]), most: -1, files: []string{"-o", "-coverprofile"}}
		if bare, none := strings.CutSuffix(names, "=0"); none {
			names, s.most = bare, 0
		}
		if names == "" {
			out[""] = s
		}
		for n := range strings.FieldsSeq(names) {
			out[n] = s
		}
	}
	return out
}

// scripts is npm and its like: the script to test, and the usual ones behind run.
func scripts(tests, list string, more ...string) map[string]*sub {
	out := subs(append(more, tests, list, "run run-script", list, "-v --version", "")...)
	for _, n := range []string{"run", "run-script"} {
		s := *out[n]
		s.operands, s.most = usualTargets, 1
		out[n] = &s
	}
	return out
}
