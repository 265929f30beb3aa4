package redact

import (
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/zricethezav/gitleaks/v8/config"
)

var update = flag.Bool("update", false, "make gitleaks.json anew")

// TestTheTableIsGitleaksOwn makes the table from the module that go.mod names.
func TestTheTableIsGitleaksOwn(t *testing.T) {
	vc := config.ViperConfig{Extend: config.Extend{UseDefault: true}}
	c, err := vc.Translate()
	if err != nil {
		t.Fatal(err)
	}
	want := tabled{From: "github.com/zricethezav/gitleaks, MIT License, Copyright (c) 2019 Zachary Rice", Allow: allowlists(c.Allowlists)}
	for _, r := range c.GetOrderedRules() {
		if r.Regex == nil || r.Path != nil { // a rule about files by their path has nothing to look at
			continue
		}
		words := slices.Clone(r.Keywords)
		for i := range words {
			words[i] = strings.ToLower(words[i])
		}
		slices.Sort(words)
		want.Rules = append(want.Rules, tabledRule{ID: r.RuleID, Regex: r.Regex.String(), Words: words, Group: r.SecretGroup, Entropy: r.Entropy, Allow: allowlists(r.Allowlists)})
	}
	text, err := json.MarshalIndent(want, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, '\n')
	if *update {
		if err := os.WriteFile("gitleaks.json", text, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(text) != string(rulesTable) {
		t.Error("gitleaks.json is not what the module's rules make; make it anew with `go test ./redact -run TestTheTable -update`")
	}
}

func allowlists(all []*config.Allowlist) (out []allowlist) {
	for _, a := range all {
		// A list that looks at the line, or needs a path, could be met by what
		// stands around the secret; who writes the text would decide.
		if a.RegexTarget == "line" || a.MatchCondition != config.AllowlistMatchOr {
			continue
		}
		one := allowlist{Match: a.RegexTarget == "match", Words: slices.Sorted(slices.Values(a.StopWords))}
		for _, r := range a.Regexes {
			one.Regexes = append(one.Regexes, r.String())
		}
		if len(one.Words)+len(one.Regexes) > 0 {
			out = append(out, one)
		}
	}
	return out
}
