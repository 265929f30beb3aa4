package channels

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/openclaw-verifier/verifier/approval"
)

func callNumber(i, of int) string { return fmt.Sprintf("%d of %d", i+1, of) }

// callBlocks are what will run.
func callBlocks(c *approval.Card, i int, seen *call, r *room) []Block {
	q := &c.Questions[i]
	first := Block{Kind: Field, Label: "tool", Text: toolText(&q.Ask, seen, r)}
	if len(c.Questions) > 1 {
		first.Label, first.Gap = callNumber(i, len(c.Questions)), i > 0
	}
	out := []Block{first}
	if Lookalike(q.Ask.Tool) {
		out = append(out, Block{Kind: Warning, Label: lookalikeWarning(q.Ask.Tool)})
	}
	out = append(out, argumentBlocks(seen)...)
	out = append(out, originBlocks(&q.Ask, r)...)
	if r.roomy && !seen.seen.Full() {
		out = append(out, notVisible(seen.seen))
	}
	out = append(out, whoBlocks(&q.Ask, r)...)
	return append(out, voteBlocks(q, r)...)
}

func notVisible(v Visibility) Block {
	return Block{Kind: Warning, Label: notAllVisible + strings.Join(v.Reasons(), "; ") + "."}
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
		out = append(out, Block{Kind: Quote, Label: m.name, Text: m.text})
	}
	var lines []string
	for _, o := range seen.others {
		lines = append(lines, o.name+": "+o.text)
	}
	if seen.left > 0 {
		lines = append(lines, open+"… "+count(seen.left, "argument", "arguments")+" not shown …"+shut)
	}
	label := "arguments"
	if len(seen.mains) > 0 {
		label = "other arguments"
	}
	switch {
	case len(lines) > 0:
		return append(out, Block{Kind: Quote, Label: label, Text: strings.Join(lines, "\n")})
	case len(out) == 0:
		return []Block{{Kind: Note, Label: noArguments}}
	}
	return out
}

// originBlocks say where arguments came from, the worst first; where there is
// little room, only of the worst.
func originBlocks(a *approval.Ask, r *room) []Block {
	most := someOrigins
	switch {
	case r.ended:
		return nil
	case !r.roomy:
		most = 1
	case r.said == 0:
		most = len(a.Origins)
	}
	var lines []string
	for _, o := range a.Origins[:min(most, len(a.Origins))] {
		argument, _ := name(plainName(o.Argument), r.name)
		lines = append(lines, argument+": "+r.inline(o.String()))
	}
	if left := len(a.Origins) - len(lines); left > 0 && len(lines) > 0 {
		lines = append(lines, open+"… "+count(left, "argument", "arguments")+" not told …"+shut)
	}
	if len(lines) == 0 {
		return nil
	}
	return []Block{{Kind: Field, Label: "origins", Text: strings.Join(lines, "\n")}}
}

// someOrigins is how many arguments' origins a card tells.
const someOrigins = 6

// whoBlocks say who may answer, where not every approver may.
func whoBlocks(a *approval.Ask, r *room) (out []Block) {
	var names []string
	for _, name := range a.Approvers {
		names = append(names, r.person(name))
	}
	if len(names) > 0 {
		out = append(out, Block{Kind: Field, Label: "goes to", Text: strings.Join(names, ", ")})
	}
	if a.Barred != "" {
		out = append(out, Block{Kind: Field, Label: "not by", Text: r.person(a.Barred) + ", who started the run"})
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
		said = append(said, fmt.Sprintf("%s %s (%s)", r.person(v.Person), verb, r.person(v.Via)))
	}
	text := fmt.Sprintf("%d of %d", len(q.Votes), max(q.Ask.Approvals, 1))
	if r.roomy && len(said) > 0 {
		text += ": " + strings.Join(said, ", ")
	}
	return []Block{{Kind: Field, Label: "approvals", Text: text}}
}

// sameContext reports whether all questions of a card come from the same place
// for the same reason, so that it need be said once only.
func sameContext(qs []approval.Question) bool {
	for i := range qs {
		if !reflect.DeepEqual(background(&qs[i].Ask), background(&qs[0].Ask)) {
			return false
		}
	}
	return true
}

// background is the part of an ask that is not the call.
func background(a *approval.Ask) approval.Ask {
	return approval.Ask{
		Conversation: a.Conversation, SessionKey: a.SessionKey, Agent: a.Agent, Level: a.Level, Why: a.Why,
		Started: a.Started, Said: a.Said, Auditor: a.Auditor,
	}
}

// contextBlocks say where a call comes from and why it is asked. Where calls
// come from different places, they say which call it is about.
func contextBlocks(a *approval.Ask, which string, r *room) []Block {
	var out []Block
	if which != "" {
		out = append(out, Block{Kind: Note, Label: "About " + which, Gap: true})
	}
	var why []string
	for _, w := range a.Why {
		why = append(why, r.inline(w))
	}
	if a.Auditor != "" {
		out = append(out, Block{Kind: Field, Label: "auditor", Text: r.inline(a.Auditor), Gap: which == ""})
	}
	if len(why) > 0 {
		out = append(out, Block{Kind: Field, Label: "asked because", Text: strings.Join(why, "\n"), Gap: which == ""})
	}
	out = append(out,
		Block{Kind: Field, Label: "level", Text: levelText(a.Level), Gap: len(out) == 0},
		Block{Kind: Field, Label: "agent", Text: agentText(a, r)},
		Block{Kind: Field, Label: "conversation", Text: conversationText(a, r)},
		Block{Kind: Field, Label: "started by", Text: orUnknown(r.inline(a.Started))})
	if len(a.Said) == 0 {
		return append(out, Block{Kind: Note, Label: nothingSaid, Gap: true})
	}
	return append(out,
		Block{Kind: Note, Label: youAsked, Text: r.inline(a.Said[len(a.Said)-1]), Gap: true},
		Block{Kind: Note, Label: DoesItMatch})
}

// fine is what only the details tell.
func fine(a *approval.Ask, i, of int) []Block {
	label := "In detail"
	if of > 1 {
		label = "In detail, " + callNumber(i, of)
	}
	out := []Block{{Kind: Note, Label: label, Gap: true}}
	for _, f := range []struct{ label, text string }{
		{"rule", a.Rule}, {"session id", a.SessionID}, {"run", a.Run}, {"digest", a.Digest},
	} {
		if f.text != "" {
			out = append(out, Block{Kind: Field, Label: f.label, Text: unbounded.id(a, f.text)})
		}
	}
	for n := len(a.Said) - 2; n >= 0; n-- { // the last one stands above
		out = append(out, Block{Kind: Note, Label: beforeThat, Text: unbounded.inline(a.Said[n])})
	}
	return out
}

func orUnknown(s string) string {
	if s == "" {
		return "(not said)"
	}
	return s
}

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
