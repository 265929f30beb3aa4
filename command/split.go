package command

import (
	"slices"
	"strings"
)

// splitter reads a text that is no command, or an unfinished one, as plain words. It takes what is printed before a
// command on the same line for what the command reads.
type splitter struct {
	*liner
	source Word
	text   string
	at     int
	line   *Line
	first  int      // of the lines that are on the same line of the text
	input  string   // the redirection whose word comes next
	docs   []*Line  // those with a here-document
	ends   []string // the lines that end these
}

// maxInside is how far we look for the end of a command in a word, or of quotes in quotes.
const maxInside = 1 << 10

func (l *liner) split(source Word, feeds []*Line) {
	if l.work -= len(source.Text); l.work < 0 {
		return
	}
	s := splitter{liner: l, source: source, text: source.Text, line: &Line{Feeds: feeds}, first: len(l.out)}
	for s.at < len(s.text) {
		switch c := s.text[s.at]; {
		case s.isEscaped("\n'\"`"):
			s.at += 2
		case isBlank(c):
			s.at++
		case c == '\n' && (len(s.line.Words) > 0 || len(s.line.Feeds) == 0): // else a pipe goes on
			s.at++
			s.end()
			s.documents()
			s.first, s.line.Feeds = len(s.out), nil
		case strings.IndexByte("\n;|&()", c) >= 0:
			s.at++
			s.end()
		default:
			s.add(s.word())
		}
	}
	s.keepLine()
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || '\v' <= c && c <= '\r' }

// isEscaped reports whether a backslash is here, and one of these characters behind it.
func (s *splitter) isEscaped(chars string) bool {
	return s.text[s.at] == '\\' && s.at+1 < len(s.text) && strings.IndexByte(chars, s.text[s.at+1]) >= 0
}

// isAlone reports whether nothing that belongs to a word follows.
func (s *splitter) isAlone() bool {
	return s.at+1 == len(s.text) || isBlank(s.text[s.at+1]) || strings.IndexByte("\n;|&)", s.text[s.at+1]) >= 0
}

// end ends a line.
func (s *splitter) end() {
	s.keepLine()
	s.line, s.input = &Line{Feeds: s.out[max(s.first, len(s.out)-maxFeeds):len(s.out):len(s.out)]}, ""
}

func (s *splitter) keepLine() {
	if len(s.line.Words) > 0 || len(s.line.Input) > 0 {
		s.keep(s.line)
	}
}

// documents reads the here-documents of the line before.
func (s *splitter) documents() {
	for i, end := range s.ends {
		from := s.at
		for s.at < len(s.text) {
			n := lineLength(s.text[s.at:])
			if strings.TrimSpace(s.text[s.at:s.at+n]) == end {
				break
			}
			s.at = min(len(s.text), s.at+n+1)
		}
		s.document(s.docs[i], s.source.part(from, s.at))
	}
	s.docs, s.ends = nil, nil
}

// word reads a word.
func (s *splitter) word() (w Word) {
	begin, from := s.at, s.at
	for ; s.at < len(s.text) && !s.stops(begin); s.at++ {
		if isAlnum(s.text[s.at]) {
			continue
		}
		n, inside := s.closes(begin)
		if n == 0 {
			if s.isEscaped(" \t") {
				s.at++
			}
			continue
		}
		w.add(s.source.part(from, s.at))
		if in := s.text[s.at : s.at+n+1]; inside || strings.HasPrefix(in, `"$(`) && strings.HasSuffix(in, `)"`) {
			before, in := len(s.out), strings.Trim(in, `"$<()`)
			at := s.at + strings.Index(s.text[s.at:], in)
			s.split(s.source.part(at, at+len(in)), nil)
			w.takes(s.source.part(s.at, s.at+n+1), slices.Clone(s.out[before:]))
		} else {
			w.quote(s.source.part(s.at+1, s.at+n))
		}
		s.at += n
		from = s.at + 1
	}
	s.at = min(s.at, len(s.text))
	w.add(s.source.part(from, s.at))
	return w
}

