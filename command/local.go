package command

import (
	"slices"
	"strings"
)

// Local reports whether all that the command does is to list, search and show files, and to stage, commit and show changes with git in the usual
// way: it writes no other file, deletes nothing, changes no history, and what it does can be undone where it is done. Git runs hooks and
// settings of the workspace; [Command.Runs] says so. It must be [Command.Contained] as well.
func (c *Command) Local() bool {
	if !c.Contained() || c.Wider || c.Destroys || c.Rewrites || c.Deletes || c.Code || c.Environment || c.Stores || c.Settings || c.Device || c.Harms != "" || c.Others != "" {
		return false
	}
	if len(c.Programs) == 0 || c.Links || len(c.Writes)+len(c.Variables)+len(c.Alters)+len(c.Over) > 0 {
		return false
	}
	if slices.ContainsFunc(c.Reads, func(r Read) bool { return strings.ContainsAny(r.Path, `:\`) }) { // a drive of Windows, another machine
		return false
	}
	if slices.ContainsFunc(c.Runs, func(what string) bool { return !strings.HasPrefix(what, "git ") }) {
		return false
	}
	return !slices.ContainsFunc(c.Programs, func(p Program) bool { return !local[p.Name] && !shells[p.Name] && !plainWrappers[p.Name] })
}

// isLink reports whether a word holds the address of a page. A program of the table has no use for one: another of the same name may.
func isLink(word string) bool { return strings.Contains(word, "://") }

// Repeatable reports whether all that the command does is to read files, or to build and test in the usual way, and all of its programs are known for that.
func (c *Command) Repeatable() bool {
	if c.Builds() {
		return !slices.ContainsFunc(c.Runs, func(what string) bool { return strings.HasPrefix(what, "git ") && !gitReads[what] })
	}
	if !c.Contained() || c.Destroys || c.Rewrites || c.Deletes || c.Code || c.Environment || c.Stores || c.Settings || c.Harms != "" || c.Others != "" {
		return false
	}
	if len(c.Writes)+len(c.Variables)+len(c.Alters)+len(c.Over) > 0 || c.Wider && len(c.Runs) == 0 || slices.ContainsFunc(c.Runs, func(what string) bool { return !gitReads[what] }) {
		return false
	}
	other := func(p Program) bool {
		return !local[p.Name] && !tells[p.Name] && !shells[p.Name] && !plainWrappers[p.Name]
	}
	shows := func(p Program) bool { return p.Name != "cd" && (local[p.Name] || tells[p.Name]) }
	return !slices.ContainsFunc(c.Programs, other) && slices.ContainsFunc(c.Programs, shows)
}

// gitReads are the commands of git that change nothing.
var gitReads = map[string]bool{"git status": true, "git diff": true, "git log": true, "git show": true, "git blame": true, "git grep": true, "git ls-files": true}

var (
	// local are the programs that [Command.Local] knows.
	local = set("git ls tree find fd rg grep egrep fgrep cat head tail wc nl sort uniq diff cmp file du basename dirname pwd cd echo true :")

	// tells are programs that [Command.Repeatable] knows besides: they say something of the machine or of the files that they name, and take no
	// other names.
	tells = set("date uname arch nproc id whoami groups uptime cal cut paste comm join rev tac fold od hexdump strings md5sum sha1sum sha256sum sha512sum base64 tr")

	// localGit are the verbs of git that it knows, with their options.
	localGit = map[string]*sub{
		"git status": builds["git status"], "git diff": builds["git diff"], "git add": builds["git add"], "git commit": builds["git commit"], "git log": most(-1, gitBuildLooks),
	}
)

// AddsModules reports whether a text is `go get` with names of modules, and nothing else. It writes go.mod and go.sum and runs nothing of what it fetches;
// builds do later. No option: -modfile names another file, -tool a program.
func AddsModules(text string) bool {
	words := strings.Fields(text)
	if len(words) < 3 || words[0] != "go" || words[1] != "get" || !IsPlain(text) {
		return false
	}
	return !slices.ContainsFunc(words[2:], func(w string) bool {
		path, version, _ := strings.Cut(w, "@")
		host, _, named := strings.Cut(path, "/")
		return !named || !strings.Contains(strings.Trim(host, "."), ".") || strings.Trim(path+version, moduleChars) != "" || strings.ContainsAny(w[:1], "-./")
	})
}

// TestsAll reports whether a text tests all of Go's packages where it starts: go test ./..., alone or with other commands before or after it. It must
// be known that it only builds, see [Command.Builds].
func TestsAll(text string) bool {
	if strings.ContainsAny(text, "|;>'\"") || strings.Contains(strings.ReplaceAll(text, "&&", ""), "&") {
		return false
	}
	tests := false
	for part := range strings.SplitSeq(text, "&&") {
		words := strings.Fields(part)
		if len(words) == 0 || words[0] == "cd" {
			return false
		}
		tests = tests || strings.Join(words, " ") == "go test ./..."
	}
	return tests
}

// moduleChars are the characters of a module's name and version.
const moduleChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789./_~+-"
