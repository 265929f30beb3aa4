package web

import (
	"strings"
	"testing"
)

func TestACommandIsCutAtSpacesAndNowhereElse(t *testing.T) {
	for text, want := range map[string]string{
		"rm -rf --no-preserve-root build": "rm |[-rf]| |[--no-preserve-root]| build",
		"make deploy":                     "make deploy",
		"a\n  b --c=d\n":                  "a\n  b |[--c=d]|\n",
		"x⟨U+200B and more⟩y -z":          "[x⟨U+200B and more⟩y]| |[-z]",
		"":                                "",
		" ":                               " ",
	} {
		var got []string
		for _, w := range words(text) {
			piece := ""
			for _, s := range w.Spans {
				piece += s.Text
			}
			if w.Whole {
				piece = "[" + piece + "]"
			}
			got = append(got, piece)
		}
		if joined := strings.Join(got, "|"); joined != want {
			t.Errorf("%q is cut into %q, want %q", text, joined, want)
		}
	}
}

// FuzzWords: whatever the text, nothing of it is lost or added.
func FuzzWords(f *testing.F) {
	for _, s := range []string{"a -b ⟨x y⟩ c", "⟨", "⟩⟨ -", "\xff -\xfe", "\u2003-x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var all strings.Builder
		for _, w := range words(s) {
			for _, span := range w.Spans {
				all.WriteString(span.Text)
			}
		}
		if all.String() != s {
			t.Errorf("%q became %q", s, all.String())
		}
	})
}
