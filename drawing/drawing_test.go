package drawing_test

import (
	"flag"
	"os"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/openclaw-verifier/verifier/drawing"
	"github.com/openclaw-verifier/verifier/provenance"
	"github.com/openclaw-verifier/verifier/taint"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing")

// example is the running example of openclaw-provenance, and then some.
func example() *provenance.Graph {
	facts := []provenance.Fact{
		{What: provenance.Began, Session: "agent:main:main"},
		{What: provenance.Held, Kind: provenance.SystemPrompt, Level: taint.System},
		{What: provenance.Held, Kind: provenance.History, Level: taint.Owner},
		{What: provenance.Asked},
		{What: provenance.Called, Tool: "read", Allowed: true, Brings: taint.Local, ID: "c1"},
		{What: provenance.Returned, Tool: "read", Level: taint.Local, ID: "c1"},
		{What: provenance.Asked},
		{What: provenance.Called, Tool: "web_fetch", Allowed: true, Brings: taint.Untrusted, Metadata: provenance.Metadata{Label: "web_fetch example.com"}},
		{What: provenance.Called, Tool: "vestige_search", Allowed: true, Brings: taint.Shared},
		{What: provenance.Asked},
		{What: provenance.Called, Tool: "exec", Tainted: true, Reason: "unanswered"},
		{What: provenance.Blocked, Reason: "This turn has used up its iterations."},
		{What: provenance.Said}, {What: provenance.Ended},
	}
	for i := range facts {
		facts[i].At = int64(i + 1)
	}
	return provenance.Build("00112233445566aa", facts)
}

func TestTheDrawingStaysAsItWas(t *testing.T) {
	const file = "testdata/example.txt"
	got := drawing.Text(example())
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (-update writes it anew):\n%s", file, got)
	}
}

func TestH51NothingInANameIsMarkup(t *testing.T) {
	nasty := "</text><script>alert(1)</script><a href='javascript:1'>\x1b[2J\u202e\x00]]><!--&#60;"
	g := provenance.Build("00112233445566aa", []provenance.Fact{
		{What: provenance.Began, Session: nasty, Agent: nasty, Run: nasty},
		{What: provenance.Held, Kind: provenance.ToolResult, Tool: nasty, Level: taint.Untrusted},
		{What: provenance.Called, Tool: nasty, Reason: nasty, Tainted: true},
		{What: provenance.Called, Tool: "read", Allowed: true, Brings: taint.Untrusted, Metadata: provenance.Metadata{Label: nasty}},
		{What: provenance.Blocked, Reason: nasty},
	})
	text := drawing.Text(g)
	for _, r := range text {
		if r != '\n' && (r < ' ' || r == '\u202e') {
			t.Errorf("%U is shown raw", r)
		}
	}
	if !strings.Contains(text, "<script>alert(1)</script>") || !strings.Contains(text, "⟨U+001B⟩") {
		t.Errorf("the name is not shown literally: %s", text)
	}
}

// Whatever a graph holds, no line of it moves a terminal.
func TestAnyGraphCanBeDrawn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		facts := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) provenance.Fact {
			return provenance.Fact{
				What: rapid.SampledFrom([]provenance.What{
					provenance.Held, provenance.Asked, provenance.Called, provenance.Returned, provenance.Blocked, provenance.Said,
				}).Draw(t, "what"),
				Level: taint.Level(rapid.IntRange(0, 5).Draw(t, "level")), Kind: provenance.History, Tool: rapid.String().Draw(t, "tool"),
				Allowed: rapid.Bool().Draw(t, "allowed"), Tainted: true, Reason: rapid.String().Draw(t, "reason"),
			}
		}), 0, 20).Draw(t, "facts")
		g := provenance.Build(rapid.String().Draw(t, "id"), facts)
		if text := drawing.Text(g); strings.ContainsFunc(text, func(r rune) bool { return r != '\n' && !unicode.IsGraphic(r) }) {
			t.Fatalf("the drawing is %q", text)
		}
	})
}
