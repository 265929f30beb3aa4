package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/hook"
	"github.com/openclaw-verifier/verifier/internal/files"
)

// agentWiring is how one coding agent is set up to run the hook.
type agentWiring struct {
	name    string
	program string
	tried   string            // the version that make e2e-agents runs
	machine map[string]string // the file for all users, by system; "" for any other
	user    string            // the file of one user, below the home directory
	weak    string            // what stays open with the user's file
	open    string            // what stays open in any case
	dialogs string            // the version from which on a hook can tell it to ask in its own dialog; "" for none
	edits   string            // the version from which on a hook can tell it to run other arguments; "" where our plugin does it
	write   func(old []byte, command string, user bool) ([]byte, error)
	remove  func(old []byte) ([]byte, error)             // nil where the file is all ours
	beside  func(a *app, path string, remove bool) error // writes, or takes out, what else it needs; nil for nothing
}

//go:embed opencode.js.in
var opencodePlugin string

//go:embed opencode_tui.js.in
var opencodeTerminal []byte

const agentTimeout = 600 // seconds that the agent waits for the hook

var agentWirings = map[string]*agentWiring{
	"claude-code": {
		name:    "Claude Code",
		program: "claude",
		tried:   "2.1.325",
		edits:   "2.1.325", // some older ones run their own arguments instead
		machine: map[string]string{"darwin": "/Library/Application Support/ClaudeCode/managed-settings.json", "": "/etc/claude-code/managed-settings.json"},
		user:    ".claude/settings.json",
		weak:    "A project can switch these hooks off (disableAllHooks), and so can one broken entry, --bare, --setting-sources, or a command that writes to this file.",
		open:    "What comes in by @file or as the instructions of a server of tools is not seen.",
		write: func(old []byte, command string, user bool) ([]byte, error) {
			return wireJSON(old, "claude-code", command, claudeEvents, !user)
		},
		remove: func(old []byte) ([]byte, error) { return unwireJSON(old, "claude-code") },
	},
	"codex": {
		name:    "Codex",
		program: "codex",
		tried:   "0.166.0",
		edits:   "0.166.0", // 0.130.0 refuses other arguments
		machine: map[string]string{"": "/etc/codex/requirements.toml"},
		open:    "What is typed into a running program (write_stdin) and hosted searches are not seen: a bare shell asks at every level, and web_search = \"disabled\" in config.toml takes the searches away.",
		write:   wireTOML,
		remove:  unwireTOML,
	},
	"gemini": {
		name:    "Gemini CLI",
		program: "gemini",
		tried:   "0.61.0",
		dialogs: "0.61.0", // an older one may run the call instead
		edits:   "0.61.0",
		machine: map[string]string{"darwin": "/Library/Application Support/GeminiCli/settings.json", "": "/etc/gemini-cli/settings.json"},
		user:    ".gemini/settings.json",
		weak:    "A command that writes to this file can take the hooks out.",
		open:    "A project can switch all hooks off (hooksConfig.enabled: false): trust only folders that you know. Sub-agents can't be distinguished.",
		write: func(old []byte, command string, _ bool) ([]byte, error) {
			return wireJSON(old, "gemini", command, geminiEvents, false)
		},
		remove: func(old []byte) ([]byte, error) { return unwireJSON(old, "gemini") },
	},
	"opencode": {
		name: "opencode", program: "opencode", tried: "1.18.33", user: ".config/opencode/plugin/verifier.js",
		weak: "opencode has no settings that are the machine's. A command that writes to this file, or a plugin that does not parse, takes the hook out without a word.",
		open: "What comes in by @file or as the instructions of a server of tools is not seen.",
		write: func(_ []byte, command string, _ bool) ([]byte, error) {
			quoted, err := jsontext.AppendQuote(nil, command)
			return []byte(strings.Replace(opencodePlugin, "@COMMAND@", string(quoted), 1)), err
		},
		beside: wireOpencodeTerminal,
	},
}

