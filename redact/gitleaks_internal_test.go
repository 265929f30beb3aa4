package redact

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/zricethezav/gitleaks/v8/config"
	"github.com/zricethezav/gitleaks/v8/detect"
	"pgregory.net/rapid"
)

// TestNothingThatGitleaksFindsIsShown holds our way to apply the rules against
// gitleaks' own: texts made from each rule's expression go through both.
func TestNothingThatGitleaksFindsIsShown(t *testing.T) {
	t.Parallel()
	d, err := detect.NewDetectorDefaultConfig()
	if err != nil {
		t.Fatal(err)
	}
	d.IgnoreGitleaksAllow = true
	r := redactor(t, Config{})
	silent := []string{}
	for id, rule := range d.Config.Rules {
		if rule.Regex == nil || rule.Path != nil {
			continue
		}
		if compared(t, d, r, rule) == 0 {
			silent = append(silent, id)
		}
	}
	if len(silent) > 20 {
		t.Errorf("gitleaks found nothing in the texts made for %d rules: %v", len(silent), silent)
	}
}

// compared returns how many secrets gitleaks found in the texts.
func compared(t *testing.T, d *detect.Detector, r *Redactor, rule config.Rule) (found int) {
	t.Helper()
	tries := 6
	if testing.Short() {
		tries = 2
	}
	made := rapid.StringMatching(rule.Regex.String())
	for seed := range tries {
		s := around(strings.NewReplacer("\u212a", "k", "\u017f",
			"s").Replace(made.Example(seed))) // k and s to an expression
		if rule.RuleID == "curl-auth-user" && strings.IndexFunc(s, func(r rune) bool {
			return r < ' ' ||
				r > '~'
		}) >= 0 {
			continue // .* and [^"] stand for no command
		}
		out, _ := r.Text(s)
		for _, f := range d.DetectString(s) {
			found++
			if len(f.Secret) >= 6 && strings.Contains(out, strings.TrimSpace(f.Secret)) {
				t.Errorf("%s finds %q in %q, and it stays: %q", f.RuleID, f.Secret, s, out)
			}
		}
	}
	return found
}

// around sets the text of a rule into another.
func around(s string) string {
	texts := []string{"%", "run it:\n%\nthen stop", "a b %", "% and\nmore"}
	return strings.Replace(texts[rand.IntN(len(texts))], "%", s, 1)
}
