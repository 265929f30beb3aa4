package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/taint"
)

// Declared is one of the owner's policies, in the words of the agent-loop hooks proposal. It only tightens.
type Declared struct {
	Name   string `yaml:"name"`
	When   When   `yaml:"when"`
	Action Action `yaml:"action"`
}

// When is what must be so, all of it. Nothing at all is always so.
type When struct {
	// ContextTaintIncludes is so where the conversation is at one of these levels or a worse one.
	ContextTaintIncludes []taint.Level `yaml:"context_taint_includes"`
	// IterationGTE is so from this iteration of the turn on, and never where the runtime counts none.
	IterationGTE *int `yaml:"iteration_gte"`
	// Tool names the tools whose calls it is about.
	Tool []string `yaml:"tool"`
	// Params are params of the call and their values.
	Params map[string]string `yaml:"params"`
}

// Action is what happens then. "*" is every tool.
type Action struct {
	RemoveTools    []string `yaml:"remove_tools"`  // not offered to the model, and refused without a word
	BlockTools     []string `yaml:"block_tools"`   // refused, with the reason
	ConfirmTools   []string `yaml:"confirm_tools"` // a person is asked
	BlockTurn      bool     `yaml:"block_turn"`    // every call is refused
	Reason         string   `yaml:"reason"`        // what the agent reads, where it reads one
	LogFullContext bool     `yaml:"log_full_context"`
	PersistGraph   bool     `yaml:"persist_graph"`
}

// declared is one that was checked.
type declared struct {
	Declared
	from  taint.Level     // so from this level on
	tools map[string]bool // whose calls it is about; empty: all

	removes, blocks, confirms map[string]bool // tools
}

const (
	everyTool = "*"
	maxReason = 300 // bytes: it goes to the agent with a few words around it
)

// readDeclared reads the owner's policies.
func (b *builder) readDeclared() (all []*declared) {
	seen := map[string]bool{}
	for i := range b.config.Policies {
		c, at := &b.config.Policies[i], fmt.Sprintf("policies[%d]", i)
		switch a := &c.Action; {
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
		}
		seen[c.Name] = true
		all = append(all, b.readPolicy(at, c))
	}
	return all
}

func (b *builder) readPolicy(at string, c *Declared) *declared {
	if n := c.When.IterationGTE; n != nil && *n < 0 {
		b.fail(at+".when.iteration_gte", "must not be negative")
	}
	d := &declared{Declared: *c, tools: b.readNames(at+".when.tool", c.When.Tool),
		removes:  b.readNames(at+".action.remove_tools", c.Action.RemoveTools),
		blocks:   b.readNames(at+".action.block_tools", c.Action.BlockTools),
		confirms: b.readNames(at+".action.confirm_tools", c.Action.ConfirmTools)}
	if levels := c.When.ContextTaintIncludes; len(levels) > 0 {
		d.from = slices.Min(levels)
	}
	return d
}

// of is what a policy makes of calls of a tool, where it is so, and whether the agent reads the reason.
func (d *declared) of(tool string) (mode taint.Mode, says bool) {
	names := func(set map[string]bool) bool { return set[tool] || set[everyTool] }
	switch says = d.Action.BlockTurn || names(d.blocks); {
	case says || names(d.removes):
		return restrict, says
	case names(d.confirms):
		return confirm, false
	}
	return allow, false
}

// concerns reports whether a call is one that a policy is about, apart from the level.
func (d *declared) concerns(c *protocol.Call) bool {
	if len(d.tools) > 0 && !d.tools[c.Tool] {
		return false
	}
	if n := d.When.IterationGTE; n != nil {
		if reached := c.Iteration(); reached == nil || *reached < *n {
			return false
		}
	}
	if len(d.When.Params) == 0 {
		return true
	}
	got := map[string]string{}
	for path, value := range c.Strings {
		if _, wanted := d.When.Params[path]; wanted {
			got[path] = value
		}
	}
	return maps.Equal(got, d.When.Params)
}

// declare lets the owner's policies tighten the plan.
func (pl *Plan) declare(policies []*declared, c *protocol.Call) {
	for _, d := range policies {
		mode, _ := d.of(pl.rule.name)
		if mode == allow && !d.Action.LogFullContext && !d.Action.PersistGraph || !d.concerns(c) {
			continue
		}
		pl.declared = append(pl.declared, d)
		text := "Your policy " + d.Name + " " + verbs[mode] + " this"
		if d.Action.Reason != "" {
			text += ": " + strings.TrimSuffix(d.Action.Reason, ".")
		}
		pl.tighten("policy", text+".", onwards(d.from, mode))
	}
}

// policies notes what the owner's policies want beside the mode. The reason that the agent reads is of the first that
// blocks.
func (j *judgement) policies() {
	blocked := false
	for _, d := range j.declared {
		if j.out.Level < d.from {
			continue
		}
		mode, says := d.of(j.rule.name)
		j.out.LogContext = j.out.LogContext || d.Action.LogFullContext
		j.out.PersistGraph = j.out.PersistGraph || d.Action.PersistGraph
		j.out.ownerAsks = j.out.ownerAsks || mode != allow
		if !blocked && mode == restrict && says {
			j.out.Reason = d.Action.Reason
		}
		blocked = blocked || mode == restrict
	}
}

// Removes reports whether the model is not to be offered a tool. Only what holds for every call of it counts.
func (p *Policy) Removes(c *protocol.Call, level taint.Level) bool {
	name := p.rulesFor(c.Agent()).find(c.Tool).name
	return slices.ContainsFunc(p.declared, func(d *declared) bool {
		return (d.removes[name] || d.removes[everyTool]) && level >= d.from && len(d.When.Params) == 0 && d.concerns(c)
	})
}

// BlocksTurn is the reason for which the owner's policies end a turn, and whether one does.
func (p *Policy) BlocksTurn(c *protocol.Call, level taint.Level) (reason string, blocked bool) {
	for _, d := range p.declared {
		if d.Action.BlockTurn && level >= d.from && len(d.When.Params) == 0 && len(d.tools) == 0 && d.concerns(c) {
			return d.Action.Reason, true
		}
	}
	return "", false
}
