package hook

import (
	"regexp"
	"strings"
	"sync"
)

// secretForm is what only a secret looks like: a pattern, and words of which one is in whatever fits it. A text is searched
// for the words, which is fast, and only what is around one is compared with the pattern.
type secretForm struct {
	words   string
	pattern string
	ahead   int // how far what fits may reach beyond the word; 0: usual
}

// secretForms are all of them. docs/spec/secret-vectors.json holds this list, the gateway's and that of the plugin for
// OpenClaw to the same examples. The gateway's own takes too long to load.
var secretForms = []secretForm{
	{words: `-----BEGIN`, pattern: `-----BEGIN [A-Z0-9 ]{0,32}PRIVATE KEY(?: BLOCK)?-----`},
	{words: `A3T AKIA ASIA ABIA ACCA`, pattern: `\b(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b`},
	{words: `gho_ ghp_ ghu_ ghs_ ghr_`, pattern: `\bgh[opusr]_[A-Za-z0-9]{36}`},
	{words: `github_pat_`, pattern: `\bgithub_pat_[A-Za-z0-9_]{40}`},
	{words: `glpat- gldt- glrt- glcbt- glptt- glft- glsoat-`, pattern: `\bgl(?:pat|dt|rt|cbt|ptt|ft|soat)-[A-Za-z0-9_-]{20}`},
	{words: `xox`, pattern: `\bxox[abeoprs]-[A-Za-z0-9-]{10}`},
	{words: `xapp-`, pattern: `\bxapp-\d-[A-Z0-9]+-\d+-[a-z0-9]+`},
	{words: `hooks.slack.com/`, pattern: `\bhooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9+/]{40}`},
	{words: `sk-`, pattern: `\bsk-(?:ant-|proj-|svcacct-|admin-)?[A-Za-z0-9_-]{32}`},
	{words: `k_live_ k_test_ k_prod_`, pattern: `\b[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10}`},
	{words: `AIza`, pattern: `\bAIza[A-Za-z0-9_-]{35}`},
	{words: `GOCSPX-`, pattern: `\bGOCSPX-[A-Za-z0-9_-]{20}`},
	{words: `ya29.`, pattern: `\bya29\.[A-Za-z0-9_-]{20}`},
	{words: `npm_`, pattern: `\bnpm_[A-Za-z0-9]{36}`},
	{words: `pypi-AgEI`, pattern: `\bpypi-AgEI[A-Za-z0-9_-]{50}`},
	{words: `hf_`, pattern: `\bhf_[A-Za-z]{34}`},
	{words: `dop_v1_`, pattern: `\bdop_v1_[a-f0-9]{64}`},
	{words: `SG.`, pattern: `\bSG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}`},
	{words: `key-`, pattern: `\bkey-[a-f0-9]{32}\b`},
	{words: `hvs.`, pattern: `\bhvs\.[A-Za-z0-9_-]{90}`},
	{words: `AGE-SECRET-KEY-1`, pattern: `\bAGE-SECRET-KEY-1[A-Z0-9]{58}`},
	{words: `:AA`, pattern: `\b\d{8,10}:AA[A-Za-z0-9_-]{33}`},
	{words: `eyJ`, pattern: `\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16}`, ahead: 16 << 10},
	{words: `://`, pattern: `(?i:\b[a-z][a-z0-9+.-]{1,20}://[^\s:@/?#'"<>]{0,64}:[^\s:@/?#'"<>$*{}\[\]]{4,128}@[a-z0-9])`, ahead: 1 << 10},
}

const (
	// mostSearched is how long a text may be that is searched while the agent waits.
	mostSearched = 8 << 20
	// mostCompared is how much of it is compared with patterns.
	mostCompared = 8 << 20

	behind     = 24 // how far what fits may begin before the word
	usualAhead = 512
)

// compiled are the patterns, made when one is needed first.
var compiled = sync.OnceValue(func() (out []*regexp.Regexp) {
	for i := range secretForms {
		out = append(out, regexp.MustCompile(secretForms[i].pattern))
	}
	return out
})

// bearsSecret reports whether a text holds a secret by its form. One that is too long to be searched does.
func bearsSecret(text string) bool {
	if len(text) > mostSearched {
		return true
	}
	left := mostCompared
	for i := range secretForms {
		for word := range strings.FieldsSeq(secretForms[i].words) {
			if secretForms[i].isIn(text, word, func() *regexp.Regexp { return compiled()[i] }, &left) {
				return true
			}
		}
	}
	return false
}

// isIn reports whether something of this form is around one of a word's places, or there are too many of them.
func (f *secretForm) isIn(text, word string, pattern func() *regexp.Regexp, left *int) bool {
	ahead := max(f.ahead, usualAhead)
	for from := 0; ; {
		at := strings.Index(text[from:], word)
		if at < 0 {
			return false
		}
		at += from
		part := text[max(0, at-behind):min(len(text), at+ahead)]
		if f.ahead > usualAhead { // words only: a space ends what fits
			if end := strings.IndexAny(part[min(len(part), at-max(0, at-behind)):], " \t\n\""); end >= 0 {
				part = part[:at-max(0, at-behind)+end]
			}
		}
		if *left -= len(part); *left < 0 || pattern().MatchString(part) {
			return true
		}
		from = at + len(word)
	}
}
