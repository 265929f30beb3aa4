package policy

import (
	"path"
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/command"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// asksPaths are the ends of paths in which coding agents read which hooks and plugins they run, and our own programs that they run: a call
// that changes one may take away what asks about calls. Plain folders of such names are for much else, so that only their files count.
var asksPaths = pairs(`.claude/settings.json .claude/settings.local.json claude-code/managed-settings.json claude-code/managed-settings.d
	claudecode/managed-settings.json claudecode/managed-settings.d
	.codex/config.toml .codex/hooks.json .codex/hooks codex/requirements.toml codex/managed_config.toml
	.gemini/settings.json .gemini/trustedfolders.json .gemini/.env .gemini/extensions gemini-cli/settings.json gemini-cli/system-defaults.json geminicli/settings.json
	.opencode/plugin .opencode/plugins .opencode/opencode.json .opencode/opencode.jsonc opencode/plugin opencode/plugins opencode/opencode.json opencode/opencode.jsonc
	opencode/tui.json opencode/verifier-tui.js /opencode.json /opencode.jsonc
	bin/verifier sbin/verifier`)

// longestPath is longer than systems take.
const longestPath = 4096

// hookProgram is the program that the agents run.
const hookProgram = "verifier-hook"

// asksWords are the same as words of a text.
var asksWords = func() *matcher {
	var list strings.Builder
	for _, p := range asksPaths {
		list.WriteString(strings.TrimPrefix(p.dir+"/"+p.name, "/") + " ")
	}
	return wordsOf(list.String())
}()

// pathEnd is a name in a directory, which is "" for any.
type pathEnd struct{ dir, name string }

func pairs(list string) (out []pathEnd) {
	for word := range strings.FieldsSeq(list) {
		dir, name, _ := strings.Cut(word, "/")
		out = append(out, pathEnd{dir, name})
	}
	return out
}

// changesHooks reports whether a call may change which hooks and plugins a coding agent runs.
func (pl *Plan) changesHooks(c *toolcall.Call, t *text, does *command.Command) bool {
	switch {
	case pl.Shell:
		return changesHooks(does, t)
	case fileWriters[pl.rule.name]:
		from := startsOf(c)
		return slices.ContainsFunc(filesOf(c), func(name string) bool { return namesHooks(from, name) })
	case !pl.sink:
		return false
	}
	from := startsOf(c)
	for at, value := range c.Strings {
		if at != value && namesHooks(from, value) {
			return true
		}
	}
	given := commandsGiven(c)
	return changesHooks(&given, t)
}

// changesHooks reports whether a command writes, moves or removes such a file or the directory that it is in, or starts an agent without its hooks. Of a program that we don't know, any word may be such a file.
func changesHooks(does *command.Command, t *text) bool {
	for _, paths := range [][]string{does.Writes, does.Over, does.Alters} {
		if slices.ContainsFunc(paths, func(name string) bool { return runsHooks(name, true) }) {
			return true
		}
	}
	if len(does.Programs) == 0 {
		return false // no command
	}
	if find(agentNames, t.lower) != nil && t.readings(true, func(b []byte) bool { return find(unhooked, b) != nil || starts(t.raw, []byte("HOME=")) }) {
		return true
	}
	if len(does.Unknown) == 0 && !does.Code && !does.Rewrites {
		return false
	}
	return slices.ContainsFunc(does.Words, func(word string) bool { return runsHooks(word, true) }) || t.readings(true, func(b []byte) bool { return find(asksWords, b) != nil })
}

// A coding agent that is started so reads other settings than those that name our hook, or runs no hooks. The second list has its options and variables.
var (
	agentNames = wordsOf("claude claude-code codex gemini gemini-cli opencode opencode-ai")
	unhooked   = wordsOf(`--bare --setting-sources --settings disableallhooks claude_config_dir codex_home --disable features.hooks features.codex_hooks
		gemini_cli_home gemini_cli_system_settings_path hooksconfig opencode_config opencode_config_dir opencode_config_content opencode_pure xdg_config_home --pure`)
)

func wordsOf(list string) *matcher {
	var out [][]byte
	for word := range strings.FieldsSeq(list) {
		out = append(out, []byte(word))
	}
	return newMatcher(out)
}

// runsHooks reports whether a path, which may be a pattern, is such a file or below it; or, if whole directories count, the directory of one.
func runsHooks(name string, directories bool) bool {
	if name = path.Clean(strings.ReplaceAll(name, `\`, "/")); len(name) > longestPath {
		return false
	}
	dir := ""
	for part := range plainParts(name) {
		if slices.ContainsFunc(asksPaths, func(p pathEnd) bool {
			return namedBy(part, p.name) && (p.dir == "" || namedBy(dir, p.dir))
		}) {
			return true
		}
		dir = part
	}
	return dir == hookProgram || directories && slices.ContainsFunc(asksPaths, func(p pathEnd) bool { return strings.HasPrefix(p.dir, ".") && namedBy(dir, p.dir) })
}

// namedBy reports whether a part of a path is a name, or a pattern that finds it. A pattern for all files is none for these.
func namedBy(part, name string) bool {
	if part == name || part == name+".exe" {
		return true
	}
	if !strings.ContainsAny(part, patternSigns) || strings.Trim(part, "*?.") == "" {
		return false
	}
	found, err := path.Match(part, name)
	return err != nil || found
}

// startsOf are the directories from which a call's paths may be meant.
func startsOf(c *toolcall.Call) []string {
	from := []string{".", c.Context.Workspace, c.Context.Directory}
	for at, value := range c.Strings {
		if at != value && directoryParams[at] {
			from = append(from, value)
		}
	}
	return from
}

// namesHooks reports whether a path is such a file, from one of these directories.
func namesHooks(from []string, name string) bool {
	if isRooted(name) {
		return runsHooks(name, false)
	}
	return slices.ContainsFunc(from, func(start string) bool { return runsHooks(start+"/"+name, false) })
}
