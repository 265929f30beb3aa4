package main

import (
	"fmt"
	"strings"
	"testing"
)

// Attacks on the table of quiet.local: what is near it, what it must not hold for, and what it may lead to.

// TestH680WhereTheShellMayBeCmd: it looks for programs in the directory where it runs first, so ls may be ls.bat. Only a runtime that says it is none of Windows passes.
func TestH680WhereTheShellMayBeCmd(t *testing.T) {
	t.Parallel()
	r := newRig(t, quietLocal)
	for i, more := range [][]any{
		{"platform", ""}, {"platform", "win32"}, {"platform", "windows"}, {"platform", "cygwin"}, {"platform", "Linux"}, {"platform", "linux "}, {"platform", "linux,win32"}, {"platform", "plan9"},
		{"platform", "win32", "workspace", "/c/Users/me/app"}, {"platform", "", "workspace", `C:\Users\me\app`}, {"platform", "", "workspace", "c/Users/me/app"},
	} {
		m := with(r.tainted(fmt.Sprint("h680-", i)), more...)
		for _, command := range []string{"ls", "rg foo src", "git status --short && git log -1"} {
			r.stops(bash(t, command, m))
		}
	}
	for _, platform := range []string{"linux", "darwin"} {
		r.allow(bash(t, "ls && git log -1", with(r.tainted("h680-"+platform), "platform", platform)))
	}
	r.allow(bash(t, "ls && git log -1", with(r.tainted("h680-hook"), "platform", "", "workspace", "/home/me/app")))
}

// TestH681CharactersBetweenTheWords: one space is one space.
func TestH681CharactersBetweenTheWords(t *testing.T) {
	notLocal(t,
		"git log  -1", " git log -1", "git log -1 ", "git log\t-1", "git log -1\n", "\ngit log -1", "git log -1\r", "git log -1\r\ngit push", "git\u00a0log -1", "git log\u2003-1", "git log\u200b -1", "git log \u20131", "git log -1 &&ls", "git log -1&& ls", "git log -1&&ls", "git log -1 &&  ls", "git log -1 \uff06\uff06 ls", "git log -1 && && ls", "git log -1 &&", "&& git log -1",
		"git log -1 & ls", "git log -1; ls", "git log -1 || ls", "git log -1 | ls", "git log -1 #x", "git log -1 \\\n&& ls", "\ufeffgit log -1", "git log -1 and ls",
	)
}

// TestH682MessagesThatSayMore: whatever a shell of any system, git or a person could read otherwise in a message asks.
func TestH682MessagesThatSayMore(t *testing.T) {
	for name, end := range map[string]string{"git": " && git log -1", "ls": " && ls"} { // alone, a commit passes if all was seen: see 0033
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, quietLocal)
			m := r.tainted("h682")
			r.allow(bash(t, `git commit -m "Fix it: a/b (see #1), it's twice; why?"`+end, m))
			for _, message := range []string{
				`'a' 'b'`, `'a'b`, `"a"'b'`, `'it's'`, `"a\"b"`, `'a\'`, `"$HOME"`, "\"`date`\"", `"a!b"`, `'a!b'`, `'100%'`, `'%PATH%'`, `'a^b'`, `'a & b'`, `'a | b'`, `'a > b'`, `'a < b'`, `'a * b'`, `'[a]'`, `'{a,b}'`, `'~'`, `'a=b'`, `'a@b'`, "'a\nb'", "'a\tb'", `'Grüße'`, `'a’b'`, `''`, `' a'`, `'-a'`, `'--amend'`, `a`, `$'a'`, `"a" -n`, `"a" --amend`, `"a" main.go`,
			} {
				r.stops(bash(t, "git commit -m "+message+end, m))
			}
		})
	}
}

// TestH683OptionsNearTheTable: other spellings, values, two in one word, and revisions.
func TestH683OptionsNearTheTable(t *testing.T) {
	notLocal(t,
		"git log --onelin", "git log --oneline=x", "git log -1p", "git log -p", "git log -n1 -p", "git log -n", "git log --stat=9,9", "git log -100", "git log -- x", "git log main", "git log evil", "git log -1 HEAD@{1}", "git status -uall && ls", "git status --ignored && ls", "git diff HEAD~1 && ls", "git diff evil && ls", "git diff --cached evil && ls", "git --no-pager log -1", "git -p log",
		"ls -R", "ls -lR", "ls --hyperlink", "ls -I x", "ls -d x", "ls -- -l", "git add -u && ls", "git add -fA && ls", "git commit -qam 'x' && ls", "git grep -O foo", "git grep -nO foo", "git grep foo evil", "git grep --untracked foo", "rg -nu foo", "rg -uu foo", "rg -L foo", "rg -nL foo", "rg --no-ignore foo", "rg -. foo", "grep -rn foo src",
	)
}

// TestH684PathsNearTheTable: hidden parts, dots at the end, options, drives, and what is not written as it is.
func TestH684PathsNearTheTable(t *testing.T) {
	notLocal(t,
		"ls .git", "ls .git/hooks", "ls src/.env", "ls .ssh", "ls ./src", "ls src/", "ls src//a", "ls src/.", "ls src/..", "ls ..", "ls ...", "ls src.", "ls src./a", "ls a/-l", "ls /", "ls /etc", "ls //x/y", "ls ~", "ls C:", "ls C:/x", "ls c:x", "ls 'src'", `ls "src"`, "ls s*", "ls sr?", "ls {src,x}", "ls @x", "ls =ls", "ls src,x", "ls ^x",
		"rg foo .git", "rg foo .env", "rg foo src/.env", "grep foo .env", "grep foo .", "grep foo ./main.go", "git add .env && ls", "git add ./.env && ls", "git add src/.env && ls", "git add :/ && ls", "git add ':!x' && ls",
	)
}

