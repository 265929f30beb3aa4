package lineage

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
)

// Form is what lets a call pass as the owner's own words. A message of one form
// does, and no sentence:
//
//	send alice@example.com: I am late
//
// One of the words in Asked, the destinations with a comma or a space between
// them, a colon with white space behind it, and the text. Whatever a message of
// another form means, it lets nothing pass.
//
// White space around an argument and around the text does not count. Everything
// else is compared byte for byte: no case, look-alike or invisible character is
// folded.
type Form struct {
	Destinations []string // params that say where the call goes
	Content      []string // params that hold the text
	Asked        []string // words that ask for such a call, in lower case
	AnyWords     bool     // the agent may choose the words of the text, and nothing but words
}

// blank is the white space that may be around a word. All other is no white space
// here: it could be told from a space by a program and not by an eye.
const blank = " \t\r\n"

func isBlank(c rune) bool { return strings.ContainsRune(blank, c) }

// longWord is how many letters a word may have that the owner did not type: a
// longer one carries more than a word.
const longWord = 32

// form is how such a message is written. The colon is the first with white space
// behind it.
var form = regexp.MustCompile(`(?s)^\s*(\S+)\s+(.+?):\s+(\S.*)$`)

// typed is a message of the form.
type typed struct {
	verb, text string
	to         []string
}

// Fits reports whether the owner's message asks for exactly this call.
func (f *Form) Fits(message string, params jsontext.Value) bool {
	t, ok := f.read(message)
	if !ok || len(params) > MaxChars {
		return false
	}
	said := walked(params)
	if said.more || len(said.literals) > 0 || slices.ContainsFunc(said.names, func(n string) bool { return !f.knows(n) }) {
		return false
	}
	goes := false
	for _, l := range said.found {
		text := strings.Trim(l.text, blank)
		switch {
		case isDestination(l.path, f.Destinations):
			if goes = true; !slices.Contains(t.to, text) {
				return false
			}
		case l.path == "action":
			if text != t.verb {
				return false
			}
		case l.bare || !slices.Contains(f.Content, l.path) || !f.isText(&t, message, text):
			return false
		}
	}
	return goes
}

func (f *Form) read(message string) (t typed, ok bool) {
	if len(message) > MaxChars {
		return t, false
	}
	m := form.FindStringSubmatch(message)
	if m == nil {
		return t, false
	}
	t = typed{verb: strings.ToLower(m[1]), text: strings.Trim(m[3], blank)}
	t.to = strings.FieldsFunc(m[2], func(c rune) bool { return c == ',' || isBlank(c) })
	return t, slices.Contains(f.Asked, t.verb) && len(t.to) > 0 && !slices.ContainsFunc(t.to, func(to string) bool { return !isAddress(to) })
}

// isAddress reports whether a word can only be a mail address, a link, a phone
// number, a handle or an id: it has a digit, @, # or ://, and nothing that is
// not printable ASCII.
func isAddress(word string) bool {
	if strings.ContainsFunc(word, func(c rune) bool { return c <= ' ' || c >= 0x7f }) {
		return false
	}
	return len(word) > 2 && (strings.ContainsAny(word, "@#0123456789") || strings.Contains(word, "://"))
}

// knows reports whether a label names a param. The owner typed no name, and any
// other could carry something.
func (f *Form) knows(name string) bool {
	return name == "action" || slices.Contains(f.Content, name) || slices.ContainsFunc(f.Destinations, func(d string) bool { return strings.EqualFold(d, name) })
}

// isText reports whether an argument is the text that the owner typed or, where
// its words are free, holds nothing but words and what the owner typed.
func (f *Form) isText(t *typed, message, argument string) bool {
	if argument == t.text {
		return argument != ""
	}
	if !f.AnyWords {
		return false
	}
	known := map[string]bool{}
	for w := range strings.FieldsFuncSeq(message, isBlank) {
		known[bare(w)] = true
	}
	for w := range strings.FieldsFuncSeq(argument, isBlank) {
		if w = bare(w); !isWord(w) && !known[w] {
			return false
		}
	}
	return true
}

// bare is a word without the marks of the sentence around it.
func bare(word string) string { return strings.Trim(word, `.,;:!?"'()`) }

// isWord reports whether there is nothing in it but letters, with a dash or an
// apostrophe inside. Everything else is a value: any digit of any script, a dot,
// a mark, a character that can't be seen.
func isWord(word string) bool {
	letters := 0
	for part := range strings.FieldsFuncSeq(word, func(c rune) bool { return c == '-' || c == '\'' || c == '’' }) {
		for _, c := range part {
			if letters++; !unicode.In(c, unicode.Lu, unicode.Ll, unicode.Lo) || between(c, blankLetters) {
				return false
			}
		}
	}
	return letters <= longWord
}

// blankLetters are letters that can't be seen.
var blankLetters = []span{{0x115f, 0x1160}, {0x3164, 0x3164}, {0xffa0, 0xffa0}}

// isDestination reports whether any part of a path is the name of a destination.
func isDestination(path string, names []string) bool {
	for part := range strings.FieldsFuncSeq(path, func(c rune) bool { return c == '.' || c == '[' || c == ']' }) {
		if slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, part) }) {
			return true
		}
	}
	return false
}
