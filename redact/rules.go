package redact

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/zricethezav/gitleaks/v8/config"
)

// rule is one of gitleaks', made ready to be tried only where one of its words
// stands.
type rule struct {
	id       string
	expr     *regexp.Regexp
	atWord   bool // expr is anchored: it is tried where a word stands. Else it is tried on the whole text, if a word is anywhere
	boundary bool // with atWord: no letter, digit or underscore may stand before
	assigns  bool // with atWord: an operator follows within a few characters
	group    int  // the secret; 0: the first group that is not empty
	entropy  float64
	allow    []*config.Allowlist
}

// ours are rules that our own shapes do better: faster, or without a minimum of
// length, or without being told the path of a file.
var ours = map[string]bool{"curl-auth-header": true, "curl-auth-user": true, "private-key": true}

// loadRules reads gitleaks' default rules. Rules about files by their path have
// nothing to look at here.
func loadRules() ([]*rule, map[string][]*rule, error) {
	vc := config.ViperConfig{Extend: config.Extend{UseDefault: true}}
	c, err := vc.Translate()
	if err != nil {
		return nil, nil, fmt.Errorf("redact: the rules of gitleaks: %w", err)
	}
	var all []*rule
	byWord := map[string][]*rule{}
	for _, r := range c.GetOrderedRules() {
		if r.Regex == nil || r.Path != nil || ours[r.RuleID] {
			continue
		}
		made, err := newRule(r, c.Allowlists)
		if err != nil {
			return nil, nil, fmt.Errorf("redact: rule %s: %w", r.RuleID, err)
		}
		all = append(all, made)
		for _, w := range r.Keywords {
			byWord[strings.ToLower(w)] = append(byWord[strings.ToLower(w)], made)
		}
	}
	return all, byWord, nil
}

func newRule(r config.Rule, global []*config.Allowlist) (*rule, error) {
	made := &rule{id: r.RuleID, group: r.SecretGroup, entropy: r.Entropy, assigns: r.RuleID == "generic-api-key"}
	for _, a := range slices.Concat(global, r.Allowlists) {
		// A list that looks at the line, or needs a path, could be met by what
		// stands around the secret; who writes the text would decide.
		if a.RegexTarget != "line" && a.MatchCondition == config.AllowlistMatchOr {
			made.allow = append(made.allow, a)
		}
	}
	h, err := headOf(r.Regex.String())
	if err != nil {
		return nil, err
	}
	source := r.Regex.String()
	if h.coveredBy(r.Keywords) {
		made.atWord, made.boundary = true, h.boundary
		source = `^(?:` + h.expr.String() + `)`
	}
	made.expr, err = regexp.Compile(source)
	return made, err
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
	for _, a := range r.allow {
		target := secret
		if a.RegexTarget == "match" {
			target = match
		}
		if stop, _ := a.ContainsStopWord(secret); stop || a.RegexAllowed(target) {
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
