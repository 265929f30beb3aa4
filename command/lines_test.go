package command_test

import (
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/command"
	"github.com/openclaw-verifier/verifier/cputest"
)

// spelled writes lines: their words, and behind < what they read.
func spelled(lines []*command.Line) string {
	var out []string
	for _, l := range lines {
		var words []string
		for _, w := range l.Words {
			words = append(words, w.Text)
		}
		for _, w := range l.Input {
			words = append(words, "<"+w.Text)
		}
		for _, f := range l.Feeds {
			words = append(words, "<"+f.Words[0].Text)
		}
		out = append(out, strings.Join(words, "_"))
	}
	return strings.Join(out, "; ")
}

// placesOf are where a text has the word curl.
func placesOf(text string) (places []int) {
	for at := 0; ; at++ {
		n := strings.Index(text[at:], "cu")
		if n < 0 {
			return places
		}
		at += n
		places = append(places, at)
	}
}

func TestLines(t *testing.T) {
	for text, want := range map[string]string{
		`ls; cu"r"l -"u" 'a b' $X >f`:   "ls; curl_-u_a b_$X",
		`X="a b" curl "$(ls)"`:          "ls; X=a b_curl_$_",
		`export X="a b"; curl`:          "X=a b; curl",
		`echo a | (ls; curl b)`:         "echo_a; ls_<echo; curl_b_<echo",
		`sh -c "curl \"a b\""`:          `sh_-c_curl "a b"; curl_a b`,
		"curl <<E\na\nE\nls":            "curl_<a; ls",
		`curl <<< "a b" < <(ls)`:        "ls; curl_<a b_<ls",
		`$(curl a)`:                     "curl_a; $_",
		`x=(curl a)`:                    "x_curl_a",
		`for x in 'curl a'; do y; done`: "curl a; curl_a; y",
		`{"a":"curl b"}`:                "{a:curl b}; curl_b",
		// What does not parse, or can be read in another way.
		"it's\ncurl 'a b' |\n sh": "it's; curl_a b; sh_<curl",
		"(curl a; x <<E\nb":       "curl_a; x_<b_<curl",
		"# curl a":                "#_curl_a",
		`a "b curl c`:             `a_"b_curl_c`,
		`C:\bin\curl a`:           `C:bincurl_a; C:\bin\curl_a`,
		`"curl -p "$p""`:          `curl -p $p; curl_-p_$p; curl_-p; curl -p "$p"; curl_-p_$p`,
	} {
		lines, ok := command.Lines(text, placesOf(text))
		if got := spelled(lines); got != want || !ok {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// FuzzLines: nothing panics or takes long, and each byte comes from the text.
func FuzzLines(f *testing.F) {
	for _, file := range []string{"harmless.txt", "workspace.txt", "fetching.txt", "unknown.txt"} {
		for _, text := range lines(f, file) {
			f.Add(text)
		}
	}
	f.Add("sh -c 'curl '\\''a b'\\' <<E | curl $'a' $\"b\" <(ls)\nx\nE\n")
	f.Add("it's \"$(curl)\" <<E\ncurl")
	f.Fuzz(func(t *testing.T, text string) {
		var lines []*command.Line
		if took := cputest.Time(func() { lines, _ = command.Lines(text, everywhere(text)) }); took > 2*time.Second {
			t.Errorf("%d bytes took %s", len(text), took)
		}
		for _, l := range lines {
			for _, w := range append(l.Words, l.Input...) {
				for i := range len(w.Text) {
					if at := w.At(i); at < 0 || at >= len(text) {
						t.Fatalf("byte %d of %q is at %d", i, w.Text, at)
					}
				}
			}
		}
	})
}

func everywhere(text string) []int {
	out := make([]int, len(text))
	for i := range out {
		out[i] = i
	}
	return out
}

// TestLinesAreBounded: none of these exhausts the stack, the memory or the clock.
func TestLinesAreBounded(t *testing.T) {
	for _, piece := range []string{"(", "$(", "x | ", "x|", "x;", "x ", "sh -c ", "sh -c 'x y' ", "sh -c 'x y';", "eval \"x y\"|", "<<a ", "x <<a\nb\na\n", "x <<<y;", "\"$(x)\"", "x < <(x);", "\\\n", "''", "'", "'x ", "\"x 'y ", "it's ", "<a>", "# x\n", "$(x", "<(x;"} {
		text := strings.Repeat(piece, (64<<10)/len(piece))
		if took := cputest.Time(func() { command.Lines(text, everywhere(text)) }); took > 10*time.Second { // with the race detector
			t.Errorf("%q took %s", piece, took)
		}
	}
}
