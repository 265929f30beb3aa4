package provenance

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/openclaw-verifier/verifier/internal/text"
)

// label is a foreign name as it may be shown: tools, sessions and sources have names that others chose, and nothing of
// them can act on a terminal.
func label(s string) string { return text.Visible(s, 120) }

// Text is the graph for people: a line for each node, in the order in which they came, tools indented under the call of
// the model that called them.
func (g *Graph) Text() string {
	var out strings.Builder
	fmt.Fprintf(&out, "turn %s of %s\n\n", label(g.TurnID), cmp.Or(label(g.SessionKey), "(no session key)"))
	for i := range g.Nodes {
		out.WriteString(g.Nodes[i].line() + "\n")
	}
	fmt.Fprintf(&out, "\nhighest distrust: %s; calls of the model: %d", g.Summary.MaxTaint, g.Summary.IterationCount)
	if list := g.Summary.ExternalSources; len(list) > 0 {
		out.WriteString("; from outside: " + label(strings.Join(list, ", ")))
	}
	if list := g.Summary.ToolsBlocked; len(list) > 0 {
		out.WriteString("; blocked: " + label(strings.Join(list, ", ")))
	}
	if g.Calls {
		out.WriteString("; the model's calls are worked out from the tools'")
	}
	if !g.Sealed {
		out.WriteString("; the turn is not over")
	}
	if g.Cut {
		out.WriteString("; there is more than is shown")
	}
	return out.String() + "\n"
}

func (n *Node) line() string {
	line := n.ID
	if n.Kind == ToolCall || n.Kind == ToolResult {
		line = "  " + line
	}
	if name := n.name(); name != "" {
		line += ": " + label(name)
	}
	if n.Metadata.Count > 1 {
		line += fmt.Sprintf(" × %d", n.Metadata.Count)
	}
	switch {
	case !n.Blocked:
		line += " (trust: " + n.Trust.String() + ")"
	case n.BlockReason == "":
		line += " → BLOCKED"
	default:
		line += " → BLOCKED: " + label(n.BlockReason)
	}
	if n.Metadata.Error {
		line += ", an error"
	}
	return line
}
