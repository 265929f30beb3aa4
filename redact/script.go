package redact

import (
	"strings"

	"github.com/openclaw-verifier/verifier/command"
)

// isBlock is for what is in YAML where the value follows in lines of its
// own.
func isBlock(v string) bool { return v != "" && (v[0] == '|' || v[0] == '>') && len(v) <= 3 }

// block hides the lines after i that are indented more than the one of the name.
func (k *looks) block(name, i int) {
	depth := indent(k.s, name)
	start, end := -1, -1
	for from := lineEnd(k.s, i) + 1; from < len(k.s); {
		to := lineEnd(k.s, from)
		line := strings.TrimSpace(k.s[from:to])
		if !k.spend(1 + to - from) {
			return
		}
		at := from + strings.Index(k.s[from:to], line)
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
		k.add(assignedKind, start, end)
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
func (k *looks) element(i int) {
	n := strings.IndexByte(k.s[i:min(len(k.s), i+maxAhead)], '<')
	if n <= 0 {
		return
	}
	text := strings.TrimSpace(k.s[i : i+n])
	a := i + strings.Index(k.s[i:i+n], text)
	if w := (word{s: k.s}); text != "" && !k.harmless(w, a, text) {
		k.add(assignedKind, a, a+len(text))
	}
}

// callOfTwo looks at a function that takes a name and a password: login("bob", "x"),
// auth=("bob", "x").
func (k *looks) callOfTwo(_, end int) { k.callOf(end, 1) }

// callOfThree looks at one that takes a place before them.
func (k *looks) callOfThree(_, end int) { k.callOf(end, 2) }

// callOf hides the argument after n others if it is in quotes.
func (k *looks) callOf(i, n int) {
	stop := min(len(k.s), i+maxLookBack)
	for ; n > 0; n-- {
		for ; i < stop && k.s[i] != ','; i++ {
			if k.s[i] == ')' {
				return
			}
			if isQuote(k.s[i]) {
				_, end := (word{s: k.s}).quoted(i)
				i = max(i, end)
			}
		}
		i++
	}
	if i >= stop {
		return
	}
	if i, op := second(k.s, i); op == opEqual {
		a, b := (word{s: k.s}).quoted(i)
		k.secretIn(a, b)
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

// identified looks at IDENTIFIED BY 'x' and IDENTIFIED WITH plugin BY 'x'.
func (k *looks) identified(_, end int) {
	const by = "by "
	for i := end; i+len(by) <= min(len(k.s), end+maxName); i++ {
		if strings.EqualFold(k.s[i:i+len(by)], by) { // not ToLower: that may change where things are
			k.nextWord(0, i+len(by))
			return
		}
	}
}

// passwordFor looks at: Password for bob: x, SET PASSWORD FOR bob = 'x'.
func (k *looks) passwordFor(_, end int) {
	line := k.s[end:lineEnd(k.s[:min(len(k.s), end+maxName)], end)]
	for _, op := range []string{"= ", ": ", " is "} {
		if n := strings.Index(line, op); n >= 0 {
			w := word{s: k.s, quote: quoteAt(k.s, end), equal: true}
			a, b := w.at(skip(k.s, end+n+len(op), " ", maxGap))
			if a > 0 && isQuote(k.s[a-1]) || looksLikePassword(k.s[a:b]) {
				k.secretIn(a, b)
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
func (k *looks) nextWord(_, end int) {
	w := word{s: k.s, quote: quoteAt(k.s, end), equal: true}
	i := skip(k.s, end, " \t(=", maxGap)
	if i == len(k.s) || isSpace(k.s[i]) {
		return
	}
	a, b := w.at(i)
	k.secretIn(a, b)
}

// sends looks at what a script types after it was asked for a password.
func (k *looks) sends(start, end int) {
	before := strings.ToLower(k.s[max(0, start-160):start])
	asked := max(strings.LastIndex(before, "assword"), strings.LastIndex(before, "assphrase"), strings.LastIndex(before, "asscode"))
	if asked < 0 || strings.LastIndex(before, "send") > asked {
		return
	}
	i := skip(k.s, end, " \t(-", maxGap)
	if i == len(k.s) || !isQuote(k.s[i]) {
		return
	}
	a, b := (word{s: k.s}).quoted(i)
	k.secretIn(a, a+len(withoutBreak(k.s[a:b])))
}

// pgpass looks at a line that goes into that file: host:port:database:user:x.
func (k *looks) pgpass(start, _ int) {
	from := max(0, start-maxLookBack)
	for a := from; a < start; {
		b := a
		for b < start && !isSpace(k.s[b]) && !isQuote(k.s[b]) {
			b++
		}
		if line := k.s[a:b]; strings.Count(line, ":") == 4 {
			k.secretIn(a+strings.LastIndexByte(line, ':')+1, b)
		}
		a = b + 1
	}
}

// crypted looks at the hash of a password, as in /etc/shadow.
func (k *looks) crypted(start, end int) {
	for end < len(k.s) && (isAlnum(k.s[end]) || strings.IndexByte("./$=,+-", k.s[end]) >= 0) {
		end++
	}
	if end-start >= 24 {
		k.add(hashKind, start, end)
	}
}

// hook looks at an address that is itself the secret: what follows is its token.
func (k *looks) hook(_, end int) {
	if n := skip(k.s, end, digits, 24); n > end && n < len(k.s) && k.s[n] == '/' {
		end = n + 1
	}
	stop := end
	for stop < len(k.s) && (isToken64(k.s[stop]) || k.s[stop] == '@') {
		stop++
	}
	if stop-end >= minToken {
		k.add(tokenKind, end, stop)
	}
}
