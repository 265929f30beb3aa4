package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// hookFiles are where an agent's hooks before a call may be: its settings in JSON, those of the user and of the project in the
// current directory.
var hookFiles = map[string]struct {
	events  []string // in which a hook can change a call
	user    []string // below the home directory
	project []string
	plugins []string // directories of plugins, below the home directory and in the project
}{
	"claude-code": {events: []string{"PreToolUse", "PermissionRequest"}, user: []string{".claude/settings.json"}, project: []string{".claude/settings.json", ".claude/settings.local.json"}},
	"codex":       {events: []string{"PreToolUse", "PermissionRequest"}, user: []string{".codex/hooks.json"}, project: []string{".codex/hooks.json"}},
	"gemini":      {events: []string{"BeforeTool"}, user: []string{".gemini/settings.json"}, project: []string{".gemini/settings.json"}},
	"opencode":    {plugins: []string{".config/opencode/plugin", ".config/opencode/plugins", ".opencode/plugin", ".opencode/plugins"}},
}

// otherHooks are the files that let an agent run other hooks before a call than ours. One that changes a call does so after ours has
// judged it. Managed settings of Claude Code may say that no others run.
func otherHooks(name string) (out []string) {
	files := hookFiles[name]
	home, err := os.UserHomeDir()
	if err != nil {
		return nil
	}
	var settings []string
	if machine, err := (&InitCmd{}).settings(agentWirings[name]); err == nil && strings.HasSuffix(machine, ".json") {
		if onlyManagedHooks(machine) {
			return hooksIn([]string{machine}, name, files.events)
		}
		settings = append(settings, machine)
	}
	for _, f := range files.user {
		settings = append(settings, filepath.Join(home, f))
	}
	settings = append(settings, files.project...)
	out = hooksIn(settings, name, files.events)
	for _, dir := range files.plugins {
		for _, at := range []string{filepath.Join(home, dir), dir} {
			entries, _ := os.ReadDir(at) // there is none
			for _, e := range entries {
				if ext := filepath.Ext(e.Name()); e.Name() != "verifier.js" && (ext == ".js" || ext == ".ts" || ext == ".mjs") {
					out = append(out, filepath.Join(at, e.Name()))
				}
			}
		}
	}
	return out
}

// onlyManagedHooks reports whether a file of managed settings runs our hook and keeps all others out.
func onlyManagedHooks(path string) bool {
	text, err := os.ReadFile(path)
	if err != nil {
		return false
	}
	settings, _, err := settingsOf(text)
	only, _ := settings[onlyManaged].(bool)
	return err == nil && only
}

// hooksIn are those of the files that have a hook for one of the events which is not ours.
func hooksIn(paths []string, name string, events []string) (out []string) {
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		_, hooks, err := settingsOf(text)
		if err != nil {
			continue
		}
		for _, event := range events {
			entries, _ := hooks[event].([]any)
			if slices.ContainsFunc(entries, func(e any) bool { return !isOurHook(e, name) }) && !slices.Contains(out, path) {
				out = append(out, path)
			}
		}
	}
	return out
}

// ofOtherHooks is what to say of them; "" where there are none.
func ofOtherHooks(name string) string {
	others := otherHooks(name)
	if len(others) == 0 {
		return ""
	}
	for i := range others {
		others[i] = printable(others[i])
	}
	text := agentWirings[name].name + " runs other hooks before calls (" + strings.Join(others, ", ") + "): such a hook can change a call after verifier has judged it. If one does, you get a notice"
	if name == "claude-code" {
		return text + "; `sudo " + programName() + " init --claude-code` keeps such hooks out"
	}
	return text
}
