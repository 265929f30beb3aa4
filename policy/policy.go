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
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/taint"
)

// Policy is a Config that was checked and worked out. It does not change and may be used by many goroutines.
type Policy struct {
	Strict        bool        // its profile is strict
	UnknownSender taint.Level // what a run is worth whose starter is not attested
	TaintedFrom   taint.Level // the level at which a sink needs a person

	global   *ruleset
	agents   map[string]*ruleset // by lower-case id
	noAgent  *ruleset            // for calls that name no agent
	guard    *guard
	inside   []string   // the directories that the owner trusts; nil: all
	begins   beginnings // the commands that are on a list
	gated    bool       // a conversation that has read secrets asks before anything leaves the machine
	declared []*declared
	calls    int // that a run may make where its iterations are not counted
}

// New checks a Config and works it out. The problems are warnings; the error joins some, each a *Problem.
func New(c Config) (*Policy, []Problem, error) {
	b := &builder{config: c, tools: map[string]*facts{"": &unknownTool}}
	b.build()
	if err := errors.Join(b.errors...); err != nil {
		return nil, b.warnings, err
	}
	p := b.Policy // what it was built from can go
	return &p, b.warnings, nil
}

// Tools lists the tools that have a row of their own: the shipped ones and those the owner names.
func (p *Policy) Tools() []string {
	names := slices.Sorted(maps.Keys(p.global.rules))
	return slices.DeleteFunc(names, func(name string) bool {
		return name == "" || served[name] != nil || strings.HasSuffix(name, "__")
	})
}

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

const (
	allow    = taint.Allow
	confirm  = taint.Confirm
	restrict = taint.Restrict

	system    = taint.System
	owner     = taint.Owner
	local     = taint.Local
	shared    = taint.Shared
	external  = taint.External
	untrusted = taint.Untrusted
)

// profile is what a Config is laid over.
type profile struct {
	name   string
	policy taint.Row
	from   taint.Level
}

// profiles are seed 000's default, its three examples laid over that, and strict: the default without its leniencies.
var profiles = []profile{
	{"default", taint.Row{allow, allow, allow, confirm, confirm, confirm}, external},
	{"paranoid", taint.Row{allow, allow, allow, restrict, restrict, restrict}, external},
	{"permissive", taint.Row{allow, allow, allow, allow, allow, confirm}, untrusted},
	{"interactive", taint.Row{allow, allow, allow, confirm, confirm, restrict}, external},
	{"strict", taint.Row{allow, allow, allow, confirm, confirm, confirm}, external},
}

// Profiles lists the names that Config.Profile may have.
func Profiles() (names []string) {
	for _, p := range profiles {
		names = append(names, p.name)
	}
	return names
}

// row is a mode for each level, with the rules that led to it. It only ever gets stricter.
type row struct {
	Modes taint.Row // the mode at each of the six levels
	why   [taint.Levels][]Step
}

// tighten makes the row at least as strict as another. The text is a sentence, or all of one but what happens then.
func (r *row) tighten(rule, text string, to taint.Row) {
	for l, mode := range to {
		if mode > r.Modes[l] {
			r.set(taint.Level(l), rule, text, mode)
		}
	}
}

func (r *row) set(l taint.Level, rule, text string, mode taint.Mode) {
	if !strings.HasSuffix(text, ".") {
		text += ", so " + outcomes[mode] + "."
	}
	r.Modes[l], r.why[l] = mode, append(slices.Clip(r.why[l]), Step{rule, text, mode})
}

// What a mode means: what a policy does, before the name of a tool, and what happens, at the end of a sentence.
var (
	verbs    = [...]string{allow: "allows", confirm: "asks before", restrict: "blocks"}
	outcomes = [...]string{allow: "it may run", confirm: "you are asked", restrict: "it is blocked"}
)

// layer is one set of taint policy and overrides: the global one, or the global one with an agent's laid over it, whose
// overrides come first.
type layer struct {
	path      string // in the file, with a dot
	policy    taint.Row
	overrides map[string][]Override
	scope     scope
	cap       int // iterations of a turn
}

// scope is which tools are judged: only some, or all but some. The zero scope is every tool.
type scope struct{ only, but names }

func (s *scope) holds(tool string) bool { return len(s.only) == 0 && !s.but[tool] || s.only[tool] }

