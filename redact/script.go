package redact

import (
	"strings"

	"github.com/openclaw-verifier/verifier/command"
)

// isBlock is for what stands in YAML where the value follows in lines of its
// own.
func isBlock(v string) bool { return v != "" && (v[0] == '|' || v[0] == '>') && len(v) <= 3 }

// block hides the lines after i that are indented more than the one of the name.
func (f *finder) block(name, i int) {
	depth := indent(f.s, name)
	start, end := -1, -1
	for from := lineEnd(f.s, i) + 1; from < len(f.s); {
		to := lineEnd(f.s, from)
		line := strings.TrimSpace(f.s[from:to])
		if !f.spend(1 + to - from) {
			return
		}
		at := from + strings.Index(f.s[from:to], line)
		if line != "" && at-from <= depth {
			break
		}
		if line != "" {
			if start < 0 {
				start = at
			}
			end = at + len(line)
		}
		from = to + 1
	}
	if start >= 0 {
		f.add(assignedKind, start, end)
	}
}

// indent is how many spaces the line of i begins with.
func indent(s string, i int) int {
	from := strings.LastIndexByte(s[:i], '\n') + 1
	n := 0
	for from+n < i && (s[from+n] == ' ' || s[from+n] == '\t') {
		n++
	}
	return n
}

// element hides the text of <password>x</password>.
func (f *finder) element(i int) {
	n := strings.IndexByte(f.s[i:min(len(f.s), i+maxAhead)], '<')
	if n <= 0 {
		return
	}
	text := strings.TrimSpace(f.s[i : i+n])
	a := i + strings.Index(f.s[i:i+n], text)
	if w := (word{s: f.s}); text != "" && !f.harmless(w, a, text) {
		f.add(assignedKind, a, a+len(text))
	}
}

// callOfTwo looks at a function that takes a name and a password: login("bob", "x"),
// auth=("bob", "x").
func (f *finder) callOfTwo(_, end int) { f.callOf(end, 1) }

// callOfThree looks at one that takes a place before them.
func (f *finder) callOfThree(_, end int) { f.callOf(end, 2) }

// callOf hides the argument after n others if it is in quotes.
func (f *finder) callOf(i, n int) {
	stop := min(len(f.s), i+maxLookBack)
	for ; n > 0; n-- {
		for ; i < stop && f.s[i] != ','; i++ {
			if f.s[i] == ')' {
				return
			}
			if isQuote(f.s[i]) {
				_, end := (word{s: f.s}).quoted(i)
				i = max(i, end)
			}
		}
		i++
	}
	if i >= stop {
		return
	}
	if i, op := f.second(i); op == opEqual {
		a, b := (word{s: f.s}).quoted(i)
		f.secretIn(a, b)
	}
}

// encoder looks at a function that is given name:password to encode it.
func (f *finder) encoder(_, end int) {
	i := skip(f.s, end, "bB", 1) // b"…"
	if i == len(f.s) || !isQuote(f.s[i]) {
		return
	}
	a, b := (word{s: f.s}).quoted(i)
	f.part(&usage{after: ":", login: true}, &command.Word{Text: f.s[a:b], Start: a}, 0, b-a)
}

func (f *finder) secretIn(a, b int) {
	if w := (word{s: f.s}); !f.harmless(w, a, f.s[a:b]) {
		f.add(assignedKind, a, b)
	}
}

// identified looks at IDENTIFIED BY 'x' and IDENTIFIED WITH plugin BY 'x'.
func (f *finder) identified(_, end int) {
	const by = "by "
	for i := end; i+len(by) <= min(len(f.s), end+maxName); i++ {
		if strings.EqualFold(f.s[i:i+len(by)], by) { // not ToLower: that may change where things stand
			f.nextWord(0, i+len(by))
			return
		}
	}
}

// passwordFor looks at: Password for bob: x, SET PASSWORD FOR bob = 'x'.
func (f *finder) passwordFor(_, end int) {
	line := f.s[end:lineEnd(f.s[:min(len(f.s), end+maxName)], end)]
	for _, op := range []string{"= ", ": ", " is "} {
		if n := strings.Index(line, op); n >= 0 {
			w := word{s: f.s, quote: quoteAt(f.s, end), equal: true}
			a, b := w.at(skip(f.s, end+n+len(op), " ", maxGap))
			if a > 0 && isQuote(f.s[a-1]) || looksLikePassword(f.s[a:b]) {
				f.secretIn(a, b)
			}
			return
		}
	}
}

// oracle looks at jdbc:oracle:thin:bob/x@host.
func (f *finder) oracle(_, end int) {
	stop := (word{s: f.s[:min(len(f.s), end+maxLookBack)]}).shell(end, maxLookBack)
	f.part(&usage{after: "/", upTo: "@"}, &command.Word{Text: f.s[end:stop], Start: end}, 0, stop-end)
}

// nextWord hides the next word.
func (f *finder) nextWord(_, end int) {
	w := word{s: f.s, quote: quoteAt(f.s, end), equal: true}
	i := skip(f.s, end, " \t(=", maxGap)
	if i == len(f.s) || isSpace(f.s[i]) {
		return
	}
	a, b := w.at(i)
	f.secretIn(a, b)
}

// sends looks at what a script types after it was asked for a password.
func (f *finder) sends(start, end int) {
	before := strings.ToLower(f.s[max(0, start-160):start])
	asked := max(strings.LastIndex(before, "assword"), strings.LastIndex(before, "assphrase"), strings.LastIndex(before, "asscode"))
	if asked < 0 || strings.LastIndex(before, "send") > asked {
		return
	}
	i := skip(f.s, end, " \t(-", maxGap)
	if i == len(f.s) || !isQuote(f.s[i]) {
		return
	}
	a, b := (word{s: f.s}).quoted(i)
	f.secretIn(a, a+len(withoutBreak(f.s[a:b])))
}

// pgpass looks at a line that goes into that file: host:port:database:user:x.
func (f *finder) pgpass(start, _ int) {
	from := max(0, start-maxLookBack)
	for a := from; a < start; {
		b := a
		for b < start && !isSpace(f.s[b]) && !isQuote(f.s[b]) {
			b++
		}
		if line := f.s[a:b]; strings.Count(line, ":") == 4 {
			f.secretIn(a+strings.LastIndexByte(line, ':')+1, b)
		}
		a = b + 1
	}
}

// crypted looks at the hash of a password, as in /etc/shadow.
func (f *finder) crypted(start, end int) {
	for end < len(f.s) && (isAlnum(f.s[end]) || strings.IndexByte("./$=,+-", f.s[end]) >= 0) {
		end++
	}
	if end-start >= 24 {
		f.add(hashKind, start, end)
	}
}

// hook looks at an address that is itself the secret: what follows is its token.
func (f *finder) hook(_, end int) {
	if n := skip(f.s, end, digits, 24); n > end && n < len(f.s) && f.s[n] == '/' {
		end = n + 1
	}
	stop := end
	for stop < len(f.s) && (isToken64(f.s[stop]) || f.s[stop] == '@') {
		stop++
	}
	if stop-end >= minToken {
		f.add(tokenKind, end, stop)
	}
}
