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
	askCommands       = "ask commands" // a list
	everyTool         = "*"
	maxReason         = 300 // bytes of what the agent reads of a declared policy, with a few words around it
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
			own.destructive, own.saves = f.destructive, f.saves
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
	for key, name := range toolsIn(b, "tools", c.Tools) {
		b.label("tools."+key, b.tools[name], c.Tools[key])
	}
	b.readTrust()
	all := b.readScope("scope", c.Scope)
	p := &Policy{strict: b.profile.strict, unknown: untrusted, from: b.from, guard: newGuard(c.Guard),
		inside: b.inside, begins: b.commands(), gated: c.Taint.Secrets != "off", declared: b.readDeclared(),
		calls: b.limit("maxCalls", c.MaxCalls, defaultCalls), agents: map[string]*ruleset{}}
	if u := c.Trust.UnknownSender; u != nil {
		p.unknown = *u
	}
	if s := c.Taint.Secrets; s != "" && s != "ask" && s != "off" {
		b.fail("taint.secrets", fmt.Sprintf("there is no %q here: use ask or off", s))
	}
	over := b.readLayer("", &layer{policy: b.profile.policy}, c.TaintPolicy, c.ToolOverrides)
	iterations := b.limit("maxIterations", c.MaxIterations, defaultIterations)
	agents := b.readAgents(&over, all, iterations)
	p.global = b.ruleset("", &over, &all, iterations)
	p.noAgent = p.global
	for _, id := range slices.Sorted(maps.Keys(agents)) {
		p.agents[id] = agents[id](p.global)
		p.noAgent = p.noAgent.tightened(p.agents[id], "The call names no agent and the strictest agent's rules hold")
	}
	b.checkRisks(p)
	return p
}

func (b *builder) readProfile() {
	names := Profiles()
	i := slices.Index(names, cmp.Or(b.config.Profile, "default"))
	if i < 0 {
		near, _ := text.Nearest(b.config.Profile, names)
		b.fail("profile", fmt.Sprintf("there is no profile %q: did you mean %s? There are %s", b.config.Profile, near,
			strings.Join(names, ", ")))
	}
	b.profile = profiles[max(i, 0)]
	if b.from = b.profile.from; b.config.Taint.From != nil {
		b.from = *b.config.Taint.From
	}
}

// commands are those on our lists. The owner may replace those that a coding agent asks about each time.
func (b *builder) commands() beginnings {
	out, asked := beginnings{}, lists[askCommands]
	if b.config.AskCommands != nil {
		asked = b.config.AskCommands
	}
	for i, c := range b.config.AskCommands {
		if strings.TrimSpace(c) == "" {
			b.fail(fmt.Sprintf("askCommands[%d]", i), "is empty: name the words with which a command begins")
		}
	}
	out.add(askCommands, asked)
	for _, list := range []string{"deletes", "agents", "obeys its input"} {
		out.add(list, lists[list])
	}
	return out
}

// limit is a number of the file, or what is usual.
func (b *builder) limit(path string, n, usual int) int {
	if n < 0 {
		b.fail(path, "must not be negative: leave it out for the usual limit")
	}
	return cmp.Or(n, usual)
}

// readServers lays what the owner says of servers over the shipped table. Of the tools of others only this counts: what
// they return, and that it can't be undone.
func (b *builder) readServers() {
	for _, key := range slices.Sorted(maps.Keys(b.config.MCP.Servers)) {
		path, said, all := "mcp.servers."+key, b.config.MCP.Servers[key], serverPrefix+strings.ToLower(key)+"__"
		switch server := serverOf(all); {
		case server != all || strings.TrimSpace(key) != key:
			b.fail(path, "is no name of a server: use the one in the middle of mcp__server__tool")
			continue
		case b.tools[all] != nil:
			b.fail(path, "is there twice")
			continue
		case said.Trust == nil && !said.Annotations:
			b.fail(path, "says nothing: give it a trust or annotations: true")
			continue
		}
		own := map[string]facts{all: unknownTool}
		for name, known := range shipped {
			if serverOf(name) == all {
				own[name] = *known
			}
		}
		for name, f := range own {
			f.name, f.annotated = name, said.Annotations
			if said.Trust != nil {
				f.response, f.known = *said.Trust, true
			}
			b.tools[name] = &f
		}
	}
}

// label lays what the owner says of a tool over what is known of it.
func (b *builder) label(path string, f *facts, t Tool) {
	f.annotated, f.known = false, true
	if t.Source != nil {
		f.shows = false
		switch source := *t.Source; {
		case source && f.response < external:
			f.response = untrusted
		case !source && f.response >= external:
			f.response = local
		}
	}
	for _, said := range []struct{ to, from *bool }{{&f.sink, t.Sink}, {&f.destructive, t.Destructive},
		{&f.secret, t.Secret}, {&f.safe, t.Safe}} {
		if said.from != nil {
			*said.to = *said.from
		}
	}
	harmless := t.Sink != nil && !*t.Sink
	f.looks, f.strictSink = f.looks && t.Sink == nil, f.strictSink && !harmless
	switch was := shipped[f.name]; {
	case harmless && f.destructive:
		b.fail(path, "is destructive and no sink: what destroys something acts")
	case harmless && was != nil && was.sink && !isServed(f.name):
		b.warn(path+".sink", f.name+" acts outside ("+f.reason+"); as you say it doesn't, outside content may drive it")
	}
	switch {
	case t.Leaves != nil:
		f.leaves = *t.Leaves
	case harmless, t.Destinations != nil && len(t.Destinations) == 0: // it goes nowhere
		f.leaves = false
	}
	if t.Safe != nil && *t.Safe {
		b.labelSafe(path, f)
	}
	if t.Destinations != nil {
		f.destinations = t.Destinations
	}
}

