package redact

import (
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

// allWords are the words at which something may be, and what is done there. They are read when they are needed first.
var allWords = sync.OnceValue(func() []word {
	all := []word{{"-----begin", (*finder).pem}}
	for w := range strings.FieldsSeq(nameWords) {
		all = append(all, word{w, (*finder).name})
	}
	for w := range byProgram {
		all = append(all, word{w, (*finder).program})
	}
	for _, rule := range loadRules() {
		for _, w := range rule.Words {
			all = append(all, word{w, func(f *finder, start, end int) { f.try(rule, start, end) }})
		}
	}
	return all
})

// wordsOf are those of some secrets that are known by their value.
func wordsOf(secrets []string) (all []word) {
	for _, s := range secrets {
		for _, text := range written(s) {
			all = append(all, word{text[:minKnown], func(f *finder, start, _ int) {
				if hasFold(f.s[start:], text) {
					f.add(start, start+len(text))
				}
			}})
		}
	}
	return all
}

// minKnown is the shortest secret that is looked for by its value, in bytes: a shorter one could be any word.
const minKnown = 8

// written are the forms in which a secret is looked for: as it is, in hex, and in base64 wherever it begins there. The
// secret that is a key in hex is also one in base64.
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
	return out
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
	Allow []*allowlist
	Rules []*rule
}

// rule says what a secret looks like.
type rule struct {
	ID      string // of gitleaks
	Regex   string
	Words   []string     `json:",omitempty"` // in small letters; if none is in a text, the rule finds nothing
	At      string       `json:",omitempty"` // "word": it is tried there; "begin": if it begins there; "": everywhere
	Group   int          `json:",omitempty"` // the secret's; 0: the first that is not empty
	Entropy float64      `json:",omitempty"`
	Allow   []*allowlist `json:",omitempty"`

	expr  func() *regexp.Regexp // compiled when it is needed first
	loose bool                  // what it finds is not surely a secret
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

	expr func() *regexp.Regexp // of all Regexes
}

// shapes are rules of ours in the same form.
var shapes = []*rule{
	{At: atBegin,
		Words: strings.Fields("gho_ ghp_ ghu_ ghs_ ghr_ github_pat_ glpat- dckr_pat_ xox whsec_ sk_ rk_"),
		Regex: `(?:gh[opusr]_|github_pat_|glpat-|dckr_pat_|xox[a-eprs]-|whsec_|[sr]k_(?:live|test)_)[\w-]{10,}`},
	{At: atBegin, Words: strings.Fields("hf_ npm_ akia asia aiza"),
		Regex: `(?:hf_|npm_|AKIA|ASIA|AIza)[\dA-Za-z-]{16,}`},
	{At: atBegin, Words: []string{"sk-", "xapp-", "tskey-"},
		Regex: `(?:sk-|xapp-|tskey-)[A-Za-z_-]*\d[\w-]{15,}`},
	{At: atBegin, Words: []string{"eyj"}, Regex: `eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*`},
	{Words: []string{":aa"}, Regex: `\d{6,12}:AA[\w-]{30,}`}, // Telegram
	{At: atBegin, Words: []string{"mt", "mj", "mz"},
		Regex: `M[Tjz][\w-]{20,28}\.[\w-]{6,7}\.[\w-]{20,}`},
	{loose: true, At: atWord, Words: []string{"://"},
		Regex: `://[^\s/?#"'<>:@]*:([^\s/?#"'<>]+|[^\s"'<>/\d][^\s"'<>]*)@`},
	{loose: true, At: atWord, Words: []string{"://"}, Regex: `://([\w.-]*\d[\w.-]{12,})[:@]`},
	{loose: true, Words: []string{"@tcp(", "@unix("}, Regex: `[^\s:@/"'=]+:([^\s@/]+)@(?:tcp|unix)\(`},
	{loose: true, At: atWord, Words: query, Regex: `(?i)[?&#;][\w-]+=([^\s&#;"'<>` + "`" + `]{6,})`},
	{loose: true, At: atBegin, Words: []string{"bearer"}, Regex: `(?i)bearer +([\w.~+/-]{8,}=*)`, Entropy: 2.8},
	{loose: true, At: atBegin, Words: []string{"basic"}, Regex: `(?i)basic +(\w*[\d+/=][\w+/]{4,}=*|\w{4,}=+)`},
	{loose: true, At: atWord, Words: []string{"authorization"},
		Regex: `(?i)authorization[\\"'\]]*\s*(?:=>|[:=,])\s*[\\"']*(?:` +
			`(?:bearer|basic|token|bot|apikey|key|negotiate) +([^\s"'\\,]+)|` +
			`((?:digest|aws4-hmac-sha256) [^\n']+)|([^"'\\\n]+))`},
	{loose: true, At: atWord, Words: []string{"cookie:", `cookie":`, "cookie':", `cookie\":`},
		Regex: `(?i)cookie[\\"']*:\s*[\\"']*([^"'\\\n]+)`},
	{loose: true, At: atWord, Words: []string{"-h ", "--header "},
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

// loadRules makes all rules ready to be tried. It panics at an error: the table is ours.
func loadRules() []*rule {
	var t tabled
	if err := json.Unmarshal(rulesTable, &t); err != nil {
		panic(err)
	}
	for _, r := range t.Rules {
		r.loose, r.Allow = r.ID == generic, append(r.Allow, t.Allow...)
	}
	references := &allowlist{Regexes: []string{reference.String()}, Words: []string{"x-oauth-basic"}}
	for _, r := range shapes {
		r.Allow = []*allowlist{references}
	}
	all := slices.Concat(t.Rules, shapes)
	for _, r := range all {
		r.expr = lazily(r.Regex)
		if r.At != "" {
			r.expr = lazily(`^(?:` + r.Regex + `)`)
		}
		for _, a := range r.Allow {
			a.expr = lazily("(?:" + strings.Join(a.Regexes, ")|(?:") + ")")
		}
	}
	return all
}

// lazily compiles an expression when it is needed first: to compile all would take longer than the start of a program.
func lazily(source string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(source) })
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
	for _, a := range r.Allow {
		target := secret
		if a.Match {
			target = match
		}
		if slices.ContainsFunc(a.Words, func(w string) bool { return strings.Contains(lower, w) }) ||
			len(a.Regexes) > 0 && a.expr().MatchString(target) {
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
	Name  string `yaml:"name"`  // what the owner calls it
	Regex string `yaml:"regex"` // in Go's syntax. The group named secret is hidden, or all of the match
}

// compile refuses a pattern that can't do what its owner wants.
func (p Pattern) compile() (*rule, error) {
	expr, err := regexp.Compile(p.Regex)
	if err != nil {
		return nil, err
	}
	if expr.MatchString("") {
		return nil, errors.New("matches the empty text, so it would match everywhere")
	}
	made := &rule{Group: wholeMatch, loose: true, expr: func() *regexp.Regexp { return expr }}
	if n := expr.SubexpIndex("secret"); n > 0 {
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
