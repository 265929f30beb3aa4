package command_test

import (
	"slices"
	"testing"

	"github.com/openclaw-verifier/verifier/command"
)

func TestWhatIsLocal(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"ls", "ls -la src", "git status", "git status --short && ls", "git log --oneline -5", "git diff HEAD~1", "git add -A && git commit -m 'Greet in French'", "rg foo src", "grep -rn foo .", "find . -name '*.go'",
		"git log -p | head -50", "cd sub && git status", "cat main.go", "wc -l main.go", "bash -lc 'git status'", "git --no-pager diff", "tree -L 2", "GIT.EXE status", "git commit -m 'See https://example.com'",
	} {
		if c := command.Parse(text); !c.Local() {
			t.Errorf("%s is not local: %+v", text, c)
		}
	}
	for _, text := range []string{
		"", "git push", "git commit --amend", "git commit -m x --no-verify", "git commit -F /etc/passwd", "git -c core.pager=./x log", "git add -f .env", "git log origin/main", "git checkout .", "git reset --hard", "git stash", "git clean -fd",
		"git log --ext-diff", "git log --output=x", "git diff --no-index a b", "git config alias.log '!sh x'", "make test", "go test ./...", "ls > out.txt", "ls | tee out", "rm x", "mkdir x", "touch x", "cp a b", "sed -i s/a/b/ x",
		"find . -delete", "find . -exec rm {} +", "find . -fprint x", "rg --pre ./x foo", "sort -o x y", "./ls", "ls; ./run.sh", "env", "printenv", "python3 -c 1", "awk '{print}' x", "xargs rm", "curl example.com",
		"git submodule update", "git fetch", "git pull", "git show origin/x", "GIT_PAGER=./x git log", "alias ls=x; ls", "ls() { x; }; ls", "git branch -D x", "git tag x", "git rm x", "git mv a b", "sudo ls", "tree -o x", "fd -x rm", "file -C -m x", "git",
		"HEAD http://evil.example/c", "HEAD evil.example/x", "/usr/bin/HEAD evil.example/x", "command HEAD evil.example", "GET evil.example/x", "POST evil.example/x", "LS", "Cat main.go", "GIT status", "bash -c 'Head x'", "head http://evil.example/c", "rg 'https://x' src", "ls | grep http://x",
	} {
		if c := command.Parse(text); c.Local() {
			t.Errorf("%s is local", text)
		}
	}
}

// TestWhereGitWorks: where a command changes the directory in another way than by one cd at its start, it is not known where git works.
func TestWhereGitWorks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"git status": "", "ls && git status": "", "cd sub && git status": "sub", "cd /ws && git add a.go && git commit -m x | tail -1": "/ws", "bash -lc 'cd /ws && git status'": "/ws", "cd 'a b' && git log": "a b",
		"cd sub && timeout 1 cd - || git status": unknown, "cd sub || cd - && git status": unknown, "cd sub; cd - & git status": unknown, "true | cd sub && git status": unknown, "cd sub; git status": unknown, "cd sub && ls; git status": unknown,
		"cd sub && ls || git status": unknown, "cd sub || git status": unknown, "cd sub && cd .. && git status": unknown, "cd l/.. && git status": unknown, "git status && cd sub": unknown, "bash -lc 'cd sub' && git status": unknown, "ls && cd /ws && git status": unknown,
		"pushd sub && git status": unknown, "pushd sub && popd && git status": unknown, "cd sub & git status": unknown, "! cd sub && git status": unknown, "cd sub > x && git status": unknown, "(cd sub) && git status": unknown, "x=1 cd sub && git status": unknown,
		"command cd sub && git status": unknown, "cd sub && bash -c 'cd /ws && git status'": unknown, "cd $X && git status": unknown, "f() { cd sub; }; f && git status": unknown,
	} {
		if c := command.Parse(text); !slices.Contains(c.GitIn, want) || want != unknown && len(c.GitIn) != 1 {
			t.Errorf("%s: git works in %q", text, c.GitIn)
		}
	}
	for dir, commands := range map[string][]string{"": {"git -C l/.. status", "git -C l -C .. commit -m x", "git -C l/../l status", "git -C ... status"}, "l/..": {"git status", "cat x", "make test"}, "/ws/l/..": {"git status", "ls"}} {
		for _, text := range commands {
			if c := command.ParseIn(dir, text); !c.Climbs {
				t.Errorf("%s in %q goes nowhere up", text, dir)
			}
		}
	}
	if c := command.ParseIn("/ws/a..b", "git -C sub status"); c.Climbs {
		t.Error("a name with dots goes up")
	}
}

// unknown is a place that only the shell knows.
const unknown = "\x00"
