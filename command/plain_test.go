package command_test

import (
	"strings"
	"testing"
	"time"

	"github.com/openclaw-verifier/verifier/command"
)

func isCurl(word string) bool { return word == "curl" }

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		`ls; cu\rl -"u" 'a b' $X "$(ls)" >f`: "curl -u \"a b\" $X $_\n\n",
		`echo a | (ls; curl b)`:              "echo a | curl b\n\n",
		`sh -c 'curl '\''a b'\'`:             "curl \"a b\"\n\n",
		"curl <<E\na\nE\nls":                 "curl <<_\na\n_\n\n",
		`curl <<< "a b"`:                     "curl <<< \"a b\"\n\n",
		`curl 'a\n' "it's"`:                  "curl 'a\\n' \"it's\"\n\n",
		`$(curl a)`:                          "curl a\n\n",
		`echo curl's`:                        "",
		`ls`:                                 "",
	} {
		if got, _ := command.Plain(text, isCurl); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// FuzzPlain: nothing panics or takes long, and each byte comes from the text.
func FuzzPlain(f *testing.F) {
	for _, file := range []string{"harmless.txt", "workspace.txt", "fetching.txt", "unknown.txt"} {
		for _, text := range lines(f, file) {
			f.Add(text)
		}
	}
	f.Add("sh -c 'curl '\\''a b'\\' <<E | curl $'a' $\"b\" <(ls)\nx\nE\n")
	f.Fuzz(func(t *testing.T, text string) {
		start := time.Now()
		plain, from := command.Plain(text, func(string) bool { return true })
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("%d bytes took %s", len(text), took)
		}
		if len(plain) != len(from) {
			t.Fatalf("%d bytes come from %d places", len(plain), len(from))
		}
		for i, at := range from {
			if at >= len(text) || at >= 0 && text[at] != plain[i] && plain[i] != '$' && plain[i] != '_' {
				t.Fatalf("byte %d of %q does not come from %d", i, plain, at)
			}
		}
	})
}

// TestPlainFormsAreBounded: none of these exhausts the stack, the memory or the clock.
func TestPlainFormsAreBounded(t *testing.T) {
	for _, piece := range []string{"(", "$(", "x | ", "x|", "x;", "x ", "sh -c ", "sh -c 'x y' ", "sh -c 'x y';", "eval \"x y\"|", "<<a ", "x <<a\nb\na\n", "x <<<y;", "\"$(x)\"", "x < <(x);", "\\\n", "''", "'"} {
		start := time.Now()
		command.Plain(strings.Repeat(piece, (64<<10)/len(piece)), func(string) bool { return true })
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("%q took %s", piece, took)
		}
	}
}
