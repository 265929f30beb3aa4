package policy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/taint"
)

// builder turns a Config into a Policy and collects what is wrong with it.
type builder struct {
	config   Config
	profile  profile
	from     taint.Level
	tools    map[string]*facts
	known    map[string]bool // those that someone has said something of: the shipped ones, and the owner's
	trust    map[string][]*trustRule
	inside   []string // trust.directories; nil where there are none
	declared []*declared
	scope    scope
	global   layer
	problems
}

func newBuilder(c Config) *builder {
	b := &builder{config: c, tools: map[string]*facts{}, known: map[string]bool{}, trust: map[string][]*trustRule{}}
	for name, f := range shipped {
		own := *f
		if isServed(name) {
			own = byNameOnly(own)
		}
		b.tools[name], b.known[name] = &own, true
	}
	b.addListed(anyServer, untrusted)
	return b
}

func (b *builder) build() *Policy {
	b.readProfile()
	b.readServers()
	b.readTools()
	b.readTrust()
	b.readRules()
	b.scope = b.readScope("scope", b.config.Scope)
	b.readDeclared()
	b.global = b.readLayer("", &layer{policy: b.profile.policy}, b.config.TaintPolicy, b.config.ToolOverrides)
	iterations, calls := b.caps()
	agents := b.readAgents(iterations)
	p := &Policy{
		calls:  calls,
		strict: b.profile.strict, unknown: untrusted, from: b.from,
		guard: newGuard(b.config.Guard), declared: b.declared,
		inside: b.inside, asks: b.asks(), gated: b.config.Taint.Secrets != SecretsOff,
	}
	if u := b.config.Trust.UnknownSender; u != nil {
		p.unknown = *u
	}
	p.global = b.globalRules(iterations)
	p.agents, p.noAgent = b.agentRules(agents, p.global)
	b.checkRisks(p)
	return p
}

// asks are the commands that a coding agent asks about each time: the owner's, or the shipped ones.
func (b *builder) asks() beginnings {
	if b.config.AskCommands == nil {
		return beginningsOf(lists["ask commands"])
	}
	for i, c := range b.config.AskCommands {
		if strings.TrimSpace(c) == "" {
			b.fail(fmt.Sprintf("askCommands[%d]", i), "is empty: name the words with which a command begins")
		}
	}
	return beginningsOf(b.config.AskCommands)
}

// readLayer lays a taint policy and overrides from the file over what holds already. The path says where in the file
// they stand.
func (b *builder) readLayer(path string, under *layer, tp TaintPolicy, overrides map[string]Override) layer {
	row, tightened := tp.set(under.policy).Closed()
	if len(tightened) > 0 {
		b.loosened(path+"taintPolicy", "the taint policy", tightened)
	}
	merged := maps.Clone(under.overrides)
	if merged == nil {
		merged = map[string]override{}
	}
	for key, name := range b.named(path+"toolOverrides", slices.Sorted(maps.Keys(overrides))) {
		o := overrides[key]
		merged[name] = override{any: o.Any, at: o.byLevel()}.over(merged[name])
	}
	return layer{policy: row, overrides: merged}
}

// globalRules works out the rows of every tool that anything names.
func (b *builder) globalRules(iterations int) *ruleset {
	set := &ruleset{rules: make(map[string]*rule, len(b.tools)), cap: iterations}
	for _, name := range slices.Sorted(maps.Keys(b.tools)) {
		set.rules[name] = b.rule("", &b.global, b.tools[name])
	}
	other := unknownTool
	set.other = b.rule("", &b.global, &other)
	return set
}

func (b *builder) rule(path string, l *layer, f *facts) *rule {
	t, tightened := l.table(f, b.from, b.profile.strict)
	if len(tightened) > 0 {
		b.loosened(path+"toolOverrides."+f.name, f.name, tightened)
	}
	r := &rule{
		facts: *f, reaches: reachers[f.name], known: b.known[f.name], inScope: b.scope.holds(f.name), table: t, asks: t.asks(),
		unsure: f.labels.destinations == nil, content: f.labels.content, trust: b.trust[f.name],
		sinkModes: b.modesAs(l, f, func(t *traits) { t.sink, t.safe = true, false }),
		getting:   b.modesAs(l, f, func(t *traits) { t.strictSink = true }),
		looking:   b.modesAs(l, f, func(t *traits) { *t = traits{safe: true} }),
	}
	if !f.actsBeyond() {
		r.goes, r.writes = f.labels.destinations, f.labels.writes && len(f.labels.destinations) > 0
	}
	if f.annotated && !f.destructive {
		as := *f
		as.annotated, as.traits = false, traits{safe: true, strictSink: true, leaves: true}
		as.reason = "only reads, as its server says, which you trust in that"
		r.reading = b.rule(path, l, &as)
	}
	r.first = r.firsts()
	return r
}

