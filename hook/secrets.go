package hook

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
)

// secretForm is what only a secret looks like: a pattern, and words of which one is in whatever fits it. A text is searched
// for the words, which is fast, and only what is around one is compared with the pattern.
type secretForm struct {
	Words   []string `json:"words"`
	Pattern string   `json:"pattern"`
	AnyCase bool     `json:"anyCase"`
	Ahead   int      `json:"ahead"` // how far what fits may reach beyond the word; 0: usual

	is *regexp.Regexp
}

// secretForms are all of them, read when a text is searched first. The plugin for OpenClaw has the same list, which a test writes
// from this one. The gateway's own looks for more, and takes a tenth of a second to load; docs/spec/secret-vectors.json holds both
// to the same examples.
var secretForms = sync.OnceValue(func() (forms []secretForm) {
	if err := json.Unmarshal(secretFormsText, &forms); err != nil {
		panic(err) // the program was built with a broken list
	}
	for i := range forms {
		forms[i].is = regexp.MustCompile(forms[i].expression())
	}
	return forms
})

//go:embed secretforms.json
var secretFormsText []byte

func (f *secretForm) expression() string {
	if f.AnyCase {
		return "(?i:" + f.Pattern + ")"
	}
	return f.Pattern
}

const (
	// mostSearched is how long a text may be that is searched while the agent waits.
	mostSearched = 8 << 20
	// mostCompared is how much of it is compared with patterns.
	mostCompared = 8 << 20

	behind     = 24 // how far what fits may begin before the word
	usualAhead = 512
)

// bearsSecret reports whether a text holds a secret by its form. One that is too long to be searched does.
func bearsSecret(text string) bool {
	if len(text) > mostSearched {
		return true
	}
	left := mostCompared
	forms := secretForms()
	for i := range forms {
		for _, word := range forms[i].Words {
			if forms[i].isIn(text, word, &left) {
				return true
			}
		}
	}
	return false
}

// isIn reports whether something of this form is around one of a word's places, or there are too many of them.
func (f *secretForm) isIn(text, word string, left *int) bool {
	ahead := max(f.Ahead, usualAhead)
	for from := 0; ; {
		at := strings.Index(text[from:], word)
		if at < 0 {
			return false
		}
		at += from
		part := text[max(0, at-behind):min(len(text), at+ahead)]
		if f.Ahead > usualAhead { // words only: a space ends what fits
			if end := strings.IndexAny(part[min(len(part), at-max(0, at-behind)):], " \t\n\""); end >= 0 {
				part = part[:at-max(0, at-behind)+end]
			}
		}
		if *left -= len(part); *left < 0 || f.is.MatchString(part) {
			return true
		}
		from = at + len(word)
	}
}
