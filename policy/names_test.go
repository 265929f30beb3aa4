package policy_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/cputest"
)

// TestManyLongPatternsAreBounded in time.
func TestManyLongPatternsAreBounded(t *testing.T) {
	t.Parallel()
	if took := cputest.Time(func() {
		for _, one := range []string{strings.Repeat("a*/", 60), strings.Repeat("*/", 30) + "x", "~/" + strings.Repeat("**/a*/", 40), strings.Repeat("*a", 100), strings.Repeat("[a", 100), "{a,b}{c,d}{e,f}*/x*"} {
			secretOf(t, "exec", fmt.Sprintf(`{"command":"cat %s"}`, strings.Repeat(one+" ", 60000/(len(one)+1))))
		}
	}); took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
}

// TestWhatOtherProgramsReadByName: names that one program prints, and another reads; patterns; searches. One table for both sides.
func TestWhatOtherProgramsReadByName(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		// A program that may print any text.
		"grep -l --label=$HOME/.ssh/id_rsa x - < y | xargs cat", "echo x | grep -l --label=a x - | xargs cat", "git branch --format=.env | xargs cat", "find . -maxdepth 0 -printf '%p/../.ssh/id_rsa' | xargs cat",
		"find . -name '*.go' -exec echo .env \\; | xargs cat", "git diff | xargs cat", "git status -s | xargs cat", "ls -l --time-style=+.env | xargs cat", "go list -f x | xargs cat", "git log --format=%s | xargs cat",
		"git for-each-ref --format=x | xargs cat", "echo a.go | xargs cat", "cat list | xargs cat", "{ git ls-files; echo .env; } | xargs cat", "(git ls-files; echo .env) | xargs cat",
		"git ls-files | xargs cat < list", "git ls-files | xargs cat <<< x", "git ls-files | sort - list | xargs cat", "git ls-files | sed s/x/y/ | xargs cat", "git ls-files | grep -o x | xargs cat",
		"git ls-files 2>&1 | xargs cat", "git ls-files |& xargs cat", "ls() { echo x; }; ls | xargs cat", "X=1 git ls-files | xargs cat", "./ls | xargs cat", "git ls-files | xargs -I{} cat ../{}",
		"git ls-files | xargs -I{} cat .{}", "git rev-parse --sq-quote x | xargs cat", "cat $(git branch --format=x)", "cat $(git ls-files; echo x)", "while read f; do cat $f; done < list",
		"for f in $(cat list); do cat $f; done", "f=$(git log --format=%s); cat $f", "sh -c 'git ls-files; echo x' | xargs cat",
		// Files of any name.
		"find . -exec cat {} \\; -name '*.go'", "find . -print -name '*.go' | xargs cat", "find . -print0 -name '*.go' | xargs -0 cat", "find . -name '*.go' -exec cat {} + -o -exec cat {} +", "rg '' ~/.config", "rg -l '' ~/.config | xargs cat", "fd . .hidden -x cat",
		"cd ~/.config && rg ''", "diff -rN . /tmp/empty", "git diff --no-index . /tmp/empty",
		"git ls-files -o | xargs cat", "git ls-files --others --exclude-standard | xargs cat", "grep -rl KEY . | xargs cat", "rg --files --hidden | xargs cat", "rg -l -uu x | xargs cat", "ls | xargs cat", "ls -A | xargs cat",
		"find . -type f | xargs cat", "find . -type f -not -path '*/.*' | xargs cat", "find . -name 'id*' -exec cat {} +", "find . -name '*env' | xargs cat", "find . -path './src*' | xargs cat", "find . -not \\( -name x \\) | xargs cat",
		"find . ! -name '*.go' | xargs cat", "find . -name '*.go' -o -type f | xargs cat", "fd -H . -x cat", "fd -I x | xargs cat", "ls .env | xargs cat", "git ls-files '*.env' | xargs cat", "git ls-files '*nv' | xargs cat",
		"ls .env | cpio -o", "ls .env | tar cf - -T -", "ls .env | zip -@ -", "ls .env | parallel cat", "cat list | cpio -o", "tar cf - -T list", "rsync --files-from=list . x", "echo HEAD:.env | git cat-file --batch",
		"file -m .env x", "git rm --pathspec-from-file=.env", "git rm --pathspec-from-file=list", "wc --files0-from=.env",
		// Patterns.
		"cat *", "cat ./*", "cat src/*", "cat **/*", "head -n 99 *", "cat s*", "cat *.json", "cat cred*", "cat [a-z]*", "cat [[:alpha:]]*", "cat id_*", "cat */*.yml", "cat *.k*", "awk 1 *", "sort *", "for f in *; do cat $f; done", "cp cred* x", "cat < cred*",
		// Searches.
		"grep -rh = . --include='.e*'", "grep -rh = --include='*' .", "grep -rn the . -A 1000", "grep -rn foo -C 3 .", "grep -rC3 foo", "grep -rE 'foo|' .", "grep -rE 'foo|.' .", "grep -rE '(foo)?' .", "grep -r 'foo*' .", "grep -r '[]foo]' .",
		"grep -r '[[:alpha:]foo]' .", "grep -rP '\\x66oo' .", "grep -rz foo .", "grep -r -e foo -e . .", "grep -rn if .", "grep -r $PATTERN .", "grep -r -f list .", "grep -r API_KEY .", "grep -rni password .", "grep -rn 'BEGIN RSA PRIVATE KEY'",
		"grep -rho 'GITHUB_TOKEN=.*' config", "rg --hidden foo", "rg -uu foo", "rg -. foo", "rg --no-ignore foo", "rg --hidden --passthru foo", "rg -g '.e*' foo", "git grep --no-index ''", "git grep --no-ind ''", "git grep --untracked .",
		"grep -rhE '(abc){0,1}' .", "grep -rhE '(abc){,1}' .", "grep -rhE '(abc)+?' .", "grep -rhE '(abc)+*' .", "grep -rh 'KEY=' .", "grep -rh _KEY .", "grep -rh assword .", "grep -rh postgres:// .", "grep -rh AKIA .", "grep -r --include='*.local' '' .",
		// Commands of find and fd of which not all is known, copies under another name, programs that are in no table.
		"f=.en; find . -maxdepth 0 -exec cat ${f}v \\;", "find . -maxdepth 0 -exec cat id_{rsa,x} \\;", "find . -maxdepth 0 -exec cat .en? \\;", "find . -type f -exec cat \"$X\" {} +", "find . -type f -ok cat {} \\;", "fd -HI . -X cat $x",
		"cp id_rs? out. && cat out.", "mv cred* a.", "less *", "mytool *", "bat *", "more credentials.jso?", "find . -name '*.local' | xargs cat", "cat $(find . -name '*.production')", "find . -type f ! -name '.*.swp' | xargs grep -h _KEY",
		// Options that only look as if they took a value, or the pattern.
		"grep --color '' /home/ann/.ssh/id_rsa", "grep --color . .env", "grep -T . .env", "egrep -T . .env", "grep -M . .env", "grep --reg=. .env", "grep -Te. .env", "grep -Ze. .env", "grep -ye. .env", "grep -5e. .env", "rg -0e. .env", "grep -v -- -e .env",
		"grep -v -- -e /home/ann/.ssh/id_rsa", "rg -v -- -A .env", "cat -- -m .env", "head -- -n .env", "nl -- -s .env", "diff -N -- -U .env", "diff -N . docs", "diff --new-file . docs", "diff -P . docs", "diff --unidirectional-new-file . docs", "diff . docs/", "sort -m .env",
		"strings -o .env", "od -o .env", "hexdump -o .env", "sed -ep .env", "sed -nep .env", "sed -s -ep .env", "grep -Tn . .env", "grep --colour . .env", "ag -A . .env", "grep -D read . .env", "awk -vx=1 1 .env", "jq --arg a b . .env",
		"grep . *", "grep -v foo *", "grep -rvl x . | xargs cat", "ack .", "git -C web grep --no-index ''",
	} {
		if got := secretOf(t, "exec", fmt.Sprintf(`{"command":%q}`, command)); got == "" {
			t.Errorf("%s reads no secret", command)
		}
	}
	for _, command := range []string{
		"grep -rn TODO src", "grep -rn TODO .", "grep -rn 'func main' .", "grep -rnE 'TODO|FIXME' .", "grep -rn 'TODO\\|FIXME' .", "grep -rn token src", "grep -rn password ./src/auth", "grep -rn -A 3 TODO src", "grep -rn --include='*.go' -A 3 token .",
		"grep -rnw useState src", "grep -rl . .", "grep -rc '' .", "grep -rq foo .", "grep -r --include='*.go' . .", "grep foo *", "grep -n password main.go", "grep -n TODO *.json", "grep -rn --exclude-dir=node_modules foo .", "grep -rn '\\.env' src",
		"grep -rln foo .", "rg foo", "rg .", "rg -n -C 3 foo", "rg -t go foo", "rg -l foo | xargs cat", "rg --files | xargs wc -l", "rg --files --hidden", "rg -g '*.go' foo", "rg --passthru foo main.go", "git grep foo", "git grep -n API_KEY", "git grep '\\.env'", "git grep -l foo | xargs cat",
		"cat main.go", "cat README*", "cat *.md", "cat src/*.go", "cat src/*.[ch]", "cat .github/workflows/*.yml", "cat test_*", "head -5 *.go", "wc -l *", "ls", "ls *", "ls -la", "cat $(which deploy)", "f=$(mktemp); cat $f",
		"grep --color=auto -rn /api/v1 src", "grep --color -n /api/v1 main.go", "rg -n --color never /api/v1 src", "grep -inA 3 /api main.go", "grep -e .env README.md", "sed -n '/foo/,/bar/p' x.go", "sed -E s,/a,/b, x.go", "sed -e s,/a,/b, x.go", "awk -F: '/x/ {print $1}' x.go", "jq -r .env package.json",
		"find . -name '*.go'", "find . -type f", "find . -name '*.go' | xargs grep -n foo", "find . -name '*.go' | xargs cat", "find . -name '*.go' -exec cat {} +", "find . -name '*.go' 2>/dev/null | sort | head -5 | xargs cat", "find . -type f | xargs wc -l",
		"find . -path ./node_modules -prune -o -name '*.ts' -print | xargs grep foo", "find . \\( -name '*.ts' -o -name '*.tsx' \\) -type f | xargs grep foo", "find \"$HOME/src\" -name '*.go'", "find . -name '*.go' -newer x -print0 | xargs -0 gofmt -l",
		"git ls-files | xargs wc -l", "git ls-files | xargs cat", "git ls-files '*.go' | xargs grep -n foo", "git ls-files | grep -v vendor | xargs cat", "git diff --name-only main...HEAD | xargs cat", "git diff --name-only | xargs gofmt -l", "cat $(git ls-files)",
		"for f in $(git ls-files '*.go'); do head -1 $f; done", "grep -rl foo . | xargs sed -i s/foo/bar/", "grep -l foo *.go | xargs cat", "ls *.go | xargs cat", "fd -e go -x cat", "fd foo | xargs cat", "ls -t *.log | head -1 | xargs tail",
		"diff -u a b", "git diff --no-index --stat", "git add *", "git diff $(git merge-base main HEAD)", "git log $(git rev-parse HEAD)", "go test $(go list ./... | grep -v e2e)", "ls $(go env GOPATH)/bin", "cp src/* dist/", "rm *", "chmod +x scripts/*", "eslint src/*",
		"sed -i s/a/b/ src/*.go", "cd \"$(git rev-parse --show-toplevel)\" && cat main.go", "find . -name '*.go' | cpio -o", "tar czf a.tgz dist", "docker build -t x:$(git rev-parse --short HEAD) .",
	} {
		if got := secretOf(t, "exec", fmt.Sprintf(`{"command":%q}`, command)); got != "" {
			t.Errorf("%s reads %s", command, got)
		}
	}
}
