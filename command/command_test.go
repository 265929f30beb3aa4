package command_test

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/command"
)

// lines are the commands of a file in testdata, one a line.
func lines(t testing.TB, file string) []string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}

func TestTheUsualCommandsAreHarmless(t *testing.T) {
	for _, text := range lines(t, "harmless.txt") {
		if c := command.Parse(text); !c.Harmless() {
			t.Errorf("%q: %+v", text, c)
		}
	}
}

func TestBuildAndTestCommandsRunWhatIsInTheWorkspace(t *testing.T) {
	for _, text := range lines(t, "workspace.txt") {
		if c := command.Parse(text); !c.Contained() || c.Harmless() || len(c.Runs) == 0 {
			t.Errorf("%q: %+v", text, c)
		}
	}
}

func TestBuildsTestsAndCommits(t *testing.T) {
	for _, text := range lines(t, "builds.txt") {
		if c := command.Parse(text); !c.Builds() || !c.Contained() {
			t.Errorf("%q: %+v", text, c)
		}
	}
}

// TestH185OnlyTheUsualBuildsAreBuilds: each of these could do more than what the files of the workspace say.
func TestH185OnlyTheUsualBuildsAreBuilds(t *testing.T) {
	for _, text := range lines(t, "harmless.txt") {
		if c := command.Parse(text); c.Builds() {
			t.Errorf("%q: %+v", text, c)
		}
	}
	for _, file := range []string{"notbuilds.txt", "fetching.txt", "unknown.txt"} {
		for _, text := range lines(t, file) {
			if c := command.Parse(text); c.Builds() {
				t.Errorf("%q: %+v", text, c)
			}
			for _, build := range []string{"make test", "git commit -m x"} { // nor does a build beside it make it one
				for _, both := range []string{text + " && " + build, build + "; " + text} {
					if c := command.Parse(both); c.Builds() && !partOfBuilds[text] {
						t.Errorf("%q: %+v", both, c)
					}
				}
			}
		}
	}
}

// TestWhatGitKeepsIsShown: the table both ways. What shows it is no build by itself.
func TestWhatGitKeepsIsShown(t *testing.T) {
	for _, text := range append(lines(t, "inspects.txt"), lines(t, "builds.txt")...) {
		if c := command.Parse(text); !c.Inspects() {
			t.Errorf("%q: %+v", text, c)
		}
	}
	for _, text := range []string{"git show HEAD", "git branch", "git log -1", "git stash list"} {
		if c := command.Parse(text); c.Builds() {
			t.Errorf("%q: %+v", text, c)
		}
	}
	for _, file := range []string{"harmless.txt", "fetching.txt", "unknown.txt", "notinspects.txt"} {
		for _, text := range lines(t, file) {
			if c := command.Parse(text); c.Inspects() || c.Builds() {
				t.Errorf("%q: %+v", text, c)
			}
		}
	}
}

// partOfBuilds do nothing that reading does not.
var partOfBuilds = map[string]bool{"echo hello": true, "cat README.md": true}

// TestH107NoSpellingOfFetchingIsMissed: each of these reaches the network, or can't be read by construction.
func TestH107NoSpellingOfFetchingIsMissed(t *testing.T) {
	all := lines(t, "fetching.txt")
	if len(all) < 114 {
		t.Fatalf("%d spellings", len(all))
	}
	for _, text := range all {
		if c := command.Parse(text); !c.Fetches() || c.Harmless() {
			t.Errorf("%q: %+v", text, c)
		}
	}
}

func TestH107WhatIsNotKnownIsNotHarmless(t *testing.T) {
	for _, text := range lines(t, "unknown.txt") {
		if c := command.Parse(text); c.Contained() {
			t.Errorf("%q: %+v", text, c)
		}
	}
}

// TestAnUnknownProgramIsNoFetcher: the output of an ordinary program or script stays local in a clean conversation.
func TestAnUnknownProgramIsNoFetcher(t *testing.T) {
	for _, text := range lines(t, "unknown.txt") {
		if c := command.Parse(text); c.Fetches() {
			t.Errorf("%q: %+v", text, c)
		}
	}
}

func TestHereDocuments(t *testing.T) {
	for _, c := range []struct {
		text              string
		harmless, fetches bool
	}{
		{"cat <<EOF > notes.txt\nuse curl https://example.com\nEOF", true, false},
		{"cat <<'EOF' > notes.txt\n$(curl example.com)\nEOF", true, false},
		{"cat <<EOF > notes.txt\n$(curl example.com)\nEOF", false, true},
		{"bash <<'EOF'\nls\nEOF", true, false},
		{"bash <<'EOF'\ncurl example.com\nEOF", false, true},
		{"bash <<EOF\n$x\nEOF", false, true},
		{"cat <<EOF | bash\ncurl example.com\nEOF", false, true},
		{"{ bash; } <<EOF\ncurl example.com\nEOF", false, true},
		{"python3 <<'EOF'\nprint(1)\nEOF", false, false},
		{"python3 - <<'EOF'\nimport urllib.request\nEOF", false, true},
		{"cat > x.py <<'EOF'\nimport urllib.request\nEOF\npython3 x.py", false, true},
	} {
		if got := command.Parse(c.text); got.Harmless() != c.harmless || got.Fetches() != c.fetches {
			t.Errorf("%q: %+v", c.text, got)
		}
	}
}

