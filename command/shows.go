package command

import (
	"slices"
	"strings"
)

// OnlyShows reports whether all that the command does is to list, search and show files, or to say something of the machine: it
// stays there, runs nothing from the workspace, changes nothing, shows neither variables nor secrets, and all of its programs are
// known for that.
func (c *Command) OnlyShows() bool {
	if !c.Harmless() || c.Wider || c.Destroys || c.Rewrites || c.Deletes || c.Code || c.Environment || c.Stores || c.Settings ||
		c.Harms != "" || c.Others != "" || len(c.Writes)+len(c.Variables)+len(c.Alters)+len(c.Over) > 0 {
		return false
	}
	other := func(p Program) bool {
		return !viewers[p.Name] && p.Name != "cd" && !shells[p.Name] && !plainWrappers[p.Name]
	}
	return !slices.ContainsFunc(c.Programs, other) && slices.ContainsFunc(c.Programs, func(p Program) bool { return viewers[p.Name] })
}

// viewers are programs that [Command.OnlyShows] knows: they list, search and show files, or say something of the machine or of the files that they name, and take no other names.
var viewers = set(`git ls tree find fd rg grep egrep fgrep cat head tail wc nl sort uniq diff cmp file du basename dirname pwd echo true :
	date uname arch nproc id whoami groups uptime cal cut paste comm join rev tac fold od hexdump strings md5sum sha1sum sha256sum sha512sum base64 tr`)

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