// The events that the hook answers, those first that a call waits for.
var (
	claudeEvents = []string{"PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "SessionStart", "SessionEnd", "Stop"}
	codexEvents  = []string{"PreToolUse", "PermissionRequest", "PostToolUse", "UserPromptSubmit", "SessionStart"}
	geminiEvents = []string{"BeforeTool", "AfterTool", "BeforeAgent", "SessionStart", "SessionEnd"}
)

// agents are those that the flags name.
func (c *InitCmd) agents() (out []string) {
	for name, on := range map[string]bool{"claude-code": c.ClaudeCode, "codex": c.Codex, "gemini": c.Gemini, "opencode": c.Opencode} {
		if on {
			out = append(out, name)
		}
	}
	return out
}

// wire writes an agent's settings, or takes the hook out of them.
func (c *InitCmd) wire(a *app, agent string) error {
	w := agentWirings[agent]
	path, err := c.settings(w)
	if err != nil {
		return err
	}
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &failure{path + " can't be read", "run this as the user who may"}
	}
	if c.Remove {
		return c.unwire(a, w, path, old)
	}
	command, err := c.hookCommand(agent)
	if err != nil {
		return err
	}
	command += w.can(agentVersion(a, agent))
	text, err := w.write(old, command, c.user(w))
	if err != nil {
		return err
	}
	err = replaceFile(path, text)
	if err == nil && w.beside != nil {
		err = w.beside(a, path, false)
	}
	if err != nil {
		return c.mayNot(w, path, err)
	}
	a.printf("Wrote %s: %s asks before every tool call from its next start on.\n  %s\n", path, w.name, command)
	if c.user(w) {
		a.printf("Weak: %s\n", w.weak)
	}
	a.printf("Open: %s\nTake it out again: %s init --%s --remove\n", w.open, programName(), agent)
	return nil
}

// can are the flags that say what a version of the agent can be told.
func (w *agentWiring) can(version string) (flags string) {
	if w.dialogs != "" && !isOlder(version, w.dialogs) {
		flags += " --dialogs"
	}
	if w.edits != "" && !isOlder(version, w.edits) {
		flags += " --edits"
	}
	return flags
}

// isWired reports whether an agent's settings run the hook, the machine's or the user's own.
func isWired(name string) bool {
	w := agentWirings[name]
	for _, user := range []bool{false, true} {
		path, err := (&InitCmd{User: user}).settings(w)
		if err != nil {
			continue
		}
		text, err := os.ReadFile(path)
		if err == nil && (bytes.Contains(text, []byte("verifier-hook "+name+" ")) || bytes.Contains(text, []byte("verifier hook "+name+" "))) {
			return true
		}
	}
	return false
}

func (c *InitCmd) user(w *agentWiring) bool { return c.User || w.machine == nil }

// settings is the file that is written.
func (c *InitCmd) settings(w *agentWiring) (string, error) {
	if c.user(w) {
		home, err := os.UserHomeDir()
		if err != nil || w.user == "" {
			return "", &failure{w.name + " runs no hook from a user's own settings unless you trust it there by hand", "leave --user out, and run this as an administrator"}
		}
		return filepath.Join(home, filepath.FromSlash(w.user)), nil
	}
	path, ok := w.machine[runtime.GOOS]
	if !ok {
		path = w.machine[""]
	}
	return filepath.Join(c.Root, path), nil
}

func (c *InitCmd) mayNot(w *agentWiring, path string, err error) error {
	hint := "make it writable"
	if errors.Is(err, fs.ErrPermission) && !c.user(w) {
		hint = "run this as an administrator (sudo). Weaker: --user writes your own settings"
	}
	return &failure{fmt.Sprintf("%s can't be written: %v", path, err), hint}
}

func (c *InitCmd) unwire(a *app, w *agentWiring, path string, old []byte) error {
	if old == nil {
		a.printf("%s is not there: nothing to take out.\n", path)
		return nil
	}
	var text []byte
	var err error
	if w.remove != nil {
		if text, err = w.remove(old); err != nil {
			return err
		}
	}
	if len(text) == 0 {
		err = os.Remove(path)
	} else {
		err = replaceFile(path, text)
	}
	if err == nil && w.beside != nil {
		err = w.beside(a, path, true)
	}
	if err != nil {
		return c.mayNot(w, path, err)
	}
	a.printf("Took the hook out of %s. %s asks the verifier no more.\n", path, w.name)
	return nil
}

