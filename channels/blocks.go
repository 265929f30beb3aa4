package channels

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/approval"
)

func callNumber(i, of int) string { return fmt.Sprintf("%d of %d", i+1, of) }

// callBlocks are what will run.
func callBlocks(c *approval.Card, i int, seen *call, r *room) []Block {
	q := &c.Questions[i]
	first := Block{Kind: Field, Part: OfCall, Label: "tool", Text: toolText(&q.Ask, seen, r)}
	if len(c.Questions) > 1 {
		first.Label, first.Gap = callNumber(i, len(c.Questions)), i > 0
	}
	out := []Block{first}
	if Lookalike(q.Ask.Tool) {
		out = append(out, Block{Kind: Warning, Part: OfCall, Label: lookalikeWarning(q.Ask.Tool)})
	}
	out = append(out, argumentBlocks(seen)...)
	if dir := r.id(&q.Ask, q.Ask.Directory); dir != "" && !slices.ContainsFunc(seen.others, func(o arg) bool { return o.name == "workdir" && o.text == dir }) {
		out = append(out, Block{Kind: Field, Part: OfCall, Label: "directory", Text: dir})
	}
	if r.roomy && !seen.seen.Full() {
		out = append(out, notVisible(seen.seen))
	}
	return append(out, voteBlocks(q, r)...)
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

func voteBlocks(q *approval.Question, r *room) []Block {
	if r.ended || q.Ask.Approvals <= 1 && len(q.Votes) == 0 {
		return nil
	}
	var said []string
	for _, v := range q.Votes {
		verb := "denied"
		if v.Allow {
			verb = "approved " + r.inline(q.Ask.Reach(v.Scope))
		}
		said = append(said, fmt.Sprintf("%s %s (%s)", r.person(v.Who()), verb, r.person(v.Via)))
	}
	if Answered(q) { // on a list whose other calls wait
		return []Block{{Kind: Field, Part: OfCall, Label: "answered", Text: strings.Join(said, ", ")}}
	}
	text := fmt.Sprintf("%d of %d", len(q.Votes), max(q.Ask.Approvals, 1))
	if r.roomy && len(said) > 0 {
		text += ": " + strings.Join(said, ", ")
	}
	return []Block{{Kind: Field, Part: OfFate, Label: "approvals", Text: text}}
}

// sameContext reports whether all questions of a card come from the same place
// for the same reason, so that it need be said once only.
func sameContext(qs []approval.Question) bool {
	return !slices.ContainsFunc(qs, func(q approval.Question) bool { return !reflect.DeepEqual(background(&q.Ask), background(&qs[0].Ask)) })
}

// background is the part of an ask that is not the call.
func background(a *approval.Ask) approval.Ask {
	return approval.Ask{
		Conversation: a.Conversation, SessionKey: a.SessionKey, Agent: a.Agent, Level: a.Level, Why: a.Why,
		Reasons: a.Reasons, Started: a.Started, Said: a.Said, Auditor: a.Auditor,
	}
}

// contextBlocks say what was asked for and why a person is asked. Where calls
// come from different places, they say which call it is about.
func contextBlocks(a *approval.Ask, which string, r *room) []Block {
	asked := Block{Kind: Note, Part: OfAsked, Label: nothingSaid, Gap: true}
	if len(a.Said) > 0 {
		asked.Label, asked.Text = youAsked, r.inline(a.Said[len(a.Said)-1])
	}
	if which != "" {
		asked.Label = "About " + which + ". " + asked.Label
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
func detailBlocks(c *approval.Card, i int, r *room) []Block {
	a, label := &c.Questions[i].Ask, "In detail"
	if of := len(c.Questions); of > 1 {
		label = "In detail, " + callNumber(i, of)
	}
	out := append([]Block{{Kind: Note, Label: label, Gap: true}}, originBlocks(a, r)...)
	if i > 0 && sameContext(c.Questions) { // the rest is shown above
		if a.Digest != "" {
			out = append(out, Block{Kind: Field, Label: "digest", Text: r.id(a, a.CallDigest())})
		}
		if len(out) == 1 {
			return nil
		}
		return out
	}
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
		{"rule", a.Rule}, {"session id", a.SessionID}, {"run", a.Run}, {"digest", a.CallDigest()},
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
