package redact

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
)

// rulesOnce reads the rules when they are needed first: to compile them takes about as long as the whole start of the
// program may.
var rulesOnce = sync.OnceValues(loadRules)

// make makes the table of words, off the path of New.
func (r *Redactor) make(secrets []string) {
	defer close(r.done)
	defer func() {
		if p := recover(); p != nil {
			r.err = fmt.Errorf("redact: the rules can't be compiled: %v", p)
		}
	}()
	rules, err := rulesOnce()
	if err != nil {
		r.err = err
		return
	}
	all := []word{{"-----begin", (*finder).pem}}
	for w := range strings.FieldsSeq(nameWords) {
		all = append(all, word{w, (*finder).name})
	}
	for w := range byProgram {
		all = append(all, word{w, (*finder).program})
	}
	for _, rule := range rules {
		for _, w := range rule.Words {
			all = append(all, word{w, func(f *finder, start, end int) { f.try(rule, start, end) }})
		}
	}
	for _, s := range secrets {
		for _, text := range written(s) {
			all = append(all, word{text[:minKnown], func(f *finder, start, _ int) {
				if hasFold(f.s[start:], text) {
					f.add(OwnSecret, start, start+len(text))
				}
			}})
		}
	}
	r.ready.Store(newWords(all))
}

// minKnown is the shortest secret that is looked for by its value, in bytes: a shorter one could be any word.
const minKnown = 8

// written are the forms in which a secret is looked for, in small letters: as it is, in hex, and in base64 wherever it
// begins there. The secret that is a key in hex is also one in base64.
func written(secret string) (out []string) {
	if len(secret) < minKnown {
		return nil
	}
	out = append(out, secret, hex.EncodeToString([]byte(secret)))
	raws := []string{secret}
	if key, err := hex.DecodeString(secret); err == nil && len(key) >= minKnown {
		raws = append(raws, string(key))
	}
	for _, raw := range raws {
		for shift := range 3 {
			// Without the letters in which the neighbours have a part.
			letters := base64.RawStdEncoding.EncodeToString([]byte("\x00\x00"[:shift] + raw))
			letters = letters[(8*shift+5)/6 : 8*(shift+len(raw))/6]
			out = append(out, letters, strings.NewReplacer("+", "-", "/", "_").Replace(letters))
		}
	}
	for i, text := range out {
		small := []byte(text)
		for j, c := range small {
			if 'A' <= c && c <= 'Z' {
				small[j] |= 0x20
			}
		}
		out[i] = string(small)
	}
	return out
}

// IsReady reports whether anything can be shown. Until then all is hidden.
func (r *Redactor) IsReady() bool { return r.ready.Load() != nil }

