package policy

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/internal/text"
	"github.com/openclaw-verifier/verifier/taint"
)

const (
	defaultIterations = 10
	defaultCalls      = 100
)

// builder turns a Config into a Policy and collects what is wrong with it, and what is risky.
type builder struct {
	config   Config
	profile  profile
	from     taint.Level
	tools    map[string]*facts
	inside   []string // trust.directories; nil where there are none
	warnings []Problem
	errors   []error
}

func newBuilder(c Config) *builder {
	b := &builder{config: c, tools: map[string]*facts{"": &unknownTool}}
	for name, f := range shipped {
		own := *f
		if isServed(name) { // a file in a repository may call a server on the web "time": see [builder.readServers]
			own.traits = unknownTool.traits
			own.destructive = f.destructive
		}
		b.tools[name] = &own
	}
	return b
}

func (b *builder) warn(path, text string) { b.warnings = append(b.warnings, Problem{path, text}) }

func (b *builder) fail(path, text string) { b.errors = append(b.errors, &Problem{path, text}) }

func (b *builder) build() *Policy {
	c := &b.config
	b.readProfile()
	b.readServers()
	b.readTools()
	b.readTrust()
	scope := b.readScope("scope", c.Scope)
	p := &Policy{strict: b.profile.strict, unknown: untrusted, from: b.from, guard: newGuard(c.Guard),
		inside: b.inside, asks: b.asks(), gated: c.Taint.Secrets != SecretsOff, declared: b.readDeclared(),
		calls: b.limit("maxCalls", c.MaxCalls, defaultCalls)}
	if u := c.Trust.UnknownSender; u != nil {
		p.unknown = *u
	}
	layer := b.readLayer("", &layer{policy: b.profile.policy}, c.TaintPolicy, c.ToolOverrides)
	iterations := b.limit("maxIterations", c.MaxIterations, defaultIterations)
	agents := b.readAgents(&layer, scope, iterations)
	p.global = b.ruleset("", &layer, &scope, iterations)
	p.agents, p.noAgent = make(map[string]*ruleset, len(agents)), p.global
	for _, id := range slices.Sorted(maps.Keys(agents)) {
		p.agents[id] = agents[id](p.global)
		p.noAgent = p.noAgent.tightened(p.agents[id], "The call names no agent and the strictest agent's rules hold")
	}
	b.checkRisks(p)
	return p
}

