// Package policy says what a tool call may do in a conversation that is only trusted so far, and why.
//
// It answers two questions and keeps them apart, as the seeds do. What may be called: a mode for each of the six trust
// levels, from the owner's overrides, the safe list, the dangerous list and the taint policy, in that order, then
// tightened and never loosened by taint-escalation, by the agent's own rules, by caps and by the guard. And what comes
// back: the level that the tool's answer brings into the conversation. One table, in tools.go, holds what is known of
// each tool; a tool that is not in it is trusted with nothing.
//
// The package is pure: no I/O, no clock, nothing that changes after [New]. [Policy.Plan] says what holds at every level
// before the level is known, so that a store can decide in one trip; [Policy.Judge] says what held at the level that
// was met, in sentences.
package policy

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/taint"
)

// Policy is a Config that was checked and worked out. It does not change and may be used by many goroutines.
type Policy struct {
	strict   bool
	unknown  taint.Level // what an unattested sender is worth
	from     taint.Level // tainted from here on
	global   *ruleset
	agents   map[string]*ruleset // by lower-case id
	noAgent  *ruleset            // for calls that name no agent
	guard    *guard
	inside   []string   // the directories that the owner trusts; nil: all
	asks     beginnings // the commands that a coding agent asks about each time
	gated    bool       // a conversation that has read secrets asks before anything leaves the machine
	declared []*declared
	calls    int // that a run may make where its iterations are not counted
}

// ruleset is everything that holds for one agent.
type ruleset struct {
	rules map[string]*rule // by tool; that of tools which we do not know has no name
	cap   int              // iterations of a turn
}

// rule is everything that is known of one tool for one agent.
type rule struct {
	facts
	row
	inScope bool
	asks    [taint.Levels]bool // at which levels the owner or the dangerous list wants a person
	acting  taint.Row          // the modes of a call that acts, whatever the tool usually does
	reading *rule              // for calls that only read, as their server says; nil: it is not believed
}

// New checks a Config and works it out. The problems are warnings; the error joins some, each a *Problem.
func New(c Config) (*Policy, []Problem, error) {
	b := newBuilder(c)
	p := b.build()
	if err := errors.Join(b.errors...); err != nil {
		return nil, b.warnings, err
	}
	return p, b.warnings, nil
}

// Tools lists the tools that have a row of their own: the shipped ones and those the owner names.
func (p *Policy) Tools() []string {
	names := slices.Sorted(maps.Keys(p.global.rules))
	return slices.DeleteFunc(names, func(name string) bool {
		return name == "" || isServed(name) || strings.HasSuffix(name, "__")
	})
}

// Strict reports whether the profile is strict.
func (p *Policy) Strict() bool { return p.strict }

// UnknownSender is the level of a run whose starter is not attested.
func (p *Policy) UnknownSender() taint.Level { return p.unknown }

// TaintedFrom is the level at which a sink needs a person.
func (p *Policy) TaintedFrom() taint.Level { return p.from }

// Row is the mode of a tool at each level for an agent, before anything that depends on a single call.
func (p *Policy) Row(agent, tool string) taint.Row {
	if r := p.rulesFor(agent).find(tool); r.inScope && !r.wrapper {
		return r.Modes
	}
	return taint.Every(allow)
}

// Response is what a tool's answer brings in, whatever it was called with.
func (p *Policy) Response(tool string) taint.Level { return p.global.find(tool).response }

// rulesFor finds an agent's rules. Ids are compared without case, as OpenClaw does; a call that names no agent gets the
// strictest of all, so that leaving the field out sheds nothing.
func (p *Policy) rulesFor(agent string) *ruleset {
	if agent == "" {
		return p.noAgent
	}
	if set, ok := p.agents[strings.ToLower(agent)]; ok {
		return set
	}
	return p.global
}

func (s *ruleset) find(tool string) *rule {
	if r := s.rules[tool]; r != nil {
		return r
	}
	if r := ofServer(s.rules, tool); r != nil {
		return r
	}
	return s.rules[""]
}
