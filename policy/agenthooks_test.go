package policy_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/cputest"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// ownCall judges a call in its owner's own conversation, with nothing configured.
func ownCall(t *testing.T, p *policy.Policy, agent, tool string, params map[string]string) policy.Verdict {
	t.Helper()
	text, err := json.Marshal(params)
	if err != nil {
		t.Fatal(err)
	}
	c := toolcall.Call{Tool: tool, Sent: tool, Params: text, Context: toolcall.Context{AgentID: agent, Workspace: "/home/me/app"}}
	return p.Judge(&c, session.View{Level: taint.Owner})
}

// TestH760WritingAnAgentsHooksAsks: by the tools for files, and by one of a server, in many spellings.
func TestH760WritingAnAgentsHooksAsks(t *testing.T) {
	p := must(t, policy.Config{})
	for mode, files := range map[taint.Mode][]string{
		taint.Confirm: {
			"/home/me/.claude/settings.json", ".claude/settings.local.json", "/home/me/app/.claude/settings.local.json", ".Claude/Settings.json", ".claude/agents/../settings.json", ".claude//settings.json", `.claude\settings.json`,
			".claude/settings.json.", ".claude/settings.json::$DATA", "/etc/claude-code/managed-settings.json", "/etc/claude-code/managed-settings.d/x.json", "/home/me/.codex/config.toml", ".gemini/settings.json", "/home/me/.gemini/trustedFolders.json",
			"/etc/gemini-cli/settings.json", "/etc/codex/requirements.toml", "/home/me/.config/opencode/plugin/verifier.js", ".opencode/plugins/x.js", "opencode.json", "/home/me/.config/opencode/tui.json", "/home/me/go/bin/verifier-hook", "/opt/verifier-hook", "/usr/local/bin/verifier", ".opencode/tool/x.js", "/home/me/.config/opencode/tools/x.ts", "/home/me/.config/opencode/config.json", "/home/me/.claude/plugins/cache/m/p/1.0/hooks/hooks.json", "/home/me/.claude/plugins/installed_plugins.json", "/home/me/cfg/plugins/installed_plugins.json", "/home/me/.claude/plugins/cache/m/p/1/.claude-plugin/plugin.json",
		},
		taint.Allow: {"main.go", "/home/me/.claude/plans/plan.md", ".claude/commands/x.md", "settings.json", "src/plugin/x.js", "codex/config.toml", "bin/app", "cmd/verifier-hook/main.go", "docs/opencode.md", "a b/*", "notes [draft.md", "a[1.txt", "/home/me/bin/verifier/main.go", "app/[[...slug]]/page.tsx"},
	} {
		for _, file := range files {
			for tool, param := range map[string]string{"write": "file_path", "edit": "filePath", "notebook_edit": "notebook_path", "mcp__files__write_file": "path"} {
				for _, agent := range []string{"claude-code", "codex", "gemini", "opencode", "main"} {
					if v := ownCall(t, p, agent, tool, map[string]string{param: file, "content": "see .claude/settings.json"}); v.Mode != mode {
						t.Errorf("%s %s of %s: %s, want %s: %q", tool, file, agent, v.Mode, mode, v.Sentences())
					}
				}
			}
			patch := "*** Begin Patch\n*** Update File: " + file + "\n@@\n-a\n+b\n*** End Patch"
			if v := ownCall(t, p, "codex", "apply_patch", map[string]string{"input": patch}); v.Mode != mode {
				t.Errorf("a patch of %s: %s, want %s", file, v.Mode, mode)
			}
		}
	}
	if v := ownCall(t, p, "codex", "apply_patch", map[string]string{"input": "*** Begin Patch\n*** Update File: config.toml\n@@\n-a\n+b\n*** End Patch", "workdir": "/home/me/.codex"}); v.Mode != taint.Confirm {
		t.Errorf("a patch from their directory: %s", v.Mode)
	}
	for dir, file := range map[string]string{"/home/me/.claude": "settings.json", "/home/me/.claude/agents/x": "../../settings.json", "/usr/local/bin": "verifier"} {
		if v := ownCall(t, p, "claude-code", "mcp__files__write", map[string]string{"cwd": dir, "path": file}); v.Mode != taint.Confirm {
			t.Errorf("%s in %s: %s", file, dir, v.Mode)
		}
	}
	for _, dir := range []string{"/home/me/bin/verifier", "/home/me/src/bin/verifier/web", "/home/me/.opencode/plugin"} { // a project may be anywhere
		c := toolcall.Call{Tool: "write", Sent: "write", Params: []byte(`{"file_path":"main.go","content":"x"}`), Context: toolcall.Context{AgentID: "claude-code", Workspace: dir, Directory: dir}}
		if v := p.Judge(&c, session.View{Level: taint.Owner}); v.Mode != taint.Allow {
			t.Errorf("in %s: %s, %q", dir, v.Mode, v.Sentences())
		}
	}
	if v := ownCall(t, p, "claude-code", "mcp__notes__add", map[string]string{"text": "Run claude --bare, and change .claude/settings.json."}); v.Mode != taint.Allow {
		t.Errorf("a text about them: %s, %q", v.Mode, v.Sentences())
	}
	if v := ownCall(t, p, "claude-code", "write", map[string]string{"file_path": strings.Repeat("a/../", 2000) + ".claude/settings.json", "content": "x"}); v.Mode != taint.Confirm {
		t.Errorf("a long way there: %s", v.Mode)
	}
	if v := ownCall(t, p, "claude-code", "read", map[string]string{"file_path": "/home/me/.claude/settings.json"}); v.Mode != taint.Allow {
		t.Errorf("reading them: %s", v.Mode)
	}
}

