package redact

import (
	"encoding/json"
	"flag"
	"os"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"github.com/zricethezav/gitleaks/v8/config"
)

var update = flag.Bool("update", false, "make gitleaks.json anew")

// ours are rules that our own shapes do better: faster, or without a minimum of length.
var ours = map[string]bool{"curl-auth-header": true, "curl-auth-user": true, "private-key": true}

// TestTheTableIsGitleaksOwn makes the table from the module that go.mod names.
func TestTheTableIsGitleaksOwn(t *testing.T) {
	vc := config.ViperConfig{Extend: config.Extend{UseDefault: true}}
	c, err := vc.Translate()
	if err != nil {
		t.Fatal(err)
	}
	want := tabled{From: "github.com/zricethezav/gitleaks, MIT License, Copyright (c) 2019 Zachary Rice",
		Allow: allowlists(c.Allowlists)}
	for _, r := range c.GetOrderedRules() {
		// a rule about files by their path has nothing to look at
		if r.Regex == nil || r.Path != nil || ours[r.RuleID] {
			continue
		}
		words := slices.Clone(r.Keywords)
		for i := range words {
			words[i] = strings.ToLower(words[i])
		}
		slices.Sort(words)
		made := &rule{ID: r.RuleID, Regex: r.Regex.String(), Words: words, Group: r.SecretGroup, Entropy: r.Entropy,
			Allow: allowlists(r.Allowlists)}
		made.place(t)
		want.Rules = append(want.Rules, made)
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
		t.Error("gitleaks.json is not what the module's rules make; see `go test ./redact -run TheTable -update`")
	}
}

func allowlists(all []*config.Allowlist) (out []*allowlist) {
	for _, a := range all {
		// A list that looks at the line, or needs a path, could be met by what
		// stands around the secret; who writes the text would decide.
		if a.RegexTarget == "line" || a.MatchCondition != config.AllowlistMatchOr {
			continue
		}
		one := &allowlist{Match: a.RegexTarget == "match", Words: slices.Sorted(slices.Values(a.StopWords))}
		for _, r := range a.Regexes {
			one.Regexes = append(one.Regexes, r.String())
		}
		if len(one.Words)+len(one.Regexes) > 0 {
			out = append(out, one)
		}
	}
	return out
}

// place drops what the rule's matches may begin with but need not, and says where it is to be tried: where its words
// are, if each match begins with one of them. To look there is then to look everywhere.
func (r *rule) place(t *testing.T) {
	t.Helper()
	source := strings.ReplaceAll(r.Regex, `[\w.-]{0,50}?`, "")
	re, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	prog, err := syntax.Compile(re.Simplify())
	if err != nil {
		t.Fatal(err)
	}
	if !begins(prog, uint32(prog.Start), "", r.Words) {
		return
	}
	r.Regex, r.At = source, atWord
	if strings.HasPrefix(strings.TrimPrefix(source, "(?i)"), `\b`) {
		r.At = atBegin
	}
}

// begins reports whether all that the program matches from pc on begins with one of the words, after what it has
// matched so far.
func begins(prog *syntax.Prog, pc uint32, so string, words []string) bool {
	in := &prog.Inst[pc]
	switch in.Op { //nolint:exhaustive // the rest may be anything
	case syntax.InstAlt, syntax.InstAltMatch:
		return begins(prog, in.Out, so, words) && begins(prog, in.Arg, so, words)
	case syntax.InstCapture, syntax.InstEmptyWidth, syntax.InstNop:
		return begins(prog, in.Out, so, words)
	case syntax.InstRune, syntax.InstRune1:
		for i := 0; i < len(in.Rune); i += 2 {
			for c := in.Rune[i]; c <= in.Rune[min(i+1, len(in.Rune)-1)]; c++ {
				now := so + strings.ToLower(string(c))
				if slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(now, w) }) {
					continue
				}
				if !slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, now) }) ||
					!begins(prog, in.Out, now, words) {
					return false
				}
			}
		}
		return true
	}
	return false
}
