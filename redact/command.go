package redact

import (
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/command"
)

// command notes that a program's name is here.
func (f *finder) command(start, end int) {
	for end < len(f.s) && isName(f.s[end]) {
		end++ // mysqldump, curl.exe
	}
	ends := end == len(f.s) || isSpace(f.s[end]) || strings.IndexByte(";|&()'\"`\\<>{}$", f.s[end]) >= 0
	if ends && (start == 0 || !isWord(f.s[start-1]) && f.s[start-1] != '-') && usagesOf(f.s[start:end]) != nil {
		f.place(start, end)
	}
}

// place notes that a command is to be read.
func (f *finder) place(start, _ int) { f.places = append(f.places, start) }

// byCommand looks at the commands in the text as a shell reads them.
func (f *finder) byCommand() {
	f.inDisguise()
	if len(f.places) == 0 || !f.spend(len(f.s)/8) {
		return
	}
	lines, ok := command.Lines(maskSpaces(f.s), f.places)
	f.failed = f.failed || !ok
	for _, l := range lines {
		f.line(l)
	}
}

// inDisguise notes the programs whose names have quotes or backslashes in them.
func (f *finder) inDisguise() {
	for i, end := 1, 0; i+1 < len(f.s); i++ {
		if i < end || f.s[i] != '\\' && !isQuote(f.s[i]) || !isName(f.s[i-1]) {
			continue
		}
		start := i
		for start > 0 && i-start < maxName && isSpelled(f.s, start-1) {
			start--
		}
		for end = i + 1; end < len(f.s) && end-i < maxName && isSpelled(f.s, end); {
			end++
		}
		if end > i+1 && usagesOf(disguise.Replace(f.s[start:end])) != nil {
			f.place(i, 0)
		}
	}
}

// disguise is what a shell takes out of a name.
var disguise = strings.NewReplacer("'", "", `"`, "", "`", "", `\`, "", "\n", "")

// isSpelled reports whether a byte may be one of a program's name, or of what a shell takes out of it.
func isSpelled(s string, i int) bool {
	return isName(s[i]) || isQuote(s[i]) || s[i] == '\\' || s[i] == '\n' && i > 0 && s[i-1] == '\\'
}

// maskSpace is what a space in a mask becomes, so that the mask is one word. Package command has \x00 and \x01 for itself.
const maskSpace = "\x02"

func maskSpaces(s string) string {
	if !strings.Contains(s, maskStart) {
		return s
	}
	out := []byte(s)
	for i, end := 0, 0; i < len(s); i++ {
		end = max(end, i+maskLength(s[i:]))
		if i < end && s[i] == ' ' {
			out[i] = maskSpace[0]
		}
	}
	return string(out)
}

// line looks at the programs of a command, and at what it reads.
func (f *finder) line(l *command.Line) {
	last := ""
	for i := range l.Words {
		w := &l.Words[i]
		if len(w.Inside) > 0 && isForSecret(l.Words, i) {
			f.printed(&usage{}, w.Inside)
		}
		if !w.Placed {
			continue
		}
		if readsSecret(l.Words, i) {
			f.fed(&usage{}, l)
		}
		name, usages := programIn(w.Text)
		if usages == nil || name == last {
			continue
		}
		if last == "" {
			f.respelled(append([]*command.Line{l}, l.Feeds...))
		}
		last = name
		walk := walk{f: f, usages: usages, prose: i > 0 && !mayRun(l.Words[i-1].Text)}
		if !f.spend(len(l.Words) - i) {
			return
		}
		walk.arguments(l.Words[i+1:])
		if walk.fed != nil {
			f.fed(walk.fed, l)
		}
	}
}

// respelled looks at commands without the quotes and escapes in their words.
func (f *finder) respelled(lines []*command.Line) {
	for _, l := range lines {
		if slices.ContainsFunc(l.Words, func(w command.Word) bool { return w.Respelled() }) {
			f.asRead(l)
		}
	}
}

// asRead looks at a command as a shell reads it.
func (f *finder) asRead(l *command.Line) {
	words := make([]string, len(l.Words))
	for i := range l.Words {
		words[i] = strings.ReplaceAll(l.Words[i].Text, maskSpace, " ")
	}
	line, starts := asLine("", words)
	for i, spans := range split(f.within(line), words, starts) {
		for _, s := range spans {
			f.add(s.kind, l.Words[i].At(s.start), l.Words[i].At(s.end-1)+1)
		}
	}
}

// programIn returns the program whose name a word ends in, and how it takes secrets.
func programIn(word string) (name string, usages []usage) {
	word = strings.TrimRight(word, ")'\"`")
	if i := strings.IndexAny(word, "'\"`"); i > 0 && usagesOf(lastName(word)) == nil {
		word = word[:i] // a quote that belongs to nothing
	}
	name = lastName(word)
	if usages = usagesOf(name); usages == nil {
		name = name[strings.LastIndexByte(name, '.')+1:]
		usages = usagesOf(name)
	}
	return name, usages
}

// lastName is the name that a word ends in.
func lastName(word string) string {
	i := len(word)
	for i > 0 && isName(word[i-1]) {
		i--
	}
	return word[i:]
}

// before are words that a command may follow.
var before = map[string]bool{
	"sudo": true, "doas": true, "exec": true, "env": true, "time": true, "nohup": true, "then": true, "do": true, "else": true, "command": true,
	"xargs": true, "cmd": true, "/c": true, "run": true, "$": true, "#": true, ">": true, "!": true, "dotnet": true, "nuget": true,
}

