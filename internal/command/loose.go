package command

import (
	_ "embed"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// command notes a simple command, and the words or the text that it runs. Options between a program and its verb are
// passed over, with a value each: "git -C x push" is a "git push" too. So is a version: "x@2" is an "x".
func (r *reader) command(words []string) {
	also := func(name string, rest []string) {
		r.Commands = append(r.Commands, append([]string{name}, rest[:min(3, len(rest))]...))
	}
	program := base(words[0])
	r.Commands = append(r.Commands, words)
	r.Programs = append(r.Programs, name(words))
	if at := strings.LastIndex(words[0], "@"); at > 0 {
		also(words[0][:at], words[1:])
	}
	r.left -= costs
	r.Network = r.Network || reach()[program]
	runs := reach()[program+" *"]
	for i := 1; i < len(words) && r.left > 0; i++ {
		w := words[i]
		if isOption(w) {
			continue
		}
		r.Network = r.Network || !runs && reach()[program+" "+w]
		if r.left -= costs; i > 1 {
			also(words[0], words[i:])
		}
		switch {
		case !runs && reach()[program+" "+w+"*"]:
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
	return c <= ' ' || c < 0x80 && strings.IndexByte("'\"`(){}[],;<>|&=:@", byte(c)) >= 0
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
		if always, listed := reach()[base(w)]; listed && !r.Network {
			r.Network = always || i+1 < len(words) && reach()[base(w)+" "+words[i+1]]
		}
	}
}

//go:embed network.txt
var networkText string

// reach has the words of network.txt: "curl", "git clone", "sudo *", "npm exec*".
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

// base is curl for /usr/bin/curl, CURL, curl.exe and curl@8, and python for python3.11.
func base(word string) string {
	name := strings.TrimSuffix(strings.ToLower(path.Base(word)), ".exe")
	return strings.TrimRight(name, "0123456789.@")
}

// name is what a card calls a command: its program, with what it is to do where a table has that.
func name(words []string) string {
	if w := words[0]; len(w) > 40 || !isPlain(w) && !plain.MatchString(w) {
		return "a program"
	}
	if shown := strings.Join(words[:min(2, len(words))], " "); programs()[shown] != nil || reach()[shown] {
		return shown
	}
	return words[0]
}

var plain = regexp.MustCompile(`^[\w./+:,@%=-]{1,40}$`)