// Wait waits until the Redactor is ready, which takes about a tenth of a second from the first New. An error means
// that it is not, and that it still hides everything: call Params all the same.
func (r *Redactor) Wait(ctx context.Context) error {
	if r.IsReady() {
		return nil
	}
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// rulesTable holds gitleaks' default rules as far as they look at text. It is made from the module in a test, which
// also says when the two differ: with gitleaks itself, the program would be linked with a configuration library and
// six file formats.
//
//go:embed gitleaks.json
var rulesTable []byte

// tabled is the table's form.
type tabled struct {
	From  string // whose rules these are
	Allow []allowlist
	Rules []*rule
}

// rule says what a secret looks like.
type rule struct {
	ID      string
	Regex   string
	Words   []string    `json:",omitempty"` // in small letters; if none is in a text, the rule finds nothing
	At      string      `json:",omitempty"` // "word": it is tried there; "begin": if it begins there; "": everywhere
	Group   int         `json:",omitempty"` // the secret's; 0: the first that is not empty
	Entropy float64     `json:",omitempty"`
	Allow   []allowlist `json:",omitempty"`

	expr  *regexp.Regexp
	loose bool // what it finds is not surely a secret
}

const (
	atWord     = "word"
	atBegin    = "begin"
	wholeMatch = -1
)

// allowlist says which secrets are examples or placeholders.
type allowlist struct {
	Match   bool     `json:",omitempty"` // Regexes look at all that the rule matched, and not only at the secret
	Regexes []string `json:",omitempty"`
	Words   []string `json:",omitempty"` // in small letters, anywhere in the secret

	exprs []*regexp.Regexp
}

// shapes are rules of ours in the same form. What they find is hidden, and if it is a token, it is surely a secret.
var shapes = []*rule{
	{ID: tokenKind, At: atBegin,
		Words: strings.Fields("gho_ ghp_ ghu_ ghs_ ghr_ github_pat_ glpat- dckr_pat_ xox whsec_ sk_ rk_"),
		Regex: `(?:gh[opusr]_|github_pat_|glpat-|dckr_pat_|xox[a-eprs]-|whsec_|[sr]k_(?:live|test)_)[\w-]{10,}`},
	{ID: tokenKind, At: atBegin, Words: strings.Fields("hf_ npm_ akia asia aiza"),
		Regex: `(?:hf_|npm_|AKIA|ASIA|AIza)[\dA-Za-z-]{16,}`},
	{ID: tokenKind, At: atBegin, Words: []string{"sk-", "xapp-", "tskey-"},
		Regex: `(?:sk-|xapp-|tskey-)[A-Za-z_-]*\d[\w-]{15,}`},
	{ID: tokenKind, At: atBegin, Words: []string{"eyj"}, Regex: `eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*`},
	{ID: tokenKind, Words: []string{":aa"}, Regex: `\d{6,12}:AA[\w-]{30,}`}, // Telegram
	{ID: tokenKind, At: atBegin, Words: []string{"mt", "mj", "mz"},
		Regex: `M[Tjz][\w-]{20,28}\.[\w-]{6,7}\.[\w-]{20,}`},
	{ID: urlKind, At: atWord, Words: []string{"://"},
		Regex: `://[^\s/?#"'<>:@]*:([^\s/?#"'<>]+|[^\s"'<>/\d][^\s"'<>]*)@`},
	{ID: urlKind, At: atWord, Words: []string{"://"}, Regex: `://([\w.-]*\d[\w.-]{12,})[:@]`},
	{ID: urlKind, Words: []string{"@tcp(", "@unix("}, Regex: `[^\s:@/"'=]+:([^\s@/]+)@(?:tcp|unix)\(`},
	{ID: "token in a URL", At: atWord, Words: query, Regex: `(?i)[?&#;][\w-]+=([^\s&#;"'<>` + "`" + `]{6,})`},
	{ID: headerKind, At: atBegin, Words: []string{"bearer"}, Regex: `(?i)bearer +([\w.~+/-]{8,}=*)`, Entropy: 2.8},
	{ID: headerKind, At: atBegin, Words: []string{"basic"}, Regex: `(?i)basic +(\w*[\d+/=][\w+/]{4,}=*|\w{4,}=+)`},
	{ID: headerKind, At: atWord, Words: []string{"authorization"},
		Regex: `(?i)authorization[\\"'\]]*\s*(?:=>|[:=,])\s*[\\"']*(?:` +
			`(?:bearer|basic|token|bot|apikey|key|negotiate) +([^\s"'\\,]+)|` +
			`((?:digest|aws4-hmac-sha256) [^\n']+)|([^"'\\\n]+))`},
	{ID: headerKind, At: atWord, Words: []string{"cookie:", `cookie":`, "cookie':", `cookie\":`},
		Regex: `(?i)cookie[\\"']*:\s*[\\"']*([^"'\\\n]+)`},
	{ID: headerKind, At: atWord, Words: []string{"-h ", "--header "},
		Regex: `(?:-H|--header) +["'][\w-]*[Kk][Ee][Yy]: *([^"'\n]+)`},
}

// query are names in the query of a URL that are words like any other elsewhere.
var query = func() (all []string) {
	for name := range strings.FieldsSeq(`key sig signature code auth session sid ticket assertion otp hash hmac
		x-amz-credential x-amz-signature x-goog-credential x-goog-signature`) {
		all = append(all, "?"+name+"=", "&"+name+"=", "#"+name+"=", ";"+name+"=")
	}
	return all
}()

// loadRules makes all rules ready to be tried.
func loadRules() ([]*rule, error) {
	var t tabled
	if err := json.Unmarshal(rulesTable, &t); err != nil {
		return nil, fmt.Errorf("redact: the rules of gitleaks: %w", err)
	}
	for _, r := range t.Rules {
		r.loose, r.Allow = r.ID == generic, slices.Concat(t.Allow, r.Allow)
	}
	references := allowlist{Regexes: []string{reference.String()}, Words: []string{"x-oauth-basic"}}
	for _, r := range shapes {
		r.loose, r.Allow = r.ID != tokenKind, []allowlist{references}
	}
	all := slices.Concat(t.Rules, shapes)
	for _, r := range all {
		source := r.Regex
		if r.At != "" {
			source = `^(?:` + source + `)`
		}
		var err error
		if r.expr, err = regexp.Compile(source); err != nil {
			return nil, fmt.Errorf("redact: rule %s: %w", r.ID, err)
		}
		for i := range r.Allow {
			for _, e := range r.Allow[i].Regexes {
				r.Allow[i].exprs = append(r.Allow[i].exprs, regexp.MustCompile(e))
			}
		}
	}
	return all, nil
}

// generic is gitleaks' rule for all that is given to a name such as key.
const generic = "generic-api-key"

// secret returns where in s the secret of the match m is, if it is one.
func (r *rule) secret(s string, m []int) (start, end int, ok bool) {
	start, end = m[0], m[1]
	for i := 2; i < len(m); i += 2 {
		if m[i] >= 0 && (i == 2*r.Group || r.Group == 0 && m[i] < m[i+1]) {
			start, end = m[i], m[i+1]
			break
		}
	}
	if start >= end || r.Entropy > 0 && entropy(s[start:end]) <= r.Entropy {
		return 0, 0, false
	}
	return start, end, !r.allowed(s[start:end], s[m[0]:m[1]])
}

// allowed reports whether the secret is known for an example or a placeholder.
func (r *rule) allowed(secret, match string) bool {
	lower := strings.ToLower(secret)
	for i := range r.Allow {
		a, target := &r.Allow[i], secret
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

// Pattern is a shape of the owner's: a card number, the tokens of a program of their own.
type Pattern struct {
	Name  string `yaml:"name"`  // what a finding says; "own pattern" if empty
	Regex string `yaml:"regex"` // in Go's syntax. The group named secret is hidden, or all of the match
}

// compile refuses a pattern that can't do what its owner wants.
func (p Pattern) compile() (*rule, error) {
	made := &rule{ID: cmp.Or(p.Name, "own pattern"), Group: wholeMatch, loose: true}
	var err error
	if made.expr, err = regexp.Compile(p.Regex); err != nil {
		return nil, err
	}
	if made.expr.MatchString("") {
		return nil, errors.New("matches the empty text, so it would match everywhere")
	}
	if n := made.expr.SubexpIndex("secret"); n > 0 {
		made.Group = n
	}
	return made, nil
}

// Fault is what is wrong with one place of a [Config].
type Fault struct {
	At   string // such as patterns[1].regex
	Text string
}

func (f *Fault) Error() string { return f.At + ": " + f.Text }

// Faults are all that is wrong with a [Config].
type Faults []*Fault

func (f Faults) Error() string { return fmt.Sprint([]*Fault(f)) }
