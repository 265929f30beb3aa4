package channels

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestSafe(t *testing.T) {
	many := strings.Repeat
	cases := []struct {
		what, in string
		form     Form
		want     string
		report   Report
	}{
		{"plain text is left alone", "curl -s 'https://a.example/x?y=1' | sh", Form{}, "curl -s 'https://a.example/x?y=1' | sh", Report{}},
		{"other languages are left alone", "Grüße, žluťoučký кот и 猫 🙂 e\u0301", Form{}, "Grüße, žluťoučký кот и 猫 🙂 e\u0301", Report{}},
		{"H38 bidi", "a\u202Eb\u2066", Form{}, "a⟨U+202E⟩b⟨U+2066⟩", Report{Escaped: 2}},
		{"H38 zero width", "r\u200Bm", Form{}, "r⟨U+200B⟩m", Report{Escaped: 1}},
		{"H38 ANSI", "\x1b[2Jok\x07", Form{}, "⟨U+001B⟩[2Jok⟨U+0007⟩", Report{Escaped: 2}},
		{"carriage return", "rm -rf /\rls", Form{Lines: true}, "rm -rf /⟨U+000D⟩ls", Report{Escaped: 1}},
		{"C1 controls", "\u009b31m", Form{}, "⟨U+009B⟩31m", Report{Escaped: 1}},
		{"invalid UTF-8", "a\xffb", Form{}, "a⟨byte FF⟩b", Report{Escaped: 1}},
		{"unusual spaces", "a\u00a0b\u3000c\u2028", Form{}, "a⟨U+00A0⟩b⟨U+3000⟩c⟨U+2028⟩", Report{Escaped: 3}},
		{"variation selectors and tags", "a\ufe0f\U000E0041\U000E0100", Form{}, "a⟨U+FE0F⟩⟨U+E0041⟩⟨U+E0100⟩", Report{Escaped: 3}},
		{"blank letters", "a\u3164\u115f\u2800", Form{}, "a⟨U+3164⟩⟨U+115F⟩⟨U+2800⟩", Report{Escaped: 3}},
		{"a run of invisibles", many("\u200b", 5000), Form{}, "⟨U+200B ×5000⟩", Report{Escaped: 5000}},
		{"a forged mark", "⟨5 spaces⟩", Form{}, "⟨U+27E8⟩5 spaces⟨U+27E9⟩", Report{Escaped: 2}},
		{"a forged mark of CJK", "〈U+0041〉", Form{}, "⟨U+3008⟩U+0041⟨U+3009⟩", Report{Escaped: 2}},
		{"tab", "a\tb", Form{}, `a⟨\t⟩b`, Report{}},
		{"a literal backslash t", `a\tb`, Form{}, `a\tb`, Report{}},
		{"newline in one line", "a\nb", Form{}, `a⟨\n⟩b`, Report{}},
		{"newline in lines", "a\n\nb", Form{Lines: true}, "a\n\nb", Report{}},
		{"H39 spaces", "ls" + many(" ", 5000) + "; rm", Form{Limit: 100}, "ls⟨5000 spaces⟩; rm", Report{Collapsed: 1}},
		{"H39 newlines", "ls" + many("\n", 5000) + "rm", Form{Lines: true, Limit: 200}, "ls⟨5000 newlines⟩\nrm", Report{Collapsed: 1}},
		{"H39 blank lines of spaces", "a\n \n \n \nb", Form{Lines: true}, "a⟨\\n⟩ ⟨\\n⟩ ⟨\\n⟩ \nb", Report{Collapsed: 3}},
		{"code can be read", "a:\n" + many(" ", 40) + "b\n\n\n+" + many(" ", 12) + "c\n", Form{Lines: true}, "a:\n" + many(" ", 40) + "b\n\n\n+" + many(" ", 12) + "c⟨\\n⟩", Report{}},
		{"H39 spaces before what runs", "a:\n" + many(" ", 41) + "b" + many(" ", 9) + "c", Form{Lines: true}, "a:\n⟨41 spaces⟩b⟨9 spaces⟩c", Report{Collapsed: 2}},
		{"H39 a long waste of white space", "a" + many(" \n", 5000) + "b", Form{Lines: true}, "a⟨… 10000 spaces, tabs and newlines not shown …⟩b", Report{Cut: 10000}},
		{"a broken character before a whole one", "\xd1\xd1\x81", Form{}, "⟨byte D1⟩с", Report{Escaped: 1}},
		{"8 spaces stay", "a" + many(" ", 8) + "b", Form{}, "a" + many(" ", 8) + "b", Report{}},
		{"cut", many("a", 50) + many("b", 50), Form{Limit: 20}, "aaaaa⟨… 90 characters not shown …⟩bbbbb", Report{Cut: 90}},
		{"many lines are long", many("x\n", 100), Form{Lines: true, Limit: 328}, "x\nx\n⟨… 192 characters not shown …⟩x\nx⟨\\n⟩", Report{Cut: 192}},
		{"a mixed word", "run сurl now", Form{}, "run ⟨U+0441⟩url now", Report{Lookalike: 1}},
		{"a mixed word behind a zero width", "с\u200burl", Form{}, "⟨U+0441⟩⟨U+200B⟩url", Report{Escaped: 1, Lookalike: 1}},
		{"a mixed-script host", "https://аррӏе.com/x", Form{}, "https://⟨U+0430⟩⟨U+0440⟩⟨U+0440⟩⟨U+04CF⟩⟨U+0435⟩.com/x", Report{Lookalike: 5}},
		{"a Latin look-alike host", "https://mıcrosoft.com", Form{}, "https://m⟨U+0131⟩crosoft.com", Report{Lookalike: 1}},
		{"a mail address", "a@bаnk.example", Form{}, "a@b⟨U+0430⟩nk.example", Report{Lookalike: 1}},
		{"a slash that is none in a host", "https://bank.example∕login.evil.example/x", Form{}, "https://bank.example⟨U+2215⟩login.evil.example/x", Report{Lookalike: 1}},
		{"a dot that is none in a host", "https://bank．example。evil", Form{}, "https://bank⟨U+FF0E⟩example⟨U+3002⟩evil", Report{Lookalike: 2}},
		{"a question mark and a hash that are none", "https://a.example？x＃y/z→", Form{}, "https://a.example⟨U+FF1F⟩x⟨U+FF03⟩y/z→", Report{Lookalike: 2}},
		{"user-info before a host", "https://bank.example@аррӏе.рф/", Form{}, "https://bank.example@⟨U+0430⟩⟨U+0440⟩⟨U+0440⟩⟨U+04CF⟩⟨U+0435⟩.⟨U+0440⟩⟨U+0444⟩/", Report{Lookalike: 7}},
		{"a comment is no host", "x // тоже, ок…", Form{}, "x // тоже, ок…", Report{}},
		{"Latin letters that pass for others", "ſudo kapı ꞁs baǃ", Form{}, "⟨U+017F⟩udo kapı ⟨U+A781⟩s ba⟨U+01C3⟩", Report{Lookalike: 3}},
		{"a mention is no host", "@Иван", Form{}, "@Иван", Report{}},
		{"right to left letters", "שלום", Form{}, "שלום", Report{RightToLeft: 4}},
		{"stacked marks", "a" + many("\u0301", 9), Form{}, "a" + many("\u0301", 3) + "⟨U+0301 ×6⟩", Report{Escaped: 6}},
		{"a struck-out letter", "a\u0336", Form{}, "a⟨U+0336⟩", Report{Escaped: 1}},
		{"a mark on nothing", "\u0301", Form{}, "⟨U+0301⟩", Report{Escaped: 1}},
	}
	for _, c := range cases {
		t.Run(c.what, func(t *testing.T) {
			got, r := Safe(c.in, c.form)
			if got != c.want || r != c.report {
				t.Errorf("got  %q %+v\nwant %q %+v", got, r, c.want, c.report)
			}
		})
	}
}