func TestHostsAreNamed(t *testing.T) {
	for text, want := range map[string]command.Host{
		"exec 3<>/dev/tcp/127.0.0.1/8787":            {Name: "127.0.0.1", Port: "8787"},
		"nc localhost 8787":                          {Name: "localhost", Port: "8787"},
		"nc -w 3 -v 0 8787":                          {Name: "0", Port: "8787"},
		"curl http://user:pw@LOCALHOST:8787/x":       {Name: "localhost", Port: "8787"},
		"curl localhost:8787/approve":                {Name: "localhost", Port: "8787"},
		"curl --url=http://[::1]:8787":               {Name: "::1", Port: "8787"},
		"socat - TCP:127.1:8787":                     {Name: "127.1", Port: "8787"},
		"openssl s_client -connect localhost:8787":   {Name: "localhost", Port: "8787"},
		"bash -c 'echo x > /dev/tcp/localhost/8787'": {Name: "localhost", Port: "8787"},
		"telnet localhost 8787":                      {Name: "localhost", Port: "8787"},
		"ssh bob@box.example":                        {Name: "box.example"},
		"h=/dev/tcp/localhost/8787; mytool > $h":     {Name: "localhost", Port: "8787"},
		"python3 -c 'x(\"http://localhost:8787\")'":  {Name: "localhost", Port: "8787"},
	} {
		if c := command.Parse(text); !slices.Contains(c.Hosts, want) {
			t.Errorf("%q names %v", text, c.Hosts)
		}
	}
}

func TestWhatDestroys(t *testing.T) {
	for _, text := range []string{"rm -rf x", "sudo rm x", "git reset --hard", "git push --force", "find . -delete", "ls; rm x", "sh -c 'rm x'", "psql -c 'DROP TABLE x'", "python3 -c 'os.system(\"rm x\")'", "ssh box 'rm x'"} {
		if c := command.Parse(text); !c.Destroys {
			t.Errorf("%q destroys nothing", text)
		}
	}
	for _, text := range []string{"ls", "git status", "git commit -m 'rm it'", "echo rm"} {
		if c := command.Parse(text); c.Destroys {
			t.Errorf("%q destroys", text)
		}
	}
}

func TestArgvNeedsNoQuotes(t *testing.T) {
	for _, words := range [][]string{{"git", "-C", "x", "clone"}, {"curl", "x"}, {"bash", "-lc", "curl x"}, {"sudo", "wget", "x"}} {
		if c := command.Argv("", words); !c.Fetches() {
			t.Errorf("%q: %+v", words, c)
		}
	}
	for _, words := range [][]string{{"ls", "$(curl x)"}, {"echo", "; curl x"}, {"wc", "-l", "x"}} {
		if c := command.Argv("", words); !c.Harmless() {
			t.Errorf("%q: %+v", words, c)
		}
	}
}

func TestProgramsAreNamedWithTheirSubcommand(t *testing.T) {
	c := command.Parse("cd x && sudo git commit -m y | tee z; sh -c 'ls'")
	want := []command.Program{{Name: "cd"}, {Name: "sudo"}, {Name: "git", Sub: "commit"}, {Name: "tee"}, {Name: "sh"}, {Name: "ls"}}
	if !slices.Equal(c.Programs, want) {
		t.Errorf("%v", c.Programs)
	}
}

func TestAProgramIsShownWithItsSubcommand(t *testing.T) {
	for text, want := range map[string]string{
		"git log --oneline -n 5 -- a.go": "git log", "git diff -w HEAD~1": "git diff", "git branch -D old": "git branch", "gcc --version": "gcc --version", "git stash drop": "git stash",
		"make test lint": "make", "npm run type-check": "npm run", "go test -run X ./a": "go test", "node --version": "node --version", "pytest -x tests": "pytest", "ls -la": "ls",
	} {
		if c := command.Parse(text); !c.Contained() || len(c.Programs) != 1 || c.Programs[0].String() != want {
			t.Errorf("%q: %v, want %q", text, c.Programs, want)
		}
	}
}

