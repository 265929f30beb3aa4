package channels

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

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
	out := []Typed{{Label: "allow once", Line: allow, Allow: true}}
	a := &c.Questions[0].Ask
	one := len(c.Questions) == 1
	if longer > 0 && one && a.Shell {
		out = append(out, Typed{Label: minutesLabel("again", longer), Line: fmt.Sprintf("%s exactly %d", allow, longer), Allow: true, Exactly: true, Minutes: longer})
	}
	if longer > 0 && (!one || !a.Shell || a.Runs != "") {
		out = append(out, Typed{Label: minutesLabel("allow", longer), Line: fmt.Sprintf("%s %d", allow, longer), Allow: true, Minutes: longer})
	}
	if single := onlyOne(c); len(c.Questions) > 1 && len(single) > 0 {
		out = append(out, Typed{Label: "only one", Line: strings.Join(single, "\n")})
	}
	return append(out, Typed{Label: "deny", Line: ".deny " + c.Code})
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

// buttons are what can be tapped. Nothing allows that is not there to be read.
func buttons(c *approval.Card, full bool, longer int) []Button {
	if len(c.Questions) > 1 {
		return listButtons(c, full)
	}
	var out []Button
	if full {
		out = append(out, button(c, approval.AllowOnce, onceLabel(c)))
	}
	switch {
	case !full || longer == 0:
	case c.Questions[0].Ask.Shell: // a wider yes stands in the details, beside what it covers
		out = append(out, button(c, approval.AllowExactly, minutesLabel("Exactly this,", longer)))
	default:
		out = append(out, button(c, approval.AllowMinutes, minutesLabel("Allow", longer)))
	}
	return append(out, button(c, approval.DenyCall, "Deny"), button(c, approval.DenyBecause, "Deny & say why"), button(c, approval.Details, "Details"))
}

// listButtons are for a card with several calls.
func listButtons(c *approval.Card, full bool) []Button {
	var out []Button
	if full {
		out = append(out, button(c, approval.AllowOnce, "Allow all listed"))
	}
	return append(out, button(c, approval.DenyCall, "Deny all"), button(c, approval.Details, "Show"))
}

// detailsButtons stand beside all there is to see.
func detailsButtons(c *approval.Card) []Button {
	allow, deny := "Allow once", "Deny"
	if len(c.Questions) > 1 {
		allow, deny = "Allow all listed", "Deny all"
	}
	out := []Button{button(c, approval.AllowSeen, allow)}
	if l := c.Likely(); l != nil { // what it would cover stands above
		out = append(out, button(c, approval.AllowLike, minutesLabel("Allow like this,", l.Minutes)))
	}
	if minutes, commands := wider(c); minutes > 0 {
		if utf8.RuneCountInString(commands) > mostNamed { // they stand above
			commands = "such commands"
		}
		commands, _ = Safe(commands, Form{})
		out = append(out, button(c, approval.AllowMinutes, minutesLabel("Allow "+commands+",", minutes)))
	}
	return append(out, button(c, approval.DenyCall, deny))
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

// mostNamed is how many characters of commands fit on a button.
const mostNamed = 32

// wider is for how many minutes commands that do the same as the card's may be allowed, and which these are; 0 where they can't.
func wider(c *approval.Card) (minutes int, commands string) {
	if len(c.Questions) != 1 {
		return 0, ""
	}
	a := &c.Questions[0].Ask
	if commands = a.Commands(); commands == "" || onlyOnce(a, look(a, &normal).seen) != "" {
		return 0, ""
	}
	return c.Minutes(), commands
}

// CoversOnly is how the sentence ends before the commands that a yes for a while covers.
const CoversOnly = " covers only:"

// covers says what a yes for a while covers of a tool that runs commands, where that is less than all.
func covers(c *approval.Card, longer int, r *room) []Block {
	if longer == 0 || len(c.Questions) != 1 || !c.Questions[0].Ask.Shell {
		return nil
	}
	if commands := c.Questions[0].Ask.Commands(); commands != "" {
		return []Block{{Kind: Note, Label: minutesLabel("In this conversation, allow", longer) + CoversOnly, Text: r.inline(commands), Gap: true}}
	}
	return []Block{{Kind: Note, Label: "A longer yes covers exactly this: another such call could do anything.", Gap: true}}
}

func button(c *approval.Card, a approval.Action, label string) Button {
	return Button{Action: a, Label: label, Handle: c.Handle(a), Allows: a.Allows(), Denies: a == approval.DenyCall || a == approval.DenyBecause}
}

// onceLabel names the yes to one call.
func onceLabel(c *approval.Card) string {
	if stopped(c) {
		return "Allow this once"
	}
	return "Allow once"
}
