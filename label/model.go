package label

import (
	"strings"

	"github.com/openclaw-verifier/verifier/intent"
	"github.com/openclaw-verifier/verifier/redact"
)

// Question is what a model is asked about a tool.
func (t *Tool) Question() intent.ToolQuestion {
	q := intent.ToolQuestion{Name: redact.Line(t.Name), Description: redact.Line(t.Description)}
	for _, a := range t.Params {
		q.Arguments = append(q.Arguments, redact.Line(a.Name+": "+strings.Join(strings.Fields(a.Schema), " ")))
	}
	return q
}

// milderThought says in the file that a model takes a tool for one that only looks. The label is as without the model.
const milderThought = "a model thinks that it only looks; its own words may have made the model think so, so only you can say that, with --review"

// Hear takes in what a model thinks of the tool. It may make the label stricter and never milder: what a server says of its tools
// could have made the model say so.
func (p *Proposal) Hear(o intent.ToolOpinion) {
	var thinks []string
	note := func(is bool, has **bool, what string) {
		if is && (*has == nil || !**has) {
			*has = new(true)
			thinks = append(thinks, "a model says that it "+what)
		}
	}
	note(o.Destroys, &p.Label.Destructive, "destroys something")
	note(o.Pays, &p.Label.Money, "can cost money")
	note(o.Secret, &p.Label.Secret, "bears secrets")
	p.Why = append(thinks, p.Why...)
	if o.Looks {
		p.Why, p.milder = append(p.Why, milderThought), true
	}
}
