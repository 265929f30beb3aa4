package provenance

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/internal/text"
)

// label is a foreign name as it may be shown.
func label(s string) string { return text.Visible(s, 120) }

// Text is the graph for people, as indented lines: what stood in the context, then each call of the model with the
// tools it called. Tools, sessions and sources have names that others chose: nothing of them can act on a terminal.
func (g *Graph) Text() string {
	var context []string
	var rest strings.Builder
	for i := range g.Nodes {
		switch n := &g.Nodes[i]; n.Kind { //nolint:exhaustive // the others stand under these
		case Input, SystemPrompt, History:
			line := string(n.Kind)
			if name := n.Name(); name != "" {
				line += ": " + label(name)
			}
			if n.Metadata.Count > 1 {
				line += fmt.Sprintf(" × %d", n.Metadata.Count)
			}
			context = append(context, line+trust(n))
		case LLMCall:
			rest.WriteString(n.ID + trust(n) + "\n" + branches(g.calls(n)))
		case Output:
			rest.WriteString("output" + trust(n) + "\n")
		case PolicyDecision:
			rest.WriteString("turn" + blocked(n) + "\n")
		}
	}
	head := fmt.Sprintf("turn %s of %s\n\n", label(g.TurnID), cmp.Or(label(g.SessionKey), "(no session key)"))
	if len(context) > 0 {
		head += "context_assembled\n" + branches(context)
	}
	return head + rest.String() + "\n" + g.sentence() + "\n"
}

// calls are the lines of the tools that a call of the model called, and of what they gave back.
func (g *Graph) calls(llm *Node) (lines []string) {
	for _, n := range g.to(llm, Triggers) {
		if n.Kind != ToolCall {
			continue
		}
		line := "tool: " + label(n.Name())
		if n.Blocked {
			line += blocked(n)
		} else {
			line += trust(n)
		}
		for _, r := range g.to(n, Produces) {
			line += " → result" + trust(r)
			if r.Metadata.Error {
				line += ", an error"
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// to are the nodes that a node's edges of a relation lead to.
func (g *Graph) to(from *Node, r Relation) (out []*Node) {
	for _, e := range g.Edges {
		if e.From == from.ID && e.Relation == r {
			out = append(out, &g.Nodes[slices.IndexFunc(g.Nodes, func(n Node) bool { return n.ID == e.To })])
		}
	}
	return out
}

func trust(n *Node) string { return " (trust: " + n.Trust.String() + ")" }

func blocked(n *Node) string {
	if n.BlockReason == "" {
		return " → BLOCKED"
	}
	return " → BLOCKED: " + label(n.BlockReason)
}

func branches(lines []string) (out string) {
	for i, line := range lines {
		mark := "├── "
		if i == len(lines)-1 {
			mark = "└── "
		}
		out += "  " + mark + line + "\n"
	}
	return out
}

// sentence is the summary in words.
func (g *Graph) sentence() string {
	s := fmt.Sprintf("highest distrust: %s; calls of the model: %d", g.Summary.MaxTaint, g.Summary.IterationCount)
	s += list("from outside", g.Summary.ExternalSources) + list("blocked", g.Summary.ToolsBlocked)
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

func list(title string, names []string) (out string) {
	for i, name := range names {
		if i == 0 {
			out = "; " + title + ": " + label(name)
		} else {
			out += ", " + label(name)
		}
	}
	return out
}
