package redact

import "strings"

// prefix is how tokens of one maker begin, and what they are at least.
type prefix struct {
	text  string // in lower case
	exact string // as it is written; "" for any case
	rest  int    // characters after it, at least
	alone bool   // no letter or digit is before: it is part of common words
}

// prefixes are looser than gitleaks': they ask for no certain length, and no
// certain character behind.
var prefixes = []prefix{
	{"ghp_", "ghp_", 16, false}, {"gho_", "gho_", 16, false}, {"ghu_", "ghu_", 16, false}, {"ghs_", "ghs_", 16, false}, {"ghr_", "ghr_", 16, false},
	{"github_pat_", "", 16, false}, {"glpat-", "", 16, false}, {"dckr_pat_", "", 16, false},
	{"xoxb-", "", 10, false}, {"xoxa-", "", 10, false}, {"xoxp-", "", 10, false}, {"xoxe-", "", 10, false}, {"xoxr-", "", 10, false}, {"xoxs-", "", 10, false}, {"xoxc-", "", 10, false}, {"xoxd-", "", 10, false}, {"xapp-", "", 10, false},
	{"sk-", "sk-", 20, true}, {"sk_live_", "", 10, false}, {"sk_test_", "", 10, false}, {"rk_live_", "", 10, false}, {"rk_test_", "", 10, false}, {"whsec_", "", 16, false},
	{"akia", "AKIA", 16, true}, {"asia", "ASIA", 16, true}, {"aiza", "AIza", 30, true}, {"ya29.", "", 20, true}, {"1//0", "", 30, true},
	{"hf_", "hf_", 20, true}, {"npm_", "npm_", 20, true}, {"pypi-", "pypi-", 40, true}, {"sg.", "SG.", 40, true}, {"hvs.", "hvs.", 20, true},
	{"dop_v1_", "", 30, false}, {"shpat_", "", 20, false}, {"gsk_", "gsk_", 30, true}, {"xai-", "xai-", 40, true}, {"nvapi-", "", 30, false}, {"r8_", "r8_", 30, true},
	{"tskey-", "", 12, true}, {"lin_api_", "", 20, false}, {"figd_", "", 20, false}, {"ops_", "ops_", 60, true}, {"mfa.", "mfa.", 60, true},
}

// look hides a token that begins at start.
func (p prefix) look(f *finder, start, end int) {
	if p.exact != "" && f.s[start:end] != p.exact || p.alone && start > 0 && isAlnum(f.s[start-1]) {
		return
	}
	stop := end
	for stop < len(f.s) && (isWord(f.s[stop]) || f.s[stop] == '-' || f.s[stop] == '.' && stop+1 < len(f.s) && isWord(f.s[stop+1])) {
		stop++
	}
	if stop-end >= p.rest && (strings.ContainsAny(f.s[end:stop], digits) || !p.alone || stop-end >= 2*p.rest) {
		f.add(tokenKind, start, f.tokenEnd(stop))
	}
}

// maxJWTHeader is more than the largest that carries a chain of certificates.
const maxJWTHeader = 4096

// jwt looks at eyJ, the beginning of an object in base64, for a JWT: its header,
// a dot, and the rest.
func (k *looks) jwt(start, end int) {
	if k.s[start:end] != "eyJ" {
		return
	}
	dot := strings.IndexByte(k.s[start:min(len(k.s), start+maxJWTHeader)], '.')
	if dot < 12 || !k.spend(dot) || !spells(k.s[start:start+dot]) {
		return
	}
	stop := start + dot + 1
	for stop < len(k.s) && (isWord(k.s[stop]) || k.s[stop] == '-' || k.s[stop] == '.') {
		stop++
	}
	if stop-start-dot > 8 {
		k.add(tokenKind, start, k.tokenEnd(stop))
	}
}

// spells reports whether base64 decodes to ASCII text and nothing else.
func spells(letters string) bool {
	plain := decoded(letters, 0)
	return len(plain) == 1 && len(plain[0]) == len(letters)*6/8
}

// telegram looks at :AA in 123456789:AA…, a bot's token.
func (k *looks) telegram(colon, end int) {
	start := colon
	for start > 0 && colon-start < 16 && isDigit(k.s[start-1]) {
		start--
	}
	stop := end
	for stop < len(k.s) && (isWord(k.s[stop]) || k.s[stop] == '-') {
		stop++
	}
	if colon-start >= 5 && k.s[colon:end] == ":AA" && stop-colon > 30 {
		k.add(tokenKind, start, stop)
	}
}

// discordEnd returns where a bot's token ends whose first part is s[start:end],
// or 0: the number of the bot in base64, a dot, a time, a dot, a signature.
func discordEnd(s string, start, end int) int {
	if n := end - start; n < 22 || n > 30 || strings.IndexByte("MNO", s[start]) < 0 || end+35 > len(s) || s[end] != '.' {
		return 0
	}
	if id := decoded(s[start:end], 0); len(id) != 1 || strings.Trim(id[0], "0123456789") != "" {
		return 0
	}
	time := tail(s, end+1)
	if time-end < 6 || time-end > 9 || time >= len(s) || s[time] != '.' {
		return 0
	}
	if stop := tail(s, time+1); stop-time > 20 {
		return stop
	}
	return 0
}

func tail(s string, i int) int {
	for i < len(s) && (isWord(s[i]) || s[i] == '-') {
		i++
	}
	return i
}

// pem hides the inside of a PEM block, or of one with a dash less as SSH2 has it,
// or all that follows where its end is missing.
func (k *looks) pem(_, end int) {
	const dashes = "----"
	label := strings.Index(k.s[end:min(len(k.s), end+128)], dashes)
	if label < 0 {
		return
	}
	start := skip(k.s, end+label, "-", 8)
	stop := len(k.s)
	if n := strings.Index(k.s[start:], dashes); n >= 0 {
		stop = start + n
	}
	k.add(pemKind, start, stop)
}

// putty hides the private part of a key in PuTTY's own form.
func (k *looks) putty(_, end int) {
	start, stop := min(len(k.s), lineEnd(k.s, end)+1), len(k.s)
	if n := strings.Index(k.s[start:], "Private-MAC:"); n >= 0 {
		stop = start + n
	}
	k.add(pemKind, start, stop)
}
