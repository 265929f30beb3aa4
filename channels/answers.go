package channels

import (
	"fmt"
	"strings"

	"github.com/openclaw-verifier/verifier/approval"
)

// Minutes that a card offers. For a list the desk grants no more than ten.
const (
	minutes    = 30
	minutesAll = 10
)

// answers are the lines that answer a card, each to be copied as it stands.
func (p *page) answers(c *approval.Card, calls []call) {
	longer, why := minutes, ""
	if len(calls) > 1 {
		longer = minutesAll
	}
	for i := range calls {
		if why = onlyOnce(&c.Questions[i].Ask, calls[i].seen); why != "" {
			longer = 0
			break
		}
	}
	p.blank()
	p.note(why)
	if c.Code != "" {
		p.typed(c, calls, longer)
	}
	p.field("in a shell", strings.Join(shell(c.Ref(), longer), "\n"))
}

// shell are the same answers for the command line.
func shell(ref string, longer int) []string {
	lines := []string{"verifier approve " + ref}
	if longer > 0 {
		lines = append(lines, fmt.Sprintf("verifier approve %s --minutes %d", ref, longer))
	}
	return append(lines, "verifier deny "+ref)
}

func (p *page) typed(c *approval.Card, calls []call, longer int) {
	allow := ".approve " + typedTool(c) + " " + c.Code
	p.field("allow once", allow)
	if longer > 0 {
		p.field(fmt.Sprintf("allow %d min", longer), fmt.Sprintf("%s %d", allow, longer))
	}
	if single := onlyOne(c); len(calls) > 1 && len(single) > 0 {
		p.field("only one", strings.Join(single, "\n"))
	}
	p.field("deny", ".deny "+c.Code)
}

// typedTool is what `.approve` names: the tool, or all of the card where there
// are several or the name can't be typed.
func typedTool(c *approval.Card) string {
	if len(c.Questions) == 1 && typeable(c.Questions[0].Ask.Tool) {
		return c.Questions[0].Ask.Tool
	}
	return "all"
}

// onlyOne are the lines that allow a single call of a list: those whose tool is
// there once.
func onlyOne(c *approval.Card) []string {
	times := make(map[string]int)
	for i := range c.Questions {
		times[c.Questions[i].Ask.Tool]++
	}
	var lines []string
	for i := range c.Questions {
		if tool := c.Questions[i].Ask.Tool; times[tool] == 1 && tool != "all" && typeable(tool) {
			lines = append(lines, ".approve "+tool+" "+c.Code)
		}
	}
	return lines
}

// typeable reports whether a tool's name can go into a line that people copy,
// perhaps into a shell by mistake.
func typeable(tool string) bool {
	const plain = "abcdefghijklmnopqrstuvwxyz0123456789_-.:/"
	return tool != "" && len(tool) <= 40 && strings.Trim(tool, plain) == ""
}