// modesAs is a tool's row for calls that do something else than the tool usually does.
func (b *builder) modesAs(l *layer, f *facts, does func(t *traits)) taint.Row {
	as := *f
	does(&as.traits)
	t, _ := l.table(&as, b.from, b.profile.strict)
	return t.modes
}

// agentLayer is an agent's rules before they are worked out.
type agentLayer struct {
	id    string
	layer layer
	scope scope
	same  bool // it has no modes and no scope of its own
	cap   int
}

// readAgents reads every agent before any row is worked out, since each may name tools that no other part names.
func (b *builder) readAgents(iterations int) (agents []agentLayer) {
	seen := map[string]bool{}
	for _, id := range slices.Sorted(maps.Keys(b.config.Agents)) {
		a, path, key := b.config.Agents[id], "agents."+id+".", strings.ToLower(id)
		if seen[key] {
			b.fail("agents."+id, "another agent has the same id but for its case: keep one")
		}
		seen[key] = true
		out := agentLayer{
			id:    key,
			scope: b.readScope(path+"scope", a.Scope),
			cap:   b.agentIterations(path, a.MaxIterations, iterations),
		}
		out.layer = b.readLayer(path, &b.global, a.TaintPolicy, a.ToolOverrides)
		out.same = len(a.ToolOverrides) == 0 && a.TaintPolicy == TaintPolicy{} && !out.scope.set()
		agents = append(agents, out)
	}
	return agents
}

// agentRules works out each agent's rules, and those of a call that names no agent: the strictest of all.
func (b *builder) agentRules(agents []agentLayer, global *ruleset) (map[string]*ruleset, *ruleset) {
	sets, noAgent := make(map[string]*ruleset, len(agents)), global
	for i := range agents {
		a := &agents[i]
		set := &ruleset{agent: a.id, rules: global.rules, other: global.other, cap: a.cap}
		if !a.same {
			set.rules, set.other = b.tighten(a, global)
		}
		sets[a.id], noAgent = set, noAgent.stricter(set)
	}
	return sets, noAgent
}

// tighten are the rules of an agent, each no looser than the global one.
func (b *builder) tighten(a *agentLayer, global *ruleset) (map[string]*rule, *rule) {
	path, looser := "agents."+a.id, false
	tight := func(g *rule) *rule {
		own := b.rule(path+".", &a.layer, &g.facts)
		if a.scope.set() {
			own.inScope = a.scope.holds(g.name)
		}
		both := g.tightened(own, "Your rules for the agent "+a.id+" are stricter")
		looser = looser || both.inScope != own.inScope || both.table.modes != own.table.modes
		return both
	}
	rules := make(map[string]*rule, len(global.rules))
	for _, name := range slices.Sorted(maps.Keys(global.rules)) {
		rules[name] = tight(global.rules[name])
	}
	other := tight(global.other)
	if looser {
		b.warn(
			path,
			"is looser than the global policy somewhere: an agent's rules only tighten, so the global rules hold there",
		)
	}
	return rules, other
}

// stricter combines two sets into the one for calls that name no agent.
func (s *ruleset) stricter(o *ruleset) *ruleset {
	const why = "The call names no agent and the strictest agent's rules hold"
	rules := make(map[string]*rule, len(s.rules))
	for name, r := range s.rules {
		rules[name] = r.tightened(o.rules[name], why)
	}
	return &ruleset{rules: rules, other: s.other.tightened(o.other, why), cap: min(s.cap, o.cap)}
}

// caps are how many iterations a turn may have, and how many calls a run that does not count them.
func (b *builder) caps() (iterations, calls int) {
	if b.config.MaxIterations < 0 {
		b.fail("maxIterations", "must not be negative: leave it out for 10")
	}
	if b.config.MaxCalls < 0 {
		b.fail("maxCalls", "must not be negative: leave it out for the usual cap")
	}
	return cmp.Or(max(b.config.MaxIterations, 0), defaultIterations), cmp.Or(b.config.MaxCalls, defaultCalls)
}

func (b *builder) agentIterations(path string, n, global int) int {
	switch {
	case n < 0:
		b.fail(path+"maxIterations", "must not be negative: leave it out for the global cap")
	case n > global:
		b.warn(path+"maxIterations", "is above the global cap, which holds")
	case n > 0:
		return n
	}
	return global
}
