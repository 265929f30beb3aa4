package channels

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func TestWhatIsWrittenIsShownLineByLine(t *testing.T) {
	for _, c := range []struct{ name, value, text string }{
		{"content", `"a\nb\n"`, "a\nb\n"},
		{"content", `"{\"a\":1}"`, `{"a":1}`}, // no quotes around a file of JSON
		{"content", `"  a"`, "  a"},
		{"content", `{"a":1}`, ""}, // no text
		{"content", `""`, ""},
		{"content", `" \n"`, ""}, // can't be seen
		{"other", `"a\nb"`, ""},
		{"edits", `[{"oldText":"a","newText":"b\nc"}]`, "- a\n+ b\n+ c"},
		{"edits", `[{"old_string":"a\n","new_string":""}]`, "- a\n- "},
		{"edits", `[{"oldText":"","newText":"+ a"}]`, "+ + a"},
		{"edits", `[{"newText":"b","oldText":"a"},{"oldText":"c","newText":"d","all":true,"why":"x\n+ y"}]`, "edit 1 of 2\n- a\n+ b\nedit 2 of 2\n- c\n+ d\nalso {\"all\":true,\"why\":\"x\\n+ y\"}"},
		{"edits", `[{"oldText":"a","newText":1}]`, ""},
		{"edits", `[{"oldText":"a"}]`, ""},
		{"edits", `["a"]`, ""},
		{"edits", `[]`, ""},
		{"edits", `{"oldText":"a","newText":"b"}`, ""},
		{"edits", `"[REDACTED: 9 chars]"`, "[REDACTED: 9 chars]"},
	} {
		text, written := bodyText(c.name, jsontext.Value(c.value))
		if written != (c.text != "") || written && text != c.text {
			t.Errorf("%s %s: %q, %v", c.name, c.value, text, written)
		}
	}
}

// FuzzChanges: every line of a text that goes or comes has its sign, and two edits that differ never look the same.
func FuzzChanges(f *testing.F) {
	f.Add("a\nb", "c", "a", "b\nc")
	f.Add("", "+ x", "- ", "")
	f.Fuzz(func(t *testing.T, before, after, before2, after2 string) {
		shown := func(a, b string) (string, bool) {
			x, err := jsontext.AppendQuote(nil, a)
			y, err2 := jsontext.AppendQuote(nil, b)
			if err != nil || err2 != nil {
				t.Skip("JSON can not hold it, so no call can")
			}
			return changes(jsontext.Value(`[{"oldText":` + string(x) + `,"newText":` + string(y) + `}]`))
		}
		one, ok := shown(before, after)
		if !ok {
			t.Fatalf("%q, %q can't be shown", before, after)
		}
		for line := range strings.SplitSeq(one, "\n") {
			if one != "" && !strings.HasPrefix(line, "- ") && !strings.HasPrefix(line, "+ ") {
				t.Fatalf("%q has no sign in %q", line, one)
			}
		}
		if two, _ := shown(before2, after2); one == two && (before != before2 || after != after2) {
			t.Fatalf("%q, %q and %q, %q both look like %q", before, after, before2, after2, one)
		}
	})
}
