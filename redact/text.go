package redact

import (
	_ "embed"
	"encoding/hex"
	"path"
	"regexp"
	"slices"
	"strings"
)

const (
	// maxWork bounds what one call may cost, in characters given to regular expressions. What would cost more is hidden
	// unread.
	maxWork = 2 << 20
	// maxAhead bounds how far behind its word a rule looks. A secret that is longer is hidden to its end all the same.
	maxAhead = 1024
)

// span is a secret in a text.
type span struct{ start, end int }

// look is what is done where a word is.
type look func(f *finder, start, end int)

// finder looks for secrets in the texts of one call.
type finder struct {
	words    *words
	patterns []*rule
	sure     bool // only what nothing but a secret looks like
	percent  bool // the text was percent-encoded
	work     int  // left for this call
	failed   bool // the work is used up: nothing is known of the text

	s       string
	spans   []span
	covered span    // the one that reaches furthest: what starts in it is hidden
	given   int     // where the last value ends that is given to a name
	named   int     // how far names were looked at
	tried   []*rule // on the whole text
}

// find returns the secrets in s, in order and apart from each other, until it is asked for the next text. A text that
// takes too long is one.
func (f *finder) find(s string) []span {
	f.s, f.spans, f.covered, f.given, f.named, f.tried, f.failed = s, f.spans[:0], span{}, 0, 0, f.tried[:0], false
	f.words.find(s, f)
	for _, p := range f.patterns {
		f.tryAll(p)
	}
	if !f.percent && strings.IndexByte(s, '%') >= 0 {
		f.byPercent()
	}
	if f.failed {
		return []span{{0, len(s)}}
	}
	return merge(f.spans)
}

// add hides s[start:end], if there is anything to hide there.
func (f *finder) add(start, end int) {
	if start += maskLength(f.s[start:]); start >= end {
		return
	}
	f.spans = append(f.spans, span{start, end})
	if end > f.covered.end {
		f.covered = span{start, end}
	}
}

// hides reports whether what starts here is hidden already.
func (f *finder) hides(start int) bool { return f.covered.start <= start && start < f.covered.end }

// spend takes n from the work left, and gives up when there is none.
func (f *finder) spend(n int) bool {
	f.work -= n
	f.failed = f.failed || f.work < 0
	return !f.failed
}

// try applies a rule at a word.
func (f *finder) try(r *rule, start, end int) {
	behind := f.s[end:min(len(f.s), end+24)]
	switch {
	case f.sure && r.loose:
	case r.ID == generic && (!strings.ContainsAny(behind, "=:>|?,") || f.given > end && f.given == f.covered.end):
	case r.At == "":
		f.tryAll(r)
	case f.hides(start) && !f.sure || r.At == atBegin && !f.begins(start):
	default:
		f.tryHere(r, start)
	}
}

// begins reports whether no word goes on at start. The letter of an escape, such as \n, belongs to none.
func (f *finder) begins(start int) bool {
	return start == 0 || !isWord(f.s[start-1]) ||
		start > 1 && f.s[start-2] == '\\' && strings.IndexByte("nrt", f.s[start-1]) >= 0
}

func (f *finder) tryHere(r *rule, start int) {
	ahead := f.s[start:min(len(f.s), start+maxAhead)]
	n := strings.IndexByte(ahead, ' ') // few rules look further
	if n < 0 {
		n = len(ahead)
	}
	if !f.spend(64 + n) {
		return
	}
	if m := r.expr().FindStringSubmatchIndex(ahead); m != nil {
		if a, b, ok := r.secret(ahead, m); ok {
			f.add(start+a, f.end(r, start+b))
		}
	}
}

// tryAll applies a rule to the whole text, once.
func (f *finder) tryAll(r *rule) {
	if slices.Contains(f.tried, r) || !f.spend(len(f.s)) {
		return
	}
	f.tried = append(f.tried, r)
	for _, m := range r.expr().FindAllStringSubmatchIndex(f.s, -1) {
		if a, b, ok := r.secret(f.s, m); ok {
			f.spans = append(f.spans, span{a, f.end(r, b)})
		}
	}
}

