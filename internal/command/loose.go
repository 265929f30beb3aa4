package command

import (
	_ "embed"
	"path"
	"strings"
	"sync"

	"mvdan.cc/sh/v3/syntax"
)

// text reads for the worse: all words, all commands wherever they stand. It returns nil for what is no shell text.
func (r *reader) text(text string, depth int) *syntax.File {
	file := parse(text)
	if file == nil || depth > inQuotes {
		r.unparsed(text)
		return nil
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Word:
			r.word(spelled(n))
		case *syntax.CmdSubst, *syntax.ProcSubst:
			r.Joined = true
		case *syntax.BinaryCmd:
			r.Joined = r.Joined || n.Op == syntax.Pipe || n.Op == syntax.PipeAll
		case *syntax.Stmt:
			r.stmt(n, depth)
		}
		return true
	})
	if r.left < 0 {
		r.unknown("The command is too long.")
		r.unparsed(text)
	}
	return file
}

// stmt reads a simple command, and the text that a shell gets by <<.
func (r *reader) stmt(s *syntax.Stmt, depth int) {
	c, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) == 0 {
		return
	}
	words := make([]string, len(c.Args))
	for i, w := range c.Args {
		words[i] = spelled(w)
	}
	r.command(words, depth)
	for _, d := range s.Redirs {
		if !lists().through[base(words[0])] {
			continue
		}
		if d.Hdoc != nil {
			r.text(spelled(d.Hdoc), depth+1)
		} else if d.Op == syntax.WordHdoc {
			r.text(spelled(d.Word), depth+1)
		}
	}
}

// command notes a simple command and what it runs. Options between a program and its verb, with a value each, are
// passed over: "git -C x push" is a "git push" too.
func (r *reader) command(words []string, depth int) {
	if r.left--; r.left < 0 || len(words) == 0 {
		return
	}
	l, name := lists(), base(words[0])
	r.Commands = append(r.Commands, words)
	r.Programs = append(r.Programs, shown(words))
	r.Network = r.Network || l.programs[name]
	for i := 1; i < len(words); i++ {
		if isOption(words[i]) {
			continue
		}
		r.Network = r.Network || l.verbs[name+" "+words[i]]
		if i > 1 {
			r.Commands = append(r.Commands, append([]string{words[0]}, words[i:min(i+3, len(words))]...))
		}
		if l.through[name] {
			r.inner(words[i:], depth+1)
		}
		if !isOption(words[i-1]) {
			break
		}
	}
}

// inner is what sudo, env, sh -c and their like run: a text or words.
func (r *reader) inner(words []string, depth int) {
	if strings.ContainsAny(words[0], " \t\n;|&<>()") {
		r.text(words[0], depth)
	} else {
		r.command(words, depth)
	}
}

// isOption is also for 5 in "timeout 5 x" and A=1 in "env A=1 x".
func isOption(w string) bool {
	return w != "" && (w[0] == '-' || w[0] >= '0' && w[0] <= '9' || strings.Contains(w, "="))
}

// word keeps a word and its parts, as in -f=x, HEAD:x, and 'open("x")'.
func (r *reader) word(w string) {
	if w == "" {
		return
	}
	r.Words = append(r.Words, w)
	if !strings.ContainsFunc(w, endsPart) && w[0] != '-' {
		return
	}
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

// unparsed reads a text that is no command: each word of it may be one.
func (r *reader) unparsed(text string) {
	r.Joined = r.Joined || strings.ContainsAny(text, "|`") || strings.Contains(text, "$(") || strings.Contains(text, "<(")
	r.Network = r.Network || isAddress(text)
	l := lists()
	words := strings.FieldsFunc(text, endsPart)
	r.Words = append(r.Words, words...)
	for i, w := range words {
		r.Commands = append(r.Commands, words[i:min(i+4, len(words))])
		name := base(w)
		r.Network = r.Network || l.programs[name] || i+1 < len(words) && l.verbs[name+" "+words[i+1]]
	}
}

// spelled is a word with what is quoted in it, and without backslashes. A variable keeps its name.
func spelled(w *syntax.Word) string {
	if s := w.Lit(); s != "" {
		return unescaped(s)
	}
	var b strings.Builder
	var add func(parts []syntax.WordPart)
	add = func(parts []syntax.WordPart) {
		for _, p := range parts {
			switch p := p.(type) {
			case *syntax.Lit:
				b.WriteString(unescaped(p.Value))
			case *syntax.SglQuoted:
				b.WriteString(p.Value)
			case *syntax.DblQuoted:
				add(p.Parts)
			case *syntax.ParamExp:
				if p.Param != nil {
					b.WriteString("$" + p.Param.Value)
				}
			}
		}
	}
	add(w.Parts)
	return b.String()
}

func unescaped(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\\\n", ""), "\\", "")
}

//go:embed network.txt
var network string

// known words of network.txt.
type words struct{ programs, verbs, through map[string]bool }

var lists = sync.OnceValue(func() words {
	l := words{map[string]bool{}, map[string]bool{}, map[string]bool{}}
	for line := range strings.Lines(network) {
		line, _, _ = strings.Cut(line, "#")
		names, verbs, found := strings.Cut(line, ":")
		for name := range strings.FieldsSeq(names) {
			switch {
			case !found:
				l.programs[name] = true
			case strings.TrimSpace(verbs) == "*":
				l.through[name] = true
			}
			for verb := range strings.FieldsSeq(verbs) {
				l.verbs[name+" "+verb] = true
			}
		}
	}
	return l
})

func isAddress(w string) bool {
	return strings.Contains(w, "://") || strings.Contains(w, "/dev/tcp/") || strings.Contains(w, "/dev/udp/")
}

// base is curl for /usr/bin/curl, CURL and curl.exe, and python for python3.11.
func base(word string) string {
	name := strings.TrimSuffix(strings.ToLower(path.Base(word)), ".exe")
	return strings.TrimRight(name, "0123456789.")
}

// shown is how a command is called on a card: by its name, and what a program with subcommands is to do.
func shown(words []string) string {
	name := words[0]
	if first, ok := programs().next[name]; ok && len(first.next) > 0 {
		for _, w := range words[1:] {
			if !isOption(w) && !strings.Contains(w, "/") {
				return printable(name + " " + w)
			}
		}
	}
	return printable(name)
}

func printable(s string) string {
	if len(s) > 40 || s == "" || strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c > '~' || c == '`' }) {
		return "a program"
	}
	return s
}
