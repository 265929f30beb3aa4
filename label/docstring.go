package label

import (
	"regexp"
	"slices"
	"strings"
)

// Servers in Python send what a function says of itself whole: a summary, then what each argument is, what is returned and what is raised.
var (
	heading  = regexp.MustCompile(`^\s*(Args|Arguments|Parameters|Params|Returns|Return|Raises|Yields):\s*$`)
	explains = regexp.MustCompile(`^\s*-?\s*\x60?(\w+)\x60?(?:\s*\([^)]*\))?\s*:\s*(.*)$`)
)

// sorted is a tool whose description is its summary: what it says of an argument is said of that argument, and answer is what it says of its answer. A line
// that only repeats an argument's name, as titles do, is left out.
func (t *Tool) sorted() (out *Tool, answer string) {
	whole := *t
	whole.Params = slices.Clone(t.Params)
	for i := range whole.Params {
		a := &whole.Params[i]
		a.Text = strings.Join(slices.DeleteFunc(strings.Split(a.Text, "\n"), func(line string) bool { return slices.Equal(nameWords(line), nameWords(a.Name)) }), "\n")
	}
	lines := strings.Split(t.Description, "\n")
	at := slices.IndexFunc(lines, heading.MatchString)
	if at < 0 {
		return &whole, ""
	}
	whole.Description = strings.Join(lines[:at], "\n")
	about := &answer
	for _, line := range lines[at:] {
		m := explains.FindStringSubmatch(line)
		switch {
		case heading.MatchString(line):
			about = &answer
			continue
		case m != nil:
			if i := slices.IndexFunc(whole.Params, func(a Param) bool { return a.Name == m[1] }); i >= 0 {
				about, line = &whole.Params[i].Text, m[2]
			}
		}
		*about += "\n" + strings.TrimSpace(line)
	}
	return &whole, answer
}
