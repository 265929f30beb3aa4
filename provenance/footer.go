package provenance

import (
	"slices"
	"strconv"
	"strings"

	"github.com/openclaw-verifier/verifier/taint"
)

// sorts are what people call what a tool brings in.
var sorts = []struct {
	one, many string
	tools     string
}{
	{"web page", "web pages", "web_fetch browser canvas portal"},
	{"web search", "web searches", "web_search x_search"},
	{"email", "emails", "email send_email"},
	{"message", "messages", "message conversations_send conversations_turn slack_post"},
	{"document", "documents", "pdf image view_image"},
	{"calendar entry", "calendar entries", "calendar_list calendar_create calendar_delete contacts_lookup"},
	{"shared memory", "shared memories", "vestige_search vestige_promote vestige_demote"},
	{"other session", "other sessions", "sessions_spawn sessions_send sessions sessions_list sessions_history sessions_search subagents agents_wait transcripts"},
	{"fetching command", "fetching commands", "exec process terminal code_execution nodes"},
}

// Footer says what a response was informed by, in one sentence; it is empty where
// nothing came from beyond the owner and the owner's machine.
func (g *Graph) Footer() string {
	counts, others, strangers := make([]int, len(sorts)), 0, 0
	for i := range g.Nodes {
		n := &g.Nodes[i]
		switch {
		case n.Blocked || n.Trust < taint.Shared:
		case n.Kind == Input || n.Kind == History:
			strangers++
		case n.Kind == ToolResult && !g.produced(n.ID), n.Kind == ToolCall:
			if s := sortOf(n.Tool); s >= 0 {
				counts[s]++
			} else {
				others++
			}
		}
	}
	var parts []string
	for i, n := range counts {
		parts = counted(parts, n, sorts[i].one, sorts[i].many)
	}
	parts = counted(parts, others, "other tool result", "other tool results")
	parts = counted(parts, strangers, "message or history by others", "messages or histories by others")
	if len(parts) == 0 {
		return ""
	}
	return "Informed by " + listed(parts) + "; highest distrust: " + g.Summary.MaxTaint.String() + "."
}

// produced reports whether a result belongs to a call of the turn, which is
// counted already.
func (g *Graph) produced(id string) bool {
	return slices.ContainsFunc(g.Edges, func(e Edge) bool { return e.To == id && e.Relation == Produces })
}

func sortOf(tool string) int {
	for i, s := range sorts {
		for name := range strings.FieldsSeq(s.tools) {
			if name == tool {
				return i
			}
		}
	}
	return -1
}

func counted(parts []string, n int, one, many string) []string {
	switch n {
	case 0:
		return parts
	case 1:
		return append(parts, "1 "+one)
	}
	return append(parts, strconv.Itoa(n)+" "+many)
}

// listed joins with commas and a last "and".
func listed(parts []string) string {
	last := len(parts) - 1
	if last == 0 {
		return parts[0]
	}
	return strings.Join(parts[:last], ", ") + " and " + parts[last]
}
