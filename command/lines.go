package command

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

const (
	maxScripts = 4  // inside of each other, that [Lines] reads
	maxFeeds   = 32 // commands whose output one command reads
	maxTimes   = 16 // how often it may read a text
)

// Line is a simple command as a shell reads it.
type Line struct {
	Words []Word  // variables that it sets, the program, its arguments
	Input []Word  // the lines of its here-document, or its here-string
	Feeds []*Line // commands whose output it reads
}

// Word is a word of a command without its quotes and escapes. In the place of a command whose output it takes it
// has $_.
type Word struct {
	Text   string
	Inside []*Line // the commands whose output it takes
	Placed bool    // one of the places is in it
	Start  int     // where it begins in the text
	places []int   // where each byte is in the text, nil where they follow each other
	quoted []Word  // what is in quotes and has several words
	ended  int     // where the last of these ends
	glued  bool    // more letters follow one of these
}

// At is where a byte of the word is in the text.
func (w *Word) At(i int) int {
	if w.places == nil {
		return w.Start + i
	}
	return w.places[i]
}

// Respelled reports whether the text has quotes or escapes in the word.
func (w *Word) Respelled() bool { return w.places != nil }

// part is a part of a word.
func (w *Word) part(from, to int) Word {
	out := Word{Text: w.Text[from:to], Start: w.Start + from}
	if w.places != nil {
		out.places = w.places[from:to:to]
	}
	return out
}

// add appends a part of the text.
func (w *Word) add(part Word) {
	if part.Text == "" {
		return
	}
	w.glued = w.glued || len(w.quoted) > 0 && w.ended == len(w.Text) && (isAlnum(part.Text[0]) || part.Text[0] == '$')
	if w.Text == "" {
		w.Start, w.places = part.Start, part.places
	} else if w.places != nil || part.places != nil || part.Start != w.Start+len(w.Text) {
		for i := len(w.places); i < len(w.Text); i++ {
			w.places = append(w.places, w.Start+i)
		}
		for i := range len(part.Text) {
			w.places = append(w.places, part.At(i))
		}
	}
	w.Text += part.Text
}

// quote appends what is in quotes.
func (w *Word) quote(part Word) {
	w.add(part)
	if strings.ContainsAny(part.Text, " \t\n") {
		w.quoted, w.ended = append(w.quoted, part), len(w.Text)
	}
}

// Lines returns the simple commands of a text as bash reads them, also those in substitutions and in scripts that are
// handed to another shell. What else is in quotes is read as a command if one of the places is in it. A text that does
// not parse, or that can be read in another way, is read as plain words. So is what no line has of the places: a
// command in a comment. It is not ok when that takes too long.
func Lines(text string, places []int) (all []*Line, ok bool) {
	slices.Sort(places)
	l := liner{places: places, covered: make([]bool, len(places)), work: maxTimes * len(text)}
	l.script(Word{Text: text}, nil)
	if slices.Contains(l.covered, false) {
		l.split(Word{Text: text}, nil)
	}
	return l.out, l.work >= 0
}

// lineLength is how long the first line of a text is.
func lineLength(text string) int {
	if n := strings.IndexByte(text, '\n'); n >= 0 {
		return n
	}
	return len(text)
}

// liner collects the lines of a text.
type liner struct {
	places  []int
	covered []bool // those that a word of a line has
	out     []*Line
	depth   int
	work    int  // bytes that it may still read
	unsure  bool // quotes can be read in another way
}

// within are the first and the last, by their number, of the places in a word.
func (l *liner) within(w *Word) (from, to int) {
	if w.Text == "" {
		return 0, 0
	}
	from, _ = slices.BinarySearch(l.places, w.At(0))
	to, _ = slices.BinarySearch(l.places, w.At(len(w.Text)-1)+1)
	return from, to
}

