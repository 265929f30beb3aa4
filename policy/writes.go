package policy

import (
	"iter"
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/toolcall"
)

// What is written into files of these names, or below directories of these names,
// runs later or is sent later, or another program copies it off the machine. The names are in lower
// case. A synced folder may have more words after its name: OneDrive - Acme.
var (
	runLater = words(`.bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout
		.kshrc .cshrc .tcshrc .login .inputrc .xinitrc .xprofile .xsession .xsessionrc .envrc .pam_environment .vimrc .exrc .emacs .tmux.conf
		.config .git .gitconfig .gitmodules .github .gitlab-ci.yml .husky .pre-commit-config.yaml .vscode .idea .ssh .netrc .npmrc .yarnrc .curlrc .wgetrc
		autostart launchagents launchdaemons systemd init.d cron.d cron.daily cron.hourly cron.weekly cron.monthly crontab crontabs profile.d rc.local startup`)
	synced = []string{"dropbox", "onedrive", "icloud", "icloud drive", "mobile documents", "cloudstorage", "google drive", "googledrive", "my drive",
		"nextcloud", "owncloud", "syncthing", "pcloud drive", "pclouddrive", "proton drive", "megasync"}
)

// fileWriters are the tools that write the files which they name, and nothing else.
var fileWriters = words("write edit apply_patch notebook_edit")

// writesOut reports whether content leaves the machine later from one of the files that a call writes.
func writesOut(files []string) bool {
	return slices.ContainsFunc(files, func(name string) bool {
		for part := range plainParts(name) {
			if runLater[part] || slices.ContainsFunc(synced, func(s string) bool { return part == s || strings.HasPrefix(part, s+" ") }) {
				return true
			}
		}
		return false
	})
}

// instructions are what agents obey in later conversations, or start: files of these names, and directories.
var instructions = words(`claude.md claude.local.md agents.md agents.override.md gemini.md soul.md tools.md identity.md user.md heartbeat.md bootstrap.md boot.md agent.md qwen.md memory.md skill.md copilot-instructions.md
	.claude .codex .gemini .opencode .cursor .cursorrules .windsurf .windsurfrules .clinerules .roo .kiro .junie .goosehints .aider.conf.yml .agents .mcp.json mcp.json opencode.json opencode.jsonc`)

// writesForLater reports whether a call writes a file that runs later, that agents obey later, or that is outside a coding agent's workspace. A lasting yes to writing is none for these.
func (pl *Plan) writesForLater(c *toolcall.Call, t *text) bool {
	if !fileWriters[pl.rule.name] {
		return false
	}
	files := filesOf(c.Tool, t.strings)
	return len(files) == 0 || fileWriters[c.Tool] && writesOut(files) || slices.ContainsFunc(files, func(name string) bool {
		for part := range plainParts(name) {
			if instructions[part] {
				return true
			}
		}
		return codingAgents[c.Agent()] && len(pl.inside) > 0 && !within(name, pl.inside)
	})
}

// plainParts are the parts of a path in lower case, without what some file systems leave out: characters that can't be seen, dots and blanks at the end, and what follows a colon.
func plainParts(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for part := range strings.SplitSeq(strings.ReplaceAll(string(foldWide(folded([]byte(name)))), `\`, "/"), "/") {
			part, _, _ = strings.Cut(part, ":")
			if !yield(strings.TrimSpace(strings.TrimRight(part, ". "))) {
				return
			}
		}
	}
}

// filesOf are the files that a call names: in its params, or in the headers of a patch.
func filesOf(tool string, strings iter.Seq2[string, string]) (files []string) {
	for path, value := range strings {
		switch {
		case path == value: // the name of a param
		case tool == "apply_patch":
			files = append(files, patched(value)...)
		case mediaParams[topOf(path)]:
			files = append(files, value)
		}
	}
	return files
}

// patched are the files that the headers of a patch name.
func patched(patch string) (files []string) {
	for line := range strings.Lines(patch) {
		header, found := strings.CutPrefix(strings.TrimSpace(line), "***")
		if _, name, named := strings.Cut(header, ":"); found && named {
			files = append(files, strings.TrimSpace(name))
		}
	}
	return files
}
