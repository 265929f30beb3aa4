package provenance

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/internal/text"
)

// Text is the graph for people, as indented lines: what stood in the context, then each call of the model with the
// tools it called. Tools, sessions and sources have names that others chose: nothing of them can act on a terminal.
func (g *Graph) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "turn %s of %s\n\n", label(g.TurnID), cmp.Or(label(g.SessionKey), "(no session key)"))
	var context []string
	for i := range g.Nodes {
		switch n := &g.Nodes[i]; n.Kind { //nolint:exhaustive // the others are not of the context
		case Input, SystemPrompt, History:
			line := string(n.Kind)
			if name := n.Name(); name != "" {
				line += ": " + label(name)
			}
			if n.Metadata != nil && n.Metadata.Count > 1 {
				line += fmt.Sprintf(" × %d", n.Metadata.Count)
			}
			context = append(context, line+trust(n))
		}
	}
	if len(context) > 0 {
		b.WriteString("context_assembled\n")
		branches(&b, context)
	}
	for i := range g.Nodes {
		switch n := &g.Nodes[i]; n.Kind { //nolint:exhaustive // the others stand under these
		case LLMCall:
			b.WriteString(n.ID + trust(n) + "\n")
			branches(&b, g.under(n.ID))
		case Output:
			b.WriteString("output" + trust(n) + "\n")
		case PolicyDecision:
			b.WriteString("turn → BLOCKED" + because(n) + "\n")
		}
	}
	b.WriteString("\n" + g.sentence() + "\n")
	return b.String()
}

// under are the lines of the tools that a call of the model called, and of what they gave back.
func (g *Graph) under(id string) (lines []string) {
	for _, n := range g.to(id, Triggers) {
		if n.Kind != ToolCall {
			continue
		}
		line := "tool: " + label(n.Name())
		if n.Blocked {
			line += " → BLOCKED" + because(n)
		} else {
			line += trust(n)
		}
		for _, r := range g.to(n.ID, Produces) {
			line += " → result" + trust(r)
			if r.Metadata != nil && r.Metadata.Error {
				line += ", an error"
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// to are the nodes that a node's edges of a relation lead to.
func (g *Graph) to(from string, r Relation) (out []*Node) {
	for _, e := range g.Edges {
		if e.From != from || e.Relation != r {
			continue
		}
		if i := slices.IndexFunc(g.Nodes, func(n Node) bool { return n.ID == e.To }); i >= 0 {
			out = append(out, &g.Nodes[i])
		}
	}
	return out
}

func because(n *Node) string {
	if n.BlockReason == "" {
		return ""
	}
	return ": " + label(n.BlockReason)
}

func trust(n *Node) string { return " (trust: " + n.Trust.String() + ")" }

func branches(b *strings.Builder, lines []string) {
	for i, line := range lines {
		mark := "├── "
		if i == len(lines)-1 {
			mark = "└── "
		}
		b.WriteString("  " + mark + line + "\n")
	}
}

// sentence is the summary in words.
func (g *Graph) sentence() string {
	s := fmt.Sprintf("highest distrust: %s; calls of the model: %d", g.Summary.MaxTaint, g.Summary.IterationCount)
	for _, part := range []struct {
		label string
		names []string
	}{{"from outside", g.Summary.ExternalSources}, {"blocked", g.Summary.ToolsBlocked}} {
		var names []string
		for _, n := range part.names {
			names = append(names, label(n))
		}
		if len(names) > 0 {
			s += "; " + part.label + ": " + strings.Join(names, ", ")
		}
	}
	if g.Calls {
		s += "; the model's calls are worked out from the tools'"
	}
	if !g.Sealed {
		s += "; the turn is not over"
	}
	if g.Cut {
		s += "; there is more than is shown"
	}
	return s
}

// label is a foreign name as it may be shown.
func label(s string) string { return text.Visible(s, 120) }
