package command

import (
	_ "embed"
	"path"
	"slices"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// text reads loosely: all words, all commands wherever they stand. It returns nil for what is no shell text.
func (r *reader) text(text string, depth int) *syntax.File {
	if r.left -= len(text); r.left < 0 {
		return nil
	}
	file := parse(text)
	if file == nil || depth > inQuotes {
		r.unparsed(text)
		return nil
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Word:
			word, _ := spelled(n)
			r.word(word)
		case *syntax.CmdSubst, *syntax.ProcSubst:
			r.Joined = true
		case *syntax.BinaryCmd:
			r.Joined = r.Joined || n.Op == syntax.Pipe || n.Op == syntax.PipeAll
		case *syntax.CallExpr:
			words, _ := spell(n.Args)
			r.command(words, depth)
		}
		return true
	})
	return file
}

// command notes a simple command, and the words or the text that it runs. Options between a program and its verb are
// passed over, with a value each: "git -C x push" is a "git push" too.
func (r *reader) command(words []string, depth int) {
	if len(words) == 0 {
		return
	}
	program := base(words[0])
	r.Commands = append(r.Commands, words)
	r.Programs = append(r.Programs, name(words))
	r.Network = r.Network || reach()[program]
	r.left -= costs
	for i := 1; i < len(words) && r.left > 0; i++ {
		if isOption(words[i]) {
			continue
		}
		r.Network = r.Network || reach()[program+" "+words[i]]
		if r.left -= costs; i > 1 {
			r.Commands = append(r.Commands, append([]string{words[0]}, words[i:min(i+3, len(words))]...))
		}
		switch {
		case !reach()[program+" *"]:
		case strings.ContainsAny(words[i], " \t\n;|&<>()"):
			r.text(words[i], depth+1)
		default:
			r.command(words[i:], depth+1)
		}
		if !isOption(words[i-1]) {
			break
		}
	}
}

// isOption is also for 5 in "timeout 5 x" and A=1 in "env A=1 x".
func isOption(w string) bool {
	return w != "" && (w[0] == '-' || w[0] >= '0' && w[0] <= '9' || strings.Contains(w, "="))
}

// word keeps a word and its parts: those of -f=x, HEAD:x and 'open("x")', and x of -fx.
func (r *reader) word(w string) {
	r.Words = append(r.Words, w)
	for part := range strings.FieldsFuncSeq(w, endsPart) {
		if part != w {
			r.Words = append(r.Words, part)
		}
		if len(part) > 2 && part[0] == '-' && part[1] != '-' {
			r.Words = append(r.Words, part[2:])
		}
	}
}

func endsPart(c rune) bool { return c <= ' ' || strings.ContainsRune("'\"`(){}[],;<>|&=:@", c) }

// unparsed reads a text that is no command: each word of it may begin one.
func (r *reader) unparsed(text string) {
	r.Network = r.Network || isAddress(text)
	words := strings.FieldsFunc(text, endsPart)
	r.Commands, r.Words = slices.Grow(r.Commands, len(words)), slices.Grow(r.Words, len(words))
	for i, w := range words {
		r.word(w)
		r.Commands = append(r.Commands, words[i:min(i+4, len(words))])
		if always, listed := reach()[base(w)]; listed && !r.Network {
			r.Network = always || i+1 < len(words) && reach()[base(w)+" "+words[i+1]]
		}
	}
}

//go:embed network.txt
var networkText string

// reach has the words of network.txt: "curl", "git clone", "sudo *".
var reach = sync.OnceValue(func() map[string]bool {
	out := map[string]bool{}
	for line := range strings.Lines(networkText) {
		line, _, _ = strings.Cut(line, "#")
		names, verbs, found := strings.Cut(line, ":")
		for name := range strings.FieldsSeq(names) {
			out[name] = out[name] || !found
			for verb := range strings.FieldsSeq(verbs) {
				out[name+" "+verb] = true
			}
		}
	}
	return out
})

func isAddress(w string) bool {
	return strings.Contains(w, "://") || strings.Contains(w, "/dev/tcp/") || strings.Contains(w, "/dev/udp/")
}

// base is curl for /usr/bin/curl, CURL and curl.exe, and python for python3.11.
func base(word string) string {
	name := strings.TrimSuffix(strings.ToLower(path.Base(word)), ".exe")
	return strings.TrimRight(name, "0123456789.")
}

// name is what a card calls a command: its program, with what it is to do where the table has subcommands of it.
func name(words []string) string {
	shown := words[0]
	if len(words) > 1 && programs().subs[shown] && !isOption(words[1]) {
		shown += " " + words[1]
	}
	if len(shown) > 40 || strings.ContainsFunc(shown, func(c rune) bool { return changes(c) && c != ' ' || c > '~' }) {
		return "a program"
	}
	return shown
}