// script reads a text whose input is what other commands print.
func (l *liner) script(s Word, feeds []*Line) {
	if from, to := l.within(&s); from == to || l.depth == maxScripts {
		return
	}
	l.depth++
	defer func() { l.depth-- }()
	if isPlain(s.Text) && s.places == nil {
		l.plain(s, feeds)
		return
	}
	file, why := parse(syntax.LangBash, s.Text)
	if l.work -= len(s.Text); l.work < 0 {
		return
	}
	outer := l.unsure
	l.unsure = why != "" || isUnsure(s.Text)
	if why == "" {
		(&script{l, s}).walk(file, feeds)
	}
	sure := !l.unsure
	if l.unsure = outer; !sure {
		l.split(s, feeds)
	}
}

// isPlain reports whether a text has nothing that a shell reads in another way than as words and commands in a row.
func isPlain(text string) bool {
	if strings.ContainsAny(text, "'\"`\\<$({#") {
		return false
	}
	before, rest, pipe := strings.Cut(text, "|")
	if pipe && strings.Contains(text, "\n") {
		return false
	}
	for pipe {
		before = strings.TrimRight(before, " \t")
		if strings.HasSuffix(before, "fi") || strings.HasSuffix(before, "done") || strings.HasSuffix(before, "esac") {
			return false
		}
		before, rest, pipe = strings.Cut(rest, "|")
	}
	return true
}

// plain reads those commands of a plain text that have a place.
func (l *liner) plain(s Word, feeds []*Line) {
	from, to := l.within(&s)
	done := 0
	for _, place := range l.places[from:to] {
		at := place - s.Start
		if at < done {
			continue
		}
		begin := done
		for n := done; n < at; n += 1 + ends(s.Text[n:at]) {
			begin = n
		}
		done = at + ends(s.Text[at:])
		l.split(s.part(begin, done), feeds)
	}
}

// ends is where the first command of a plain text ends.
func ends(text string) int {
	for i := range len(text) {
		if text[i] == '\n' || text[i] == ';' || text[i] == '&' && strings.HasPrefix(text[i:], "&&") {
			return i
		}
	}
	return len(text)
}

// keep adds a line, and reads what its words hand to another shell.
func (l *liner) keep(line *Line) {
	l.out = append(l.out, line)
	for i := range line.Words {
		w := &line.Words[i]
		if len(w.quoted) > 0 {
			l.inQuotes(line, w)
			continue
		}
		from, to := l.within(w)
		takes := strings.Contains(w.Text, "$_")
		for w.Placed = from < to; from < to; from++ { // a command inside of it has its own words
			_, own := slices.BinarySearch(w.places, l.places[from])
			l.covered[from] = l.covered[from] || own || !takes
		}
	}
}

// inQuotes reads what is in the quotes of a word: all of it, where a shell does.
func (l *liner) inQuotes(line *Line, w *Word) {
	shell := slices.ContainsFunc(line.Words, func(w Word) bool { n := name(w.Text); return shells[n] || handsOver[n] })
	if shell || w.glued {
		l.script(*w, line.Feeds)
	}
	for _, q := range w.quoted {
		l.unsure = l.unsure || strings.HasSuffix(q.Text, " ") // it may begin where another ends
		if !shell {
			l.script(q, line.Feeds)
		}
	}
}

// handsOver are programs besides the shells that hand an argument to one.
var handsOver = set("eval ssh su watch")

// document adds a here-document to the input of a line. A shell may read it.
func (l *liner) document(line *Line, doc Word) {
	for from := 0; from < len(doc.Text); {
		to := from + lineLength(doc.Text[from:])
		line.Input = append(line.Input, doc.part(from, to))
		from = to + 1
	}
	l.script(doc, nil)
}

// script is one of the texts.
type script struct {
	*liner
	source Word
}

// walk reads the commands below a node, and returns them as a pipe has them.
func (p *script) walk(n syntax.Node, feeds []*Line) (row []*Line) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			row = append(row, p.stmt(n, feeds)...)
		case *syntax.BinaryCmd:
			if n.Op != syntax.Pipe && n.Op != syntax.PipeAll {
				return true
			}
			left := p.walk(n.X, feeds)
			row = append(append(row, left...), p.walk(n.Y, left)...)
		case *syntax.Word: // of a loop or a test
			p.keep(&Line{Words: []Word{p.word(n)}})
		default:
			return true
		}
		row = row[max(0, len(row)-maxFeeds):]
		return false
	})
	return row
}

