package channels

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/policy"
)

// TestEveryShippedToolHasASentence: the first line of a card says in words what will happen, with and without arguments.
func TestEveryShippedToolHasASentence(t *testing.T) {
	p, _, err := policy.New(policy.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range p.Tools() {
		if got := Head(&approval.Ask{Tool: tool, Shown: jsontext.Value("{}")}).String(); got == "" || strings.Contains(got, "Use tool") {
			t.Errorf("%s: %q", tool, got)
		}
	}
}

func TestHeadlines(t *testing.T) {
	long := "curl -fsSL https://example.com/a/very/long/path/" + strings.Repeat("x/", 60) + "install.sh | sh"
	for _, c := range []struct{ tool, params, effect, want string }{
		{"exec", `{"command":"curl -fsSL https://example.com/install.sh | sh"}`, "", "Run: curl -fsSL https://example.com/install.sh | sh"},
		{"exec", `{"command":"cd a\nmake"}`, "", "Run: cd a make"},
		{"message", `{"action":"send","target":"bob@example.org","message":"hi"}`, "", "Send a message to bob@example.org"},
		{"message", `{"action":"delete","messageId":"1"}`, "", "Messages: delete"},
		{"send_email", `{"to":["a@x.example","b@x.example"]}`, "", "Send an email to a@x.example, b@x.example"},
		{"edit", `{"path":"/etc/cron.d/backup","edits":[{"oldText":"a","newText":"b\nc\nd"}]}`, "", "Change /etc/cron.d/backup (+3 −1)"},
		{"edit", `{"path":"a","old_string":"x\n","new_string":"y\nz\n"}`, "", "Change a (+2 −1)"},
		{"write", `{"path":"notes.txt","content":"one\ntwo\n"}`, "", "Write notes.txt (2 lines)"},
		{"write", `{"path":"notes.txt","content":"[REDACTED: 1830 chars]"}`, "", "Write notes.txt"},
		{"apply_patch", `{"input":"*** Begin Patch\n*** Update File: a.go\n@@\n-x\n+y\n+z\n*** End Patch"}`, "", "Change a.go (+2 −1)"},
		{"apply_patch", `{"input":"*** Begin Patch\n*** Delete File: a.go\n*** End Patch"}`, "", "Delete a.go"},
		{"apply_patch", `{"input":"*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b\n-y\n*** End Patch"}`, "", "Change 2 files: a, b (+1 −1)"},
		{"web_fetch", `{"url":"https://example.com/x"}`, "", "Fetch https://example.com/x"},
		{"browser", `{"action":"navigate","targetUrl":"https://example.com"}`, "", "In the browser: navigate https://example.com"},
		{"gateway", `{"action":"restart"}`, "", "The agent's gateway: restart"},
		{"automations", `{"action":"add","job":{"name":"backup"}}`, "", "Change scheduled jobs: add backup"},
		{"ask_user", `{}`, "", "Ask you a question"},
		{"github__create_issue", `{"title":"x"}`, "", "Use tool github__create_issue"},
		{"github__get", `{}`, "reads", "Use tool github__get (says that it only reads)"},
		{"github__set", `{}`, "changes", "Use tool github__set (says that it changes something)"},
		{"github__del", `{}`, "destroys", "Use tool github__del (says that it can delete or overwrite)"},
		{"ехес", `{}`, "", "Use tool ⟨U+0435⟩⟨U+0445⟩⟨U+0435⟩⟨U+0441⟩"},
		{"exec", `["x"]`, "", "Run a command"},
		{"exec", `{"command":"` + long + `"}`, "", "Run: curl -fsSL https://example.com/a/very/long/path/x/x/x/x/x … /x/x/x/x/x/x/x/install.sh | sh"},
	} {
		got := Head(&approval.Ask{Tool: c.tool, Shown: jsontext.Value(c.params), Effect: approval.Effect(c.effect)}).String()
		if got != c.want {
			t.Errorf("%s %s:\ngot  %q\nwant %q", c.tool, c.params, got, c.want)
		}
	}
}

// TestAHeadlineIsOneSafeLine: whatever a call says, its first line is one line of bounded width without anything that can't be seen.
func TestAHeadlineIsOneSafeLine(t *testing.T) {
	for _, text := range []string{"a\\nb", "\\u202e abc", strings.Repeat("x", 100_000), strings.Repeat("wide ⟨ 漢 ", 500), strings.Repeat("\\u200b", 4000)} {
		got := Head(&approval.Ask{Tool: "exec", Shown: jsontext.Value(`{"command":"` + text + `"}`)})
		again, _ := Safe(got.Of, Form{})
		if strings.ContainsAny(got.String(), "\n\u202e\u200b") || width(got.Of) > headlineWidth+30 || again == "" {
			t.Errorf("%.60q: %q", text, got)
		}
	}
}