// hookCommand is what the agent runs. It names the gateway whole: no variable is looked at then.
func (c *InitCmd) hookCommand(agent string) (string, error) {
	own, err := os.Executable()
	if err != nil {
		return "", err
	}
	command := shellWord(own) + " hook "
	if small := filepath.Join(filepath.Dir(own), "verifier-hook"); isFile(small) {
		command = shellWord(small) + " "
	}
	command += agent
	if usual := filepath.Join(asUser("HOME"), ".config", "verifier", configName); c.Config == "" && isFile(usual) {
		c.Config = usual
	}
	switch {
	case c.Config != "":
		path, err := filepath.Abs(c.Config)
		if err != nil || !isFile(path) {
			return "", &failure{c.Config + " is not there", "name the config of your gateway, or none for the one in its state directory"}
		}
		command += " --config " + shellWord(path)
	default:
		command += " --state " + shellWord(hook.StateDir("", asUser))
	}
	command += fmt.Sprintf(" --timeout %ds", agentTimeout)
	if c.Owner {
		command += " --owner"
	}
	return command, nil
}

// asUser is the environment, with the home directory of the user who called sudo.
func asUser(name string) string {
	if name == "HOME" {
		if u, err := user.Lookup(os.Getenv("SUDO_USER")); err == nil {
			return u.HomeDir
		}
	}
	return os.Getenv(name)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// closed is the command with a shell around it that says no where the hook is missing, is killed or crashes.
func closed(command string) string {
	return command + " || { echo 'The verifier did not answer. Nothing was run.' >&2; exit 2; }"
}

// replaceFile writes a file at once and whole. A new one may be read by others, as it holds no secret. One that is there may hold keys of the
// user's: it keeps its mode and its owner, and a link stays one, but for root, who follows no link of someone else's.
func replaceFile(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // the agent's own directory
		return err
	}
	there, err := os.Stat(path)
	if err != nil {
		return files.Replace(path, text, 0o644, nil)
	}
	if target, err := filepath.EvalSymlinks(path); err == nil && os.Geteuid() != 0 {
		path = target
	}
	return files.Replace(path, text, there.Mode().Perm(), there)
}

// onlyManaged is a setting of Claude Code: no other hook can change a call after ours has seen it.
const onlyManaged = "allowManagedHooksOnly"

// wireJSON adds the hook to settings in JSON.
func wireJSON(old []byte, agent, command string, events []string, only bool) ([]byte, error) {
	old, err := unwireJSON(old, agent)
	if err != nil {
		return nil, err
	}
	settings, hooks, err := settingsOf(old)
	if err != nil {
		return nil, err
	}
	for i, event := range events {
		run := map[string]any{"type": "command", "command": command, "timeout": agentTimeout}
		if i == 0 { // a call waits for it
			run["command"] = closed(command)
		}
		switch {
		case agent == "gemini":
			run["timeout"] = 1000 * agentTimeout // in milliseconds
		case i == 0:
			run["onFailure"] = "block"
		}
		list, _ := hooks[event].([]any)
		hooks[event] = append(list, map[string]any{"matcher": "*", "hooks": []any{run}})
	}
	settings["hooks"] = hooks
	if only {
		settings[onlyManaged] = true
	}
	return json.Marshal(settings, json.Deterministic(true), jsontext.WithIndent("  "))
}

