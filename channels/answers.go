package channels

import (
	"fmt"
	"slices"

	"github.com/openclaw-verifier/verifier/internal/approval"
)

// lasting is for how many minutes a card may be allowed; 0 is once only, and
// why.
func lasting(c *approval.Card) (minutes int, why string) {
	if why := onlyOnce(&c.Ask, look(&c.Ask, &normal).seen); why != "" {
		return 0, why
	}
	return c.Minutes(), ""
}

// typed are the lines that answer a card, the narrowest first.
func typed(c *approval.Card, longer int) []Typed {
	allow := ".approve " + c.TypedTool() + " " + c.Code
	out := []Typed{{Label: "allow once", Line: allow}}
	for _, l := range longerLabels(c, longer) {
		t := Typed{Label: l.label, Scope: l.scope, Line: allow + l.words}
		if l.scope.Minutes > 0 {
			t.Line += fmt.Sprintf(" %d", l.scope.Minutes)
		}
		out = append(out, t)
	}
	return append(out, denyLine(c))
}

func denyLine(c *approval.Card) Typed {
	return Typed{Label: "deny (a reason may follow)", Line: ".deny " + c.Code}
}

func minutesLabel(verb string, minutes int) string { return fmt.Sprintf("%s %d min", verb, minutes) }

// More is the label of the button that shows all there is to see, and every answer that can be given.
const More = "More…"

// buttons are what can be tapped on a card: the same three in the same order everywhere. Nothing allows that is not there to be read.
func buttons(c *approval.Card, full bool) []Button {
	var out []Button
	if full {
		out = append(out, button(c, approval.AllowOnce, onceLabel(c)))
	}
	out = append(out, button(c, approval.DenyCall, "Deny"), button(c, approval.Details, More))
	return out
}

// longerYes is an answer that outlives the call.
type longerYes struct {
	action approval.Action
	scope  approval.Scope
	words  string // behind the code, without the minutes
	label  string
}

// longerLabels are the longer answers that a card offers, the narrowest first.
func longerLabels(c *approval.Card, longer int) (out []longerYes) {
	if longer == 0 {
		return nil
	}
	a, minutes := &c.Ask, approval.Scope{Minutes: longer}
	exact := approval.Scope{Target: approval.Exactly, Minutes: longer}
	out = append(out, longerYes{approval.AllowExactly, exact, " exactly", minutesLabel("Exactly this,", longer)})
	if a.Same != "" {
		same := approval.Scope{Target: approval.Same, Minutes: longer}
		out = append(out, longerYes{approval.AllowSame, same, " same", minutesLabel("Same recipients,", longer)})
	}
	if a.Run != "" {
		what := [...]string{"Any " + a.Tool, "Same recipients",
			"Exactly this"}[a.Bound(approval.Scope{Turn: true}).Target]
		out = append(out, longerYes{approval.AllowTurn, approval.Scope{Turn: true}, " turn", inline(what, normal.name) +
			", this turn"})
	}
	if a.Bound(minutes).Target == approval.AnyCall {
		label := minutesLabel("Any "+inline(a.Tool, normal.name)+",", longer)
		out = append(out, longerYes{approval.AllowMinutes, minutes, "", label})
	}
	return out
}

// detailsButtons are the buttons beside all there is to see.
func detailsButtons(c *approval.Card, longer int) []Button {
	out := []Button{button(c, approval.AllowSeen, onceLabel(c)), button(c, approval.DenyCall, "Deny")}
	for _, l := range longerLabels(c, longer) {
		out = append(out, button(c, l.action, l.label))
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

// covers says what a yes for a while, or for this turn, covers at most.
func covers(c *approval.Card, longer int) []Block {
	if longer == 0 {
		return nil
	}
	a := &c.Ask
	says := fmt.Sprintf("A longer yes covers every call of this tool in this conversation, while the level is no "+
		"worse than %s.", a.Level)
	switch target := a.Bound(approval.Scope{Minutes: longer}).Target; {
	case target == approval.Exactly && a.Shell:
		says = "A longer yes covers exactly this: another such call could do anything."
	case target == approval.Exactly:
		says = "A longer yes covers exactly this call: we don't know where another one would go."
	case target == approval.Same:
		says = fmt.Sprintf("A longer yes covers calls to the same recipients, while the level is no worse than %s.",
			a.Level)
	case a.Shell:
		says = fmt.Sprintf("Any %s means every one in this conversation, except what reaches the network, deletes, "+
			"publishes or names secrets. A page that is read meanwhile may use it.", a.Tool)
	}
	return []Block{{Kind: Note, Part: OfScope, Label: says, Gap: true}}
}

func button(c *approval.Card, a approval.Action, label string) Button {
	return Button{Action: a, Label: label, Handle: c.Handle(a)}
}

// onceLabel names the yes to one call.
func onceLabel(c *approval.Card) string {
	if stopped(c) {
		return "Allow this once"
	}
	return "Allow once"
}
