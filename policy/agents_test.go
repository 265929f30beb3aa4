package policy_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/openclaw-verifier/verifier/hook"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

func TestEveryToolOfTheCodingAgentsHasARow(t *testing.T) {
	known := must(t, policy.Config{}).Tools()
	for _, tool := range hook.ToolNames() {
		if !slices.Contains(known, tool) {
			t.Errorf("%s has no row", tool)
		}
	}
}

// What a coding agent does in the workspace all day is not asked about in the owner's own conversation; what is typed
// into a shell later is not asked about by Codex, so that the shell itself is.
func TestCommandsOfCodingAgentsAreJudgedByWhatTheyDo(t *testing.T) {
	p := must(t, policy.Config{})
	for command, want := range map[string]taint.Mode{
		"go test ./...": taint.Allow, "git status": taint.Allow, "npm test": taint.Allow, "python3 build.py": taint.Allow, "sh -c 'ls -l'": taint.Allow,
		"sh": taint.Confirm, "bash -i": taint.Confirm, "python3": taint.Confirm, "python3 -": taint.Confirm, "cat | sh": taint.Confirm, "node -i": taint.Confirm,
		"sudo -u me bash": taint.Confirm, "env sh": taint.Confirm,
		"script -q /dev/null": taint.Confirm, "sudo -i": taint.Confirm, "sudo -u me -s": taint.Confirm, "su": taint.Confirm, "sudo su": taint.Confirm, "tmux": taint.Confirm, "screen": taint.Confirm, "chroot . sh": taint.Confirm, "unshare sh": taint.Confirm, "rlwrap sh": taint.Confirm, "strace sh": taint.Confirm,
		"python3 -m code": taint.Confirm, "python3 -i x.py": taint.Confirm, "python3 -m pdb x.py": taint.Confirm, "node -i x.js": taint.Confirm, "perl -de1": taint.Confirm, "deno repl": taint.Confirm, "bun repl": taint.Confirm, "gdb ./x": taint.Confirm, "sqlite3 x.db": taint.Confirm,
		"ed x": taint.Confirm, "vim": taint.Confirm, "less main.go": taint.Confirm, "rails c": taint.Confirm, "docker run -it alpine": taint.Confirm, "make -f -": taint.Confirm, "awk -f -": taint.Confirm, "sed -f -": taint.Confirm, "psql app": taint.Confirm, "cd x && vim": taint.Confirm,
		"python3 -m pytest -x": taint.Allow, "python3 build.py -i": taint.Allow, "sudo sed -i s/a/b/ x": taint.Allow, "sqlite3 x.db 'select 1'": taint.Allow, "sqlite3 -header x.db .tables": taint.Allow, "psql -c 'select 1'": taint.Allow, "make -f other.mk": taint.Allow, "node x.js": taint.Allow, "git log": taint.Allow,
		"perl -ne 'print' x": taint.Allow, "psql app <<E\nselect 1;\nE": taint.Allow, "psql app < schema.sql": taint.Allow, "gdb -batch -ex bt ./x core": taint.Allow, "nvim --headless +qa": taint.Allow, "tmux ls": taint.Allow, "vim --version": taint.Allow, "git commit -m x": taint.Allow, "git rebase main": taint.Allow,
		"psql -hlocalhost app": taint.Confirm, "mysql -uroot -pdev app": taint.Confirm, "duckdb -csv x.db": taint.Confirm, "sqlite3 -separator , x.db": taint.Confirm, "ipython3": taint.Confirm, "python3 -X dev -i": taint.Confirm, "docker run --rm -i alpine": taint.Confirm, "docker run -t -i alpine": taint.Confirm,
		"git commit": taint.Confirm, "git rebase -i main": taint.Confirm, "git add -p": taint.Confirm, "crontab -e": taint.Confirm, "kubectl edit pod x": taint.Confirm, "python3 manage.py shell": taint.Confirm, "psql app < /dev/stdin": taint.Confirm,
		`script -qc "true --version ; bash" /dev/null`: taint.Confirm, "screen sh -c bash --version": taint.Confirm, "less '+/ --help ' x": taint.Confirm, "emacs --eval x": taint.Confirm, "tmux ls \\; new bash": taint.Confirm, "tmux display-popup -E bash": taint.Confirm, "kubectl -n prod attach x": taint.Confirm, "kubectl -n prod edit deploy x": taint.Confirm,
		"docker start -ai x": taint.Confirm, "docker run -tid x": taint.Confirm, "docker run --name x -i alpine": taint.Confirm, "docker compose run web bash": taint.Confirm, "sudo -iu postgres": taint.Confirm, "sudo -su me": taint.Confirm, "python3 -mpdb x": taint.Confirm, "python3 -um pdb x": taint.Confirm,
		"python3 ./manage.py shell": taint.Confirm, "git -C d commit": taint.Confirm, "git commit --no-verify": taint.Confirm, "git commit x.go": taint.Confirm, "git config --edit --global": taint.Confirm, "psql -Uwolf app": taint.Confirm, "psql -f - app": taint.Confirm, "unshare -r bash -i": taint.Confirm, "chroot /x": taint.Confirm,
		"unshare -r": taint.Confirm, "psql app 3< x.sql": taint.Confirm, "psql app < x.sql <&2": taint.Confirm, "vim -V x": taint.Confirm,
		"git stash show -p": taint.Allow, "git stash": taint.Allow, "mysql -Ne 'select 1'": taint.Allow, `psql -c"select 1" app`: taint.Allow, "psql app -f x.sql": taint.Allow, "duckdb x.db 'select 1'": taint.Allow, "sqlite3 -separator , x.db 'select 1'": taint.Allow, "docker exec -i db psql app < dump.sql": taint.Allow,
		"docker compose up -d": taint.Allow, "docker ps": taint.Allow, "git commit -am 'x y'": taint.Allow, "git commit --amend --no-edit": taint.Allow, "kubectl get pods": taint.Allow, "psql app < x.sql > out": taint.Allow, "make -j4 test": taint.Allow, "eval \"$X\"": taint.Confirm,
	} {
		for _, tool := range []string{"exec", "exec_open"} {
			c := call(tool, `{"command":`+strconv.Quote(command)+`,"workdir":"/home/me/app"}`)
			plan := p.Plan(c)
			expect := want
			if tool == "exec" {
				expect = taint.Allow
			}
			if got := plan.Modes[taint.Owner]; got != expect {
				t.Errorf("%s %q: %s, want %s", tool, command, got, expect)
			}
			if tool == "exec_open" && want == taint.Confirm && plan.Grantable {
				t.Errorf("%q: a lasting yes would cover it", command)
			}
			if got := plan.Modes[taint.Untrusted]; got < taint.Confirm && want == taint.Confirm {
				t.Errorf("%s %q passes in a tainted conversation", tool, command)
			}
		}
	}
}

// TestH775AnOpenShellKeepsTheScopeAndTheOverridesOfItsTool: what the owner says of commands holds for those that take more of them.
func TestH775AnOpenShellKeepsTheScopeAndTheOverridesOfItsTool(t *testing.T) {
	c := call("exec_open", `{"command":"tmux"}`)
	restricts := policy.Override{Any: new(taint.Restrict)}
	if plan := must(t, policy.Config{ToolOverrides: map[string]policy.Override{"exec_open": restricts}}).Plan(c); plan.Modes[taint.Owner] != taint.Restrict {
		t.Errorf("restricted: %s", plan.Modes[taint.Owner])
	}
	if plan := must(t, policy.Config{Scope: policy.Scope{Include: []string{"exec_open", "write"}}}).Plan(c); !plan.InScope || plan.Modes[taint.Untrusted] < taint.Confirm {
		t.Errorf("in scope: %v, %s", plan.InScope, plan.Modes[taint.Untrusted])
	}
}
