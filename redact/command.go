package redact

import "strings"

// flags are the ones by which a command takes a secret that no name tells.
type flags struct {
	next     string // letters: -p x
	attached string // letters: -px
	long     string // a word: --user x, --user=x
	after    string // hide only what follows the first of these characters
}

var commands = map[string]flags{
	"curl":      {next: "uU", attached: "uU", long: "user proxy-user", after: ":"},
	"mysql":     {attached: "p"}, // mysqldump, mysqladmin
	"mariadb":   {attached: "p"},
	"mongo":     {next: "p", attached: "p"},
	"redis-cli": {next: "a"},
	"sshpass":   {next: "p", attached: "p"},
	"login":     {next: "p", attached: "p"}, // docker login, podman login, az login
	"sqlcmd":    {next: "P", attached: "P"},
	"7z":        {attached: "p"},
	"unzip":     {next: "P"},
	"zip":       {next: "P"},
	"ldap":      {next: "w"}, // ldapsearch, ldapmodify
	"smbclient": {next: "U", attached: "U", long: "user", after: "%"},
	"mosquitto": {next: "P"}, //nolint:misspell // its name
	"http":      {next: "a", long: "auth", after: ":"},
}

// command walks over the arguments of a command.
func (f *finder) command(start, end int) {
	if start > 0 && (isWord(f.s[start-1]) || f.s[start-1] == '-') {
		return
	}
	name := strings.ToLower(f.s[start:end])
	if name == f.seen.command && start < f.seen.arguments {
		return
	}
	for end < len(f.s) && isName(f.s[end]) {
		end++ // mysqldump, curl.exe
	}
	if end == len(f.s) || !isSpace(f.s[end]) {
		return
	}
	f.seen.command, f.seen.arguments = name, f.arguments(commands[name], end, quoteAt(f.s, start))
	f.spend(f.seen.arguments - end)
}

// arguments returns where those of the command end.
func (f *finder) arguments(c flags, i int, quote byte) int {
	w := word{s: f.s, quote: quote, equal: true}
	for want := false; ; {
		i = skipSpace(f.s, i)
		if i == len(f.s) || strings.IndexByte("\n;|&", f.s[i]) >= 0 || f.s[i] == quote {
			return i
		}
		next := max(i+1, w.shell(i, len(f.s)))
		a, b := i, next
		if isQuote(f.s[a]) && b-a > 1 && f.s[b-1] == f.s[a] {
			a, b = a+1, b-1
		}
		want = f.commandWord(c, a, b, want)
		i = next
	}
}

// commandWord looks at one argument. It reports whether the next one is a
// secret.
func (f *finder) commandWord(c flags, a, b int, want bool) bool {
	s := f.s[a:b]
	switch {
	case want:
		f.part(c, a, b)
	case strings.HasPrefix(s, "--"):
		name, _, given := strings.Cut(s[2:], "=")
		if c.long == "" || !hasField(c.long, name) {
			return false
		}
		if given {
			f.part(c, a+3+len(name), b)
		}
		return !given
	case len(s) >= 2 && s[0] == '-' && s != "--":
		return f.short(c, a, b)
	}
	return false
}

// short looks at -p, -px, and at the last of several letters, as in -su.
func (f *finder) short(c flags, a, b int) bool {
	if len(c.attached) > 0 && b-a > 2 && strings.IndexByte(c.attached, f.s[a+1]) >= 0 {
		f.part(c, a+2, b)
		return false
	}
	last := f.s[b-1]
	return strings.IndexByte(c.next, last) >= 0 && (b-a == 2 || b-a <= 5 && c.after == ":" && !strings.Contains(f.s[a:b], "="))
}

// part hides the secret part of an argument.
func (f *finder) part(c flags, a, b int) {
	if c.after != "" {
		n := strings.IndexAny(f.s[a:b], c.after)
		if n < 0 {
			return
		}
		a += n + 1
	}
	if b-a > 1 && isQuote(f.s[a]) && f.s[b-1] == f.s[a] {
		a, b = a+1, b-1
	}
	if w := (word{s: f.s}); !w.harmless(a, f.s[a:b]) {
		f.add(flagKind, a, b)
	}
}

// skipSpace passes spaces and lines that go on, but not the end of a line.
func skipSpace(s string, i int) int {
	for i < len(s) {
		switch {
		case s[i] != '\n' && isSpace(s[i]):
			i++
		case strings.HasPrefix(s[i:], "\\\n"):
			i += 2
		default:
			return i
		}
	}
	return i
}

func hasField(list, name string) bool {
	for f := range strings.FieldsSeq(list) {
		if f == name {
			return true
		}
	}
	return false
}
