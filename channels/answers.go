package channels

import (
	"fmt"
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/approval"
)

// lasting is for how many minutes a card may be allowed; 0 is once only, and
// why.
func lasting(c *approval.Card, calls []call) (minutes int, why string) {
	for i := range calls {
		if why := onlyOnce(&c.Questions[i].Ask, calls[i].seen); why != "" {
			return 0, why
		}
	}
	return c.Minutes(), ""
}

// typed are the lines that answer a card.
func typed(c *approval.Card, longer int) []Typed {
	allow := ".approve " + c.TypedTool() + " " + c.Code
	out := []Typed{{Label: "allow once", Line: allow}}
	a := &c.Questions[0].Ask
	one := len(c.Questions) == 1
	if longer > 0 && (!one || !a.Shell || a.Every) {
		out = append(out, Typed{Label: minutesLabel("allow", longer), Line: fmt.Sprintf("%s %d", allow, longer), Minutes: longer})
	}
	if longer > 0 && one && a.Shell {
		out = append(out, Typed{Label: "exactly this", Line: fmt.Sprintf("%s exactly %d", allow, longer), Exactly: true, Minutes: longer})
	}
	if hasTurn(c, longer) {
		out = append(out, Typed{Label: "this turn", Line: allow + " turn", Turn: true})
	}
	if single := onlyOne(c); len(c.Questions) > 1 && len(single) > 0 {
		out = append(out, Typed{Label: "only one", Line: strings.Join(single, "\n")})
	}
	return append(out, denyLine(c))
}

func denyLine(c *approval.Card) Typed {
	return Typed{Label: "deny (a reason may follow)", Line: ".deny " + c.Code}
}

func minutesLabel(verb string, minutes int) string { return fmt.Sprintf("%s %d min", verb, minutes) }

// onlyOne are the lines that allow a single call of a list: those whose tool is
// there once.
func onlyOne(c *approval.Card) []string {
	times := make(map[string]int)
	for i := range c.Questions {
		times[c.Questions[i].Ask.Tool]++
	}
	var lines []string
	for i := range c.Questions {
		if tool := c.Questions[i].Ask.Tool; times[tool] == 1 && tool != "all" && approval.Typeable(tool) {
			lines = append(lines, ".approve "+tool+" "+c.Code)
		}
	}
	return lines
}

// hasTurn reports whether a call can be allowed until its run ends.
func hasTurn(c *approval.Card, longer int) bool {
	return longer > 0 && len(c.Questions) == 1 && c.Questions[0].Ask.Run != ""
}

// More is the label of the button that shows all there is to see, and every answer that can be given.
const More = "More…"

// buttons are what can be tapped on a card: the same three in the same order everywhere. Nothing allows that is not there to be read.
func buttons(c *approval.Card, full bool) []Button {
	var out []Button
	if full {
		out = append(out, button(c, approval.AllowOnce, onceLabel(c)))
	}
	out = append(out, button(c, approval.DenyCall, denyLabel(c)), button(c, approval.Details, More))
	if full {
		out = append(out, entries(c, approval.AllowOnce, "Allow %d")...)
	}
	return out
}

// entries are a button for each call of a list that waits.
func entries(c *approval.Card, a approval.Action, label string) (out []Button) {
	if len(c.Questions) < 2 {
		return nil
	}
	for i := range c.Questions {
		if !Answered(&c.Questions[i]) {
			b := button(c.Entry(i), a, fmt.Sprintf(label, i+1))
			b.Entry = i + 1
			out = append(out, b)
		}
	}
	return out
}

// Answered reports whether a call has its answer. The other calls of its list may wait.
func Answered(q *approval.Question) bool {
	return q.Denial() != nil || len(q.Votes) >= max(q.Ask.Approvals, 1)
}

// left is how many calls of a card wait for an answer.
func left(c *approval.Card) (n int) {
	for i := range c.Questions {
		if !Answered(&c.Questions[i]) {
			n++
		}
	}
	return n
}

