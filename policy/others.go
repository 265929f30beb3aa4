package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/command"
	"github.com/openclaw-verifier/verifier/taint"
)

// readsOthers makes what a call brings in external, where it reads a file that others wrote: mail, a download, what a coding agent kept of earlier conversations. A rule of the owner's comes first.
func (pl planner) readsOthers(t *text, does *command.Command) {
	if pl.told || !fileReaders[pl.rule.name] && !pl.rule.runs {
		return
	}
	isOthers := func(name string) bool { return fromOthers(name, pl.inside) }
	found := slices.ContainsFunc(does.Reads, func(r command.Read) bool { return !r.Name && isOthers(r.Path) })
	if !found && fileReaders[pl.rule.name] {
		for at, value := range t.strings {
			found = found || at != value && at != "pattern" && isOthers(value)
		}
	}
	if found {
		pl.Raise = taint.Worse(pl.Raise, external)
	}
}

// fileReaders show what is in files.
var fileReaders = words("read read_file grep pdf view_image image file_fetch dir_fetch memory_get")

// fromOthers reports whether others wrote a file, by where it is. A coding agent's workspace may be among downloads.
func fromOthers(name string, inside []string) bool {
	clean := strings.ReplaceAll(strings.TrimPrefix(strings.TrimSpace(name), "@"), `\`, "/")
	if mailEndings[strings.ToLower(path.Ext(clean))] {
		return true
	}
	if len(clean) > 2 && clean[1] == ':' { // a drive
		clean = clean[2:]
	}
	clean = command.Clean(strings.Replace(clean, "$HOME/", "~/", 1))
	if up := strings.TrimLeft(clean, "./"); relative(clean) && strings.HasPrefix(clean, "../") {
		clean = "~/" + up // a workspace is a directory of the home, or of OpenClaw's
		if strings.HasPrefix(up, "agents/") {
			clean = "~/.openclaw/" + up
		}
	}
	if relative(clean) || slices.ContainsFunc(inside, func(dir string) bool { return below(clean, dir) }) {
		return false
	}
	lower := strings.ToLower(clean)
	inHome := ""
	switch {
	case strings.HasPrefix(lower, "/users/"), strings.HasPrefix(lower, "/home/"):
		_, inHome, _ = strings.Cut(lower[strings.IndexByte(lower[1:], '/')+2:], "/")
	case strings.HasPrefix(clean, "/root/"), strings.HasPrefix(clean, "~/"):
		_, inHome, _ = strings.Cut(lower[1:], "/")
	default:
		return below(lower, "/var/mail") || below(lower, "/var/spool/mail")
	}
	return slices.ContainsFunc(othersInHome, func(place string) bool { return below(inHome, place) })
}

var (
	mailEndings  = words(".eml .emlx .mbox")
	othersInHome = strings.Fields(`downloads mail maildir .mail .maildir .thunderbird .local/share/evolution/mail library/mail library/messages library/thunderbird
		.openclaw/agents .claude/projects .codex/sessions .gemini/tmp .local/share/opencode/storage`)
)
