package channels

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/internal/approval"
)

// callBlocks are what will run.
func callBlocks(c *approval.Card, seen *call, r *room) []Block {
	out := []Block{{Kind: Field, Part: OfCall, Label: "tool", Text: toolText(&c.Ask, seen, r)}}
	if Lookalike(c.Ask.Tool) {
		out = append(out, Block{Kind: Warning, Part: OfCall, Label: lookalikeWarning(c.Ask.Tool)})
	}
	out = append(out, argumentBlocks(seen)...)
	if dir := r.id(&c.Ask, c.Ask.Directory); dir != "" && !slices.ContainsFunc(seen.others,
		func(o arg) bool { return o.name == "workdir" && o.text == dir }) {
		out = append(out, Block{Kind: Field, Part: OfCall, Label: "directory", Text: dir})
	}
	if r.roomy && !seen.seen.Full() {
		out = append(out, notVisible(seen.seen))
	}
	return append(out, voteBlocks(c, r)...)
}

func notVisible(v Visibility) Block {
	return Block{Kind: Warning, Part: OfCall, Label: notAllVisible + strings.Join(v.Reasons(), "; ") + "."}
}

func toolText(a *approval.Ask, seen *call, r *room) string {
	if a.Sent == "" || a.Sent == a.Tool {
		return seen.tool
	}
	sent, _ := name(a.Sent, r.name)
	return seen.tool + " (sent as " + sent + ")"
}

func argumentBlocks(seen *call) []Block {
	var out []Block
	for _, m := range seen.mains {
		out = append(out, Block{Kind: Quote, Part: OfCall, Label: m.name, Text: m.text, Diff: m.diff})
	}
	var lines []string
	for _, o := range seen.others {
		lines = append(lines, o.name+": "+o.text)
	}
	if seen.left > 0 {
		lines = append(lines, open+"… "+approval.Count(seen.left, "argument", "arguments")+" not shown …"+shut)
	}
	label := "arguments"
	if len(seen.mains) > 0 {
		label = "other arguments"
	}
	switch {
	case len(lines) > 0:
		return append(out, Block{Kind: Quote, Part: OfCall, Label: label, Text: strings.Join(lines, "\n")})
	case len(out) == 0:
		return []Block{{Kind: Note, Part: OfCall, Label: noArguments}}
	}
	return out
}

// originBlocks say where arguments came from, the worst first.
func originBlocks(a *approval.Ask, r *room) []Block {
	var says, lines []string
	of := make(map[string][]string) // arguments, by what is said of them
	for _, o := range a.Origins {
		argument, _ := name(plainName(o.Argument), r.name)
		said := r.inline(o.String())
		if of[said] == nil {
			says = append(says, said)
		}
		of[said] = append(of[said], argument)
	}
	for _, said := range says {
		lines = append(lines, strings.Join(of[said], ", ")+": "+said)
	}
	if len(lines) == 0 {
		return nil
	}
	return []Block{{Kind: Field, Label: "origins", Text: strings.Join(lines, "\n")}}
}

// whoBlocks say who may answer, where not every approver may.
func whoBlocks(a *approval.Ask, r *room) (out []Block) {
	var names []string
	for _, name := range a.Approvers {
		names = append(names, r.person(name))
	}
	if len(names) > 0 {
		out = append(out, Block{Kind: Field, Label: "goes to", Text: strings.Join(names, ", ")})
	}
	return out
}

func voteBlocks(c *approval.Card, r *room) []Block {
	if r.ended || c.Ask.Approvals <= 1 && len(c.Votes) == 0 {
		return nil
	}
	var said []string
	for _, v := range c.Votes {
		verb := "denied"
		if v.Allow {
			verb = "approved " + r.inline(c.Ask.Reach(v.Scope))
		}
		said = append(said, fmt.Sprintf("%s %s (%s)", r.person(v.Who()), verb, r.person(v.Via)))
	}
	text := fmt.Sprintf("%d of %d", len(c.Votes), max(c.Ask.Approvals, 1))
	if r.roomy && len(said) > 0 {
		text += ": " + strings.Join(said, ", ")
	}
	return []Block{{Kind: Field, Part: OfFate, Label: "approvals", Text: text}}
}

// contextBlocks say what was asked for and why a person is asked.
func contextBlocks(a *approval.Ask, r *room) []Block {
	asked := Block{Kind: Note, Part: OfAsked, Label: nothingSaid, Gap: true}
	if len(a.Said) > 0 {
		asked.Label, asked.Text = youAsked, r.inline(a.Said[len(a.Said)-1])
	}
	out := []Block{asked}
	for _, reason := range reasons(a) {
		out = append(out, Block{Kind: Note, Part: OfWhy, Label: "•", Text: r.inline(reason)})
	}
	return out
}

// mostReasons is how many reasons a card gives before More.
const mostReasons = 2

// reasons are why a person is asked, the worst first. What the auditor says comes before all.
func reasons(a *approval.Ask) []string {
	out := a.Reasons
	if len(out) == 0 && a.Blocked == "" {
		out = a.Why
	}
	if a.Auditor != "" {
		out = append([]string{"The auditor says: " + a.Auditor}, out...)
	}
	return out[:min(len(out), mostReasons)]
}

// detailBlocks are what More tells of a call besides what is on the card.
func detailBlocks(c *approval.Card, r *room) []Block {
	a := &c.Ask
	out := append([]Block{{Kind: Note, Label: "In detail", Gap: true}}, originBlocks(a, r)...)
	if stopped(c) {
		out = append(out, Block{Kind: Note, Label: blockedHint})
	}
	if len(a.Why) > 0 {
		out = append(out, Block{Kind: Field, Label: "asked because", Text: r.lines(a.Why)})
	}
	out = append(out,
		Block{Kind: Field, Label: "level", Text: levelText(a.Level)},
		Block{Kind: Field, Label: "agent", Text: agentText(a, r)},
		Block{Kind: Field, Label: "conversation", Text: conversationText(a, r)},
		Block{Kind: Field, Label: "who started", Text: orUnknown(r.inline(a.Started))})
	out = append(out, whoBlocks(a, r)...)
	for _, f := range []struct{ label, text string }{
		{"rule", a.Rule}, {"session id", a.SessionID}, {"run", a.Run}, {"digest", a.Digest},
	} {
		if f.text != "" {
			out = append(out, Block{Kind: Field, Label: f.label, Text: r.id(a, f.text)})
		}
	}
	for n := len(a.Said) - 2; n >= 0; n-- { // the last one is shown above
		out = append(out, Block{Kind: Note, Part: OfAsked, Label: beforeThat, Text: r.inline(a.Said[n])})
	}
	return out
}

// lines are sentences, each in a line of its own.
func (r *room) lines(sentences []string) string {
	out := make([]string, len(sentences))
	for i, s := range sentences {
		out[i] = r.inline(s)
	}
	return strings.Join(out, "\n")
}

func orUnknown(s string) string { return cmp.Or(s, "(not said)") }

func agentText(a *approval.Ask, r *room) string {
	text := orUnknown(r.id(a, a.Agent))
	if client := a.Conversation.Client; client != "" && client != "default" {
		text += " at " + r.id(a, client)
	}
	return text
}

// conversationText names the conversation and the ref that `.reset-trust` takes.
func conversationText(a *approval.Ask, r *room) string {
	key := noSessionKey
	if a.SessionKey != "" {
		key = r.id(a, a.SessionKey)
	}
	if root := a.Conversation.Key; root != a.SessionKey {
		key += "\nin " + r.id(a, root)
	}
	return key + "\nref " + a.Conversation.Ref()
}
