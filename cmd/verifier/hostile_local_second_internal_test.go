package main

import (
	"fmt"
	"testing"
)

// The attacks of a second reviewer who did not build quiet.local. Most of these commands passed before.

// looksElsewhere are commands that list or show files outside of the workspace, though none of their words looks so at first.
var looksElsewhere = []string{
	"find -O3 / -name shadow -exec cat '{}' +", "find -O3 .. -name x", "find -D tree .. -name x", "find -s .. -name x", "find -x .. -name x", "find -Ex .. -name x", "find -f /etc -name passwd",
	`bash -c 'x="main.go /home/me/notes.txt"; cat $x'`, `bash -c 'x="main.go /home/me/notes.txt"; for y in $x; do cat $y; done'`, "bash -c 'IFS=, ; x=main.go,/home/me/notes.txt; cat $x'",
}

// showsSecrets are commands that show all files of the workspace, or one in which secrets are kept.
var showsSecrets = []string{
	"grep --directories=recurse = .", "grep -d recurse = .", "grep -nd recurse = .", "grep -hd recurse '' .", "grep --rec = .", "grep --dereference = .", "egrep -d recurse = .", "diff --rec . src",
	"find . -name config -exec cat '{}' +", "find .git -name config -exec cat '{}' +", "find . -name credentials -exec cat '{}' +", "fd -H config . -x cat", "bash -c 'cat $(find . -name credentials)'", "bash -c 'cat id_ed$((25519))'",
}

func TestH560APlaceBehindOptionsOrInsideAVariable(t *testing.T) { notLocal(t, looksElsewhere...) }

func TestH561ALookAtAllFilesBySpellingAnOptionOtherwise(t *testing.T) { notLocal(t, showsSecrets...) }

func TestH562APatternForGitThatFindsHiddenFiles(t *testing.T) {
	notLocal(t, "git log -p '[.]env'", "git diff '?env'", "git log -p '*env'", "git diff 's*env'", "git log -p 'sub/[.]env'", "git diff '*.env*'", "git log -p '*credentials*'")
}

// TestH563QuotesThatPowerShellTakesForPlainOnes: for bash all of it is one message.
func TestH563QuotesThatPowerShellTakesForPlainOnes(t *testing.T) {
	notLocal(t, "git commit -m 'x\u2019; calc; echo \u2019y'", "git commit -m \"x\u201d; calc; echo \u201dy\"", "rg 'x\u2018; calc; echo \u201by' src", "git commit -m 'x\u201a; calc; echo \u201ay'", "git commit -m \"x\u201e; calc; echo \u201ey\"")
}

func TestH564AListOfNamesByAShortenedOption(t *testing.T) {
	notLocal(t, "wc --files0=list", "wc --f=list", "wc --files0-fr list", "du --files0=list", "du --fi=list")
}

// TestH565ACodingAgentLooksThatWay: what only looks passes by default there.
func TestH565ACodingAgentLooksThatWay(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	m := with(with(ownerIn("h565"), "agentId", "claude-code"), "workspace", "/home/me/app")
	m["sessionKey"] = "agent:claude-code:h565"
	r.allow(fetch(m))
	for _, command := range append(looksElsewhere, showsSecrets...) {
		r.stops(call{tool: "exec", params: fmt.Sprintf(`{"command":%q,"workdir":"/home/me/app"}`, command), context: with(m, "waitMs", 5001)})
	}
	r.allow(call{tool: "exec", params: `{"command":"find -L src -name x","workdir":"/home/me/app"}`, context: m})
}
