package redact

import (
	_ "embed"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// rulesTable holds gitleaks' default rules as far as they look at text. It is made from the module
// in a test, which also says when the two differ: with gitleaks itself, the program would be linked
// with a configuration library and six file formats.
//
//go:embed gitleaks.json
var rulesTable []byte

// tabled is the table's form.
type tabled struct {
	From  string // whose rules these are
	Allow []allowlist
	Rules []tabledRule
}

type tabledRule struct {
	ID      string
	Regex   string
	Words   []string    `json:",omitempty"` // lower case; the rule is tried where one of them is
	Group   int         `json:",omitempty"` // the secret's; 0: the first that is not empty
	Entropy float64     `json:",omitempty"`
	Allow   []allowlist `json:",omitempty"`
}

// allowlist says which secrets are examples or placeholders.
type allowlist struct {
	Match   bool     `json:",omitempty"` // Regexes look at all that the rule matched, and not only at the secret
	Regexes []string `json:",omitempty"`
	Words   []string `json:",omitempty"` // lower case, anywhere in the secret

	exprs []*regexp.Regexp
}

// rule is one of gitleaks', made ready to be tried only where one of its words
// occurs.
type rule struct {
	id       string
	expr     *regexp.Regexp
	atWord   bool // expr is anchored: it is tried where a word is. Else it is tried on the whole text, if a word is anywhere
	boundary bool // with atWord: no letter, digit or underscore may be before
	assigns  bool // with atWord: an operator follows within a few characters
	group    int  // the secret; 0: the first group that is not empty
	entropy  float64
	allow    []allowlist
}

// ours are rules that our own shapes do better: faster, or without a minimum of
// length, or without being told the path of a file.
var ours = map[string]bool{"curl-auth-header": true, "curl-auth-user": true, "private-key": true}

// loadRules reads the table.
func loadRules() ([]*rule, map[string][]*rule, error) {
	var t tabled
	if err := json.Unmarshal(rulesTable, &t); err != nil {
		return nil, nil, fmt.Errorf("redact: the rules of gitleaks: %w", err)
	}
	if err := compileAll(t.Allow); err != nil {
		return nil, nil, err
	}
	var all []*rule
	byWord := map[string][]*rule{}
	for _, r := range t.Rules {
		if ours[r.ID] {
			continue
		}
		if err := compileAll(r.Allow); err != nil {
			return nil, nil, err
		}
		made := &rule{id: r.ID, group: r.Group, entropy: r.Entropy, assigns: r.ID == "generic-api-key", allow: slices.Concat(t.Allow, r.Allow)}
		if err := made.compile(r.Regex, r.Words); err != nil {
			return nil, nil, fmt.Errorf("redact: rule %s: %w", r.ID, err)
		}
		all = append(all, made)
		for _, w := range r.Words {
			byWord[w] = append(byWord[w], made)
		}
	}
	return all, byWord, nil
}

func compileAll(lists []allowlist) error {
	for i := range lists {
		for _, e := range lists[i].Regexes {
			expr, err := regexp.Compile(e)
			if err != nil {
				return fmt.Errorf("redact: an allowlist of gitleaks: %w", err)
			}
			lists[i].exprs = append(lists[i].exprs, expr)
		}
	}
	return nil
}

func (r *rule) compile(source string, words []string) error {
	h, err := headOf(source)
	if err != nil {
		return err
	}
	if h.coveredBy(words) {
		r.atWord, r.boundary = true, h.boundary
		source = `^(?:` + h.expr.String() + `)`
	}
	r.expr, err = regexp.Compile(source)
	return err
}

// secret returns where in s the secret of the match m is, if it is one.
func (r *rule) secret(s string, m []int) (start, end int, ok bool) {
	start, end = m[0], m[1]
	if r.group > 0 {
		start, end = m[2*r.group], m[2*r.group+1]
	} else {
		for i := 2; i < len(m); i += 2 {
			if m[i] >= 0 && m[i] < m[i+1] {
				start, end = m[i], m[i+1]
				break
			}
		}
	}
	if start < 0 || start >= end {
		return 0, 0, false
	}
	found := s[start:end]
	if r.entropy > 0 && entropy(found) <= r.entropy {
		return 0, 0, false
	}
	return start, end, !r.allowed(found, s[m[0]:m[1]])
}

// allowed reports whether gitleaks knows the secret for an example or a
// placeholder.
func (r *rule) allowed(secret, match string) bool {
	lower := strings.ToLower(secret)
	for i := range r.allow {
		a, target := &r.allow[i], secret
		if a.Match {
			target = match
		}
		if slices.ContainsFunc(a.Words, func(w string) bool { return strings.Contains(lower, w) }) ||
			slices.ContainsFunc(a.exprs, func(e *regexp.Regexp) bool { return e.MatchString(target) }) {
			return true
		}
	}
	return false
}

// entropy is Shannon's, in bits by character, as gitleaks counts it.
func entropy(s string) float64 {
	counts := map[rune]int{}
	for _, c := range s {
		counts[c]++
	}
	sum, n := 0.0, 1/float64(len(s))
	for _, c := range counts {
		p := float64(c) * n
		sum -= p * math.Log2(p)
	}
	return sum
}
