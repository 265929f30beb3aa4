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

// TestLines reads testdata/lines.txt: what is before => gives the lines behind it.
func TestLines(t *testing.T) {
	for _, row := range lines(t, "lines.txt")[1:] {
		text, want, _ := strings.Cut(strings.ReplaceAll(strings.TrimPrefix(row, `\#`), "⏎", "\n"), " => ")
		if strings.HasPrefix(row, `\#`) {
			text = "#" + text
		}
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