// end returns where the token that s[:i] ends in really ends: many of gitleaks' rules know only how long it is at
// least.
func (f *finder) end(r *rule, i int) int {
	for r.ID != "" && !r.loose && i > 0 && i < len(f.s) && inBase64(f.s[i]) && inBase64(f.s[i-1]) {
		i++
	}
	return i
}

// byPercent looks at the text as it reads without %41. A secret found there is hidden where its characters come from.
func (f *finder) byPercent() {
	plain, from := make([]byte, 0, len(f.s)), make([]int, 0, len(f.s)+1)
	for i := 0; i < len(f.s); {
		c, n := f.s[i], 1
		if c == '%' && i+2 < len(f.s) {
			if b, err := hex.DecodeString(f.s[i+1 : i+3]); err == nil {
				c, n = b[0], 3
			}
		}
		plain, from = append(plain, c), append(from, i)
		i += n
	}
	if len(plain) == len(f.s) || !f.spend(len(plain)/8) {
		return
	}
	from = append(from, len(f.s))
	in := finder{words: f.words, patterns: f.patterns, sure: f.sure, percent: true, work: f.work}
	for _, s := range in.find(string(plain)) {
		f.spans = append(f.spans, span{from[s.start], from[s.end]})
	}
	f.work, f.failed = in.work, in.failed
}

// merge sorts spans and joins those that overlap or touch.
func merge(spans []span) []span {
	if len(spans) < 2 {
		return spans
	}
	slices.SortStableFunc(spans, func(a, b span) int { return a.start - b.start })
	out := spans[:1]
	for _, s := range spans[1:] {
		if last := &out[len(out)-1]; s.start <= last.end {
			last.end = max(last.end, s.end)
		} else {
			out = append(out, s)
		}
	}
	return out
}

const (
	maxName = 64 // how far a name is followed to either side
	maxGap  = 8  // spaces around an operator
)

// nameWords are what names of secrets end in, or have in them.
const nameWords = `pass pwd pw secret token key credential bearer jwt cookie authorization psk mnemonic phrase creds`

// name looks at a word that may be, or end, the name of a secret: DB_PASSWORD=x, "apiKey": "x", --token x.
func (f *finder) name(start, end int) {
	if f.sure || start < f.named || f.hides(start) {
		return
	}
	for n := 0; start > 0 && n < maxName && isName(f.s[start-1]); n++ {
		start--
	}
	for n := 0; end < len(f.s) && n < maxName && isName(f.s[end]); n++ {
		end++
	}
	for f.s[end-1] == '.' || f.s[end-1] == '-' {
		end-- // the end of a sentence
	}
	f.named = end
	i, op := given(f.s, start, end)
	if op == 0 || start > 0 && end < i && i < len(f.s) && isQuote(f.s[i]) && f.s[i] == f.s[start-1] &&
		f.s[end] != f.s[i] {
		return // nothing is given, or the quote closes that the name is in
	}
	name := strings.TrimLeft(f.s[start:end], "-.")
	if squashed := squash(name); namesSecret(name, squashed) {
		if op == '=' && start > 0 && strings.IndexByte("?&#", f.s[start-1]) >= 0 {
			op = '?'
		}
		f.assigned(squashed, i, op)
	}
}

// given returns where the value begins that is given to a name, and by what: =, :, a flag's space, or 0.
func given(s string, start, end int) (int, byte) {
	i := skip(s, end, "\\\"'`])", 4) // a bracket or a quote may follow a name, as in env["TOKEN"]
	at := skip(s, i, " \t", maxGap)
	switch rest := s[at:]; {
	case rest == "", strings.HasPrefix(rest, "::"), strings.HasPrefix(rest, "://"):
	case len(rest) > 1 && (rest[1] == '=' && strings.IndexByte(":+?", rest[0]) >= 0 || rest[:2] == "=>"):
		return skip(s, at+2, " \t", maxGap), '='
	case rest[0] == '=':
		return skip(s, at+1, " \t=", maxGap), '='
	case rest[0] == ':':
		return skip(s, at+1, " \t", maxGap), ':'
	case at > i && i == end && s[start] == '-' && strings.IndexByte("-<>|&;", rest[0]) < 0:
		return at, ' '
	}
	return 0, 0
}

