package redact

import "strings"

// command walks over the arguments of a program.
func (f *finder) command(start, end int) {
	if start > 0 && (isWord(f.s[start-1]) || f.s[start-1] == '-') {
		return
	}
	for end < len(f.s) && isName(f.s[end]) {
		end++ // mysqldump, curl.exe
	}
	name := f.s[start:end]
	if name == f.seen.command && start < f.seen.arguments {
		return
	}
	if end < len(f.s) && !isSpace(f.s[end]) && !endsCommand(f.s[end]) {
		return
	}
	usages := usagesOf(name)
	if usages == nil {
		return
	}
	w := &f.walk
	*w = walk{f: f, usages: usages, prose: !f.isCommandAt(start)}
	f.seen.command, f.seen.arguments = name, f.arguments(w, end, quoteAt(f.s, start))
	f.spend(f.seen.arguments - end)
	if w.fed != nil {
		f.piped(start, end, w.fed)
	}
}

// endsCommand is for what ends a command without a space, as in $(… | base64).
func endsCommand(c byte) bool { return strings.IndexByte("\n;|&)'\"`", c) >= 0 }

// before are words that a command may follow.
var before = map[string]bool{
	"sudo": true, "doas": true, "exec": true, "env": true, "time": true, "nohup": true, "then": true, "do": true, "else": true, "command": true,
	"xargs": true, "cmd": true, "/c": true, "run": true, "$": true, "#": true, ">": true, "!": true, "dotnet": true, "nuget": true,
}

// isCommandAt reports whether a program's name at i stands where one is run, and
// not in a sentence.
func (f *finder) isCommandAt(i int) bool {
	for i > 0 && (isName(f.s[i-1]) || f.s[i-1] == '/' || f.s[i-1] == '\\') {
		i-- // a path
	}
	if i > 0 && !isSpace(f.s[i-1]) {
		return true // $(…, "…
	}
	i = len(strings.TrimRight(f.s[max(0, i-maxLookBack):i], " \t")) + max(0, i-maxLookBack)
	if i == 0 || strings.IndexByte("|;&(){}`\r\n\"'=", f.s[i-1]) >= 0 {
		return true
	}
	start := i
	for start > 0 && i-start < maxName && !isSpace(f.s[start-1]) {
		start--
	}
	word := strings.ToLower(f.s[start:i])
	return before[strings.TrimLeft(word, "\"'`(")] || strings.HasPrefix(word, "-") || strings.IndexByte(word, '=') > 0
}

// walk is one over the arguments of a program, in a text or in an array.
type walk struct {
	f      *finder
	usages []usage
	prose  bool      // it may be a sentence
	words  []string  // the first that are bare
	kept   [8]string // room for them
	last   [2]string // the last ones, the later first
	flags  [4]string // the first, to look for letters in
	nflags int
	want   *usage // the next word is its secret
	skip   bool   // the next word belongs to a redirection
	fed    *usage // reads its secret from a pipe
}

// arguments returns where those of the program end.
func (f *finder) arguments(w *walk, i int, quote byte) int {
	shell := word{s: f.s, quote: quote, equal: true}
	w.words = w.kept[:0]
	defer w.read()
	for {
		i = skipSpace(f.s, i)
		if i == len(f.s) || strings.IndexByte("\n;|&)", f.s[i]) >= 0 || f.s[i] == quote && !w.wantsQuoted(i) {
			return i
		}
		a, b, next := f.argumentAt(shell, i)
		w.word(a, b, followOf(f.s, next, quote))
		i = next
	}
}

// wantsQuoted reports whether the quote at i opens, though it looks as if it
// closed the quotes around the command: a secret is due there, and begins.
func (w *walk) wantsQuoted(i int) bool {
	s := w.f.s
	return w.want != nil && i+1 < len(s) && (isAlnum(s[i+1]) || s[i+1] == '$')
}

// argumentAt returns the argument at i without its quotes, and where it ends.
// In a text that is quoted itself, its quotes are escaped.
func (f *finder) argumentAt(shell word, i int) (a, b, next int) {
	open := f.s[i:i]
	switch {
	case f.s[i] == '\\' && i+1 < len(f.s) && isQuote(f.s[i+1]):
		open = f.s[i : i+2]
	case f.s[i] == shell.quote:
		open = f.s[i : i+1]
	}
	if a = i + len(open); a > i {
		if n := strings.Index(f.s[a:min(len(f.s), a+maxLookBack)], open); n >= 0 {
			return a, a + n, a + n + len(open)
		}
	}
	next = max(i+1, shell.shell(i, len(f.s)))
	a, b = unquoted(f.s, i, next)
	return a, b, next
}

// unquoted leaves out the quotes around a word.
func unquoted(s string, a, b int) (int, int) {
	if b-a > 1 && isQuote(s[a]) && s[b-1] == s[a] {
		return a + 1, b - 1
	}
	return a, b
}

// followOf says what stands behind a word that ends at i.
func followOf(s string, i int, quote byte) follow {
	i = skipSpace(s, i)
	switch {
	case i == len(s) || strings.IndexByte("\n;|&)<>", s[i]) >= 0 || s[i] == quote:
		return followEnd
	case s[i] == '-' || s[i] == '/':
		return followFlag
	case s[i] == '1' || s[i] == '2':
		if strings.HasPrefix(s[i+1:], ">") {
			return followEnd
		}
	}
	return followWord
}

