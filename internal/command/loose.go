package command

import (
	_ "embed"
	"path"
	"slices"
	"strings"
	"sync"
)

// command notes a simple command, and the words or the text that it runs. Options between a program and its verb are
// passed over, with a value each: "git -C x push" is a "git push" too. So is a version: "x@2" is an "x".
func (r *reader) command(words []string) {
	also := func(name string, rest []string) {
		r.Commands = append(r.Commands, slices.Concat([]string{name}, rest[:min(3, len(rest))]))
	}
	verbs := reach()[base(words[0])]
	r.Commands = append(r.Commands, words)
	if at := strings.LastIndex(words[0], "@"); at > 0 {
		also(words[0][:at], words[1:])
	}
	r.left -= costs
	r.Network = r.Network || verbs[""]
	runs := verbs["*"]
	for i := 1; i < len(words) && r.left > 0; i++ {
		w := words[i]
		if isOption(w) {
			continue
		}
		r.Network = r.Network || !runs && verbs[w]
		if r.left -= costs; i > 1 {
			also(words[0], words[i:])
		}
		switch {
		case !runs && verbs != nil && verbs[w+"*"]:
			runs = true
			continue
		case runs && strings.ContainsAny(w, " \t\n;|&<>()"):
			r.quoted++
			r.text(w)
			r.quoted--
		case runs:
			r.command(words[i:])
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

func endsPart(c rune) bool {
	switch c {
	case '\'', '"', '`', '(', ')', '{', '}', '[', ']', ',', ';', '<', '>', '|', '&', '=', ':', '@':
		return true
	}
	return c <= ' '
}

// unparsed reads a text that is no command: each word of it may begin one.
func (r *reader) unparsed(text string) {
	r.Joined = r.Joined || r.quoted == 0 && strings.ContainsAny(text, "|`(")
	r.Network = r.Network || isAddress(text)
	words := strings.FieldsFunc(text, endsPart)
	r.Commands, r.Words = slices.Grow(r.Commands, len(words)), slices.Grow(r.Words, len(words))
	for i, w := range words {
		r.word(w)
		r.Commands = append(r.Commands, words[i:min(i+4, len(words))])
		if verbs := reach()[base(w)]; verbs != nil && !r.Network {
			r.Network = verbs[""] || i+1 < len(words) && verbs[words[i+1]]
		}
	}
}

//go:embed network.txt
var networkText string

// reach has the words of network.txt by program: clone of git, * of sudo, exec* of npm, "" of curl, which always does.
var reach = sync.OnceValue(func() map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for line := range strings.Lines(networkText) {
		line, _, _ = strings.Cut(line, "#")
		names, verbs, found := strings.Cut(line, ":")
		for name := range strings.FieldsSeq(names) {
			if out[name] == nil {
				out[name] = map[string]bool{}
			}
			out[name][""] = out[name][""] || !found
			for verb := range strings.FieldsSeq(verbs) {
				out[name][verb] = true
			}
		}
	}
	return out
})

func isAddress(w string) bool {
	return strings.Contains(w, "/") &&
		(strings.Contains(w, "://") || strings.Contains(w, "/dev/tcp/") || strings.Contains(w, "/dev/udp/"))
}

// base is curl for /usr/bin/curl, CURL, curl.exe and curl@8, and python for python3.11.
func base(word string) string {
	name := strings.TrimSuffix(strings.ToLower(path.Base(word)), ".exe")
	return strings.TrimRight(name, "0123456789.@")
}

// Program is the one program that a line runs, as a card may call it; "" where it runs several.
func (l *Line) Program() string {
	others := func(words []string) bool { return words[0] != l.Commands[0][0] }
	if len(l.Commands) == 0 || slices.ContainsFunc(l.Commands, others) {
		return ""
	}
	return name(l.Commands[0][:1])
}

// name is what a card calls a command: its program, with what it is to do where a table has that.
func name(words []string) string {
	first := words[0]
	if len(first) > 40 || first == "" || strings.ContainsFunc(first, func(c rune) bool { return !isPlain(c) }) {
		return "a program"
	}
	if len(words) > 1 && (programs()[first+" "+words[1]] != nil || words[1] != "" && reach()[first][words[1]]) {
		return first + " " + words[1]
	}
	return first
}
