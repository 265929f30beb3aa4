package label

import "github.com/openclaw-verifier/verifier/policy"

// Proposal is a label, and why it is as it is.
type Proposal struct {
	Label policy.Tool
	// Why are the claims and opinions that it rests on, the strictest first.
	Why []string

	milder bool // a model thinks that the tool only looks
}

// Propose gives the strictest label that fits a tool: it brings in what others wrote, it acts, and each of its
// arguments is a destination.
func Propose(t *Tool) Proposal {
	p := Proposal{Label: policy.Tool{Source: new(true), Sink: new(true)}}
	for _, a := range t.Params {
		p.Label.Destinations = append(p.Label.Destinations, a.Name)
	}
	if t.Destructive {
		p.Label.Destructive = new(true)
		p.Why = append(p.Why, "the server calls it destructive")
	}
	return p
}
