// Package drawing shows a turn's graph to people, as lines.
//
// Tools, sessions and sources have names that others chose, perhaps the
// author of the page that the agent read last. None of them reaches a terminal but
// through channels.Safe. The package is pure; it reads a graph and writes a string.
package drawing

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/channels"
	"github.com/openclaw-verifier/verifier/provenance"
)

// Text is the graph as indented lines, in the shape of openclaw-provenance's
// picture: what stood in the context, then each call of the model with the tools
// it called.
func Text(g *provenance.Graph) string {
	var b strings.Builder
	fmt.Fprintf(&b, "turn %s of %s\n\n", label(g.TurnID), cmp.Or(label(g.SessionKey), "(no session key)"))
	var context []string
	for i := range g.Nodes {
		if n := &g.Nodes[i]; isContext(n.Kind) {
			context = append(context, contextLine(n))
		}
	}
	if len(context) > 0 {
		b.WriteString("context_assembled\n")
		branches(&b, context)
	}
	for i := range g.Nodes {
		switch n := &g.Nodes[i]; n.Kind { //nolint:exhaustive // the others stand under these
		case provenance.LLMCall:
			b.WriteString(n.ID + trust(n) + "\n")
			branches(&b, under(g, n.ID))
		case provenance.Output:
			b.WriteString("output" + trust(n) + "\n")
		case provenance.PolicyDecision:
			b.WriteString("turn → BLOCKED" + because(n) + "\n")
		}
	}
	b.WriteString("\n" + sentence(g) + "\n")
	return b.String()
}

func isContext(k provenance.Kind) bool {
	return k == provenance.Input || k == provenance.SystemPrompt || k == provenance.History
}

func contextLine(n *provenance.Node) string {
	if name := n.Name(); name != "" {
		return string(n.Kind) + ": " + label(name) + trust(n)
	}
	return string(n.Kind) + trust(n)
}

// under are the lines of the tools that a call of the model called, and of what
// they gave back.
func under(g *provenance.Graph, id string) (lines []string) {
	for _, e := range g.Edges {
		if e.From != id || e.Relation != provenance.Triggers {
			continue
		}
		if n := find(g, e.To); n != nil && n.Kind == provenance.ToolCall {
			lines = append(lines, toolLine(n)+resultOf(g, n.ID))
		}
	}
	return lines
}

func toolLine(n *provenance.Node) string {
	name := "tool: " + label(n.Name())
	if n.Blocked {
		return name + " → BLOCKED" + because(n)
	}
	return name + trust(n)
}

func because(n *provenance.Node) string {
	if n.BlockReason == "" {
		return ""
	}
	return ": " + label(n.BlockReason)
}

// resultOf says of a result what its call does not: that it was worth something
// else, or an error.
func resultOf(g *provenance.Graph, call string) string {
	for _, e := range g.Edges {
		if e.From != call || e.Relation != provenance.Produces {
			continue
		}
		if n := find(g, e.To); n != nil {
			return " → result" + trust(n)
		}
	}
	return ""
}

func find(g *provenance.Graph, id string) *provenance.Node {
	i := slices.IndexFunc(g.Nodes, func(n provenance.Node) bool { return n.ID == id })
	if i < 0 {
		return nil
	}
	return &g.Nodes[i]
}

func trust(n *provenance.Node) string { return " (trust: " + n.Trust.String() + ")" }

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
func sentence(g *provenance.Graph) string {
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
		s += "; its beginning is missing"
	}
	return s
}

// maxLabel is how much of a foreign name is shown, in columns.
const maxLabel = 120

// label is a foreign name as it may be shown.
func label(s string) string {
	text, _ := channels.Safe(s, channels.Form{Limit: maxLabel})
	return text
}