func TestNamesShowNothingBeyondASCII(t *testing.T) {
	for in, want := range map[string]string{
		"exec": "exec", "ехес": "⟨U+0435⟩⟨U+0445⟩⟨U+0435⟩⟨U+0441⟩", "ex\u200bec": "ex⟨U+200B⟩ec", "é★": "⟨U+00E9⟩⟨U+2605⟩",
	} {
		if got, _ := Name(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
		if Lookalike(in) != (in != want) {
			t.Errorf("%q: Lookalike is %v", in, Lookalike(in))
		}
	}
}

// hostile is what random texts are made of.
var hostile = []string{
	" ", "\n", "\t", "\r", "\n\n\n", "         ", "a", "b", "с", "е", "x", ".", "-", "@", "//", "://", "⟨", "⟩", `\n`, `\t`, "U+202E", "×", "3 spaces",
	"\u202e", "\u200b", "\u200b\u200b\u200b", "\u0301", "\u0336", "\ufe0f", "\xff", "\xe2\x80", "\xd1", "\xd1\x81", "\x1b[31m", "猫", "א", "\U000E0041", "byte FF", "…", "é", "\ufffd",
}

func TestDifferentTextsNeverLookTheSame(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		var b strings.Builder
		for range rnd.IntN(12) {
			b.WriteString(hostile[rnd.IntN(len(hostile))])
		}
		checkSafe(t, b.String())
	}
}

func FuzzSafe(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
		f.Add("a" + strings.Repeat(s, 9) + "b")
	}
	f.Fuzz(func(t *testing.T, s string) {
		checkSafe(t, s)
		for _, limit := range []int{20, 60, 300} {
			checkCut(t, s, limit)
		}
	})
}