// stops reports whether a word ends here.
func (s *splitter) stops(begin int) bool {
	c := s.text[s.at]
	if isAlnum(c) {
		return false
	}
	switch c {
	case '\n', ';', '|':
		return true
	case '&', ')':
		return s.isAlone()
	case '<':
		return s.at > begin && strings.HasPrefix(s.text[s.at:], "<<") && s.text[s.at-1] != '<'
	case '\\':
		return s.isEscaped("'\"`\n")
	default:
		return isBlank(c)
	}
}

// closes is how far it is to the end of the quotes, or of the command inside of the word, that begins here; 0 where none
// does.
func (s *splitter) closes(begin int) (n int, inside bool) {
	rest := s.text[s.at:]
	switch rest[0] {
	case '$', '<':
		if strings.HasPrefix(rest[1:], "(") {
			return max(0, strings.IndexByte(rest[:min(len(rest), maxInside)], ')')), true
		}
	case '\'', '"', '`':
		if s.at == begin || !isAlnum(s.text[s.at-1]) || !s.isAlone() && (rest[0] != '\'' || !isApostrophe(s.text, s.at)) {
			return closing(rest), false
		}
	}
	return 0, false
}

// closing is where the quote closes that a text begins with, 0 where it does not. One that looks as if it opens, because
// a blank is before it and none behind, opens another.
func closing(text string) int {
	open := 1
	for i := 1; i < min(len(text), maxInside); i++ {
		switch {
		case text[i] != text[0]:
		case isBlank(text[i-1]) && i+1 < len(text) && strings.IndexByte(" \t\r\n\\", text[i+1]) < 0:
			open++
		default:
			if open--; open == 0 {
				return i
			}
		}
	}
	return 0
}

// add adds a word to the line, or to what it reads.
func (s *splitter) add(w Word) {
	op, input := s.input, strings.TrimLeft(w.Text, "<-")
	switch s.input = ""; {
	case op != "":
	case w.Text == "<":
		s.input = "<"
		return
	case strings.HasPrefix(w.Text, "<<"):
		op = strings.TrimRight(w.Text[:len(w.Text)-len(input)], "-")
		if input == "" {
			s.input = op
			return
		}
		w = w.part(len(w.Text)-len(input), len(w.Text))
	}
	switch op {
	case "<":
		s.line.Feeds = append(s.line.Feeds, w.Inside...)
	case "<<":
		s.docs, s.ends = append(s.docs, s.line), append(s.ends, strings.Trim(w.Text, `"'`))
	case "<<<":
		s.line.Input = append(s.line.Input, w)
	default:
		if s.line.Words == nil {
			s.line.Words = make([]Word, 0, 8)
		}
		s.line.Words = append(s.line.Words, w)
	}
}

// isUnsure reports whether a text may be a sentence with an apostrophe, or have a comment, a path of Windows or a table,
// in which a backslash is not one of the shell.
func isUnsure(text string) bool {
	for i := range max(0, len(text)-1) {
		switch next := text[i+1]; text[i] {
		case '\'':
			if isApostrophe(text, i) {
				return true
			}
		case '\\':
			if isAlnum(next) || next == '\\' || next == '|' {
				return true
			}
		case '#':
			if i == 0 || isBlank(text[i-1]) || text[i-1] == '\n' {
				return true
			}
		}
	}
	return false
}

// isApostrophe reports whether a quote is between letters, and nothing else is before it in the word.
func isApostrophe(text string, i int) bool {
	word := strings.TrimRight(text[max(0, i-32):i], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
	return i > 0 && isLetter(text[i-1]) && i+1 < len(text) && isLetter(text[i+1]) && (word == "" || isBlank(word[len(word)-1]) || word[len(word)-1] == '\n')
}

func isAlnum(c byte) bool { return isLetter(c) || '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
