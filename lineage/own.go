package lineage

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Own is what the owner said, to tell whether a call says anything else. It goes
// the other way than [Index]: what it does not find counts as someone else's, so
// that whatever was not seen, was spelled in another way or was forgotten makes
// the answer no.
type Own struct {
	texts   [][]rune // with single spaces, case kept
	lowered [][]rune
	values  map[thing]bool
	numbers map[string]bool // every number, however small
	dates   dates
}

// thing is a value in its normal form.
type thing struct {
	kind  Kind
	value string
}

// NewOwn reads the owner's messages.
func NewOwn(messages []string) *Own {
	o := &Own{values: map[thing]bool{}, numbers: map[string]bool{}, dates: newDates()}
	for _, m := range messages {
		f := fold(m)
		text := collapsed(f.chars)
		o.texts = append(o.texts, text)
		o.lowered = append(o.lowered, collapsed(f.low))
		o.dates.read(string(f.low))
		o.learn(f)
		o.count(text)
	}
	return o
}

func (o *Own) learn(f *folded) {
	for _, i := range scanValues(f) {
		o.values[thing{i.kind, i.value}] = true
	}
}

// count keeps every number that stands alone.
func (o *Own) count(text []rune) {
	for _, word := range strings.FieldsFunc(string(text), func(c rune) bool { return isSeparator(c) || in(c, "=:!?%$€£/+") }) {
		if n := readAmount(strings.Trim(word, ".,-")); n != "" {
			o.numbers[n] = true
		}
	}
}

// Mention lets what the owner has allowed be named again: an address on a card
// that they said yes to is no stranger's any more. It may be named, and nothing
// may be sent to it for that.
func (o *Own) Mention(texts ...string) {
	for _, t := range texts {
		o.learn(fold(t))
	}
}

// Terms are what has to be the owner's own.
type Terms struct {
	Destinations []string                  // params that say where it goes; each must have been said as it stands
	Asked        []string                  // words of which one must have been said, in lower case
	Words        bool                      // every word must have been said, not only what can be looked up
	Allowed      func(where []string) bool // the owner has allowed the same destinations before; nil: not
}

// Wholly reports whether a call is the owner's own words: they asked for such a
// call, said where it goes, and it holds no address, link, path, number or id that
// is not theirs. Where not, the reason says what is missing, without a word of the
// call. Where are its destinations.
func (o *Own) Wholly(params jsontext.Value, t Terms) (where []string, reason string) {
	said := walked(params)
	args := said.found
	if len(args) > maxArguments {
		return nil, "it has too many arguments"
	}
	var rest []leaf
	for _, a := range args {
		if !isDestination(a.path, t.Destinations) {
			rest = append(rest, a)
		} else if strings.TrimSpace(a.text) != "" {
			where = append(where, a.text)
		}
	}
	switch {
	case !o.asked(t.Asked):
		return where, "nobody asked for it in so many words"
	case !o.toldWhere(where) && (t.Allowed == nil || !t.Allowed(where)):
		return where, "where it goes was not said by the owner"
	}
	for _, name := range said.names {
		rest = append(rest, leaf{text: name})
	}
	return where, o.content(rest, t.Words)
}

func (o *Own) toldWhere(where []string) bool {
	return !slices.ContainsFunc(where, func(w string) bool { return !o.Said(w) })
}

// content looks at everything but destinations: the arguments, and behind them
// the names of all params, which could carry something too.
func (o *Own) content(all []leaf, words bool) string {
	left := MaxChars
	for _, l := range all {
		f := foldUpTo(l.text, left)
		if left -= len(f.chars); f.cut {
			return "it is too long to be looked through"
		}
		switch {
		case o.foreign(f):
			return "it holds an address, a link, a number or an id that the owner did not say"
		case words && l.path != "" && !o.saidWords(f):
			return "it holds words that the owner did not say"
		}
	}
	return ""
}

// isDestination reports whether any part of a path is the name of a destination.
func isDestination(path string, names []string) bool {
	for part := range strings.FieldsFuncSeq(path, func(c rune) bool { return c == '.' || c == '[' || c == ']' }) {
		if slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, part) }) {
			return true
		}
	}
	return false
}

// asked reports whether one of the words was said, and not right behind a "not".
func (o *Own) asked(words []string) bool {
	for _, text := range o.lowered {
		said := strings.FieldsFunc(string(text), func(c rune) bool { return !isName(c) && c != '-' && c != '\'' })
		for i, w := range said {
			if slices.Contains(words, strings.Trim(w, "-'")) && !denied(said[max(0, i-3):i]) {
				return true
			}
		}
	}
	return false
}

var denials = strings.Fields("not never no don't dont doesn't won't can't cannot shouldn't mustn't without stop avoid refrain")

func denied(before []string) bool {
	return slices.ContainsFunc(before, func(w string) bool { return slices.Contains(denials, w) })
}

// Said reports whether a text stands in what the owner said, as it is and as a
// word of its own. A link may come with http:// before it and a slash behind it.
func (o *Own) Said(text string) bool {
	f := fold(text)
	if number := readAmount(strings.TrimSpace(string(f.chars))); number != "" {
		return o.numbers[number]
	}
	bare, isLink := withoutScheme(string(collapsed(f.chars)))
	if f.cut || !strings.ContainsFunc(bare, isName) {
		return false
	}
	if isLink || strings.ContainsAny(bare, "/?#&=%") { // where case tells something
		return o.saidLink(string(collapsed(f.chars)))
	}
	return standsIn(o.lowered, collapsed(f.low)) && !o.foreign(f)
}

// saidLink compares with its case. The owner may have left out how it is fetched.
func (o *Own) saidLink(link string) bool {
	bare, _ := withoutScheme(link)
	return standsIn(o.texts, []rune(bare)) || standsIn(o.texts, []rune(link))
}

func withoutScheme(text string) (bare string, isLink bool) {
	for _, scheme := range []string{"http://", "https://"} {
		if rest, ok := strings.CutPrefix(text, scheme); ok {
			return strings.TrimSuffix(rest, "/"), true
		}
	}
	return text, false
}

// collapsed has single spaces and none at its ends.
func collapsed(chars []rune) []rune {
	return []rune(strings.Join(strings.Fields(string(chars)), " "))
}