// first is what the first rule says that says anything about a tool at a level, and whether that is an override which
// names the level.
func (l *layer) first(f *facts, lvl taint.Level) (s Step, named bool) {
	tool, at := f.called(), " in "+lvl.String()+" conversations."
	it := strings.Replace(tool, "this tool", "This tool", 1)
	for _, named := range []bool{true, false} {
		for _, o := range l.overrides[f.name] {
			m, where := o.byLevel()[lvl], at
			if !named {
				m, where = o.Any, " at every level."
			}
			if m != nil {
				return Step{"override", "Your override " + verbs[*m] + " " + tool + where, *m}, named
			}
		}
	}
	m := l.policy[lvl]
	switch {
	case f.safe:
		return Step{"safe", it + " is on the safe list: it " + f.reason + ".", allow}, false
	case f.dangerous:
		because := it + " is on the dangerous list (it " + f.reason + "), so you are asked at every level."
		return Step{"dangerous", because, confirm}, false
	case f.known:
		return Step{"taintPolicy", "Your policy " + verbs[m] + " " + tool + at, m}, false
	}
	return Step{"taintPolicy", "We don't know this tool. Your policy " + verbs[m] + " such tools" + at, m}, false
}

// rule is everything that is known of one tool for one agent.
type rule struct {
	facts
	row
	inScope bool
	asks    [taint.Levels]bool // at which levels the owner or the dangerous list wants a person
	acting  taint.Row          // the modes of a call that acts, whatever the tool usually does
	reading *rule              // for calls that only read, as their server says; nil: it isn't trusted in that
}

// rule works out what holds for a tool by one layer.
func (b *builder) rule(l *layer, f *facts) *rule {
	r := &rule{facts: *f, inScope: l.scope.holds(f.name)}
	var loose []taint.Level
	if r.row, r.asks, loose = b.row(l, f); len(loose) > 0 {
		b.loosened(l.path+"toolOverrides."+f.name, f.name, loose)
	}
	as := *f
	as.sink, as.safe = true, false
	acting, _, _ := b.row(l, &as)
	r.acting = acting.Modes
	if f.annotated && !f.destructive {
		as.annotated, as.traits = false, traits{safe: true, strictSink: true, leaves: true, saves: f.saves}
		as.reason = "only reads, as its server says, which you trust in that"
		r.reading = b.rule(l, &as)
	}
	return r
}

const escalation = "taint-escalation" // a rule

// row works out a tool's row. asks are the levels at which, or at a more trusted one, an override or the dangerous list
// wants a person or refuses. loose are those tightened so that less trusted content is never permitted more.
func (b *builder) row(l *layer, f *facts) (r row, asks [taint.Levels]bool, loose []taint.Level) {
	var escalated taint.Row
	for _, lvl := range taint.All() {
		s, named := l.first(f, lvl)
		r.Modes[lvl], r.why[lvl] = s.Mode, []Step{s}
		asks[lvl] = s.Mode != allow && s.Rule != "taintPolicy" || lvl > 0 && asks[lvl-1] //nolint:gosec // lvl > 0
		if lvl >= b.TaintedFrom && !named && (f.sink && !f.safe || b.Strict && f.strictSink) {
			escalated[lvl] = confirm
		}
	}
	for range 2 { // a level that an override names may, once others escalate, be freer than one above it
		closed, tightened := r.Modes.Closed()
		r.tighten("closed", "Your policy is as strict here as in more trusted conversations", closed)
		r.tighten(escalation, "Outside content could make the agent use "+f.called(), escalated)
		loose = append(loose, tightened...)
	}
	return r, asks, loose
}

// tightened is the stricter of two rules for a tool.
func (r *rule) tightened(other *rule, why string) *rule {
	both := *r
	both.inScope = r.inScope || other.inScope
	both.tighten("agent", why, other.Modes)
	both.acting = r.acting.Stricter(other.acting)
	for l, asks := range other.asks {
		both.asks[l] = both.asks[l] || asks
	}
	if r.reading != nil && other.reading != nil {
		both.reading = r.reading.tightened(other.reading, why)
	}
	return &both
}

// ruleset is everything that holds for one agent.
type ruleset struct {
	rules map[string]*rule // by tool; that of tools which we do not know has no name
	cap   int              // iterations of a turn
}

// tightened are the stricter rules of two sets.
func (s *ruleset) tightened(o *ruleset, why string) *ruleset {
	both := &ruleset{rules: make(map[string]*rule, len(s.rules)), cap: min(s.cap, o.cap)}
	for name, r := range s.rules {
		both.rules[name] = r.tightened(o.rules[name], why)
	}
	return both
}

// find is the rule for a tool: its own, that of its server, or that of the tools that we don't know.
func (s *ruleset) find(tool string) *rule {
	return cmp.Or(s.rules[tool], s.rules[serverOf(tool)], s.rules[""])
}
