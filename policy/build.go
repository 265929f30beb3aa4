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
	everyTool         = "*"
	maxReason         = 300 // bytes of what the agent reads of a declared policy, with a few words around it
)

// builder turns a Config into a Policy and collects what is wrong with it, and what is risky.
type builder struct {
	Policy

	config   Config
	tools    map[string]*facts
	warnings []Problem
	errors   []error
}

func (b *builder) warn(path, text string) { b.warnings = append(b.warnings, Problem{path, text}) }

func (b *builder) fail(path, text string) { b.errors = append(b.errors, &Problem{path, text}) }

// build reads all that names tools before it works out any row.
func (b *builder) build() {
	c := &b.config
	usual := b.readProfile()
	b.readServers()
	for key, name := range toolsIn(b, "tools", c.Tools) {
		b.label("tools."+key, b.tools[name], c.Tools[key])
	}
	b.readTrust()
	b.readLists()
	b.readDeclared()
	b.guard, b.calls = newGuard(c.Guard), b.limit("maxCalls", c.MaxCalls, defaultCalls)
	global := b.readLayer("", usual, Agent{c.TaintPolicy, c.ToolOverrides, c.Scope, c.MaxIterations})
	agents := map[string]*layer{}
	for _, id := range slices.Sorted(maps.Keys(c.Agents)) {
		key := strings.ToLower(id)
		if agents[key] != nil {
			b.fail("agents."+id, "another agent has the same id but for its case: keep one")
		}
		agents[key] = b.readLayer("agents."+id+".", global, c.Agents[id])
	}
	b.global = b.ruleset(global)
	b.noAgent, b.agents = b.global, map[string]*ruleset{}
	for _, key := range slices.Sorted(maps.Keys(agents)) {
		path, own := strings.TrimSuffix(agents[key].path, "."), b.ruleset(agents[key])
		set := b.global.tightened(own, "Your rules for the agent "+path[len("agents."):]+" are stricter")
		b.noAgent = b.noAgent.tightened(own, "The call names no agent and the strictest agent's rules hold")
		for name, r := range set.rules {
			if r.inScope != own.rules[name].inScope || r.Modes != own.rules[name].Modes {
				b.warn(path, "is looser than the global policy somewhere: its rules only tighten, so the global do")
				break
			}
		}
		b.agents[key] = set
	}
	b.checkRisks()
}

// readProfile gives what the rest of the file is laid over.
func (b *builder) readProfile() *layer {
	names := Profiles()
	i := slices.Index(names, cmp.Or(b.config.Profile, "default"))
	if i < 0 {
		near, _ := text.Nearest(b.config.Profile, names)
		b.fail("profile", fmt.Sprintf("there is no profile %q: did you mean %s? There are %s", b.config.Profile, near,
			strings.Join(names, ", ")))
	}
	p := &profiles[max(i, 0)]
	b.Strict, b.TaintedFrom = p.name == "strict", p.from
	if from := b.config.Taint.From; from != nil {
		b.TaintedFrom = *from
	}
	return &layer{policy: p.policy, cap: defaultIterations}
}

// readServers lays what the owner says of servers over the shipped table. Of the tools of others only this counts, as a
// file in a repository may call a server on the web "time": what they return, and that it can't be undone.
func (b *builder) readServers() {
	for name, f := range shipped {
		own := *f
		b.tools[name] = &own
	}
	for name, f := range served {
		own := *f
		own.traits, own.destructive, own.saves = unknownTool.traits, f.destructive, f.saves
		b.tools[name] = &own
	}
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
		for name, known := range served {
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
	acted, harmless := f.sink && IsShipped(f.name), t.Sink != nil && !*t.Sink
	f.annotated, f.known, f.shows = false, true, f.shows && t.Source == nil
	if s := t.Source; s != nil && *s != (f.response >= external) {
		f.response = map[bool]taint.Level{true: untrusted, false: local}[*s]
	}
	goesNowhere := harmless || t.Destinations != nil && len(t.Destinations) == 0
	f.leaves, f.strictSink = f.leaves && !goesNowhere, f.strictSink && !harmless
	for _, said := range []struct{ to, from *bool }{{&f.sink, t.Sink}, {&f.destructive, t.Destructive},
		{&f.secret, t.Secret}, {&f.safe, t.Safe}, {&f.leaves, t.Leaves}} {
		if said.from != nil {
			*said.to = *said.from
		}
	}
	if t.Destinations != nil {
		f.destinations = t.Destinations
	}
	isSafe := t.Safe != nil && f.safe
	if isSafe {
		f.strictSink = f.leaves // as web_fetch
	}
	if isSafe && f.reason == unknownTool.reason {
		f.reason = "only looks, as your label says"
	}
	b.checkLabel(path, f, harmless, acted, isSafe)
}

// checkLabel says where a label contradicts itself, or makes milder what acts.
func (b *builder) checkLabel(path string, f *facts, harmless, acted, isSafe bool) {
	switch {
	case harmless && f.destructive:
		b.fail(path, "is destructive and no sink: what destroys something acts")
	case isSafe && (f.sink || f.dangerous || f.destructive || f.runs):
		b.fail(path+".safe", "what acts, runs or destroys is not safe: set sink: false, or leave safe out")
	case harmless && acted:
		b.warn(path+".sink", f.name+" acts outside ("+f.reason+"); as you say it doesn't, outside content may drive it")
	}
}

// readTrust reads the owner's levels of tools, rules and directories, and what becomes of secrets.
func (b *builder) readTrust() {
	trust, secrets := &b.config.Trust, b.config.Taint.Secrets
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
	if b.UnknownSender = untrusted; trust.UnknownSender != nil {
		b.UnknownSender = *trust.UnknownSender
	}
	if b.gated = secrets != "off"; b.gated && secrets != "" && secrets != "ask" {
		b.fail("taint.secrets", fmt.Sprintf("there is no %q here: use ask or off", secrets))
	}
}

// readLists reads the lists of commands. The owner may replace those that a coding agent asks about each time.
func (b *builder) readLists() {
	b.begins = beginnings{}
	for _, list := range []string{askCommands, "deletes", "agents", "obeys its input"} {
		entries := lists[list]
		if own := b.config.AskCommands; list == askCommands && own != nil {
			entries = own
		}
		for i, e := range entries {
			if words := strings.Fields(e); len(words) > 0 {
				b.begins[words[0]] = append(b.begins[words[0]], beginning{words, list})
			} else {
				b.fail(fmt.Sprintf("askCommands[%d]", i), "is empty: name the words with which a command begins")
			}
		}
	}
}

// readDeclared reads the owner's policies.
func (b *builder) readDeclared() {
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
		seen[c.Name], b.declared = true, append(b.declared, d)
	}
}

