package policy

import (
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/command"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// asksPaths are the ends of paths in which coding agents read which hooks and plugins they run: a call that changes one may take away what
// asks about calls. Plain folders of such names are for much else, so that only their files count.
var asksPaths = pairs(`.claude/settings.json .claude/settings.local.json claude-code/managed-settings.json claude-code/managed-settings.d
	claudecode/managed-settings.json claudecode/managed-settings.d plugins/installed_plugins.json plugins/known_marketplaces.json
	.codex/config.toml .codex/hooks.json .codex/hooks codex/requirements.toml codex/managed_config.toml
	.gemini/settings.json .gemini/trustedfolders.json .gemini/.env .gemini/extensions gemini-cli/settings.json gemini-cli/system-defaults.json geminicli/settings.json
	.opencode/plugin .opencode/plugins .opencode/opencode.json .opencode/opencode.jsonc opencode/plugin opencode/plugins opencode/opencode.json opencode/opencode.jsonc
	.opencode/tool .opencode/tools .opencode/config.json opencode/tool opencode/tools opencode/config.json opencode/tui.json opencode/verifier-tui.js /opencode.json /opencode.jsonc`)

// asksNames are the same, to be looked up.
var asksNames = func() map[pathEnd]bool {
	out := map[pathEnd]bool{}
	for _, p := range asksPaths {
		out[p] = true
	}
	return out
}()

// asksAnywhere are those that count in any directory.
var asksAnywhere = slices.DeleteFunc(slices.Clone(asksPaths), func(p pathEnd) bool { return p.dir != "" })

// asksDirectories are the directories of the others, and of our own program.
var asksDirectories = func() map[string]bool {
	out := words("bin sbin")
	for _, p := range asksPaths {
		out[p.dir] = p.dir != ""
	}
	return out
}()

// agentDirectories are the agents' own among them.
var agentDirectories = slices.DeleteFunc(slices.Collect(maps.Keys(asksDirectories)), func(dir string) bool { return !strings.HasPrefix(dir, ".") })

// ownPrograms are the files that the agents run.
var ownPrograms = map[pathEnd]bool{{"bin", "verifier"}: true, {"sbin", "verifier"}: true}

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
	return wordsOf(list.String() + "bin/verifier sbin/verifier")
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
		return changesHooks(c, t, does)
	case fileWriters[pl.rule.name]:
		from := startsOf(c, t)
		return slices.ContainsFunc(filesOf(c.Tool, t.strings), func(name string) bool { return namesHooks(&from, name) })
	case !pl.sink:
		return false
	}
	from := startsOf(c, t)
	for at, value := range t.strings {
		if at != value && namesHooks(&from, value) {
			return true
		}
	}
	given := commandsGiven(c)
	return changesHooks(c, t, &given)
}

// changesHooks reports whether a command writes, moves or removes such a file or the directory that it is in, or starts an agent without its hooks. Of a program that we don't know, any word may be such a file.
func changesHooks(c *toolcall.Call, t *text, does *command.Command) bool {
	named := func(name string) bool { return runsHooks(name, true) }
	isChanged := func(name string) bool { return named(name) || isAllHidden(name) }
	switch {
	case len(does.Touches) >= command.MostTouched, len(does.Picks) >= command.MostTouched,
		slices.ContainsFunc(does.Writes, named), slices.ContainsFunc(does.Touches, named),
		slices.ContainsFunc(does.Over, isChanged), slices.ContainsFunc(does.Alters, isChanged),
		picksHooks(c, t, does),
		does.Unnamed && slices.ContainsFunc(does.Words, named), // echo .claude | xargs rm -r
		does.Opaque != "" && slices.ContainsFunc(strings.FieldsFunc(string(t.values), endsWord), named):
		return true
	}
	if len(does.Unknown) == 0 && !does.Code && !does.Rewrites && !does.Fetched {
		return false
	}
	agent := startsAgent(does, t)
	if t.readings(true, func(b []byte) bool {
		return find(unhooked, b) != nil && (agent || setsForAll.Match(b)) || agent && (starts(t.raw, []byte("HOME=")) || otherHooks.Match(b))
	}) {
		return true
	}
	return slices.ContainsFunc(does.Words, named) || t.readings(true, func(b []byte) bool { return find(asksWords, b) != nil })
}