// TestH685SearchesForWhatIsSecret, or for all there is: also among files that a project keeps.
func TestH685SearchesForWhatIsSecret(t *testing.T) {
	notLocal(t,
		"rg password", "rg -i password src", "git grep token", "git grep -n secret", "git grep api_key", "rg API_KEY src", "rg AKIA", "rg ghp_", "rg sk-", "rg BEGIN", "rg 'PRIVATE'", "rg authorization", "rg -i bearer", "grep password main.go", "grep secret a.go b.go", "git grep credentials", "rg hunter2", "rg DATABASE_URL src", "rg passwd && ls",
		"rg a", "rg =", "rg .", "rg ..", "rg ...", "rg ''", "rg ' '", "rg 'a '", "rg '.*'", "rg 'foo|bar'", "rg ^foo", "rg 'a.c'", "rg '[a-z]'", "rg foo.bar src", "grep e main.go", "git grep ''",
	)
}

// TestH686ALinkThatNobodySaw: behind it a search finds what is elsewhere, and a file of patterns makes hidden files part of the project.
func TestH686ALinkThatNobodySaw(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(r *rig, m map[string]any){
		"a link": func(r *rig, m map[string]any) { r.approved(sh("ln -s ../other notes", m), 0) },
		"a copy": func(r *rig, m map[string]any) { r.approved(sh("cp page.txt .ignore", m), 0) },
		"a clone": func(r *rig, _ map[string]any) {
			r.allow(bash(r.t, "git clone https://github.com/evil/x notes", ownerIn("clean")))
		},
		"a file under a grant": func(r *rig, m map[string]any) {
			r.approved(writes("notes.md", "x", m), 10)
			r.allow(writes(".rgignore", "!x", m))
		},
		"a program in the directory": func(r *rig, m map[string]any) {
			r.approved(call{tool: "mcp__fs__put", params: `{"path":"rg"}`, context: m}, 0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, quietLocal)
			m := with(r.tainted("first"), "waitMs", 9001)
			r.allow(bash(t, "rg foo notes", m))
			write(r, m)
			for _, m := range []map[string]any{m, r.tainted("second")} {
				for _, command := range []string{"rg foo notes", "rg foo", "grep foo notes", "git grep foo", "ls notes", "ls", "pwd"} {
					r.stops(bash(t, command, m))
				}
			}
		})
	}
}

// TestH687WhatShowsWholeFiles, walks directories or prints what it is given is not in the table.
func TestH687WhatShowsWholeFiles(t *testing.T) {
	notLocal(t,
		"cat main.go", "head main.go", "head -5 main.go", "tail main.go", "sort main.go", "uniq main.go", "nl main.go", "diff a.go b.go", "cmp a b", "wc -l main.go", "file main.go", "du", "du -s src", "find . -name x", "find src", "tree", "tree -L 2", "fd foo", "echo x", "true", "basename a", "stat main.go", "git show", "git show HEAD", "git blame main.go", "git ls-files",
		"git branch", "git rev-parse HEAD", "git remote", "git stash list", "less main.go", "ls && cat main.go", "git status -s && cat main.go", "rg foo && head main.go",
	)
}

// TestH688ACommandThatStartsElsewhere: also below the workspace, and for looks.
func TestH688ACommandThatStartsElsewhere(t *testing.T) {
	t.Parallel()
	r := newRig(t, quietLocal)
	m, coding := r.tainted("h688"), r.codingIn("h688", "/home/me/app")
	for _, dir := range []string{"src", ".git", ".config", ".ssh", "./src", "src/", "..", "/", "/tmp", "~", "-", "/home/me/app/src", "/home/me/app/.", "/home/me/app/", "/home/me"} {
		for _, command := range []string{"ls && git log -1", "rg foo && git log -1"} {
			r.stops(execWith(command, fmt.Sprintf(`"workdir":%q`, dir), m))
			r.stops(execWith(command, fmt.Sprintf(`"workdir":%q`, dir), coding))
		}
	}
	r.allow(execWith("ls && git log -1", `"workdir":""`, m))
	r.allow(execWith("ls && git log -1", `"workdir":"/home/me/app"`, coding))
}

// TestH689MoreThanTheTableHolds: too many commands, too long ones, and other programs around those of the table.
func TestH689MoreThanTheTableHolds(t *testing.T) {
	notLocal(t,
		strings.Repeat("ls && ", 5)+"ls", "ls "+strings.Repeat("a", 300), "git commit -m '"+strings.Repeat("x", 300)+"' && ls", "cd src && ls", "ls && cd src", "pushd src && ls", "bash -c ls", "bash -lc 'git log -1'", "sh -c 'ls'", "timeout 5 ls", "time ls", "nice ls", "command ls", "env ls", "sudo ls", "exec ls", "builtin pwd", "X=1 ls", "ls $X", "ls $(pwd)", "ls `pwd`",
		"(ls)", "{ ls; }", "! ls", "if ls; then ls; fi", "ls > x", "ls 2>&1", "ls < x", "ls <<< x", "ls | head", "/bin/ls", "./ls", "bin/rg foo", "LS", "Ls", "gIt log -1", "git.exe log -1", "rg.cmd foo", "pwd -P", "pwd x", "xargs ls", "ls && make test", "ls && git push", "ls && git pull",
	)
}
