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
	does := reach()[program]
	r.Network = r.Network || does.always
	runs := does.runs[""]
	for i := 1; i < len(words) && r.left > 0; i++ {
		w := words[i]
		if isOption(w) {
			continue
		}
		r.Network = r.Network || !runs && does.verbs[w]
		if r.left -= costs; i > 1 {
			also(words[0], words[i:])
		}
		switch {
		case !runs && does.runs[w]:
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

func endsPart(c rune) bool { return c < 0x80 && partEnds[c] }

var partEnds = func() (ends [0x80]bool) {
	for c := range rune(len(ends)) {
		ends[c] = c <= ' ' || strings.ContainsRune("'\"`(){}[],;<>|&=:@", c)
	}
	return ends
}()

// unparsed reads a text that is no command: each word of it may begin one.
func (r *reader) unparsed(text string) {
	r.Joined = r.Joined || r.quoted == 0 && strings.ContainsAny(text, "|`(")
	r.Network = r.Network || isAddress(text)
	words := strings.FieldsFunc(text, endsPart)
	r.Commands, r.Words = slices.Grow(r.Commands, len(words)), slices.Grow(r.Words, len(words))
	for i, w := range words {
		r.word(w)
		r.Commands = append(r.Commands, words[i:min(i+4, len(words))])
		if does, listed := reach()[base(w)]; listed && !r.Network {
			r.Network = does.always || i+1 < len(words) && does.verbs[words[i+1]]
		}
	}
}

//go:embed network.txt
var networkText string

// network is how a program reaches the network.
type network struct {
	always bool            // in every use
	verbs  map[string]bool // with one of these words after it
	runs   map[string]bool // it runs what is named after one of these words; "": directly after it
}

// reach has network.txt, by program.
var reach = sync.OnceValue(func() map[string]network {
	out := map[string]network{}
	for line := range strings.Lines(networkText) {
		line, _, _ = strings.Cut(line, "#")
		names, verbs, found := strings.Cut(line, ":")
		for name := range strings.FieldsSeq(names) {
			n, listed := out[name]
			if !listed {
				n.verbs, n.runs = map[string]bool{}, map[string]bool{}
			}
			n.always = n.always || !found
			for verb := range strings.FieldsSeq(verbs) {
				if before, runs := strings.CutSuffix(verb, "*"); runs {
					n.runs[before] = true
				} else {
					n.verbs[verb] = true
				}
			}
			out[name] = n
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
	if len(words) > 1 && (programs()[words[0]+" "+words[1]] != nil || reach()[words[0]].verbs[words[1]]) {
		return words[0] + " " + words[1]
	}
	return words[0]
}

var plain = regexp.MustCompile(`^[\w./+:,@%=-]{1,40}$`)
