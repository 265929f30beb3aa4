package main

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/hook"
	"github.com/openclaw-verifier/verifier/label"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// row is what is recorded of one tool.
type row struct {
	catalogue string   // claude-code, openclaw, mcp/filesystem
	tool      string   // as the catalogue calls it
	judged    string   // as the gateway calls it
	proposed  []string // what `verifier label` proposes: see [traits]
	takes     []string // its arguments
}

func (r *row) String() string {
	return strings.Join([]string{r.catalogue, r.tool, r.judged, strings.Join(r.proposed, " "), strings.Join(r.takes, " ")}, " | ")
}

// takesAll reports whether arguments are among those that are recorded.
func (r *row) takesAll(names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(r.takes, name) })
}

// traits are what a label says, one word each. A tool that acts sends what it is given off the machine, unless its label says otherwise.
func traits(t *policy.Tool) (out []string) {
	is := func(b *bool) bool { return b != nil && *b }
	for _, one := range []struct {
		name string
		is   bool
	}{
		{"source", is(t.Source)}, {"sink", is(t.Sink)}, {"safe", is(t.Safe)}, {"leaves", is(t.Leaves) || t.Leaves == nil && is(t.Sink)},
		{"destructive", is(t.Destructive)}, {"money", is(t.Money)}, {"secret", is(t.Secret)}, {"completes", is(t.Completes)},
	} {
		if one.is {
			out = append(out, one.name)
		}
	}
	for _, name := range t.Content {
		out = append(out, "content:"+name)
	}
	return out
}

// rowsOf are the rows of a catalogue.
func rowsOf(name string, offered []label.Tool, without string) ([]row, error) {
	var out []row
	for i := range offered {
		t := &offered[i]
		if without != "" && strings.HasSuffix(t.Name, without) {
			continue
		}
		judged, err := judgedAs(name, t.Name)
		if err != nil {
			return nil, err
		}
		p := label.Propose(t)
		r := row{catalogue: name, tool: t.Name, judged: judged, proposed: traits(&p.Label)}
		for _, a := range t.Params {
			r.takes = append(r.takes, a.Name)
		}
		out = append(out, r)
	}
	return out, nil
}

// judgedAs is the name under which the gateway judges a tool.
func judgedAs(catalogue, tool string) (string, error) {
	if server, isMCP := strings.CutPrefix(catalogue, "mcp/"); isMCP {
		return toolcall.Canonical("mcp__" + server + "__" + tool), nil
	}
	if catalogue == "openclaw" {
		return toolcall.Canonical(tool), nil
	}
	name, ok := hook.Judged(catalogue, tool)
	if !ok {
		return "", fmt.Errorf("%s is no agent that has a hook: use claude-code, codex, gemini, opencode, openclaw or mcp/SERVER", catalogue)
	}
	return toolcall.Canonical(name), nil
}

// compare says in words how a catalogue differs from what is recorded of it. A tool or an argument that is offered no longer does
// no harm: Gemini CLI's grep takes fewer of them where it finds no ripgrep.
func compare(name string, now, recorded []row) (problems []string) {
	for i := range now {
		n := &now[i]
		at := slices.IndexFunc(recorded, func(r row) bool { return r.catalogue == name && r.tool == n.tool })
		switch {
		case at < 0:
			problems = append(problems, fmt.Sprintf("%s offers %s, which the shipped labels don't know (%s)", name, n.tool, n))
		case recorded[at].judged != n.judged || !slices.Equal(recorded[at].proposed, n.proposed) || !recorded[at].takesAll(n.takes):
			problems = append(problems, fmt.Sprintf("%s: %s is not what is recorded:\n  - %s\n  + %s", name, n.tool, &recorded[at], n))
		}
	}
	return problems
}

// reason is why shipped labels may be milder than the proposals.
type reason struct {
	tools  []string // as they are judged; a name may end in *
	traits []string
	why    string
}

// covers reports whether it names a tool and a trait.
func (r *reason) covers(judged, trait string) bool {
	return slices.Contains(r.traits, trait) && slices.ContainsFunc(r.tools, func(name string) bool {
		begin, all := strings.CutSuffix(name, "*")
		return judged == name || all && strings.HasPrefix(judged, begin)
	})
}

// problems says where the shipped label is milder than the proposal, without a reason that names just that.
func (r *row) problems(reasons []reason) (out []string) {
	for _, trait := range r.milder() {
		if !slices.ContainsFunc(reasons, func(why reason) bool { return why.covers(r.judged, trait) }) {
			out = append(out, fmt.Sprintf("%s: the shipped label of %s is milder than what is proposed for %s: %s", r.catalogue, r.judged, r.tool, trait))
		}
	}
	return out
}

// milder are the traits by which the shipped label lets more pass than the proposal.
func (r *row) milder() (out []string) {
	t, _ := policy.Shipped(r.judged)
	ships := traits(&t)
	for _, trait := range r.proposed {
		if !isMild(trait) && !slices.Contains(ships, trait) {
			out = append(out, trait)
		}
	}
	for _, trait := range ships {
		if isMild(trait) && !slices.Contains(r.proposed, trait) && r.has(trait) {
			out = append(out, trait)
		}
	}
	return out
}

// isMild reports whether a trait lets more pass.
func isMild(trait string) bool {
	return trait == "safe" || trait == "completes" || strings.HasPrefix(trait, "content:")
}

// has reports whether a trait says something of the tool: one of an argument that it does not take says nothing.
func (r *row) has(trait string) bool {
	name, isContent := strings.CutPrefix(trait, "content:")
	return !isContent || slices.Contains(r.takes, name)
}

// readLines calls take with the fields of each line that is no comment.
func readLines(file string, fields int, take func([]string)) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was only read
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || strings.HasPrefix(text, "#") {
			continue
		}
		parts := strings.Split(text, "|")
		if len(parts) != fields {
			return fmt.Errorf("%s:%d has %d fields, want %d", file, n, len(parts), fields)
		}
		for i := range parts {
			parts[i] = strings.TrimSpace(parts[i])
		}
		take(parts)
	}
	return lines.Err()
}

func readRows(file string) (out []row, err error) {
	err = readLines(file, 5, func(f []string) {
		out = append(out, row{f[0], f[1], f[2], strings.Fields(f[3]), strings.Fields(f[4])})
	})
	return out, err
}

func readReasons(file string) (out []reason, err error) {
	err = readLines(file, 3, func(f []string) { out = append(out, reason{strings.Fields(f[0]), strings.Fields(f[1]), f[2]}) })
	return out, err
}

const heading = `# What real catalogues offer: catalogue | tool | judged as | what verifier label proposes | arguments
# The end-to-end runs compare it with the real programs. Write it anew with: go run ./packaging/catalogue -write NAME FILE
`

// writeRows records the rows of a catalogue in place of those that it had.
func writeRows(file, name string, now, recorded []row) error {
	all := append(slices.DeleteFunc(recorded, func(r row) bool { return r.catalogue == name }), now...)
	slices.SortFunc(all, func(a, b row) int { return cmp.Or(cmp.Compare(a.catalogue, b.catalogue), cmp.Compare(a.tool, b.tool)) })
	var b strings.Builder
	b.WriteString(heading)
	for i := range all {
		b.WriteString(strings.TrimSpace(all[i].String()) + "\n")
	}
	return os.WriteFile(file, []byte(b.String()), 0o644) //nolint:gosec // a file of the repository
}
