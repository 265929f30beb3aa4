package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/openclaw-verifier/verifier/policy"
)

// TestShippedLabelsAreWhatIsProposedOrSayWhyNot, for every tool that real catalogues were seen to offer.
func TestShippedLabelsAreWhatIsProposedOrSayWhyNot(t *testing.T) {
	t.Parallel()
	rows, err := readRows("tools.txt")
	if err != nil || len(rows) < 250 {
		t.Fatalf("%d tools, %v", len(rows), err)
	}
	reasons, err := readReasons("milder.txt")
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		for _, p := range rows[i].problems(reasons) {
			t.Error(p)
		}
		if judged, err := judgedAs(rows[i].catalogue, rows[i].tool); err != nil || judged != rows[i].judged {
			t.Errorf("%s is judged as %s now: %v", &rows[i], judged, err)
		}
	}
	for _, why := range reasons {
		for _, tool := range why.tools {
			for _, trait := range why.traits {
				one := reason{tools: []string{tool}, traits: []string{trait}}
				if !slices.ContainsFunc(rows, func(r row) bool { return slices.Contains(r.milder(), trait) && one.covers(r.judged, trait) }) && !strings.HasPrefix(trait, "content:") {
					t.Errorf("milder.txt gives a reason for %s of %s, which no label needs", trait, tool)
				}
			}
		}
		if len(why.why) < 15 {
			t.Errorf("milder.txt gives no reason for %v of %v", why.traits, why.tools)
		}
	}
	for _, name := range strings.Fields("openclaw claude-code codex gemini opencode mcp/filesystem mcp/github mcp/gmail mcp/slack mcp/memory mcp/notion mcp/playwright mcp/puppeteer mcp/postgres mcp/context7") {
		if !slices.ContainsFunc(rows, func(r row) bool { return r.catalogue == name }) {
			t.Errorf("no tool of %s is recorded", name)
		}
	}
}

// TestH406AToolThatTheLabelsDoNotKnowIsSaid: the agent's next version has a tool more, or says something else of one.
func TestH406AToolThatTheLabelsDoNotKnowIsSaid(t *testing.T) {
	t.Parallel()
	file := func(text string) string {
		name := filepath.Join(t.TempDir(), "list.json")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	for text, want := range map[string]string{
		`{"tools":[{"name":"teleport","description":"Get a file","inputSchema":{"type":"object","properties":{"path":{"type":"string"}}}}]}`:   "mcp/filesystem offers teleport, which the shipped labels don't know",
		`{"tools":[{"name":"read_file","description":"Read and delete a file","inputSchema":{"type":"object","properties":{}}}]}`:              "read_file is not what is recorded",
		`{"tools":[{"name":"list_directory","description":"Pays and removes the directory","inputSchema":{"type":"object","properties":{}}}]}`: "is milder than what is proposed for list_directory: money",
	} {
		var out bytes.Buffer
		if err := run(&out, ".", "mcp/filesystem", file(text), "", false); err == nil || !strings.Contains(out.String(), want) {
			t.Errorf("%s: got %v and %q, want %q", text, err, out.String(), want)
		}
	}
	for name, text := range map[string]string{"nobody": `[{"name":"x","description":"y"}]`, "mcp/filesystem": `[]`} {
		if err := run(&bytes.Buffer{}, ".", name, file(text), "", false); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

// TestAnArgumentLessIsNoDifference, and one more is.
func TestAnArgumentLessIsNoDifference(t *testing.T) {
	t.Parallel()
	recorded := []row{{catalogue: "gemini", tool: "grep_search", judged: "grep", proposed: []string{"source", "sink"}, takes: []string{"context", "pattern"}}}
	for takes, want := range map[string]int{"pattern": 0, "context pattern": 0, "context path pattern": 1} {
		now := recorded[0]
		now.takes = strings.Fields(takes)
		if got := compare("gemini", []row{now}, recorded); len(got) != want {
			t.Errorf("%s: got %q, want %d", takes, got, want)
		}
	}
}

// What has no row is strict.
func TestAToolWithoutARowIsASourceAndASink(t *testing.T) {
	t.Parallel()
	l, found := policy.Shipped("mcp__postgres__query")
	if got := traits(&l); found || !slices.Equal(got, []string{"source", "sink", "leaves"}) {
		t.Errorf("%v, %t", got, found)
	}
}