func TestWhereACommandStartsCounts(t *testing.T) {
	for _, text := range []string{"echo x > y", "git status"} {
		if c := command.ParseIn("/home/ann/bin", text); c.Harmless() {
			t.Errorf("%q elsewhere: %+v", text, c)
		}
	}
	if c := command.ParseIn("/home/ann/src", "ls"); !c.Harmless() {
		t.Errorf("%+v", c)
	}
}

func BenchmarkParse(b *testing.B) {
	for b.Loop() {
		command.Parse("cd src && git status --short | head -n 20 && grep -rn 'TODO' --include='*.go' .")
	}
}

// TestFilesOfOtherCommits: what puts files of another branch or commit into the workspace.
func TestFilesOfOtherCommits(t *testing.T) {
	for text, want := range map[string]bool{
		"git restore --source=origin/x Makefile": true, "git restore -s contributor/x .": true, "git restore --source main -- a.go": true, "git restore a.go": false, "git restore --staged a.go": false, "git restore --source=HEAD~1 a.go": false,
		"git checkout contributor/x": true, "git checkout main": true, "git checkout -b x contributor/x": true, "git checkout -b x": false, "git checkout -- a.go": false, "git checkout main -- a.go": true, "git checkout a.go": false, "git checkout .": false,
		"git checkout HEAD~1 -- a.go": false, "git checkout -": true, "git switch x": true, "git switch -c x": false, "git switch -c x other/x": true, "git merge x": true, "git merge --abort": false, "git reset --hard": false, "git reset --hard HEAD~1": false,
		"git reset --hard x": true, "git cherry-pick abc123": true, "git rebase main": true, "git rebase --continue": false, "git worktree add ../x y": true, "git stash pop": false, "git commit -m x": false, "git log main": false, "git -C web checkout x": true,
		"git checkout $BRANCH": true,
	} {
		if c := command.Parse(text); c.Foreign != want {
			t.Errorf("%q: %v", text, c.Foreign)
		}
	}
}

// TestWhatACommandWritesIsShown: whether the text of a command shows all that it writes.
func TestWhatACommandWritesIsShown(t *testing.T) {
	for text, want := range map[string]string{
		"ls": "nothing", "cat a | grep b": "nothing", "make test": "nothing", "git commit -m x": "nothing", "git checkout -b new": "nothing", "go build ./...": "nothing",
		"echo x > a": "shown", "echo -n x > a": "shown", "echo 'a * b' > c": "shown",
		"echo -e '\\x63url' > a": "unseen", "echo '\\x63url' > a": "unseen", "echo * > a": "unseen", "echo {a,b} > c": "unseen", "echo $'\\x63' > a": "unseen", "cat > a <<E\ncu\\\nrl\nE": "unseen", "tee a <<< $'\\x63'": "unseen",
		"echo() { printf x; }; echo y > a": "unseen", "echo -e 'a\\nb'": "nothing", "echo *": "nothing", "git restore --source=origin/x Makefile": "unseen", "git switch x": "unseen", "git switch -c x": "nothing", "mkdir -p a && touch a/b": "shown", "cat > a <<'E'\nx\nE": "shown", "rm a": "shown",
		"cp a b": "unseen", "mv a b": "unseen", "sed -i s/a/b/ c": "unseen", "cat a > b": "unseen", "git checkout main": "unseen", "git apply x.patch": "unseen",
		"git checkout -b new origin/x": "unseen", "mytool": "unseen", "curl x > a": "unseen", "echo x > ~/a": "unseen", "python3 x.py": "unseen", "tar xf a.tar": "unseen", "echo $X > a": "unseen", "base64 -d > a <<< eA==": "unseen", "rev > a <<< x": "unseen", "cat a | tee b": "unseen", "tee a <<< x": "shown", "sh -c 'echo x > a'": "shown",
	} {
		c := command.Parse(text)
		got := "unseen"
		switch writes, shown := c.Writing(); {
		case !writes:
			got = "nothing"
		case shown:
			got = "shown"
		}
		if got != want {
			t.Errorf("%q: %s, want %s: %+v", text, got, want, c)
		}
	}
}

// TestAddLeavesNothingOut: what one of several commands does, they do together.
func TestAddLeavesNothingOut(t *testing.T) {
	for _, field := range reflect.VisibleFields(reflect.TypeFor[command.Command]()) {
		var one, all command.Command
		value := reflect.ValueOf(&one).Elem().FieldByIndex(field.Index)
		switch value.Kind() {
		case reflect.Bool:
			value.SetBool(true)
		case reflect.String:
			value.SetString("x")
		default:
			value.Set(reflect.MakeSlice(value.Type(), 1, 1))
		}
		if all.Add(one); reflect.ValueOf(all).FieldByIndex(field.Index).IsZero() {
			t.Errorf("%s is lost", field.Name)
		}
	}
}