// detailsButtons are the buttons beside all there is to see.
func detailsButtons(c *approval.Card, longer int) []Button {
	out := []Button{button(c, approval.AllowSeen, onceLabel(c)), button(c, approval.DenyCall, denyLabel(c))}
	if len(c.Questions) > 1 {
		return append(out, entries(c, approval.Details, "More about %d…")...)
	}
	shell := c.Questions[0].Ask.Shell
	if longer > 0 && (!shell || c.Questions[0].Ask.Every) {
		out = append(out, button(c, approval.AllowMinutes, minutesLabel("Allow", longer)))
	}
	if longer > 0 && shell {
		out = append(out, button(c, approval.AllowExactly, minutesLabel("Exactly this,", longer)))
	}
	if hasTurn(c, longer) {
		label := "Allow this turn"
		switch s := c.Questions[0].Ask.Bound(approval.Scope{Turn: true}); {
		case s.Exactly, shell && !c.Questions[0].Ask.Every:
			label = "Exactly this, this turn"
		case s.Like:
			label = "Same destination, this turn"
		}
		out = append(out, button(c, approval.AllowTurn, label))
	}
	if l := c.LikePreview(); l != nil { // what it would cover is shown above
		out = append(out, button(c, approval.AllowLike, minutesLabel("Allow like this,", l.Minutes)))
	}
	return out
}

// BesideFile are the buttons of details that are in a file: it does not show that anyone has read it.
func BesideFile(c *approval.Card, buttons []Button) []Button {
	out := slices.Clone(buttons)
	for i := range out {
		if out[i].Action == approval.AllowSeen {
			out[i] = button(c, approval.AllowFile, out[i].Label)
		}
	}
	return out
}

// covers says what a yes for a while, or for this turn, covers.
func covers(c *approval.Card, longer int) []Block {
	if longer == 0 || len(c.Questions) != 1 {
		return nil
	}
	if a := &c.Questions[0].Ask; !a.Shell {
		out := []Block{{Kind: Note, Part: OfScope, Label: fmt.Sprintf("Minutes cover every call of this tool in this conversation, wherever it goes, while the level is no worse than %s.", a.Level), Gap: true}}
		switch s := a.Bound(approval.Scope{Turn: true}); {
		case !hasTurn(c, longer):
		case s.Exactly:
			out = append(out, Block{Kind: Note, Part: OfScope, Label: "This turn covers exactly this call, until the turn ends."})
		case s.Like:
			out = append(out, Block{Kind: Note, Part: OfScope, Label: "This turn covers calls of this tool to the same destination, until the turn ends."})
		default:
			out = append(out, Block{Kind: Note, Part: OfScope, Label: "This turn covers every call of this tool, until the turn ends."})
		}
		return out
	}
	if a := &c.Questions[0].Ask; a.Every {
		return []Block{{Kind: Note, Part: OfScope, Gap: true, Label: fmt.Sprintf("%s covers every %s in this "+
			"conversation, except what reaches the network, deletes, publishes or names secrets. "+
			"A page that is read meanwhile may use it.", minutesLabel("Allow", longer), a.Tool)}}
	}
	return []Block{{Kind: Note, Part: OfScope, Label: "A longer yes covers exactly this: another such call could do anything.", Gap: true}}
}

func button(c *approval.Card, a approval.Action, label string) Button {
	return Button{Action: a, Label: label, Handle: c.Handle(a)}
}

// onceLabel names the yes to one call, or to those of a list.
func onceLabel(c *approval.Card) string {
	switch n := len(c.Questions); {
	case n > 1 && left(c) < n:
		return fmt.Sprintf("Allow the other %d", left(c))
	case n > 1:
		return "Allow all listed"
	case stopped(c):
		return "Allow this once"
	}
	return "Allow once"
}

func denyLabel(c *approval.Card) string {
	switch n := len(c.Questions); {
	case n > 1 && left(c) < n:
		return fmt.Sprintf("Deny the other %d", left(c))
	case n > 1:
		return "Deny all"
	}
	return "Deny"
}
