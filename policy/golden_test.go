package policy_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

// update is the one flag of these tests.
var update = flag.Bool("update", false, "write testdata/golden.txt from what the policy says now")

// corpora are the files of commands that the golden judgements are made of.
var corpora = strings.Fields("quiet harmless builds inspects workspace notbuilds notinspects unknown fetching")

// TestGolden shows what the policy says of a thousand calls with nothing configured. It promises nothing: a change to
// the file shows which judgements a commit changes. `go test ./policy -run TestGolden -update` writes it anew.
func TestGolden(t *testing.T) {
	t.Parallel()
	got := golden(t)
	if *update {
		if err := os.WriteFile("testdata/golden.txt", []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile("testdata/golden.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("judgements changed; if they should, run with -update and say so in the commit:\n%s", diff)
	}
}

const goldenHead = `# What the policy says with nothing configured, to the owner's own run in a workspace that the runtime names.
# group | OpenClaw | a coding agent | what it brings in, what secret it reads | the call
# Each of the two has four letters, with the rule that decided the last: in a clean conversation, in a shared one, in a
# tainted one, and in a tainted one where files were written unseen. a allows, c asks, r refuses.
`

func golden(t *testing.T) string {
	t.Helper()
	p := must(t, policy.Config{})
	var out strings.Builder
	out.WriteString(goldenHead)
	for _, group := range corpora {
		for _, text := range corpusOf(t, group) {
			params, err := json.Marshal(map[string]string{"command": text})
			if err != nil {
				t.Fatal(err)
			}
			goldenRow(&out, p, group, "exec", string(params), text)
		}
	}
	for _, line := range linesOf(t, "testdata/tools.txt") {
		part := strings.SplitN(line, " | ", 3)
		goldenRow(&out, p, part[0], part[1], part[2], part[1]+" "+part[2])
	}
	for _, tool := range slices.Sorted(maps.Keys(catalogue(t))) {
		goldenRow(&out, p, "openclaw", tool, `{}`, tool)
	}
	for _, tool := range slices.Sorted(slices.Values(p.Tools())) {
		if _, named := catalogue(t)[tool]; !named {
			goldenRow(&out, p, "other", tool, `{}`, tool)
		}
	}
	return out.String()
}

func corpusOf(t *testing.T, group string) []string {
	t.Helper()
	return linesOf(t, "../internal/command/testdata/"+group+".txt")
}

// TestTheOwnersDay: in a workspace that the runtime names, most plain commands pass when tainted, and no unknown or
// fetching one; in a clean conversation no everyday line brings anything in or counts as reading secrets.
func TestTheOwnersDay(t *testing.T) {
	t.Parallel()
	p := must(t, policy.Config{})
	tainted := policy.View{
		Level: taint.Untrusted,
		Seen:  true,
	}
	passed := func(groups ...string) (n, all int) {
		for _, group := range groups {
			for _, text := range corpusOf(t, group) {
				c := call("exec", quoted("command", text))
				c.Context.Workspace, c.Context.Platform = "/home/ann/proj", "linux"
				if all++; p.Judge(c, tainted).Mode == allow {
					n++
				}
			}
		}
		return n, all
	}
	if n, all := passed("harmless", "builds", "inspects", "workspace"); n < 150 {
		t.Errorf("%d of %d known commands pass", n, all)
	}
	if n, all := passed("unknown", "fetching"); n > 0 {
		t.Errorf("%d of %d unknown or fetching commands pass", n, all)
	}
	for _, text := range corpusOf(t, "quiet") {
		if plan := p.Plan(call("exec", quoted("command", text))); plan.Secret != "" || plan.Raise > local {
			t.Errorf("%s reads %q and brings in %s", text, plan.Secret, plan.Raise)
		}
	}
}

// TestDocsHaveTheLists: docs/policy.md shows them as they are.
func TestDocsHaveTheLists(t *testing.T) {
	doc, err := os.ReadFile("../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"lists.txt", "../internal/command/network.txt", "../internal/command/programs.txt"} {
		if text, err := os.ReadFile(file); err != nil ||
			!strings.Contains(string(doc), strings.TrimSpace(string(text))) {
			t.Errorf("docs/policy.md has not all of %s as it is: %v", file, err)
		}
	}
}

// linesOf are the lines of a file but comments and empty ones.
func linesOf(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(strings.Split(string(text), "\n"), func(line string) bool {
		return line == "" || strings.HasPrefix(line, "# ")
	})
}

func goldenRow(out *strings.Builder, p *policy.Policy, group, tool, params, text string) {
	clean := policy.View{
		Level: taint.Owner,
		Seen:  true,
	}
	group1, tainted, unseen := clean, clean, clean
	group1.Level, tainted.Level, unseen.Level = taint.Shared, taint.Untrusted, taint.Untrusted
	unseen.Seen, unseen.Mark = false, "7C9A5D2E"
	cells := make([]string, 0, 2)
	var plan policy.Plan
	for _, provider := range []string{"", "claude-code"} {
		c := call(tool, params)
		c.Context.Workspace, c.Context.Platform = "/home/ann/proj", "linux"
		if provider != "" {
			c.Context.SessionKey = "agent:" + provider + ":0a1b2c"
			c.Context.AgentID, c.Context.MessageProvider = provider, provider
		}
		plan = p.Plan(c)
		letters, rule := "", ""
		for _, view := range []policy.View{clean, group1, tainted, unseen} {
			v := p.Judge(c, view)
			letters += v.Mode.String()[:1]
			rule = v.Rule
		}
		cells = append(cells, letters+" "+rule)
	}
	brings := plan.Raise.String()
	if plan.Secret != "" {
		brings += ", secret " + plan.Secret
	}
	fmt.Fprintf(out, "%s | %s | %s | %s | %s\n", group, cells[0], cells[1], brings, oneLine(text))
}

// oneLine is a text on one line.
func oneLine(text string) string { return strings.ReplaceAll(text, "\n", `\n`) }