// endsWord reports whether a character ends a path in a text that was not read as a command.
func endsWord(c rune) bool { return c <= ' ' || strings.ContainsRune("'\"`(){},;=<>|&", c) }

// startsAgent reports whether a command may start a coding agent: by its name, as a package, by a program that starts others, or in code that we don't read.
func startsAgent(does *command.Command, t *text) bool {
	named := func(p command.Program) bool { return find(agentNames, []byte(strings.ToLower(p.Name))) != nil }
	if slices.ContainsFunc(does.Programs, named) {
		return true
	}
	if (does.Fetched || does.Code) && find(agentNames, t.lower) != nil {
		return true
	}
	return slices.ContainsFunc(does.Programs, func(p command.Program) bool { return starters[p.Name] }) && agentWord.Match(t.values)
}

// starters are programs whose arguments are a command, and that are not read as one.
var starters = words(`script tmux screen systemd-run flock strace ltrace unshare nsenter chroot su sudo doas runuser parallel rlwrap bwrap firejail proot fakeroot xvfb-run dbus-run-session dbus-launch setarch prlimit numactl
	cgexec start-stop-daemon daemonize daemon faketime proxychains proxychains4 torsocks tsocks gdb lldb perf valgrind entr watchexec nodemon pm2 expect at batch crontab open osascript cmd start powershell pwsh`)

const (
	anyAgent    = `claude|claude-code|codex|gemini|gemini-cli|opencode|opencode-ai`
	someOptions = `(\s+-\S+(\s+[^\s-]\S*)?)*`
)

// A coding agent that is started so reads other settings than those that name our hook, or runs no hooks. The second list has its options and variables.
var (
	agentNames = wordsOf("claude claude-code codex gemini gemini-cli opencode opencode-ai")
	agentWord  = regexp.MustCompile(`(^|[^\w.=/-])(` + anyAgent + `)([^\w./-]|$)|/(` + anyAgent + `)[\s@]`)
	unhooked   = wordsOf(`--bare --setting-sources --settings disableallhooks claude_config_dir claude_code_simple claude_code_safe_mode --safe-mode
		codex_home --disable --ignore-user-config --profile features features.hooks features.codex_hooks gemini_cli_home gemini_cli_system_settings_path hooksconfig
		opencode_config opencode_config_dir opencode_config_content opencode_pure xdg_config_home --pure --plugin-dir`)
	// otherHooks are commands of the agents' own that change what they run, and options of codex for another part of its settings.
	otherHooks = regexp.MustCompile(`\bclaude` + someOptions + `\s+plugins?\s+(install|i|add|enable|disable|update|uninstall|remove|marketplace)\b|\bgemini` + someOptions + `\s+(extensions?\s+(install|link|enable|disable|update|uninstall|new)|hooks?)\b|\bopencode` + someOptions + `\s+plug(in)?\b|` +
		`\bcodex\b(?:[^;&|\n]|\\\n)*\s(-p([^r]|$)|(-c|--config)[\s=]*["']?(profile|hooks)\b)`)
	// setsForAll are commands that set variables for all programs that are started later.
	setsForAll = regexp.MustCompile(`\b(systemctl|launchctl|tmux)\b[^;&|\n]*\b(set-environment|setenv|import-environment)\b|\bsetx\s|\bdbus-update-activation-environment\b`)
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
	if isOther(name) {
		return false
	}
	if name = slashed(name); len(name) > longestPath {
		return false
	}
	if endsInHooks(name, directories) {
		return true
	}
	open := withoutClasses(strings.ReplaceAll(name, unknownName, "*")) // shells read some classes in another way than Go
	return open != name && endsInHooks(open, directories)
}

// pluginDirectory has the plugins of Claude Code: each may have hooks of its own. The other files there are run, and read.
var (
	pluginDirectory = pathEnd{".claude", "plugins"}
	pluginSettings  = words("hooks.json plugin.json marketplace.json")
)

// endsInHooks is [runsHooks] for a path with slashes, in which classes are read as Go reads them.
func endsInHooks(name string, directories bool) bool {
	var last pathEnd
	inPlugins := false
	for part := range plainParts(name) {
		if last = (pathEnd{last.name, part}); last.runsHooks() {
			return true
		}
		inPlugins = inPlugins || last == pluginDirectory
	}
	if ownPrograms[last.plain()] || last.name == hookProgram || inPlugins && pluginSettings[last.name] || directories && last == pluginDirectory {
		return true
	}
	return directories && slices.ContainsFunc(agentDirectories, func(dir string) bool { return namedBy(last.name, dir) })
}