// readLayer lays what the file says at a path, for all agents or for one, over what holds already.
func (b *builder) readLayer(path string, under *layer, a Agent) *layer {
	over := &layer{path: path, overrides: maps.Clone(under.overrides), scope: under.scope,
		cap: b.limit(path+"maxIterations", a.MaxIterations, under.cap)}
	only, but := b.readNames(path+"scope.include", a.Scope.Include), b.readNames(path+"scope.exclude", a.Scope.Exclude)
	switch {
	case len(only) > 0 && len(but) > 0:
		b.fail(path+"scope", "has both include and exclude: keep one")
	case len(only)+len(but) > 0:
		over.scope = scope{only, but}
	}
	modes := under.policy
	for lvl, m := range a.TaintPolicy.byLevel() {
		if m != nil {
			modes[lvl] = *m
		}
	}
	var tightened []taint.Level
	if over.policy, tightened = modes.Closed(); len(tightened) > 0 {
		b.loosened(path+"taintPolicy", "the taint policy", tightened)
	}
	for key, name := range toolsIn(b, path+"toolOverrides", a.ToolOverrides) {
		if over.overrides == nil {
			over.overrides = map[string][]Override{}
		}
		over.overrides[name] = append([]Override{a.ToolOverrides[key]}, under.overrides[name]...)
	}
	return over
}

// limit is a number of the file, or what is usual.
func (b *builder) limit(path string, n, usual int) int {
	if n < 0 {
		b.fail(path, "must not be negative: leave it out for the usual limit")
	}
	return cmp.Or(n, usual)
}

// loosened reports a row that permitted more to less trusted content. It was tightened; strict refuses it.
func (b *builder) loosened(path, what string, levels []taint.Level) {
	var names []string
	for _, l := range slices.Compact(levels) {
		names = append(names, l.String())
	}
	text := what + " would permit more at " + strings.Join(names, ", ") +
		" than a more trusted level, and it never gets more"
	if b.Strict {
		b.fail(path, text+"; the profile strict refuses that")
		return
	}
	b.warn(path, text+", so these levels were tightened; set the more trusted ones as well")
}

// ruleset works out the rules of every tool that anything names.
func (b *builder) ruleset(l *layer) *ruleset {
	set := &ruleset{rules: make(map[string]*rule, len(b.tools)), cap: l.cap}
	for _, name := range slices.Sorted(maps.Keys(b.tools)) {
		set.rules[name] = b.rule(l, b.tools[name])
	}
	return set
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

// toolName finds the tool that a key in the file means. Plugins bring their own; what looks like a slip warns.
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
	if near, far := text.Nearest(name, slices.Sorted(maps.Keys(shipped))); far <= 2 {
		b.warn(path+"."+key, "no tool we know has this name: did you mean "+near+"?")
	}
	f := *cmp.Or(b.tools[serverOf(name)], &unknownTool) // what the owner says of its server counts
	f.name = name
	b.tools[name] = &f
	return name, true
}

func (b *builder) readNames(path string, list []string) names {
	set := names{}
	for _, name := range list {
		if name == everyTool {
			set[name] = true
		} else if name, ok := b.toolName(path, name); ok {
			set[name] = true
		}
	}
	return set
}

// checkRisks says in words what the owner may not have meant. What a tool out of scope brings in counts all the same.
func (b *builder) checkRisks() {
	if !b.gated {
		b.warn("taint.secrets", "a conversation that has read secrets may send to anyone unasked, as long as we "+
			"recognise no secret in what it sends")
	}
	if b.UnknownSender < external {
		b.warn("trust.unknownSender", "a run whose sender we don't know counts as "+b.UnknownSender.String()+
			": anyone who can reach the agent without being identified is trusted that far")
	}
	hidden := slices.DeleteFunc(b.Tools(), func(name string) bool {
		return !b.global.rules[name].sink || b.global.rules[name].inScope
	})
	if len(hidden) == 0 {
		return
	}
	if !b.global.rules[""].inScope {
		hidden = append(hidden, "and every tool we do not know")
	}
	text := "these tools act outside and pass unasked: " + strings.Join(hidden, ", ")
	b.warn("scope", text+"; what they return still counts")
}
