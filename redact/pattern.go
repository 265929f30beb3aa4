package redact

import (
	"cmp"
	"errors"
	"regexp"
	"strings"
)

// Pattern is a shape of the owner's: a card number, the tokens of a program of
// their own.
type Pattern struct {
	Name    string `yaml:"name"`    // what a finding says; "own pattern" if empty
	Regex   string `yaml:"regex"`   // in Go's syntax. The group named secret is hidden, or all of the match
	Example string `yaml:"example"` // a text with such a secret, to test the pattern by; optional
}

type pattern struct {
	name  string
	expr  *regexp.Regexp
	group int // 0: the match
}

// secret returns where a match has its secret.
func (p pattern) secret(m []int) (start, end int) {
	if start, end = m[2*p.group], m[2*p.group+1]; start < 0 {
		return m[0], m[1]
	}
	return start, end
}

// compile refuses a pattern that can't do what its owner wants, and says what of it is wrong.
func (p Pattern) compile() (made pattern, at string, err error) {
	made.name = cmp.Or(p.Name, "own pattern")
	if p.Regex == "" {
		return made, "regex", errors.New("is empty")
	}
	if made.expr, err = regexp.Compile(p.Regex); err != nil {
		return made, "regex", err
	}
	if made.expr.MatchString("") {
		return made, "regex", errors.New("matches the empty text, so it would match everywhere")
	}
	made.group = max(0, made.expr.SubexpIndex("secret"))
	m := made.expr.FindStringSubmatchIndex(p.Example)
	if p.Example != "" && m == nil {
		return made, "example", errors.New("the regex does not match it")
	}
	if m != nil {
		if a, b := made.secret(m); a == b {
			return made, "example", errors.New("the regex hides nothing of it")
		}
	}
	return made, "", nil
}

// Fault is what is wrong with one place of a [Config].
type Fault struct {
	At   string // such as patterns[1].regex
	Text string
}

func (f *Fault) Error() string { return f.At + ": " + f.Text }

// Faults are all that is wrong with a [Config].
type Faults []*Fault

func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i := range f {
		lines[i] = f[i].Error()
	}
	return strings.Join(lines, "\n")
}