// skip passes at most n of the characters.
func skip(s string, i int, chars string, n int) int {
	for ; n > 0 && i < len(s) && strings.IndexByte(chars, s[i]) >= 0; n-- {
		i++
	}
	return i
}

// assigned hides the value at i.
func (f *finder) assigned(name string, i int, op byte) {
	a, b := value(f.s, i, op)
	f.spend(b - i)
	switch v := f.s[a:b]; {
	case name == "nopasswd": // of sudoers
	case strings.HasSuffix(name, "authorization"), strings.EqualFold(v, "bearer"),
		strings.EqualFold(v, "basic"): // by a rule
	case strings.HasSuffix(strings.TrimSuffix(name, "s"), "cookie") &&
		(op == ':' || !strings.Contains(v, "=")): // or a file
	case strings.HasSuffix(name, "pwd") && v != "" && strings.IndexByte("/~.", v[0]) >= 0: // PWD=/home/bob
	case strings.HasSuffix(strings.TrimSuffix(name, "s"), "token") &&
		strings.Trim(v, digits+"_.,kK") == "": // how many
	case name == "secret" && op == ' ' && strings.HasPrefix(v, "id="): // where docker finds it
	case name == "mnemonic" || strings.HasSuffix(name, "phrase") && op == ':': // several words
		f.given = i + len(line.FindString(f.s[i:]))
		f.hide(a, f.given)
	default:
		f.given = b
		f.hide(a, b)
	}
}

var line = regexp.MustCompile(`^[^"'\n]*`)

// values are how a value is written, by what it was given by: in quotes, or up to what ends a word. A mask is one word.
var values = func() map[byte]*regexp.Regexp {
	all := map[byte]*regexp.Regexp{}
	for op, bare := range map[byte]string{
		'=': `(?:[^\s"'` + "`" + `;&|\\]|[&|][^\s&|"']|\\[^"'])`, // as in a shell or a connection string
		':': `(?:[^\s"'` + "`" + `\\]|\\[^"'])`,
		'?': `[^\s"'` + "`" + `;&#<>\\]`, // in the query of a URL
	} {
		const mask = `\[REDACTED: \d+ chars\]|`
		all[op] = regexp.MustCompile(`^(?:('[^']*'(?:\\''[^']*')+)|\\"((?:[^"\\]|\\[^"])*)|"((?:[^"\\]|\\(?s:.))*)"|` +
			"'([^']*)'|`([^`]*)`" + `|["'` + "`" + `]([^\n]*)|((?:` + mask + bare + `)+))`)
	}
	all[' '] = all['=']
	return all
}()

// maxValue bounds how far a value is followed: a longer one is hidden up to the next space behind.
const maxValue = 4096

// value returns where the value at i begins and ends, without its quotes.
func value(s string, i int, op byte) (start, end int) {
	for end = i; end < len(s) && (isName(s[end]) || s[end] == '/'); {
		end++
	}
	if end > i && (end == len(s) || isSpace(s[end])) { // as most are
		return i, end
	}
	m := values[op].FindStringSubmatchIndex(s[i:min(len(s), i+maxValue)])
	if m == nil {
		return i, i
	}
	for g := 2; g < len(m); g += 2 {
		if m[g] >= 0 {
			start, end = i+m[g], i+m[g+1]
		}
	}
	if end-i >= maxValue-2 {
		for end < len(s) && !isSpace(s[end]) {
			end++
		}
	}
	for start == i && end > i+1 && closes(s[i:end]) && maskLength(s[i:]) != end-i {
		end--
	}
	return start, end
}

// closes reports whether v ends in a comma, or in a bracket it did not open.
func closes(v string) bool {
	n := strings.IndexByte(",)}]", v[len(v)-1])
	return n == 0 || n > 0 && strings.IndexByte(v, ",({["[n]) < 0
}

// hide hides a value, unless it says where a secret is, or that there is none.
func (f *finder) hide(start, end int) {
	if v := f.s[start:end]; v != "" && !reference.MatchString(v) {
		f.add(start, end)
	}
}