// TestH761ACommandThatChangesAnAgentsHooksAsks: looking at them, and committing them, passes.
func TestH761ACommandThatChangesAnAgentsHooksAsks(t *testing.T) {
	p := must(t, policy.Config{})
	for mode, commands := range map[taint.Mode][]string{
		taint.Confirm: {
			`echo '{"disableAllHooks":true}' > .claude/settings.local.json`, "cd .claude && echo '{}' > settings.local.json", "cp x.json .claude/settings.json", "sed -i s/a/b/ .claude/settings.json",
			"mv x.json .gemini/settings.json", "rm -rf .claude", "mv evil .claude", "ln -s .claude x", "rm .opencode/plugin/verifier.js", `python3 -c "open('.claude/settings.json','w').write('{}')"`,
			"tee .claude/settings.local.json < x", "echo x > '.cla'ude/settings.json", "echo x > .claude/set*.json", "cp x .cl*/settings.json", "cp x .claude/{settings,y}.json", "tar xf x.tar -C .claude",
			"d=.claude; echo x > $d/settings.json", "echo x > $CLAUDE_CONFIG_DIR/settings.json", "git checkout evil -- .claude", "git checkout evil -- .claude/settings.json", "truncate -s0 .claude/settings.json", "touch opencode.json",
			"jq '.hooks={}' .claude/settings.json > t && mv t .claude/settings.json", "chmod 000 .codex/config.toml", "cp x ~/go/bin/verifier-hook",
			"claude --bare -p x", `claude -p x --settings '{"disableAllHooks":true}'`, "CLAUDE_CONFIG_DIR=/tmp/x claude -p x", "HOME=/tmp/x claude -p x", "codex exec --disable hooks x", "npx @anthropic-ai/claude-code --setting-sources project -p x",
			"rm -rf .claude/*", "sed -i s/a/b/ .claude/*", "cd .claude && rm -rf *", "git checkout evil -- '.claude/*'", "rm -rf .gemini/*", "rm opencode.*", "npx json -I -f .claude/settings.json -e 'this.hooks={}'", "uvx foo .claude/settings.json",
			"bash -lc 'claude --bare -p x'", "timeout 5 claude --bare", "codex features disable hooks", "codex exec --ignore-user-config x", "codex exec --profile nohooks x", "CLAUDE_CODE_SIMPLE=1 claude -p x",
			"claude plugin install evil@market", "claude --verbose plugin install x", "claude --model opus plugin install x", "gemini --debug extensions install x", "tmux new -d -e CLAUDE_CONFIG_DIR=/tmp/x claude", "systemd-run --user -E CODEX_HOME=/tmp/x codex", "tmux new -d 'x;claude --bare'", "screen -dm npx @anthropic-ai/claude-code@latest --bare", "rm -rf ~/.claude/plugins", "ln -sfn /tmp/evil ~/.claude/plugins", "codex -pnohooks exec x", "claude plugins marketplace add a/b", "claude --plugin-dir /tmp/x -p hi", "gemini extensions install https://github.com/a/b", "gemini extensions link ./x", "opencode plugin evil", "codex -p x exec hi", "codex -c profile=x exec hi", "codex -c 'hooks={}' exec hi",
			"codex --config hooks.x=1 exec hi", "script -qc 'claude --bare -p hi' /dev/null", "tmux new -d 'claude --bare'", "screen -dm claude --bare", "systemd-run --user claude --bare", "flock x claude --bare", "strace -f claude --bare", "unshare -r claude --bare",
			"su me -c 'claude --bare'", "sudo -i claude --bare", "parallel claude --bare ::: x", "systemctl --user set-environment CLAUDE_CONFIG_DIR=/tmp/x", "launchctl setenv CODEX_HOME /tmp/x",
		},
		taint.Allow: {
			"cat .claude/settings.json", "jq . .claude/settings.json", "ls -la .claude", "grep -n hooks .claude/settings.json", "git add .claude/settings.json", "git diff .claude/settings.json", "git commit -m 'Change .claude/settings.json'",
			"mkdir -p .claude/commands", "rm .claude/commands/x.md", "claude --version", "claude -p 'review this'", "rm -rf bin", "npm test", "echo x > settings.json", "rm *.o",
			"rm *.json", "rm -f dist/*.json", "sed -i s/a/b/ config/*.json", "git checkout -- '*.json'", "rm -rf bin/*", "echo hi > 'a[1'", `git commit -m "docs: explain claude --bare"`, "rg CODEX_HOME codex",
			`echo "run claude --bare" > docs/x.md`, "git init --bare gemini.git", "pytest --disable-warnings -k gemini", "python3 main.py --model claude --settings config.yaml", "npm run eval -- --model=gemini --disable-cache", "claude plugin list", "python3 ~/.claude/plugins/cache/m/p/1.0/skills/pdf/scripts/fill.py x.pdf", "codex exec hi; mkdir -p x", "npx prettier --write src/hooks/hooks.json", `codex exec "find . -print"`, "gemini extensions list", `claude -p "explain how hooks and plugins work"`, "codex exec 'fix the hooks'", "tmux new -d 'claude -p x'", "systemctl --user status x",
		},
	} {
		for _, command := range commands {
			if v := ownCall(t, p, "claude-code", "exec", map[string]string{"command": command, "workdir": "/home/me/app"}); v.Mode != mode {
				t.Errorf("%s: %s, want %s: %q", command, v.Mode, mode, v.Sentences())
			}
			if v := ownCall(t, p, "claude-code", "mcp__shell__run", map[string]string{"command": command, "cwd": "/home/me/app"}); mode == taint.Confirm && v.Mode != mode {
				t.Errorf("by a server's shell, %s: %s, want %s: %q", command, v.Mode, mode, v.Sentences())
			}
		}
	}
}

// TestH760ManyPathsCostLittle: a tool that nothing is known of, with long directories and many texts.
func TestH760ManyPathsCostLittle(t *testing.T) {
	p := must(t, policy.Config{})
	for _, part := range []string{"a/", "a*/", "[a/", "../"} {
		long := strings.Repeat(part, 4000/len(part))
		params := map[string]any{"cwd": long, "dir": long, "workdir": long, "directory": long, "list": slices.Repeat([]string{"x/" + part, long}, 100)}
		text, err := json.Marshal(params)
		if err != nil {
			t.Fatal(err)
		}
		c := toolcall.Call{Tool: "mcp__x__do", Sent: "mcp__x__do", Params: text}
		if took := cputest.Time(func() { p.Judge(&c, session.View{Level: taint.Owner}) }); took > 10*time.Second {
			t.Errorf("%s: %d bytes took %s", part, len(text), took)
		}
	}
}
