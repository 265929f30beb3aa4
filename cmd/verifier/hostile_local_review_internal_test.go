package main

import "testing"

// The attacks of a reviewer who did not build quiet.local, before it was switched on by default.

func TestH341ALookThatTakesItsFilesFromAList(t *testing.T) {
	notLocal(t,
		"sort --files0-from=list", "sort --files0-from list", "wc --files0-from=list", "wc --files0-from list", "du --files0-from=list", "find -files0-from list", "file -f list", "file -flist", "file --files-from=list", "tree --fromfile list", "tree --fromtabfile list",
		"git add --pathspec-from-file=list", "git diff --pathspec-from-file list", "git commit --pathspec-from-file=list -m x", "git log --stdin", "rg --files --ignore-file ../x", "cat list | sort --files0-from=-", "find . -newer ../x",
	)
}

func TestH342ALookForSecrets(t *testing.T) {
	notLocal(t,
		"cat .env", "cat .ENV", "cat ./.env", "cat sub/.env", "head -c 500 .git-credentials", "cat .npmrc", "cat .netrc", "sort .env", "diff .env main.go", "nl .env.local", "uniq .env", "tail -n +1 id_rsa", "grep -n KEY .env", "grep -rn KEY= .", "grep -r '' .", "grep -rh = .", "rg -uuu KEY .",
		"rg --hidden --no-ignore KEY", "git diff HEAD .env", "git log -p .env", "git diff --no-index /dev/null .env", "cmp .env x", "cat .git/config", "grep url .git/config", "cat .aws/credentials", "cat server.pem", "cd sub && cat .env", "cat main.go .env", "wc -l main.go && cat .env | head -1",
	)
}

func TestH343AWrapperAroundSomethingElse(t *testing.T) {
	notLocal(t,
		"timeout 5 ./x", "timeout 5 sh x", "timeout -s KILL 5 git push", "nice ./x", "nice -n 5 sh x", "time ./x", "time -p sh x", "command ./x", "command -p sh x", "timeout 5 nice time ./x", "bash -lc './x'", "bash -lc 'git status; ./x'", "sh -c 'git push'", "bash -c 'bash -c ./x'", "zsh -c 'source x'",
		"bash --init-file x -c ls", "sh -c 'cd .. && ls'", "dash -c ./x", "timeout 5 bash -c 'ls; ./x'", "nohup ls", "setsid ls", "stdbuf -o0 ls", "ionice ls", "chroot . ls", "busybox ls", "xargs ls", "parallel ls", "watch ls",
	)
}

func TestH344CommitsAndNamesOfOthers(t *testing.T) {
	notLocal(t,
		"git log FETCH_HEAD -p", "git diff FETCH_HEAD", "git log origin/main", "git diff origin/main", "git diff upstream/main", "git log --all", "git log --remotes", "git log --branches", "git log --glob=refs/remotes", "git log refs/pull/1/head", "git diff refs/remotes/evil/x", "git log main..origin/main", "git diff main...upstream/main",
		"git log --notes=evil", "git log @{u}", "git diff '@{upstream}'", "git log main@{upstream}", "git log -g", "git log --reflog", "git log --source --tags",
	)
}

func TestH345ALookWithSettingsOfTheWorkspace(t *testing.T) {
	notLocal(t,
		"file -m magic x", "file -mmagic x", "file --magic-file=magic x", "file -M magic x", "file -p -z x", "file -S x", "tree --info", "tree --infofile x", "tree --gitfile=../x", "rg --engine pcre2 --pre=./x y", "rg --config x y", "fd --ignore-file ../x", "fd --gen-completions", "sort --temporary-directory=. x", "sort --random-source=../x y",
		"ls --time-style=+$(./x)", "diff --ifdef=x --line-format=%c a ../b", "grep --exclude-from=../x y .", "grep -r --include-dir=.. x ..", "find . -newerXY ../x", "find -D exec . -name x -exec ./x ;", "find . -regex x -o -exec ./x {} ;", "tail --pid=1 -f ../x", "tail -F ../x", "stat /etc/hosts", "du ..", "du -X ../x", "cmp -i 1 ../x y",
	)
}

func TestH346ACommandThatIsLocalOnlyForUs(t *testing.T) {
	notLocal(t,
		"git status\t&& ./x", "git status &&./x", "git status;./x", "git status&./x", "git status ||./x", "git status |./x", "git status # x\n./x", "git add -A&&git push", "git commit -m 'x' -m \"$(./x)\"", "git commit -m 'x'\\''$(./x)'", "git commit -m 'it'\"'\"'s' && ./x", "git commit -m 'a\n' && ./x", "git commit -m x; git push",
		"git commit -am 'x' && git push --force", "git add -A -- ../x", "git add -- -A ../x", "git diff -- ../x", "git log -- ../x", "git log -1 -p --output-directory=x", "git diff --stat=1 --output=x", "git commit -m x --edit", "git commit -e", "git commit -v -e -m x", "git commit -c HEAD",
	)
}

// TestH347WhatASubagentOrAnotherAgentMayNot: the owner's run is not theirs.
func TestH347WhatASubagentOrAnotherAgentMayNot(t *testing.T) {
	t.Parallel()
	r := newRig(t, quietLocal)
	m := r.tainted("h347")
	for _, who := range []map[string]any{
		spawned("subagent:1", "h347"), with(m, "groupId", "g"), with(m, "senderIsOwner", nil), with(m, "senderId", "7", "senderIsOwner", nil), with(m, "sessionKey", "agent:main:subagent:3"),
		with(m, "sessionKey", "agent:main:telegram:group:-100"),
	} {
		for _, command := range []string{"git status --short && ls", "git add -A && git commit -m x", "ls src && rg foo src"} {
			r.stops(bash(t, command, with(who, "waitMs", 5001)))
		}
	}
}