// unwireJSON takes our entries out, and the setting that goes with them where no hook is left. What is left of nothing is nothing.
func unwireJSON(old []byte, agent string) ([]byte, error) {
	settings, hooks, err := settingsOf(old)
	if err != nil {
		return nil, err
	}
	for event, list := range hooks {
		kept := []any{}
		entries, _ := list.([]any)
		for _, e := range entries {
			if !isOurHook(e, agent) {
				kept = append(kept, e)
			}
		}
		hooks[event] = kept
		if len(kept) == 0 {
			delete(hooks, event)
		}
	}
	settings["hooks"] = hooks
	if len(hooks) == 0 {
		delete(settings, "hooks")
		delete(settings, onlyManaged)
	}
	if len(settings) == 0 {
		return nil, nil
	}
	return json.Marshal(settings, json.Deterministic(true), jsontext.WithIndent("  "))
}

func settingsOf(text []byte) (settings, hooks map[string]any, err error) {
	settings = map[string]any{}
	if len(text) > 0 {
		if err := json.Unmarshal(text, &settings); err != nil {
			return nil, nil, &failure{"the settings that are there are no JSON that we can add to: " + err.Error(), "add the hook by hand, see docs/agents.md"}
		}
	}
	hooks, ok := settings["hooks"].(map[string]any)
	if !ok && settings["hooks"] != nil {
		return nil, nil, &failure{"the settings that are there have hooks of a form that we don't know", "add the hook by hand, see docs/agents.md"}
	}
	if hooks == nil {
		hooks = map[string]any{}
	}
	return settings, hooks, nil
}

// isOurHook reports whether an entry runs nothing but our hook.
func isOurHook(entry any, agent string) bool {
	group, _ := entry.(map[string]any)
	runs, _ := group["hooks"].([]any)
	for _, r := range runs {
		run, _ := r.(map[string]any)
		command, _ := run["command"].(string)
		if !strings.Contains(command, "verifier-hook "+agent+" ") && !strings.Contains(command, "verifier hook "+agent+" ") {
			return false
		}
	}
	return len(runs) > 0
}

// The marks around what we add to a file in TOML.
const (
	tomlBegin = "# verifier: begin\n"
	tomlEnd   = "# verifier: end\n"
)

func wireTOML(old []byte, command string, _ bool) ([]byte, error) {
	old, err := unwireTOML(old)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(old)) {
		if strings.HasPrefix(strings.TrimLeft(line, "[ \t"), "hooks") {
			return nil, &failure{"the file that is there has hooks already", "add the hook by hand, see docs/agents.md"}
		}
	}
	own, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var out strings.Builder
	out.Write(old)
	out.WriteString(tomlBegin + "[hooks]\nmanaged_dir = " + tomlText(filepath.Dir(own)) + "\n")
	for i, event := range codexEvents {
		run := command
		if i == 0 {
			run = closed(command)
		}
		fmt.Fprintf(&out, "[[hooks.%[1]s]]\nmatcher = \".*\"\n[[hooks.%[1]s.hooks]]\ntype = \"command\"\ntimeout = %[2]d\ncommand = %[3]s\n", event, agentTimeout, tomlText(run))
		if i == 0 {
			fmt.Fprintf(&out, "statusMessage = %s\n", tomlText(whereToAnswer))
		}
	}
	out.WriteString(tomlEnd)
	return []byte(out.String()), nil
}

// whereToAnswer is what a user reads at the terminal of an agent that can't be told to ask there.
const whereToAnswer = "The verifier decides. If it asks you, answer on your phone, on its page, or with `verifier watch` in another terminal."

// tomlText is a basic string, whose escapes are those of JSON.
func tomlText(s string) string {
	text, err := jsontext.AppendQuote(nil, s)
	if err != nil {
		return `""`
	}
	return string(text)
}

func unwireTOML(old []byte) ([]byte, error) {
	before, rest, found := strings.Cut(string(old), tomlBegin)
	if !found {
		return old, nil
	}
	_, after, ended := strings.Cut(rest, tomlEnd)
	if !ended {
		return nil, &failure{"the file has the beginning of what we added and not its end", "take it out by hand"}
	}
	return []byte(before + after), nil
}

// replaceOrRemove writes a file, or takes it away where it is there.
func replaceOrRemove(path string, text []byte, remove bool) error {
	if !remove {
		return replaceFile(path, text)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