func (b *builder) readProfile() {
	p, ok := profileNamed(b.config.Profile)
	if !ok {
		near, _ := text.Nearest(b.config.Profile, Profiles())
		b.fail("profile", fmt.Sprintf("there is no profile %q: did you mean %s? There are %s", b.config.Profile, near,
			strings.Join(Profiles(), ", ")))
	}
	b.profile, b.from = p, p.from
	if from := b.config.Taint.From; from != nil {
		b.from = *from
	}
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

// limit is a number of the file, or what is usual.
func (b *builder) limit(path string, n, usual int) int {
	if n < 0 {
		b.fail(path, "must not be negative: leave it out for the usual limit")
	}
	return cmp.Or(n, usual)
}

// readLayer lays a taint policy and overrides from the file over what holds already. The path says where in the file
// they stand.
func (b *builder) readLayer(path string, under *layer, tp TaintPolicy, overrides map[string]Override) layer {
	over, modes := layer{overrides: map[string][]Override{}}, under.policy
	for lvl, m := range tp.byLevel() {
		if m != nil {
			modes[lvl] = *m
		}
	}
	var tightened []taint.Level
	if over.policy, tightened = modes.Closed(); len(tightened) > 0 {
		b.loosened(path+"taintPolicy", "the taint policy", tightened)
	}
	maps.Copy(over.overrides, under.overrides)
	for key, name := range b.named(path+"toolOverrides", slices.Sorted(maps.Keys(overrides))) {
		over.overrides[name] = append([]Override{overrides[key]}, under.overrides[name]...)
	}
	return over
}

// loosened reports a row that permitted more to less trusted content: a warning, since it was tightened; an error under
// strict.
func (b *builder) loosened(path, what string, levels []taint.Level) {
	var names []string
	for _, l := range slices.Compact(levels) {
		names = append(names, l.String())
	}
	text := what + " would permit more at " + strings.Join(names, ", ") +
		" than a more trusted level, and it never gets more"
	if b.profile.strict {
		b.fail(path, text+"; the profile strict refuses that")
		return
	}
	b.warn(path, text+", so these levels were tightened; set the more trusted ones as well")
}

// ruleset works out the rules of every tool that anything names.
func (b *builder) ruleset(path string, l *layer, s *scope, iterations int) *ruleset {
	set := &ruleset{rules: make(map[string]*rule, len(b.tools)), cap: iterations}
	for _, name := range slices.Sorted(maps.Keys(b.tools)) {
		set.rules[name] = b.rule(path, l, s, b.tools[name])
	}
	return set
}

// readAgents reads every agent before any row is worked out, since each may name tools that no other part names. It
// returns what works out the rules of each, none looser than the global one.
func (b *builder) readAgents(l *layer, all scope, iterations int) map[string]func(global *ruleset) *ruleset {
	agents := map[string]func(global *ruleset) *ruleset{}
	for _, id := range slices.Sorted(maps.Keys(b.config.Agents)) {
		a, path, key := b.config.Agents[id], "agents."+id, strings.ToLower(id)
		if agents[key] != nil {
			b.fail(path, "another agent has the same id but for its case: keep one")
		}
		most := min(b.limit(path+".maxIterations", a.MaxIterations, iterations), iterations)
		scope, layer := b.readScope(path+".scope", a.Scope), b.readLayer(path+".", l, a.TaintPolicy, a.ToolOverrides)
		if len(scope.names) == 0 {
			scope = all
		}
		agents[key] = func(global *ruleset) *ruleset {
			own := b.ruleset(path+".", &layer, &scope, most)
			set, looser := global.tightened(own, "Your rules for the agent "+id+" are stricter"), false
			for name, r := range set.rules {
				looser = looser || r.inScope != own.rules[name].inScope || r.Modes != own.rules[name].Modes
			}
			if looser {
				b.warn(path, "is looser than the global policy somewhere: its rules only tighten, so the global do")
			}
			return set
		}
	}
	return agents
}

// named are the keys of a part of the file with the tools that they mean, each once.
func (b *builder) named(path string, keys []string) iter.Seq2[string, string] {
	return func(yield func(key, name string) bool) {
		seen := map[string]bool{}
		for _, key := range keys {
			name, ok := b.toolName(path, key)
			if seen[name] {
				b.fail(path+"."+key, key+" is another name for "+name+", which is set as well: keep one")
			}
			seen[name] = true
			if ok && !yield(key, name) {
				return
			}
		}
	}
}

// toolName finds the tool that a key in the file means. An unknown name is fine, plugins bring their own tools, unless
// it looks like a slip.
func (b *builder) toolName(path, key string) (string, bool) {
	name := protocol.Canonical(key)
	if name == "" {
		b.fail(path, "a tool's name is empty")
		return "", false
	}
	if f, ok := b.tools[name]; ok {
		if f.wrapper {
			b.warn(path+"."+key, "has no effect: "+name+" only wraps another call, which is judged on its own")
		}
		return name, true
	}
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(shipped)), isServed)
	if near, far := text.Nearest(name, names); far <= 2 {
		b.warn(path+"."+key, "no tool we know has this name: did you mean "+near+"?")
	}
	f := unknownTool
	if like := ofServer(b.tools, name); like != nil { // what the owner says of its server counts
		f = *like
	}
	f.name = name
	b.tools[name] = &f
	return name, true
}

// scope is which tools are judged: only some, or all but some. The zero scope is every tool.
type scope struct {
	names map[string]bool
	only  bool
}

// holds reports whether a tool is in scope; the name "" is for every tool that nothing names.
func (s *scope) holds(name string) bool { return s.names[name] == s.only }

// readScope reads the scope at a path of the file.
func (b *builder) readScope(path string, s Scope) scope {
	if len(s.Include) == 0 {
		return scope{names: b.readNames(path+".exclude", s.Exclude)}
	}
	if len(s.Exclude) > 0 {
		b.fail(path, "has both include and exclude: keep one")
	}
	return scope{b.readNames(path+".include", s.Include), true}
}

func (b *builder) readNames(path string, names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		if name == everyTool {
			set[name] = true
		} else if name, ok := b.toolName(path, name); ok {
			set[name] = true
		}
	}
	return set
}

// checkRisks says in words what the owner may not have meant. What a tool out of scope brings in counts all the same.
func (b *builder) checkRisks(p *Policy) {
	if !p.gated {
		b.warn("taint.secrets", "a conversation that has read secrets may send to anyone unasked, as long as we "+
			"recognise no secret in what it sends")
	}
	if u := b.config.Trust.UnknownSender; u != nil && *u < external {
		b.warn("trust.unknownSender", "a run whose sender we don't know counts as "+u.String()+": anyone who can "+
			"reach the agent without being identified is trusted that far")
	}
	hidden := slices.DeleteFunc(p.Tools(), func(name string) bool {
		return !p.global.rules[name].sink || p.global.rules[name].inScope
	})
	if len(hidden) == 0 {
		return
	}
	if !p.global.rules[""].inScope {
		hidden = append(hidden, "and every tool we do not know")
	}
	text := "these tools act outside and pass unasked: " + strings.Join(hidden, ", ")
	b.warn("scope", text+"; what they return still counts")
}
