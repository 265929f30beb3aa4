package drawing

import (
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/openclaw-verifier/verifier/provenance"
	"github.com/openclaw-verifier/verifier/taint"
)

// Sizes of the picture, in pixels.
const (
	boxWidth  = 190
	boxHeight = 48
	layerGap  = 46
	rowGap    = 16
	margin    = 16
	dip       = 40 // how far a line bends below the boxes
	maxLine   = 26 // columns in a box
)

// colours go from green to red; the level stands in the box in words as well.
var colours = [taint.Levels]string{"#dff3e4", "#e6f2df", "#eef3d8", "#fdf3cf", "#fde2c8", "#f9d0cf"}

const (
	ink     = "#222222"
	quiet   = "#888888"
	blocked = "#b3261e"
)

// SVG is the graph as a picture: layers from left to right in the order in which
// things led to each other, a colour for each level, what was blocked with a
// thick broken border and the word. Its description is the graph as [Text].
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
	return draw(g, `role="group" aria-label="`+escape("Turn "+label(g.TurnID)+", from left to right")+`"`, "", ` tabindex="0" role="img" `)
}

// draw draws with what a picture says of itself, and what each box has besides.
func draw(g *provenance.Graph, is, about, each string) string {
	at, width, height := place(g)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" %s width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n",
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

// spot is the upper left corner of a box.
type spot struct{ x, y int }

// flow is the direction in which an edge leads on: what was read leads to who
// read it.
func flow(e provenance.Edge) (from, to string) {
	switch e.Relation { //nolint:exhaustive // the others lead from cause to effect
	case provenance.Consumes, provenance.DerivesFrom, provenance.BlockedBy:
		return e.To, e.From
	}
	return e.From, e.To
}

// place puts each node one layer behind the last that leads to it. Nodes stand
// in the order of time, so one pass is enough.
func place(g *provenance.Graph) (at map[string]spot, width, height int) {
	before := map[string][]string{}
	for _, e := range g.Edges {
		from, to := flow(e)
		before[to] = append(before[to], from)
	}
	layers, rows := map[string]int{}, map[int]int{}
	at = make(map[string]spot, len(g.Nodes))
	for i := range g.Nodes {
		id, layer := g.Nodes[i].ID, 0
		for _, from := range before[id] {
			if l, placed := layers[from]; placed {
				layer = max(layer, l+1)
			}
		}
		s := spot{margin + layer*(boxWidth+layerGap), margin + rows[layer]*(boxHeight+rowGap)}
		layers[id], at[id] = layer, s
		rows[layer]++
		width, height = max(width, s.x+boxWidth+margin), max(height, s.y+boxHeight+dip)
	}
	return at, max(width, 2*margin), max(height, 2*margin)
}

func arrow(b *strings.Builder, e provenance.Edge, at map[string]spot) {
	source, target := flow(e)
	from, to := at[source], at[target]
	x1, y1, x2, y2 := from.x+boxWidth, from.y+boxHeight/2, to.x, to.y+boxHeight/2
	bend := max(20, (x2-x1)/2)
	curve := [...]int{x1, y1, x1 + bend, y1, x2 - bend, y2, x2, y2}
	how := `stroke="` + quiet + `" marker-end="url(#tip)"`
	if e.Relation == provenance.BlockedBy { // below what lies between
		x1, y1, x2, y2 = from.x+boxWidth/2, from.y+boxHeight, to.x+boxWidth/2, to.y+boxHeight
		curve = [...]int{x1, y1, x1, y1 + dip, x2, y2 + dip, x2, y2}
		how = `stroke="` + blocked + `" stroke-dasharray="4 3"`
	}
	c := curve
	fmt.Fprintf(b, `<path d="M%d %dC%d %d %d %d %d %d" fill="none" %s><title>%s</title></path>`+"\n",
		c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], how, escape(e.From+" "+string(e.Relation)+" "+e.To))
}

func box(b *strings.Builder, n *provenance.Node, s spot, more string) {
	border, second := `stroke="#555555"`, n.Trust.String()
	if n.Blocked {
		border = `stroke="` + blocked + `" stroke-width="3" stroke-dasharray="6 3"`
		second = "✕ BLOCKED · " + second
	}
	first := n.Name()
	switch {
	case first == "":
		first = string(n.Kind)
	case n.Kind == provenance.ToolResult:
		first = "result of " + first
	}
	full := string(n.Kind) + " " + label(n.Name()) + ", " + n.Trust.String()
	if n.Blocked {
		full += ", blocked" + because(n)
	}
	if more != "" {
		more += `aria-label="` + escape(full) + `" class="` + class(n) + `"`
	}
	fmt.Fprintf(b, `<g%s><title>%s</title><rect x="%d" y="%d" width="%d" height="%d" rx="6" fill="%s" %s/>`, more, escape(full), s.x, s.y, boxWidth, boxHeight, colours[min(n.Trust, taint.Untrusted)], border)
	fmt.Fprintf(b, `<text x="%d" y="%d" fill="%s">%s</text><text x="%d" y="%d" fill="%s" font-size="11">%s</text></g>`+"\n",
		s.x+10, s.y+20, ink, escape(short(first)), s.x+10, s.y+37, ink, escape(second))
}

// class names a box by its level, and that it was blocked.
func class(n *provenance.Node) string {
	text := "node " + min(n.Trust, taint.Untrusted).String()
	if n.Blocked {
		text += " blocked"
	}
	return text
}

// short is what fits into a box; all of it stands in the title.
func short(s string) string {
	r := []rune(label(s))
	if len(r) > maxLine {
		return string(r[:maxLine-1]) + "…"
	}
	return string(r)
}

// escape makes a text that stands for nothing but itself in XML.
func escape(s string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		return ""
	}
	return b.String()
}
