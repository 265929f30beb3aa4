package command_test

import (
	"testing"

	"github.com/openclaw-verifier/verifier/command"
)

func TestWhatIsLocal(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"ls", "ls -la src", "git status", "git status --short && ls", "git log --oneline -5", "git diff HEAD~1", "git add -A && git commit -m 'Greet in French'", "rg foo src", "grep -rn foo .", "find . -name '*.go'",
		"git log -p | head -50", "cd sub && git status", "cat main.go", "wc -l main.go", "bash -lc 'git status'", "git --no-pager diff", "tree -L 2",
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
	} {
		if c := command.Parse(text); c.Local() {
			t.Errorf("%s is local", text)
		}
	}
}
