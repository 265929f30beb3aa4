package policy

import (
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// Start says what the start of a run brings in, and what a conversation is worth
// at least that nothing else is known of.
func (p *Policy) Start(c *toolcall.Call) (session.Standing, taint.Level) {
	s := session.Classify(c, p.unknown)
	return s, p.birth(s)
}

// Response is what a tool's answer brings in, whatever it was called with.
func (p *Policy) Response(tool string) taint.Level { return p.global.find(tool).response }

// Iterations is the iteration from which on the turn of an agent is blocked.
func (p *Policy) Iterations(agent string) int { return p.rulesFor(agent).cap }

// SourceLabel names what a tool returned, as a call's own label does.
func SourceLabel(tool, origin string) string { return bounded(tool, origin) }