func (b *builder) labelSafe(path string, f *facts) {
	f.strictSink = f.leaves // as web_fetch
	if f.reason == unknownTool.reason {
		f.reason = "only looks, as your label says"
	}
	if f.sink || f.dangerous || f.destructive || f.runs {
		b.fail(path+".safe", "what acts, runs or destroys is not safe: set sink: false, or leave safe out")
	}
}

// readTrust reads the owner's levels of tools, rules and directories.
func (b *builder) readTrust() {
	trust := &b.config.Trust
	for key, name := range toolsIn(b, "trust.tools", trust.Tools) {
		b.tools[name].response, b.tools[name].shows = trust.Tools[key], false
	}
	for i, d := range trust.Directories {
		clean, ok := cleanPath(d)
		if !ok || relative(clean) {
			b.fail(fmt.Sprintf("trust.directories[%d]", i), "must be an absolute path, or begin with ~/")
		}
		b.inside = append(b.inside, clean)
	}
	for i, r := range trust.Rules {
		at, isPath := fmt.Sprintf("trust.rules[%d]", i), r.Path == ""
		name, ok := b.toolName(at+".tool", r.Tool)
		if r.Host = strings.ToLower(r.Host); !isPath {
			r.Path, isPath = cleanPath(r.Path)
		}
		switch {
		case !ok:
		case !isPath:
			b.fail(at+".path", "is no path")
		case r.Host == "" && r.Path == "":
			b.fail(at, "names no host or path: use trust.tools for all calls of a tool")
		case r.Level == nil:
			b.fail(at, "says nothing: give it a level")
		default:
			b.tools[name].trust = append(b.tools[name].trust, &r)
		}
	}
}

// readDeclared reads the owner's policies.
func (b *builder) readDeclared() (all []*declared) {
	seen := map[string]bool{}
	for i, c := range b.config.Policies {
		at := fmt.Sprintf("policies[%d]", i)
		switch n, a := c.When.IterationGTE, &c.Action; {
		case strings.TrimSpace(c.Name) == "":
			b.fail(at, "has no name: the record says which policy decided")
		case seen[c.Name]:
			b.fail(at+".name", c.Name+" is the name of another policy, too")
		case len(a.Reason) > maxReason:
			b.fail(at+".action.reason", "is too long: 300 bytes are enough to say why")
		case len(a.RemoveTools)+len(a.BlockTools)+len(a.ConfirmTools) == 0 && !a.BlockTurn && !a.LogFullContext &&
			!a.PersistGraph:
			b.fail(at+".action", "does nothing: give it remove_tools, block_tools, confirm_tools, block_turn, "+
				"log_full_context or persist_graph")
		case n != nil && *n < 0:
			b.fail(at+".when.iteration_gte", "must not be negative")
		}
		d := &declared{Declared: c, tools: b.readNames(at+".when.tool", c.When.Tool),
			removes:  b.readNames(at+".action.remove_tools", c.Action.RemoveTools),
			blocks:   b.readNames(at+".action.block_tools", c.Action.BlockTools),
			confirms: b.readNames(at+".action.confirm_tools", c.Action.ConfirmTools)}
		if levels := c.When.ContextTaintIncludes; len(levels) > 0 {
			d.from = slices.Min(levels)
		}
		seen[c.Name], all = true, append(all, d)
	}
	return all
}

// readLayer lays a taint policy and overrides from the file over what holds already. The path says where in the file
// they stand.
func (b *builder) readLayer(path string, under *layer, tp TaintPolicy, overrides map[string]Override) layer {
	over, modes := layer{overrides: maps.Clone(under.overrides)}, under.policy
	for lvl, m := range tp.byLevel() {
		if m != nil {
			modes[lvl] = *m
		}
	}
	var tightened []taint.Level
	if over.policy, tightened = modes.Closed(); len(tightened) > 0 {
		b.loosened(path+"taintPolicy", "the taint policy", tightened)
	}
	for key, name := range toolsIn(b, path+"toolOverrides", overrides) {
		if over.overrides == nil {
			over.overrides = map[string][]Override{}
		}
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

// toolsIn are the keys of a part of the file with the tools that they mean, each once.
func toolsIn[T any](b *builder, path string, part map[string]T) iter.Seq2[string, string] {
	return func(yield func(key, name string) bool) {
		seen := map[string]bool{}
		for _, key := range slices.Sorted(maps.Keys(part)) {
			name, ok := b.toolName(path, key)
			if seen[name] {
				b.fail(path+"."+key, key+" is another name for "+name+", which is set as well: keep one")
			}
			if seen[name] = true; ok && !yield(key, name) {
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
	f := *cmp.Or(b.tools[serverOf(name)], &unknownTool) // what the owner says of its server counts
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
