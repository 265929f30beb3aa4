package command_test

import (
	"slices"
	"testing"

	"github.com/openclaw-verifier/verifier/command"
)

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