// word looks at the next argument.
func (w *walk) word(a, b int, behind follow) {
	s := w.f.s[a:b]
	switch {
	case w.want != nil:
		w.f.part(w.want, a, b)
		w.want = nil
	case w.skip:
		w.skip = false
	case isRedirection(s):
		w.skip = strings.HasSuffix(s, "<") || strings.HasSuffix(s, ">")
	case isFlag(s):
		w.flag(a, b)
	case s != "":
		w.bare(a, b, behind)
	}
}

func isRedirection(s string) bool {
	s = strings.TrimLeft(s, "012&")
	return s != "" && (s[0] == '<' || s[0] == '>')
}

// isFlag is for -p, --user and /user:bob, but not for a path.
func isFlag(s string) bool {
	if len(s) < 2 || s == "--" {
		return false
	}
	return s[0] == '-' || s[0] == '/' && isAlnum(s[1]) && strings.IndexByte(s[1:], '/') < 0
}

// flag looks at a flag, for each of the usages.
func (w *walk) flag(a, b int) {
	if w.nflags < len(w.flags) {
		w.flags[w.nflags] = w.f.s[a:b]
		w.nflags++
	}
	for i := range w.usages {
		u := &w.usages[i]
		if !u.isUnder(w.words) {
			continue
		}
		if w.long(u, a, b) || w.short(u, a, b) {
			return
		}
	}
}

// long looks at --user x, --user=x, -user x and /user:x.
func (w *walk) long(u *usage, a, b int) bool {
	s := w.f.s[a:b]
	name := strings.TrimLeft(s, "-/")
	at := len(s) - len(name)
	n := strings.IndexAny(name, "=:")
	if n >= 0 {
		name = name[:n]
	}
	if u.long == "" || !hasField(u.long, name) {
		return false
	}
	if n < 0 {
		w.want = u
	} else {
		w.f.part(u, a+at+n+1, b)
	}
	return true
}

// short looks at -p, -px, and at the last of several letters, as in -su.
func (w *walk) short(u *usage, a, b int) bool {
	s := w.f.s[a:b]
	if s[0] != '-' || s[1] == '-' {
		return false
	}
	for letters := range strings.FieldsSeq(u.attached) {
		if len(s) > 1+len(letters) && strings.HasPrefix(s[1:], letters) {
			w.f.part(u, a+1+len(letters), b)
			return true
		}
	}
	last := s[len(s)-1]
	if strings.IndexByte(u.next, last) < 0 || len(s) > 2 && (len(s) > 5 || u.after != ":" || strings.Contains(s, "=")) {
		return false
	}
	w.want = u
	return true
}

// bare looks at an argument that is no flag.
func (w *walk) bare(a, b int, behind follow) {
	for i := range w.usages {
		u := &w.usages[i]
		if (!u.run || !w.prose) && (u.with == "" || w.has(u.with)) && u.takes(w, behind) {
			w.f.part(u, a, b)
		}
	}
	if len(w.words) < cap(w.words) {
		w.words = append(w.words, w.f.s[a:b])
	}
	w.last = [2]string{w.f.s[a:b], w.last[0]}
}

// has reports whether one of the letters, or a flag that is a word, is among the
// flags.
func (w *walk) has(flag string) bool {
	for _, s := range w.flags[:w.nflags] {
		if s == flag || s[0] == '-' && s[1] != '-' && flag[0] != '-' && strings.ContainsAny(s, flag) {
			return true
		}
	}
	return false
}

// read finds whether the program reads a secret from a pipe.
func (w *walk) read() {
	for i := range w.usages {
		u := &w.usages[i]
		if u.stdin != "" && u.isUnder(w.words) && (u.stdin == "*" || w.has(u.stdin) || w.has("--stdin")) {
			w.fed = u
		}
	}
}

// part hides the secret part of an argument.
func (f *finder) part(u *usage, a, b int) {
	a, b = unquoted(f.s, a, b)
	if u.login && strings.ContainsAny(f.s[a:b], " /{") || u.host && !namesHost(f.s[a:b]) {
		return
	}
	if u.upTo != "" {
		if n := strings.LastIndexAny(f.s[a:b], u.upTo); n >= 0 {
			b = a + n
		}
	}
	if u.after != "" {
		n := strings.IndexAny(f.s[a:b], u.after)
		if n < 0 {
			return
		}
		a += n + 1
	}
	a, b = unquoted(f.s, a, b)
	switch w := (word{s: f.s}); {
	case u.variable:
		f.refer(f.s[a:b], true)
	case !f.harmless(w, a, f.s[a:b]):
		f.add(flagKind, a, b)
	}
}

// namesHost is for bob:x@host without a scheme before it.
func namesHost(s string) bool {
	colon, at := strings.IndexAny(s, ":/"), strings.LastIndexByte(s, '@')
	return colon > 0 && s[colon] == ':' && at > colon+1 && strings.IndexByte(s[colon:at], '/') < 0
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