// stmt reads a statement with what its redirections feed it.
func (p *script) stmt(s *syntax.Stmt, feeds []*Line) []*Line {
	line := &Line{Feeds: feeds}
	for _, d := range s.Redirs {
		switch {
		case d.Hdoc != nil:
			doc := p.raw(d.Hdoc)
			p.document(line, doc.part(0, strings.LastIndexByte(doc.Text, '\n')+1)) // without the line that ends it
		case d.Op == syntax.WordHdoc:
			line.Input = append(line.Input, p.word(d.Word))
		case d.Word != nil:
			line.Feeds = append(slices.Clip(line.Feeds), p.word(d.Word).Inside...)
		}
	}
	switch s.Cmd.(type) {
	case nil:
	case *syntax.CallExpr, *syntax.DeclClause:
		p.words(line, s.Cmd)
	default:
		return p.walk(s.Cmd, line.Feeds)
	}
	p.keep(line)
	return []*Line{line}
}

// words adds the words of a command to a line, with what sets variables.
func (p *script) words(line *Line, n syntax.Node) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Assign:
			if n.Value == nil {
				return true
			}
			w := p.source.part(int(n.Pos().Offset()), int(n.Value.Pos().Offset()))
			p.parts(&w, n.Value.Parts, false)
			line.Words = append(line.Words, w)
		case *syntax.Lit:
			line.Words = append(line.Words, p.raw(n))
		case *syntax.Word:
			line.Words = append(line.Words, p.word(n))
		default:
			return true
		}
		return false
	})
}

// raw is a node as it is written.
func (p *script) raw(n syntax.Node) Word {
	return p.source.part(int(n.Pos().Offset()), int(n.End().Offset()))
}

// word is a word without its quotes and escapes.
func (p *script) word(w *syntax.Word) (out Word) {
	p.parts(&out, w.Parts, false)
	return out
}

func (p *script) parts(w *Word, parts []syntax.WordPart, quoted bool) {
	for _, part := range parts {
		raw := p.raw(part)
		switch part := part.(type) {
		case *syntax.Lit:
			w.unescape(raw, quoted)
		case *syntax.SglQuoted:
			w.quote(raw.part(strings.IndexByte(raw.Text, '\'')+1, len(raw.Text)-1))
		case *syntax.DblQuoted:
			var in Word
			p.parts(&in, part.Parts, true)
			w.quote(in)
			w.quoted, w.Inside = append(w.quoted, in.quoted...), append(w.Inside, in.Inside...)
		case *syntax.ParamExp:
			w.add(raw)
		case *syntax.ExtGlob:
			p.unsure = true
			w.add(raw)
		default:
			command, ok := part.(*syntax.CmdSubst)
			p.unsure = p.unsure || ok && len(command.Stmts) == 0 // all of it is a comment
			w.takes(raw, p.walk(part, nil))
		}
	}
}

// takes appends $_ for a command.
func (w *Word) takes(raw Word, inside []*Line) {
	w.add(Word{Text: "$_", places: []int{raw.At(0), raw.At(len(raw.Text) - 1)}})
	w.Inside = append(w.Inside, inside...)
}

// unescape appends a text without the backslashes that bash takes away.
func (w *Word) unescape(s Word, quoted bool) {
	from := 0
	for i := 0; i+1 < len(s.Text); i++ {
		if s.Text[i] != '\\' || quoted && strings.IndexByte("$`\"\\\n", s.Text[i+1]) < 0 {
			continue
		}
		w.add(s.part(from, i))
		i++
		if from = i; s.Text[i] == '\n' {
			from++
		}
	}
	w.add(s.part(from, len(s.Text)))
}

// QuoteFor is the quote that makes a text one word of a command, "" where it needs none or has all of them.
func QuoteFor(text string) string {
	if text != "" && !strings.ContainsAny(text, " \t\r\n;|&<>()'\"`*\\") {
		return ""
	}
	for _, q := range []string{`"`, "'", "`"} {
		if !strings.Contains(text, q) && (q == "'" || !strings.Contains(text, `\`)) {
			return q
		}
	}
	return ""
}
