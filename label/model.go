package label

import (
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/intent"
	"github.com/openclaw-verifier/verifier/redact"
)

// Question is what a model is asked about a tool.
func (t *Tool) Question() intent.ToolQuestion {
	q := intent.ToolQuestion{Name: redact.Line(t.Name), Description: redact.Line(t.Description)}
	for _, a := range t.Params {
		q.Arguments = append(q.Arguments, redact.Line(a.Name+": "+strings.Join(strings.Fields(a.Text), " ")))
	}
	return q
}

// milderThought says in the file that a model takes a tool for one that only looks. The label is as without the model.
const milderThought = "a model thinks that it only looks; its own words may have made the model think so, so only you can say that, with --review"

// Hear takes in what a model thinks of the tool. It may make the label stricter and never milder: what a server says of its tools
// could have made the model say so.
func (p *Proposal) Hear(t *Tool, o intent.ToolOpinion) {
	var thinks []string
	note := func(is bool, has *bool, what string) bool {
		if is = is && (has == nil || !*has); is {
			thinks = append(thinks, "a model says that it "+what)
		}
		return is
	}
	l := &p.Label
	if note(o.Destroys, l.Destructive, "destroys something") {
		l.Destructive = new(true)
	}
	if note(o.Pays, l.Money, "can cost money") {
		l.Money = new(true)
	}
	if note(o.Secret, l.Secret, "bears secrets") {
		l.Secret = new(true)
	}
	if note(o.Acts || o.Destroys || o.Pays, l.Sink, "acts") {
		l.Sink = new(true)
	}
	if len(thinks) > 0 {
		p.tighten(t)
		p.Why = append(thinks, p.Why...)
	}
	if o.Looks && l.Sink != nil && *l.Sink {
		p.Why, p.milder = append(p.Why, milderThought), true
	}
}

// tighten takes what a stricter label may not have: a tool that acts is not safe, each of its arguments is a destination, and it
// completes nothing.
func (p *Proposal) tighten(t *Tool) {
	l := &p.Label
	l.Completes = nil
	if !*l.Sink {
		return
	}
	l.Safe, l.Leaves, l.Content, l.Destinations = nil, nil, nil, nil
	for _, a := range t.Params {
		l.Destinations = append(l.Destinations, a.Name)
	}
	slices.Sort(l.Destinations)
}