// isOther reports whether a path can't be one of these, as most can't: each of them has one of the words below.
func isOther(name string) bool {
	if isPattern(name) || !isPlain(name) {
		return false
	}
	lower := strings.ToLower(name)
	return !slices.ContainsFunc([]string{"claude", "codex", "gemini", "opencode", "verifier", "installed_plugins", "known_marketplaces"}, func(word string) bool { return strings.Contains(lower, word) })
}

func slashed(name string) string { return path.Clean(strings.ReplaceAll(name, `\`, "/")) }

// plain is it as it is called on all systems.
func (e pathEnd) plain() pathEnd { return pathEnd{e.dir, strings.TrimSuffix(e.name, ".exe")} }

// runsHooks reports whether it is, or finds as a pattern, such a file. All files of an agent's own directory are found by a star, and a file of any directory by a
// pattern that begins with a letter: *.json is for much else.
func (e pathEnd) runsHooks() bool {
	paths := asksPaths
	if !isPattern(e.dir) {
		if !isPattern(e.name) {
			plain := e.plain()
			return asksNames[plain] || asksNames[pathEnd{"", plain.name}]
		}
		if !asksDirectories[e.dir] {
			paths = asksAnywhere
		}
	}
	return slices.ContainsFunc(paths, func(p pathEnd) bool {
		switch {
		case p.dir == "":
			return e.name != "" && !isPattern(e.name[:1]) && namedBy(e.name, p.name)
		case strings.HasPrefix(p.dir, ".") && namedBy(e.dir, p.dir) && strings.Trim(e.name, "*?.") == "":
			return true
		}
		isHidden := strings.HasPrefix(p.dir, ".") && strings.Contains(p.name, ".") && isAllHidden(e.dir) // .*/settings.json
		return (isHidden || namedBy(e.dir, p.dir)) && namedBy(e.name, p.name)
	})
}

// namedBy reports whether a part of a path is a name, or a pattern that finds it. A pattern for all files is none for these.
func namedBy(part, name string) bool {
	if part == name {
		return true
	}
	if !isPattern(part) || strings.Trim(part, "*?.") == "" {
		return false
	}
	found, err := path.Match(part, name)
	return err == nil && found
}

// startDirectories are the directories from which a call's paths may be meant, each by its parts.
type startDirectories struct {
	dirs    [][]string
	matters bool // a part may be the directory of such a file, so that a path which begins there may be the file
}

func startsOf(c *toolcall.Call, t *text) (from startDirectories) {
	from.dirs = [][]string{partsOfPath(c.Context.Workspace), partsOfPath(c.Context.Directory)}
	for at, value := range t.strings {
		if at != value && directoryParams[at] {
			from.dirs = append(from.dirs, partsOfPath(value))
		}
	}
	from.matters = slices.ContainsFunc(slices.Concat(from.dirs...), func(part string) bool { return asksDirectories[part] || isPattern(part) })
	return from
}

func partsOfPath(name string) []string { return slices.Collect(plainParts(slashed(name))) }

// namesHooks reports whether a path is such a file, from one of these directories. Of these only the part counts in which the path begins: a project may be anywhere.
func namesHooks(from *startDirectories, name string) bool {
	name = slashed(name)
	if isRooted(name) {
		return runsHooks(name, false)
	}
	up := 0
	for rest, ok := strings.CutPrefix(name, "../"); ok; rest, ok = strings.CutPrefix(name, "../") {
		name, up = rest, up+1
	}
	if runsHooks(name, false) {
		return true
	}
	if !from.matters && len(name) <= longestPath { // what the path says by itself is all
		return false
	}
	parts := partsOfPath(name)
	return slices.ContainsFunc(from.dirs, func(start []string) bool {
		at := len(start) - 1 - up
		if at < 0 {
			return false
		}
		first := pathEnd{start[at], parts[0]}
		return first.runsHooks() || len(parts) == 1 && ownPrograms[first.plain()]
	})
}
