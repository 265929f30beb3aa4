package drawing

import (
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/openclaw-verifier/verifier/provenance"
	"github.com/openclaw-verifier/verifier/taint"
)

// Sizes of the picture, in pixels. It is as wide as a phone's screen has room for, and as high as it needs to be.
const (
	width     = 300
	boxRight  = 272 // where all boxes end
	boxHeight = 42
	rowHeight = 56
	indent    = 26 // of what another box led to
	margin    = 6
	rail      = 12 // where a line leaves a box, from its left
	maxLine   = 32 // columns in a box that is not indented
	perIndent = 4  // and so many fewer for each indent
)

// colours go from green to red; the level is in the box in words as well.
var colours = [taint.Levels]string{"#dff3e4", "#e6f2df", "#eef3d8", "#fdf3cf", "#fde2c8", "#f9d0cf"}

const (
	ink     = "#222222"
	quiet   = "#888888"
	blocked = "#b3261e"
)

// SVG is the graph as a picture: one box below the other in the order of time, tools indented below the model's call and results below
// their tool, a colour for each level, what was blocked with a thick broken border and the word. Lines on the left lead from a call to what
// it did; lines on the right lead from what came back to who read it. Its description is the graph as [Text].
//
// It needs nothing but itself: no script, no style, no link, nothing to fetch, so
// that it may stand in a page under the strictest policy.
func SVG(g *provenance.Graph) string {
	title := fmt.Sprintf("<title>%s</title>\n<desc>%s</desc>\n", escape("Turn "+label(g.TurnID)), escape(Text(g)))
	return draw(g, `role="img"`, title, "")
}

// Picture is the same for the inside of a page that says the graph as [Text]
// beside it: each box can be reached by keyboard and says what it is, and has
// classes by which the page may give it other colours.
func Picture(g *provenance.Graph) string {
	return draw(g, `role="group" aria-label="`+escape("Turn "+label(g.TurnID)+", from top to bottom")+`"`, "", ` tabindex="0" role="img" `)
}

// draw draws with what a picture says of itself, and what each box has besides.
func draw(g *provenance.Graph, is, about, each string) string {
	at, height := place(g)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" %s width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13">`+"\n",
		is, width, height, width, height)
	b.WriteString(about)
	b.WriteString(`<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" fill="` + quiet + `"/></marker></defs>` + "\n")
	if each == "" {
		fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", width, height)
	}
	for _, e := range g.Edges {
		arrow(&b, e, at)
	}
	for i := range g.Nodes {
		box(&b, &g.Nodes[i], at[g.Nodes[i].ID], each)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// spot is where a box is: its row, and how far it is indented.
type spot struct{ row, depth int }

func (s spot) x() int { return margin + s.depth*indent }
func (s spot) y() int { return margin + s.row*rowHeight }

// flow is the direction in which an edge leads on: what was read leads to who
// read it.
func flow(e provenance.Edge) (from, to string) {
	switch e.Relation { //nolint:exhaustive // the others lead from cause to effect
	case provenance.Consumes, provenance.DerivesFrom, provenance.BlockedBy:
		return e.To, e.From
	}
	return e.From, e.To
}

// depths are how far boxes are indented.
var depths = map[provenance.Kind]int{provenance.ToolCall: 1, provenance.ToolResult: 2}

// place gives each node a row, in the order of time.
func place(g *provenance.Graph) (at map[string]spot, height int) {
	at = make(map[string]spot, len(g.Nodes))
	for i := range g.Nodes {
		at[g.Nodes[i].ID] = spot{i, depths[g.Nodes[i].Kind]}
	}
	return at, 2*margin + max(0, len(g.Nodes)*rowHeight-(rowHeight-boxHeight))
}

// arrow leads down on the left to what a box led to, and on the right to what read it later. A line on the right passes no box.
func arrow(b *strings.Builder, e provenance.Edge, at map[string]spot) {
	source, target := flow(e)
	from, to := at[source], at[target]
	how := `stroke="` + quiet + `" marker-end="url(#tip)"`
	var path string
	middle := func(s spot) int { return s.y() + boxHeight/2 }
	switch {
	case e.Relation == provenance.BlockedBy:
		how = `stroke="` + blocked + `" stroke-dasharray="4 3"`
		path = fmt.Sprintf("M%d %dH%dV%dH%d", boxRight, middle(from)+6, boxRight+20, middle(to)+6, boxRight)
	case to.depth > from.depth:
		path = fmt.Sprintf("M%d %dV%dH%d", from.x()+rail, from.y()+boxHeight, middle(to), to.x())
	case to.depth == from.depth && to.row == from.row+1:
		path = fmt.Sprintf("M%d %dV%d", from.x()+rail, from.y()+boxHeight, to.y())
	default:
		path = fmt.Sprintf("M%d %dH%dV%dH%d", boxRight, middle(from), boxRight+12, middle(to)-6, boxRight)
	}
	fmt.Fprintf(b, `<path d="%s" fill="none" %s><title>%s</title></path>`+"\n", path, how, escape(e.From+" "+string(e.Relation)+" "+e.To))
}

func box(b *strings.Builder, n *provenance.Node, s spot, more string) {
	border, second := `stroke="#555555"`, n.Trust.String()
	if n.Blocked {
		border = `stroke="` + blocked + `" stroke-width="3" stroke-dasharray="6 3"`
		second = "✕ BLOCKED · " + second
	}
	first := title(n)
	full := label(first) + ", " + n.Trust.String()
	if n.Blocked {
		full += ", blocked" + because(n)
	}
	if more != "" {
		more += `aria-label="` + escape(full) + `" class="` + class(n) + `"`
	}
	fmt.Fprintf(b, `<g%s><title>%s</title><rect x="%d" y="%d" width="%d" height="%d" rx="6" fill="%s" %s/>`, more, escape(full), s.x(), s.y(), boxRight-s.x(), boxHeight, colours[min(n.Trust, taint.Untrusted)], border)
	fmt.Fprintf(b, `<text x="%d" y="%d" fill="%s">%s</text><text x="%d" y="%d" fill="%s" font-size="11">%s</text></g>`+"\n",
		s.x()+10, s.y()+18, ink, escape(short(first, maxLine-s.depth*perIndent)), s.x()+10, s.y()+34, ink, escape(second))
}

// titles are what boxes without a name are called.
var titles = map[provenance.Kind]string{
	provenance.Input: "Message", provenance.SystemPrompt: "System prompt", provenance.History: "Earlier messages", provenance.LLMCall: "Model call",
	provenance.ToolCall: "Tool", provenance.ToolResult: "Result", provenance.Output: "Answer", provenance.PolicyDecision: "The turn was stopped",
}

// title is the first line of a box. Calls of the model are counted.
func title(n *provenance.Node) string {
	name, kind := n.Name(), titles[n.Kind]
	switch {
	case n.Kind == provenance.LLMCall:
		return kind + " " + strings.TrimPrefix(n.ID, string(provenance.LLMCall)+"_")
	case name == "":
		return kind
	case n.Kind == provenance.ToolResult:
		return "Result of " + name
	}
	return name
}

// class names a box by its level, and that it was blocked.
func class(n *provenance.Node) string {
	text := "node " + min(n.Trust, taint.Untrusted).String()
	if n.Blocked {
		text += " blocked"
	}
	return text
}

// short is what fits into a box; all of it is in the title.
func short(s string, most int) string {
	r := []rune(label(s))
	if len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return string(r)
}

// escape makes a text that XML takes literally.
func escape(s string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		return ""
	}
	return b.String()
}
