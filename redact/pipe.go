package redact

import (
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/command"
)

// isForSecret reports whether the word i takes the place of a secret: it is given to a secret's name, or is behind a
// flag that takes a file with one.
func isForSecret(words []command.Word, i int) bool {
	if before, _, given := strings.Cut(words[i].Text, "=$_"); given {
		name := lastName(before)
		s := squash(name)
		return isSecret(s) || isToken(s, '"') || endsInPass(name)
	}
	return i > 0 && namesSecret(squash(words[i-1].Text)) || i > 1 && namesSecret(squash(words[i-2].Text))
}

// readsSecret reports whether the word i is a flag that says that a secret comes by a pipe: --password-stdin,
// --token-from-stdin, -pass stdin.
func readsSecret(words []command.Word, i int) bool {
	s := strings.ToLower(strings.Trim(words[i].Text, "\"'`"))
	switch {
	case s == "stdin":
		return i > 0 && namesSecret(squash(words[i-1].Text))
	case strings.Contains(s, "stdin"):
		return namesSecret(squash(s))
	}
	return strings.Contains(s, "--with-token") || strings.Contains(s, "passphrase-fd") || strings.Contains(s, "password-fd") || strings.Contains(s, "pass-fd")
}

// namesSecret reports whether the name of a flag is about a secret.
func namesSecret(squashed string) bool {
	return slices.ContainsFunc([]string{"pass", "token", "secret", "key", "pwd", "credential", "pin"}, func(w string) bool { return strings.Contains(squashed, w) })
}

// maxPipe is how many commands before another in a pipe we look at.
const maxPipe = 8

// fed hides what a command reads.
func (f *finder) fed(u *usage, l *command.Line) {
	f.input(u, l)
	feeds := l.Feeds
	for n := 0; n < maxPipe && len(feeds) > 0; n++ {
		f.printed(u, feeds)
		feeds = feeds[0].Feeds
	}
}

func (f *finder) input(u *usage, l *command.Line) {
	for i := range l.Input {
		f.part(u, &l.Input[i], 0, len(l.Input[i].Text))
	}
}

// printers print their arguments.
var printers = map[string]bool{"echo": true, "printf": true, "yes": true, "print": true, "write-output": true, "write-host": true}

// printed hides what the commands print: the arguments of printers, and what others read.
func (f *finder) printed(u *usage, lines []*command.Line) {
	for _, l := range lines {
		if !f.spend(1 + len(l.Words)) {
			return
		}
		f.input(u, l)
		u, name := u, ""
		for i := range l.Words {
			w := &l.Words[i]
			switch s := w.Text; {
			case name == "":
				if n := strings.ToLower(lastName(s)); printers[n] {
					name = n
				}
			case name != "printf" && len(s) <= 3 && strings.HasPrefix(s, "-"):
			case name == "printf" && strings.IndexByte(s, '%') >= 0:
				u = &usage{} // what is printed for % is the secret
			default:
				f.part(u, w, 0, len(withoutBreak(s)))
			}
		}
	}
}

// withoutBreak leaves out the line breaks at the end, as they are typed in a
// script or as they are.
func withoutBreak(s string) string {
	for {
		rest := strings.TrimRight(s, "\r\n")
		rest = strings.TrimSuffix(strings.TrimSuffix(rest, `\n`), `\r`)
		if rest == s {
			return s
		}
		s = rest
	}
}
