package channels

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/internal/approval"
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
		{"edits", `[{"oldText":"a\nb\nc","newText":"a\nx\nc"}]`, "  a\n- b\n+ x\n  c"},
		{"edits", `[{"oldText":"a\n","newText":"a"}]`, "  a\n- "},
		{"edits", `[{"oldText":"a","newText":1}]`, ""},
		{"edits", `[{"oldText":"a"}]`, ""},
		{"edits", `["a"]`, ""},
		{"edits", `[]`, ""},
		{"edits", `{"oldText":"a","newText":"b"}`, ""},
		{"edits", `"[REDACTED: 9 chars]"`, "[REDACTED: 9 chars]"},
	} {
		text, written := bodyText(c.name, jsontext.Value(c.value), budget())
		if written != (c.text != "") || written && text != c.text {
			t.Errorf("%s %s: %q, %v", c.name, c.value, text, written)
		}
	}
}

// budget is what one call may cost.
func budget() *cells {
	left := mostCompared
	return &left
}

// TestManyEditsCostNoMoreThanOne: lines are compared as long as the call's budget lasts. Beyond it every line of both sides is still shown.
func TestManyEditsCostNoMoreThanOne(t *testing.T) {
	const edits, lines = 420, 400
	one := `{"oldText":"` + strings.Repeat(`a\n`, lines-2) + `same\na","newText":"` + strings.Repeat(`b\n`, lines-2) + `same\nb"}`
	left := budget()
	text, shown := changes(jsontext.Value("["+strings.Repeat(one+",", edits-1)+one+"]"), left)
	if !shown || *left != 0 {
		t.Fatalf("shown: %v, %d pairs of lines are left", shown, *left)
	}
	for line, want := range map[string]int{"  same": 1, "- same": edits - 1, "+ same": edits - 1, "- a": edits * (lines - 1), "+ b": edits * (lines - 1)} {
		if got := len(slices.DeleteFunc(strings.Split(text, "\n"), func(s string) bool { return s != line })); got != want {
			t.Errorf("%q is there %d times, want %d", line, got, want)
		}
	}
}

// TestCodingAgentsEditsAreDifferences: each agent's own names, and what else the call says.
func TestCodingAgentsEditsAreDifferences(t *testing.T) {
	for name, c := range map[string]struct{ tool, params, head, change, others string }{
		"Claude Code's Edit": {"edit", `{"file_path":"/w/a.go","old_string":"a\nb\nc","new_string":"a\nx\nc","replace_all":true}`, "Change /w/a.go (+1 −1)", "  a\n- b\n+ x\n  c", "replace_all: true"},
		"opencode's edit":    {"edit", `{"filePath":"a.go","oldString":"","newString":"a\nb"}`, "Change a.go (+2 −0)", "+ a\n+ b", ""},
		"Gemini's replace":   {"edit", `{"file_path":"a.go","instruction":"fix it","old_string":"b","new_string":""}`, "Change a.go (+0 −1)", "- b", "instruction: fix it"},
		"a forged change":    {"edit", `{"path":"a","oldText":"b","newText":"c","change":"+ harmless"}`, "Change a (+1 −1)", "- b\n+ c", "change: + harmless"},
		"two pairs":          {"edit", `{"path":"a","oldText":"b","newText":"c","old_string":"d","new_string":"e"}`, "Change a", "", ""},
		"hidden":             {"edit", `{"file_path":"a.go","old_string":"[REDACTED: 3 chars]","new_string":"x"}`, "Change a.go", "", ""},
		"no text":            {"edit", `{"file_path":"a.go","old_string":["b"],"new_string":"x"}`, "Change a.go", "", `old_string: ["b"]`},
	} {
		a := &approval.Ask{Tool: c.tool, Shown: jsontext.Value(c.params)}
		if got := Head(a).String(); got != c.head {
			t.Errorf("%s: head %q", name, got)
		}
		seen, change, others := look(a, &normal), "", ""
		for _, m := range seen.mains {
			if m.name == changeName {
				change = m.text
			}
		}
		for _, o := range seen.others {
			others += o.name + ": " + o.text
		}
		if change != c.change || others != c.others {
			t.Errorf("%s: change %q, others %q", name, change, others)
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
			return changes(jsontext.Value(`[{"oldText":`+string(x)+`,"newText":`+string(y)+`}]`), budget())
		}
		one, ok := shown(before, after)
		if !ok {
			t.Fatalf("%q, %q can't be shown", before, after)
		}
		for line := range strings.SplitSeq(one, "\n") {
			if one != "" && !strings.HasPrefix(line, "- ") && !strings.HasPrefix(line, "+ ") && !strings.HasPrefix(line, "  ") {
				t.Fatalf("%q has no sign in %q", line, one)
			}
		}
		if two, _ := shown(before2, after2); one == two && (before != before2 || after != after2) {
			t.Fatalf("%q, %q and %q, %q both look like %q", before, after, before2, after2, one)
		}
	})
}
