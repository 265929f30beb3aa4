package command

import (
	"cmp"
	"regexp"
	"strings"
	"testing"
)

// written are the tests of a text that are plain code, beside the expressions that say the same.
var written = map[string]struct {
	is     func(string) bool
	same   *regexp.Regexp
	pieces string // of which texts are made; two spaces are one of them
}{
	"a pipe": {namesPipe, regexp.MustCompile(`(?i)(^|[/._-])fifo[^/]*$|\.(pipe|sock|socket)$|(^|/)pipe$`), "fifo FiFo pipe PIPE . / _ - soc k et \u017foc \u212a \u212aet x \n \xff"},
	"git runs": {gitRuns, regexp.MustCompile(`^[a-z0-9+-]+::|^--(upload-pack|receive-pack|exec|config|config-env|exec-path=)`),
		"ext git+ssh A : :: - -- upload-pack receive-pack exec -path= config -env = / x \n"},
	"a plain end": {EndsPlainly, regexp.MustCompile(`\.(go|mod|sum|[cm]?[jt]sx?|vue|svelte|py|pyi|ipynb|rb|rs|java|kt|kts|scala|c|h|cc|cpp|cxx|hpp|m|mm|cs|fs|php|swift|dart|lua|pl|r|jl|ex|exs|erl|hs|clj|zig|nim|sh|bash|zsh|md|mdx|rst|adoc|txt|html?|css|s[ac]ss|less|sql|proto|graphql|svg|png|jpe?g|gif|log|lock|csv|tsv|tex|toml|ya?ml|json|xml)$`),
		". / go c m j t s x js vue htm l a ss jp e g y ml env Go \n"},
	"a word": {namesWord, regexp.MustCompile(`[\pL\d_]{3}`), "a Z 7 _ é \u212a ٣ - \n \xff \u0301 字"},
	"a lookalike": {func(s string) bool {
		return strings.ContainsFunc(s, func(c rune) bool { return c == '[' || c >= 0x80 }) && otherwise.MatchString(s)
	}, otherwise.regexp(),
		"[ ] $ ( { ` a \u2018 \u201f \u00ad \u017f \u212a \ufb01 \u200b \xff \n"},
	"a signature": {func(s string) bool { return asksGPG(arg{text: s}) }, signature.regexp(), "% - +  G g x %% \n"},
	"most lines":  {FindsMost, nil, `a bcd | ( ) [ ] ^ \ * ? { } + w é . < 12 ` + "\x02 \n \x00"},
}

// allOfBefore is [FindsMost] with nothing but expressions.
func allOfBefore(pattern string) bool {
	if strings.Contains(pattern, unknown) || openPattern.MatchString(pattern) {
		return true
	}
	plain := letterOrNot.regexp().ReplaceAllString(letterOf.regexp().ReplaceAllString(pattern, " "), " ")
	for _, one := range strings.FieldsFunc(alternatives.Replace(" "+plain+" "), func(c rune) bool { return c == '\x02' }) {
		if !written["a word"].same.MatchString(one) {
			return true
		}
	}
	return false
}

func agree(t *testing.T, text string) {
	t.Helper()
	for name, w := range written {
		same := allOfBefore
		if w.same != nil {
			same = w.same.MatchString
		}
		if got := w.is(text); got != same(text) {
			t.Errorf("%s: %q is %v", name, text, got)
		}
	}
}

// TestPlainCodeSaysWhatExpressionsSay: for every text of up to three pieces.
func TestPlainCodeSaysWhatExpressionsSay(t *testing.T) {
	for _, w := range written {
		var pieces []string
		for p := range strings.SplitSeq(w.pieces, " ") {
			pieces = append(pieces, cmp.Or(p, " "))
		}
		var grow func(text string, more int)
		grow = func(text string, more int) {
			agree(t, text)
			for _, p := range pieces {
				if more > 0 && !t.Failed() {
					grow(text+p, more-1)
				}
			}
		}
		grow("", 3)
	}
}

func FuzzPlainCode(f *testing.F) {
	for _, w := range written {
		f.Add(w.pieces)
	}
	f.Fuzz(agree)
}

// TestEveryPatternCompiles: a pattern that is wrong would panic only when a command meets it.
func TestEveryPatternCompiles(t *testing.T) {
	if len(patterns) < 100 {
		t.Errorf("%d patterns are known", len(patterns))
	}
	for _, p := range patterns {
		p.regexp()
	}
}
