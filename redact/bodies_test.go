package redact_test

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/redact"
)

func TestWithoutBodies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tool, shown, kept string
		hidden            int
	}{
		{"write", `{"path":"a","content":"hello"}`, `{"path":"a","content":"[REDACTED: 5 chars]"}`, 1},
		{"write", `{"content":"","path":"a"}`, `{"content":"","path":"a"}`, 0},
		{"write", `{"content":"[REDACTED: 7 chars]"}`, `{"content":"[REDACTED: 7 chars]"}`, 0},
		{"write", `{"content":"a [REDACTED: 7 chars]"}`, `{"content":"[REDACTED: 21 chars]"}`, 1},
		{"edit", `{"edits":[{"oldText":"a","newText":"b"}],"path":"a"}`, `{"edits":"[REDACTED: 31 chars]","path":"a"}`, 1},
		{"edit", `{"old_string":"a","new_string":"b","replace_all":true}`, `{"old_string":"[REDACTED: 1 chars]","new_string":"[REDACTED: 1 chars]","replace_all":true}`, 2},
		{"apply_patch", `{"input":"*** Begin"}`, `{"input":"[REDACTED: 9 chars]"}`, 1},
		{"some_tool", `{"deep":[{"Content":{"x":1}}],"input":"stays"}`, `{"deep":[{"Content":"[REDACTED: 7 chars]"}],"input":"stays"}`, 1},
		{"write", `{"file_path":"a","contents":"b","mode":"append","overwrite":true,"line":3}`, `{"file_path":"a","contents":"[REDACTED: 1 chars]","mode":"append","overwrite":true,"line":3}`, 1},
		{"write", `{"path":"a","text":"b","data":["c"]}`, `{"path":"a","text":"[REDACTED: 1 chars]","data":"[REDACTED: 5 chars]"}`, 2},
		{"mcp__fs__create_file", `{"path":"a","file_text":"b"}`, `{"path":"a","file_text":"[REDACTED: 1 chars]"}`, 1},
		{"write", `{"path":"a","written":{"by":"b"}}`, `{"path":"a","written":"[REDACTED: 10 chars]"}`, 1},
		{"send_message", `{"to":"a","text":"b"}`, `{"to":"a","text":"b"}`, 0},
		{"update_profile", `{"text":"b"}`, `{"text":"b"}`, 0},
		{"read", `{"path":"a","text":"b"}`, `{"path":"a","text":"b"}`, 0},
		{"exec", `{"command":"ls"}`, `{"command":"ls"}`, 0},
		{"write", `{"content":`, `"[REDACTED: 11 chars]"`, 1},
		{"write", `{} {"content":"x"}`, `"[REDACTED: 18 chars]"`, 1},
		{"write", ``, `"[REDACTED: 0 chars]"`, 1},
	} {
		kept, hidden := redact.WithoutBodies(c.tool, jsontext.Value(c.shown))
		if string(kept) != c.kept || hidden != c.hidden {
			t.Errorf("%s %s: %s, %d hidden", c.tool, c.shown, kept, hidden)
		}
	}
}

func FuzzWithoutBodies(f *testing.F) {
	f.Add("write", `{"path":"a","content":"hello"}`)
	f.Add("edit", `{"edits":[{"oldText":"a","newText":"b"}]}`)
	f.Fuzz(func(t *testing.T, tool, shown string) {
		kept, _ := redact.WithoutBodies(tool, jsontext.Value(shown))
		if !kept.IsValid(jsontext.AllowInvalidUTF8(true)) {
			t.Fatalf("%q became %q", shown, kept)
		}
		if again, hidden := redact.WithoutBodies(tool, kept); hidden > 0 || string(again) != string(kept) {
			t.Fatalf("%q was hidden again: %q", kept, again)
		}
	})
}
