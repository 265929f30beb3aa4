package redact

import (
	"cmp"
	"fmt"
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

// ownPattern is the kind of a finding by a pattern without a name.
const ownPattern = "own pattern"

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

// compile refuses a pattern that can't do what its owner wants.
func (p Pattern) compile() (pattern, string, error) {
	made := pattern{name: p.Name}
	made.name = cmp.Or(made.name, ownPattern)
	if p.Regex == "" {
		return made, "regex", fmt.Errorf("is empty")
	}
	var err error
	if made.expr, err = regexp.Compile(p.Regex); err != nil {
		return made, "regex", err
	}
	if made.expr.MatchString("") {
		return made, "regex", fmt.Errorf("matches the empty text, so it would match everywhere")
	}
	if i := made.expr.SubexpIndex("secret"); i > 0 {
		made.group = i
	}
	if p.Example == "" {
		return made, "", nil
	}
	m := made.expr.FindStringSubmatchIndex(p.Example)
	if m == nil {
		return made, "example", fmt.Errorf("the regex does not match it")
	}
	if a, b := made.secret(m); a == b {
		return made, "example", fmt.Errorf("the regex hides nothing of it")
	}
	return made, "", nil
}

// compile makes all patterns, and adds what is wrong with them.
func (c Config) compile(faults Faults) ([]pattern, Faults) {
	var out []pattern
	for i, p := range c.Patterns {
		made, at, err := p.compile()
		if err != nil {
			faults = append(faults, &Fault{fmt.Sprintf("patterns[%d].%s", i, at), err.Error()})
		}
		out = append(out, made)
	}
	return out, faults
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
