package web

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// drawn is an edit as a person reads it.
func drawn(views []editView) string {
	var b strings.Builder
	for _, v := range views {
		fmt.Fprintf(&b, "%s\n", v.Path)
		for _, l := range v.Lines {
			fmt.Fprintf(&b, "%s%s\n", l.Sign, l.Text)
		}
	}
	return b.String()
}

func TestAnEditIsShownAsWhatGoesAndWhatComes(t *testing.T) {
	long := strings.Repeat("x\\n", 10)
	for params, want := range map[string]string{
		`{"path":"a.go","edits":[{"oldText":"one\ntwo\nthree","newText":"one\n2\nthree"}]}`:     "a.go\n one\n−two\n+2\n three\n",
		`{"file_path":"a","old_string":"x","new_string":""}`:                                    "a\n−x\n",
		`{"path":"a","content":"x\ny\n"}`:                                                       "a\n+x\n+y\n",
		`{"path":"a","contentBase64":"` + base64.StdEncoding.EncodeToString([]byte("z")) + `"}`: "a\n+z\n",
		`{"path":"README.md","file_path":"~/.ssh/authorized_keys","content":"k"}`:               "README.md or ~/.ssh/authorized_keys\n+k\n",
		`{"patch":"--- a\n+++ b\n@@ -1 +1 @@\n+++ x\n--- y"}`:                                   "\n --- a\n +++ b\n @@ -1 +1 @@\n+++ x\n−-- y\n",
		`{"patch":"@@ -1 +1 @@\n-a\n+b\n c"}`:                                                   "\n @@ -1 +1 @@\n−a\n+b\n c\n",
		`{"path":"a","oldText":"` + long + `a","newText":"` + long + `b"}`:                      "a\n…7 lines that stay\n x\n x\n x\n−a\n+b\n",
		`{"path":"a","newText":"b\u202ec"}`:                                                     "a\n+b⟨U+202E⟩c\n",
		`{"command":"date"}`:                                                                    "",
		`[1]`:                                                                                   "",
	} {
		if got := drawn(edits("edit", jsontext.Value(params))); got != want {
			t.Errorf("%s\nis drawn as\n%s", params, got)
		}
	}
	if got := drawn(edits("apply_patch", jsontext.Value(`{"input":"*** Update File: a\n+b"}`))); got != "\n *** Update File: a\n+b\n" {
		t.Errorf("a patch:\n%s", got)
	}
}

func FuzzEdits(f *testing.F) {
	f.Add("edit", `{"path":"a","edits":[{"oldText":"one\ntwo","newText":"one\n2"}]}`)
	f.Add("apply_patch", `{"input":"@@\n-a\n+b"}`)
	f.Add("file_write", `{"contentBase64":"AAAA","content":1,"edits":{}}`)
	f.Fuzz(func(t *testing.T, tool, params string) {
		for _, v := range edits(tool, jsontext.Value(params)) {
			if len(v.Lines) > maxDrawn+1 {
				t.Fatalf("%d lines", len(v.Lines))
			}
			for _, l := range v.Lines {
				if strings.ContainsAny(l.Text, "\n\x00\u202e") {
					t.Fatalf("%q is shown", l.Text)
				}
			}
		}
	})
}

// What goes and what comes, put together again, are the two texts.
func FuzzCompared(f *testing.F) {
	f.Add("a\nb\nc", "a\nx\nc")
	f.Add("", "x")
	f.Fuzz(func(t *testing.T, before, after string) {
		goes, comes := 0, 0
		for _, l := range compared(before, after) {
			switch l.Kind {
			case removed:
				goes++
			case added:
				comes++
			}
		}
		a, b := len(split(before)), len(split(after))
		if before == "" {
			a = 0
		}
		if after == "" {
			b = 0
		}
		if goes <= maxCompared && comes <= maxCompared && b-a != comes-goes {
			t.Fatalf("%d lines become %d: %d go and %d come", a, b, goes, comes)
		}
	})
}