// mayRun reports whether a program may follow a word, and not the rest of a sentence.
func mayRun(word string) bool {
	return before[strings.ToLower(strings.TrimLeft(word, "\"'`("))] || strings.HasPrefix(word, "-") || strings.IndexByte(word, '=') > 0 || word != "" && strings.IndexByte("`\"'=({", word[len(word)-1]) >= 0
}

// walk is one over the arguments of a program.
type walk struct {
	f      *finder
	usages []usage
	prose  bool      // it may be a sentence
	words  []string  // the first that are bare
	last   [2]string // the last ones, the later first
	flags  []string
	room   [2][maxBare]string // for the words and the flags
	want   *usage             // the next word is its secret
	skip   bool               // the next word belongs to a redirection
	fed    *usage             // reads its secret from a pipe
}

// arguments looks at the words behind the program.
func (w *walk) arguments(args []command.Word) {
	w.words, w.flags = w.room[0][:0], w.room[1][:0]
	for i := range args {
		a := &args[i]
		switch {
		case w.want != nil:
			w.f.part(w.want, a, 0, len(a.Text))
			w.want = nil
		case w.skip:
			w.skip = false
		case isRedirection(a.Text):
			w.skip = strings.HasSuffix(a.Text, "<") || strings.HasSuffix(a.Text, ">")
		case isFlag(a.Text):
			w.flag(a)
		case a.Text != "":
			w.bare(a, followOf(args[i+1:]))
		}
	}
	for i := range w.usages {
		u := &w.usages[i]
		if u.stdin != "" && u.isUnder(w.words) && (u.stdin == "*" || w.has(u.stdin) || w.has("--stdin")) {
			w.fed = u
		}
	}
}

// followOf says what is behind a word.
func followOf(rest []command.Word) follow {
	switch {
	case len(rest) == 0:
		return followEnd
	case strings.HasPrefix(rest[0].Text, "-") || strings.HasPrefix(rest[0].Text, "/"):
		return followFlag
	case isRedirection(rest[0].Text):
		return followEnd
	}
	return followWord
}

// isRedirection is for what is left of them where a text does not parse.
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
func (w *walk) flag(a *command.Word) {
	w.flags = append(w.flags, a.Text)
	for i := range w.usages {
		u := &w.usages[i]
		if u.isUnder(w.words) && (w.long(u, a) || w.short(u, a)) {
			return
		}
	}
}

// long looks at --user x, --user=x, -user x and /user:x.
func (w *walk) long(u *usage, a *command.Word) bool {
	name := strings.TrimLeft(a.Text, "-/")
	at := len(a.Text) - len(name)
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
		w.f.part(u, a, at+n+1, len(a.Text))
	}
	return true
}

// short looks at -p, -px, and at the last of several letters, as in -su.
func (w *walk) short(u *usage, a *command.Word) bool {
	s := a.Text
	if s[0] != '-' || s[1] == '-' {
		return false
	}
	for letters := range strings.FieldsSeq(u.attached) {
		if len(s) > 1+len(letters) && strings.HasPrefix(s[1:], letters) {
			w.f.part(u, a, 1+len(letters), len(s))
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
func (w *walk) bare(a *command.Word, behind follow) {
	for i := range w.usages {
		u := &w.usages[i]
		if (!u.run || !w.prose) && (u.with == "" || w.has(u.with)) && u.takes(w, behind) {
			w.f.part(u, a, 0, len(a.Text))
		}
	}
	if len(w.words) < maxBare {
		w.words = append(w.words, a.Text)
	}
	w.last = [2]string{a.Text, w.last[0]}
}

// maxBare is how many bare words the table looks at.
const maxBare = 8

// has reports whether one of the letters, or a flag that is a word, is among the
// flags.
func (w *walk) has(flag string) bool {
	return slices.ContainsFunc(w.flags, func(s string) bool {
		return s == flag || s[0] == '-' && s[1] != '-' && flag[0] != '-' && strings.ContainsAny(s, flag)
	})
}

// part hides the secret part of a word.
func (f *finder) part(u *usage, w *command.Word, a, b int) {
	s := w.Text
	if u.login && strings.ContainsAny(s[a:b], " /{") || u.host && !namesHost(s[a:b]) {
		return
	}
	if u.upTo != "" {
		if n := strings.LastIndexAny(s[a:b], u.upTo); n >= 0 {
			b = a + n
		}
	}
	if u.after != "" {
		n := strings.IndexAny(s[a:b], u.after)
		if n < 0 {
			return
		}
		a += n + 1
	}
	if a >= b {
		return
	}
	v, start, end := strings.ReplaceAll(s[a:b], maskSpace, " "), w.At(a), w.At(b-1)+1
	if u.after != "" {
		start = w.At(a-1) + 1 // with the quote that may be there
	}
	switch {
	case u.variable:
		f.refer(v, true)
	case !f.harmless(word{s: f.s}, start, v) && !isMask(strings.TrimRight(v, "\"'`")):
		f.add(flagKind, start, end)
	}
}

// namesHost is for bob:x@host without a scheme before it.
func namesHost(s string) bool {
	colon, at := strings.IndexAny(s, ":/"), strings.LastIndexByte(s, '@')
	return colon > 0 && s[colon] == ':' && at > colon+1 && strings.IndexByte(s[colon:at], '/') < 0
}

func hasField(list, name string) bool {
	for f := range strings.FieldsSeq(list) {
		if f == name {
			return true
		}
	}
	return false
}
