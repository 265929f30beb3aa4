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
	s := &g.Summary
	fmt.Fprintf(&out, "\nhighest distrust: %s; calls of the model: %d", s.MaxTaint, s.IterationCount)
	say := func(is bool, what string) {
		if is {
			out.WriteString("; " + what)
		}
	}
	say(len(s.ExternalSources) > 0, "from outside: "+label(strings.Join(s.ExternalSources, ", ")))
	say(len(s.ToolsBlocked) > 0, "blocked: "+label(strings.Join(s.ToolsBlocked, ", ")))
	say(g.Calls, "the model's calls are worked out from the tools'")
	say(!g.Sealed, "the turn is not over")
	say(g.Cut, "there is more than is shown")
	return out.String() + "\n"
}

func (n *Node) line() string {
	line := n.ID
	if n.Kind == toolCall || n.Kind == toolResult {
		line = "  " + line
	}
	if name := n.name(); name != "" {
		line += ": " + label(name)
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
