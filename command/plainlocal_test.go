package command_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/command"
)

// plainLocals are what the table has, and notPlainLocals what is near it.
var (
	plainLocals = []string{
		"date", "date -u", "uname", "uname -a", "whoami", "hostname", "uptime", "nproc", "arch", "id", "df -h", "free -h", "node --version", "python3 --version", "gcc --version", "docker --version", "make --version", "pip3 --version", "uname -a && date", "pwd", "ls", "ls -la", "ls -l -a src docs/adr", "ls .", "ls a-b_c.d/e.go", "git status", "git status --short", "git status -sb", "git log", "git log --oneline -5", "git log -n 20 --stat --graph --decorate", "git diff", "git diff --cached --stat", "git diff --name-only",
		"git add -A", "git add .", "git add main.go docs/x.md", "git commit -m 'Greet in French'", `git commit -qm "fix(x): it's done, see #12; a/b+c?"`, "git commit -q -m 'x'", "rg 'parse-call'", "rg foo", "rg -n -i foo src", `rg -l "Foo_bar" .`, "grep -n foo main.go", "grep -c foo a.go b/c.go",
		"git status --short && git log --oneline -3", "git add -A && git commit -qm 'Greet in French' && git status -s && git log -1 && ls",
	}
	notPlainLocals = []string{
		"date -s 10:00", "date 01010000", "date -f x", "date -r main.go", "date -R", "date +%F", "date -u -s x", "uname x", "uname -a x", "hostname x", "hostname -F x", "whoami x", "uptime -p", "nproc --all", "id root", "id -u", "df", "df -h /", "df -h .", "free -s 1", "node", "node --version x", "node --version --eval x", "node -e 1 --version", "python --version -c x",
		"./node --version", "npm --version", "cargo --version", "go version", "yarn --version", "tsc --version", "docker ps", "docker version", "docker --version -H x", "systemctl status", "java -version", "curl --version", "gh --version", "openclaw --version", "gcc --version -wrapper x", "make --version -f x", "make -v", "pip list", "ps aux", "env", "history", "", " ", "ls ", " ls", "ls  -l", "ls\t-l", "ls\n", "ls\r", "ls\x00", "ls; ls", "ls | ls", "ls || ls", "ls & ls", "ls && ", "&& ls", "ls &&ls", "ls&&ls", "ls &&  ls", "ls && && ls", "ls > x", "ls < x", "ls 2>&1", "ls #x", "(ls)", "{ ls; }", "! ls", "ls $HOME", "ls ~", "ls *", "ls a?", "ls [a]", "ls {a,b}", `ls "a"`, "ls 'a'", `ls a\ b`,
		"LS", "/bin/ls", "./ls", "ls.exe", "sudo ls", "env ls", "timeout 5 ls", "command ls", "bash -c ls", "cd src && ls", "X=1 ls", "ls ..", "ls ../x", "ls a/..", "ls a/../b", "ls .git", "ls a/.env", "ls ./a", "ls /etc", "ls a/", "ls a//b", "ls ...", "ls a.", "ls a./b", "ls -R", "ls -d", "ls --color", "ls -lZ", "ls -- a", "ls a/-b", "ls C:", "ls C:/x", "ls @a", "ls =a", "ls %a%", "ls a,b",
		"ls \u00e4", "l\u0455", "ls a\u00a0b", "pwd -P", "pwd x", "cat main.go", "head main.go", "tail main.go", "wc -l main.go", "sort main.go", "diff a b", "find . -name x", "tree", "fd x", "echo x", "file x", "true", "git", "git --version", "git -C x status", "git -c a=b log", "git --no-pager log", "GIT status", "git.exe status",
		"git status src", "git status -v", "git status --ignored", "git status -uno", "git log main", "git log -p", "git log main.go", "git log --all", "git log -100", "git log -0", "git log -n", "git log -n -5", "git log --format=x", "git log --oneline=x", "git log --onelin", "git diff HEAD", "git diff main.go", "git diff --no-index", "git diff --stat=1", "git diff --output=x", "git diff -p", "git diff --",
		"git add", "git add -f x", "git add -p", "git add .env", "git add :/", "git add -- x", "git add ..", "git commit", "git commit -m", "git commit -m x", "git commit -am 'x'", "git commit -m 'x' -m 'y'", "git commit --amend -m 'x'", "git commit -m 'x' --amend", "git commit -m 'x' a", "git commit -m ''", "git commit -m ' x'", "git commit -m '-x'", "git commit -m 'x", "git commit -m 'x''y'", "git commit -m 'x\"'", `git commit -m "x"y`, `git commit -m "$x"`,
		"git commit -m 'it's'", "git commit -m 'a!b'", "git commit -m 'a$b'", "git commit -m 'a`b`'", `git commit -m 'a\b'`, "git commit -m '100%'", "git commit -m 'a^b'", "git commit -m 'a & b'", "git commit -m 'a | b'", "git commit -m 'a > b'", "git commit -m 'a && b'", "git commit -m 'a\nb'", "git commit -m 'a\tb'", "git commit -m 'a*'", "git commit -m 'a[b]'", "git commit -m 'a@b'", "git commit -m 'Gr\u00fc\u00dfe'", "git commit -m $'x'", "git commit -m\"x\"",
		"git commit -qam 'x'", "git commit -qm 'x' && git push", "git push", "git fetch", "git show", "git grep", "git grep -n parse", "git grep 'parse-call'", "git add -A && git grep parse", "git grep -O foo", "git grep foo main", "git grep foo -- x", "git grep fo", "git grep -e foo", "git grep foo.bar", "git grep --no-index foo", "rg", "rg -n", "rg .", "rg fo", "rg ...", "rg '...'", "rg 'fo'", "rg 'a b'", "rg '-foo'", "rg --pre x foo", "rg -uuu foo", "rg --hidden foo", "rg -f x", "rg -e foo", "rg foo .env", "rg foo ..", "rg foo/", "rg 'foo|bar'", "rg -z foo", "rg --files",
		"grep foo", "grep foo .", "grep -r foo src", "grep -rn foo src", "grep -R foo a", "grep -f x y", "grep -nr foo a", "grep foo .env", "grep foo -", "grep -v foo a", "egrep foo a", "Grep foo a", "ls && ls && ls && ls && ls && ls", "git commit -m '" + strings.Repeat("x", 300) + "'",
	}
)

