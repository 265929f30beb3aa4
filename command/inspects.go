package command

import "slices"

// Inspects reports whether the command builds, see [Command.Builds], or shows what git keeps of the workspace and its history up to where it is now, and does nothing else. Git obeys
// the settings of the repository here as it does for git status and git diff.
func (c *Command) Inspects() bool { return !c.StraysFar && c.onlyRuns() }

// inspections are the commands of git that [Command.Inspects] knows. Each option is exactly as it is here. None of them changes a branch, a tag or a stash, opens the network or an
// editor, or writes a file. They show no commit but those that HEAD or a usual branch leads to, and no addresses of remotes, which may hold passwords. git log shows no changes: what was
// removed long ago may be a secret.
var inspections = map[string]*sub{
	"git log": {shape: ownCommits, most: 1, options: optionsOf(`--oneline --stat --shortstat --numstat --name-only --name-status --graph --decorate --no-decorate --no-color --abbrev-commit --merges --no-merges
		--first-parent --reverse --follow --since: --until: --author: --grep: --format --pretty --date: -n: -# --max-count:`)},
	"git show":       {shape: match(`^HEAD(:` + localPath + `)?$`), most: 1, options: optionsOf("--stat --shortstat --numstat --name-only --name-status --oneline --no-color --no-patch -s --format --pretty")},
	"git blame":      {options: optionsOf("-L: -w -s -e -l"), most: 1, least: 1},
	"git branch":     most(0, "-a -r --all --remotes --list --show-current --no-color"),
	"git tag":        most(0, "-l --list"),
	"git stash":      {operands: set("list"), most: 1, least: 1},
	"git remote":     most(0, ""),
	"git ls-files":   most(-1, "-c -d -m -s --cached --deleted --modified --others --stage --exclude-standard"),
	"git ls-tree":    {shape: ownCommit1, most: 1, least: 1, options: optionsOf("-r -d --name-only")},
	"git rev-parse":  {shape: ownCommit1, most: 1, options: optionsOf("--short --abbrev-ref --show-toplevel --show-prefix --git-dir --is-inside-work-tree --verify")},
	"git rev-list":   {shape: ownCommits, most: 1, least: 1, needs: "--count", options: optionsOf("--count")},
	"git merge-base": {shape: ownCommit1, most: 2, least: 2},
	"git describe":   {shape: ownCommit1, most: 1, options: optionsOf("--tags --always --dirty --long")},
	"git shortlog":   {shape: ownCommits, most: 1, options: optionsOf("-s -n -e --summary --numbered --email")},
}

// ownCommit1 is a name of a commit that is no one else's, and ownCommits that or a range of such.
var (
	ownCommit1 = match(`^` + ownName + `$`)
	ownCommits = match(`^` + ownName + `(\.\.\.?` + ownName + `)?$`)
)

// localPath is a path below the workspace: no part of it is hidden, an option or a name with a dot at its end.
const (
	localPart = `[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_-])?`
	localPath = localPart + `(/` + localPart + `)*`
)

const ownName = `(HEAD|main|master|develop|trunk)`

// takesPaths are those of them that show only what concerns the files behind a --.
var takesPaths = map[string]bool{"git log": true, "git show": true, "git ls-files": true}

// isInspection reports whether a program with these arguments is in the table.
func isInspection(n string, args []arg) bool {
	n, args = verbOf(n, args)
	s := inspections[n]
	if s == nil || slices.ContainsFunc(args, asksGPG) {
		return false
	}
	if at := slices.IndexFunc(args, func(a arg) bool { return a.text == "--" }); at >= 0 {
		if !takesPaths[n] || slices.ContainsFunc(args[at+1:], func(a arg) bool { return !a.fixed || !isBelow(n, a.text) }) {
			return false
		}
		args = args[:at]
	}
	return s.fits(n, args)
}