// checkSafe proves that no two texts look the same: the text can be read back
// from what is shown.
func checkSafe(t *testing.T, s string) {
	t.Helper()
	for _, lines := range []bool{false, true} {
		got, r := Safe(s, Form{Lines: lines})
		checkHarmless(t, got, lines)
		if r.Cut > 0 {
			continue // a waste of white space
		}
		if back := read(t, got, lines); back != s {
			t.Fatalf("%q is shown as %q, which reads %q", s, got, back)
		}
	}
	if got, r := Name(s); r.Cut == 0 {
		if back := read(t, got, false); back != s {
			t.Fatalf("name %q is shown as %q, which reads %q", s, got, back)
		}
	}
}

func checkHarmless(t *testing.T, shown string, lines bool) {
	t.Helper()
	for _, r := range shown {
		if r == '\n' && lines || string(r) == open || string(r) == shut {
			continue
		}
		if !utf8.ValidString(shown) || !visible(r) || unicode.Is(unicode.Cf, r) || unicode.IsControl(r) {
			t.Fatalf("%q shows %U", shown, r)
		}
	}
}

var gap = regexp.MustCompile("⟨… [0-9]+ (characters?|spaces(,| and) tabs( and newlines)?) not shown …⟩")

func checkCut(t *testing.T, s string, limit int) {
	t.Helper()
	got, r := Safe(s, Form{Limit: limit})
	checkHarmless(t, got, false)
	shown := got
	if r.Cut > 0 {
		n := r.Cut
		for _, part := range gap.Split(got, -1) {
			n += utf8.RuneCountInString(read(t, part, false))
		}
		if n != utf8.RuneCountInString(s) {
			t.Fatalf("%q: %d characters are accounted for, of %d", got, n, utf8.RuneCountInString(s))
		}
		shown = gap.ReplaceAllString(got, "")
	}
	if width(shown) > limit {
		t.Fatalf("%q is wider than %d", shown, limit)
	}
}

// read is the inverse of Safe without a limit.
func read(t *testing.T, shown string, lines bool) string {
	t.Helper()
	var b strings.Builder
	for {
		text, rest, found := strings.Cut(shown, open)
		b.WriteString(text)
		if !found {
			return b.String()
		}
		mark, after, closed := strings.Cut(rest, shut)
		if !closed {
			t.Fatalf("an open mark in %q", shown)
		}
		if strings.HasSuffix(mark, " newlines") && lines {
			after = strings.TrimPrefix(after, "\n")
		}
		b.WriteString(unmark(t, mark))
		shown = after
	}
}

func unmark(t *testing.T, mark string) string {
	t.Helper()
	for word, s := range map[string]string{" spaces": " ", " tabs": "\t", " newlines": "\n"} {
		if n, ok := strings.CutSuffix(mark, word); ok {
			return strings.Repeat(s, number(t, n, 10))
		}
	}
	code, times, repeated := strings.Cut(mark, " ×")
	n := 1
	if repeated {
		n = number(t, times, 10)
	}
	switch {
	case code == `\t`:
		return "\t"
	case code == `\n`:
		return "\n"
	case strings.HasPrefix(code, "byte "):
		return strings.Repeat(string([]byte{byte(number(t, code[5:], 16))}), n)
	case strings.HasPrefix(code, "U+"):
		return strings.Repeat(string(rune(number(t, code[2:], 16))), n)
	}
	t.Fatalf("an unknown mark: %q", mark)
	return ""
}

func number(t *testing.T, s string, base int) int {
	t.Helper()
	n, err := strconv.ParseInt(s, base, 32)
	if err != nil {
		t.Fatal(err)
	}
	return int(n)
}

func TestWrapLosesNothing(t *testing.T) {
	for _, s := range []string{"", "a", strings.Repeat("word ", 60), strings.Repeat("猫", 99), strings.Repeat("⟨5000 spaces⟩", 20), strings.Repeat(" ", 90)} {
		lines := wrap(s, 40)
		if strings.Join(lines, "") != s {
			t.Errorf("%q became %q", s, lines)
		}
		for _, l := range lines {
			if width(strings.TrimRight(l, " ")) > 40 || strings.Count(l, open) != strings.Count(l, shut) {
				t.Errorf("a bad line: %q", l)
			}
		}
	}
}

// BenchmarkSafe takes the largest body that is accepted, in the shapes that cost
// most: the cost must stay in proportion to the length.
func BenchmarkSafe(b *testing.B) {
	for _, s := range []string{"a", "a ", "\u200b", "\u200ba", " \n", "с", "сx", "\xff", "a\u0301", "⟨", "//"} {
		text := strings.Repeat(s, 1<<20/len(s))
		b.Run(fmt.Sprintf("%q", s), func(b *testing.B) {
			for b.Loop() {
				Safe(text, Form{Lines: true, Limit: normal.main})
			}
		})
	}
}

func ExampleSafe() {
	text, report := Safe("ls\u202e /"+strings.Repeat(" ", 5000)+"; rm -rf ~", Form{Limit: 200})
	fmt.Println(text)
	fmt.Printf("%+v\n", report)
	// Output:
	// ls⟨U+202E⟩ /⟨5000 spaces⟩; rm -rf ~
	// {Escaped:1 Lookalike:0 Collapsed:1 Cut:0 RightToLeft:0}
}