// TestPlainLocal: what is in the table, our reading of the command finds to be no more than that.
func TestPlainLocal(t *testing.T) {
	t.Parallel()
	for _, text := range plainLocals {
		if _, ok := command.PlainLocal(text); !ok {
			t.Errorf("%s is not in the table", text)
		}
		if c := command.Parse(text); !c.Local() {
			t.Errorf("%s is read as more: %+v", text, c)
		}
	}
	for _, text := range notPlainLocals {
		if _, ok := command.PlainLocal(text); ok {
			t.Errorf("%q is in the table", text)
		}
	}
	if patterns, _ := command.PlainLocal(`rg -n foo src && ls && grep "bar_1" a.go && rg 'b-z'`); !slices.Equal(patterns, []string{"foo", "bar_1", "b-z"}) {
		t.Errorf("the patterns are %q", patterns)
	}
}

// TestWhatIsReadAsMoreThanLocal, whatever its text looks like.
func TestWhatIsReadAsMoreThanLocal(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "git push", "git config -l", "git checkout .", "git reset --hard", "git clean -fd", "git log origin/main", "make test", "ls > out.txt", "rm x", "sed -i s/a/b/ x", "find . -delete", "./ls", "env", "ls $(x)", "python3 -c 1", "curl example.com", "cat main.go", "bash -c ls", "grep x app.sock", "LS",
	} {
		if c := command.Parse(text); c.Local() {
			t.Errorf("%s is local", text)
		}
	}
}

// FuzzPlainLocal: what is in the table is its own words, joined by single spaces, and our reading of the command finds nothing more in it.
func FuzzPlainLocal(f *testing.F) {
	for _, text := range append(plainLocals, notPlainLocals...) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		patterns, ok := command.PlainLocal(text)
		if !ok {
			return
		}
		quoted := strings.ContainsAny(text, `'"`)
		if strings.ContainsAny(text, "$`\\!%^|<>*[]{}~=@") || strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c > '~' }) {
			t.Fatalf("%q is in the table, and a shell may work it out", text)
		}
		if !quoted && (strings.Join(strings.Fields(text), " ") != text || slices.ContainsFunc(strings.FieldsFunc(text, isPathEnd), func(part string) bool {
			return part[0] == '.' && part != "." || len(part) > 1 && strings.HasSuffix(part, ".")
		})) {
			t.Fatalf("%q is in the table, and is not its words", text)
		}
		c := command.Parse(text)
		if !command.IsPlain(text) || c.Opaque != "" || len(c.Unknown)+len(c.Writes)+len(c.Hosts)+len(c.Variables)+len(c.Over)+len(c.Alters) > 0 || c.Network() || c.Climbs || c.Environment || c.Destroys {
			t.Fatalf("%q is read as %+v", text, c)
		}
		if len(c.Programs) != strings.Count(text, " && ")+1 {
			t.Fatalf("%q runs %v", text, c.Programs)
		}
		for _, p := range patterns {
			if strings.Trim(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" || len(p) < 3 || p[0] == '-' {
				t.Fatalf("%q searches for %q", text, p)
			}
		}
	})
}

func isPathEnd(c rune) bool { return c == '/' || c == ' ' }
