package channels

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/policy"
)

// headlineWidth is how many columns of foreign text the first line of a card has: it has to fit a lock screen.
const headlineWidth = 90

// Headline is what a call does, in words and in one line: "Send a message to bob@example.org". It may shorten, so it is never the only
// place where a value appears: the literal call follows it.
type Headline struct {
	Says string // our words
	Of   string // what the call says, through [Safe] and perhaps shortened; may be empty
	Then string // our words again; may be empty
}

// String is the headline as one text.
func (h Headline) String() string {
	return strings.Join(slices.DeleteFunc([]string{h.Says, h.Of, h.Then}, func(s string) bool { return s == "" }), " ")
}

// sendingActions are the actions of message that send one.
var sendingActions = []string{"", "send", "reply", "broadcast"}

// Head is the headline of a call.
func Head(a *approval.Ask) Headline {
	given, _ := members(a.Shown)
	s, known := policy.CardOf(a.Tool)
	switch action := valueOf(given, "action"); {
	case !known:
		return stranger(a)
	case a.Tool == "apply_patch":
		return patchHead(given)
	case a.Tool == "message" && !slices.Contains(sendingActions, action):
		s.Says, s.Slots = "Messages:", append([]string{"action"}, s.Slots...)
	}
	h := Headline{Says: s.Says}
	var parts []string
	for _, slot := range s.Slots {
		for name := range strings.FieldsSeq(slot) {
			if v := valueOf(given, name); v != "" {
				parts = append(parts, v)
				break
			}
		}
	}
	if h.Of = oneLine(strings.Join(parts, " ")); h.Of == "" {
		h.Says = s.Alone
	}
	if a.Tool == "edit" || a.Tool == "write" {
		h.Then = changed(given)
	}
	return h
}

// stranger is the headline of a tool that we don't know: its name, and what it says of itself.
func stranger(a *approval.Ask) Headline {
	name, _ := name(a.Tool, headlineWidth)
	h := Headline{Says: "Use tool", Of: name}
	switch a.Effect {
	case approval.OnlyReads:
		h.Then = "(says that it only reads)"
	case approval.Changes:
		h.Then = "(says that it changes something)"
	case approval.Destroys:
		h.Then = "(says that it can delete or overwrite)"
	}
	return h
}

// valueOf is an argument as a headline has it: a list of texts is one text.
func valueOf(given []arg, name string) string {
	name, member, inside := strings.Cut(name, ".")
	for _, m := range given {
		if m.name != name {
			continue
		}
		if inside {
			within, _ := members([]byte(m.text))
			return valueOf(within, member)
		}
		var list []string
		if strings.HasPrefix(m.text, "[") && json.Unmarshal([]byte(m.text), &list) == nil {
			return strings.Join(list, ", ")
		}
		return m.text
	}
	return ""
}

// oneLine makes a text fit the headline: in one line, the middle left out where it is long. A shell's line breaks become spaces: the whole
// text is below.
func oneLine(s string) string {
	if len(s) > 8*headlineWidth { // what is between would be left out anyway
		s = strings.ToValidUTF8(s[:4*headlineWidth], "") + " … " + strings.ToValidUTF8(s[len(s)-4*headlineWidth:], "")
	}
	s, _ = Safe(strings.Join(strings.Fields(s), " "), Form{})
	return shortened(s, headlineWidth)
}

// shortened leaves out the middle of a safe text that is wider than so many columns, and never a part of one of our marks.
func shortened(s string, most int) string {
	if width(s) <= most {
		return s
	}
	tail := most / 3
	head, end, inMark := 0, len(s), false
	for i, r := range s {
		if !inMark && width(s[:i]) <= most-tail-3 {
			head = i
		}
		if !inMark && end == len(s) && width(s[i:]) <= tail {
			end = i
		}
		inMark = string(r) == open || inMark && string(r) != shut
	}
	return s[:head] + " … " + s[end:]
}

// changed says how many lines an edit adds and takes away, or how many a new file has; "" where that can't be seen.
func changed(given []arg) string {
	plus, minus := 0, 0
	for _, m := range joined(given) {
		switch {
		case !m.body || isHidden(m.text):
		case m.name == "content":
			return "(" + approval.Count(strings.Count(strings.TrimSuffix(m.text, "\n"), "\n")+1, "line", "lines") + ")"
		case m.name == "edits" || m.name == changeName:
			plus += strings.Count("\n"+m.text, "\n+ ")
			minus += strings.Count("\n"+m.text, "\n- ")
		}
	}
	return plusMinus(plus, minus)
}

func plusMinus(plus, minus int) string {
	if plus+minus == 0 {
		return ""
	}
	return fmt.Sprintf("(+%d −%d)", plus, minus)
}

// patchHead says which files a patch changes.
func patchHead(given []arg) Headline {
	var files, deeds []string
	plus, minus := 0, 0
	for line := range strings.SplitSeq(valueOf(given, "input"), "\n") {
		deed, file, header := strings.Cut(strings.TrimPrefix(line, "*** "), " File: ")
		switch {
		case header && strings.HasPrefix(line, "*** "):
			files, deeds = append(files, strings.TrimSpace(file)), append(deeds, deed)
		case strings.HasPrefix(line, "+"):
			plus++
		case strings.HasPrefix(line, "-"):
			minus++
		}
	}
	h := Headline{Says: "Change", Of: oneLine(strings.Join(files, ", ")), Then: plusMinus(plus, minus)}
	switch {
	case len(files) == 0:
		return Headline{Says: "Change files"}
	case !slices.ContainsFunc(deeds, func(d string) bool { return d != "Delete" }):
		h.Says = "Delete"
	case !slices.ContainsFunc(deeds, func(d string) bool { return d != "Add" }):
		h.Says = "Write"
	case len(files) > 1:
		h.Says = "Change " + approval.Count(len(files), "file", "files") + ":"
	}
	return h
}