// reference is what stands for a value that is elsewhere, such as $NAME, ${NAME}, $(command), %NAME% and {{ name }},
// and for none.
var reference = regexp.MustCompile(`^(?:\$(?:env:)?(?:[A-Z_0-9]+|[a-z_]+)|\$\{[^}-]*\}|\$\((?s:.*)|` +
	`%[A-Z_]+%|\{\{.*|(?:env|file|fd):.*|[|>]-?|[{\[(*-]|\.\.\.|` +
	`(?i:true|false|null|nil|none|undefined|string|str|int|number|bool|boolean|any|required|optional|stdin))$`)

// pem hides the inside of a PEM block, or all that follows where its end is missing. Surely secret is a private key.
func (f *finder) pem(_, end int) {
	const dashes = "-----"
	label := strings.Index(f.s[end:min(len(f.s), end+128)], dashes)
	if label < 0 || f.sure && !strings.Contains(f.s[end:end+label], "PRIVATE KEY") {
		return
	}
	start, stop := end+label+len(dashes), len(f.s)
	if n := strings.Index(f.s[start:], dashes); n >= 0 {
		stop = start + n
	}
	f.add(start, stop)
}

// argumentsTable says which arguments of which programs are secrets. No shell is parsed for it: words are between
// spaces.
//
//go:embed arguments.txt
var argumentsTable string

// arguments reads the words after a program's name, by a line of the table.
type arguments struct {
	after string // a word that must be before, such as login
	flags []string
	mark  string // what is before the secret in its word
	glued bool   // the secret is never a word of its own
	waits bool   // the next word has the secret
}

// byProgram is the table.
var byProgram = func() map[string]arguments {
	all := map[string]arguments{}
	for line := range strings.Lines(argumentsTable) {
		if w := strings.Fields(line); line[0] != '#' {
			a := arguments{after: strings.Trim(w[1], "-"), flags: strings.Split(w[2], ","), glued: w[3] == "glued"}
			if w[3] != "glued" && w[3] != "next" {
				a.mark = w[3]
			}
			for program := range strings.SplitSeq(w[0], ",") {
				all[program] = a
			}
		}
	}
	return all
}()

// argumentsOf begins with the program, if the table has it.
func argumentsOf(program string) arguments {
	return byProgram[path.Base(strings.ReplaceAll(program, `\`, "/"))]
}

// next returns where in the next word a secret begins, or -1.
func (a *arguments) next(word string) int {
	from := -1
	if a.waits {
		a.waits, from = false, 0
	} else if a.after != "" {
		if a.after == word {
			a.after = ""
		}
		return -1
	}
	for _, flag := range a.flags {
		rest, ok := strings.CutPrefix(word, flag)
		switch {
		case !ok || from >= 0:
		case rest == "" && !a.glued:
			a.waits = true
		case len(flag) == 2 || strings.HasPrefix(rest, "="):
			from = skip(word, len(flag), "=", 1)
		}
	}
	if from < 0 {
		return -1
	}
	n := strings.Index(word[from:], a.mark)
	if n < 0 {
		return -1
	}
	return from + n + len(a.mark)
}

const (
	maxWords   = 48 // of a command that are read
	maxCommand = 4096
)

// program looks at the name of a program and reads the words after it, up to the end of the line or of the command.
func (f *finder) program(start, end int) {
	if f.sure || start > 0 && isName(f.s[start-1]) || end == len(f.s) || !isSpace(f.s[end]) {
		return
	}
	a := byProgram[strings.ToLower(f.s[start:end])]
	i := end
	for n := 0; n < maxWords && i < end+maxCommand && f.spend(32); n++ {
		for i = skip(f.s, i, " \t", maxCommand); strings.HasPrefix(f.s[i:], "\\\n"); {
			i = skip(f.s, i+2, " \t", maxCommand)
		}
		from, to := value(f.s, i, ' ')
		if from == to {
			break // the line or the command is over
		}
		if at := a.next(f.s[from:to]); at == to-from && to < len(f.s) && isQuote(f.s[to]) { // -p'hunter 2'
			from, to = value(f.s, to, ' ')
			f.hide(from, to)
		} else if at >= 0 {
			f.hide(from+at, to)
		}
		if i = to; i < len(f.s) && from > 0 && isQuote(f.s[from-1]) && f.s[i] == f.s[from-1] {
			i++
		}
	}
}
