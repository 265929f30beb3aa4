package policy

import (
	"maps"
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/taint"
)

// declared is one of the owner's policies that was checked.
type declared struct {
	Declared
	from                             taint.Level // so from this level on
	tools, removes, blocks, confirms names       // tools are those whose calls it is about; empty: all
}

// names are those of tools; "*" stands for all.
type names map[string]bool

func (n names) has(tool string) bool { return n[tool] || n[everyTool] }

// of is what a policy makes of calls of a tool, where it is so, and whether the agent reads the reason.
func (d *declared) of(tool string) (mode taint.Mode, says bool) {
	switch says = d.Action.BlockTurn || d.blocks.has(tool); {
	case says || d.removes.has(tool):
		return restrict, says
	case d.confirms.has(tool):
		return confirm, false
	}
	return allow, false
}

// concerns reports whether a call is one that a policy is about, apart from the level.
func (d *declared) concerns(c *protocol.Call) bool {
	reached, n := c.Iteration(), d.When.IterationGTE
	if len(d.tools) > 0 && !d.tools[c.Tool] || n != nil && (reached == nil || *reached < *n) {
		return false
	}
	missing := maps.Clone(d.When.Params)
	for path, value := range c.Strings {
		maps.DeleteFunc(missing, func(p, v string) bool { return p == path && v == value })
	}
	return len(missing) == 0
}

// isAlways reports whether a policy holds for every call like this at a level, whatever its params.
func (d *declared) isAlways(c *protocol.Call, level taint.Level) bool {
	return level >= d.from && len(d.When.Params) == 0 && d.concerns(c)
}

// declare lets the owner's policies tighten the plan.
func (pl *planner) declare() {
	for _, d := range pl.policy.declared {
		mode, _ := d.of(pl.rule.name)
		if mode == allow && !d.Action.LogFullContext && !d.Action.PersistGraph || !d.concerns(pl.Call) {
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

// policies notes what the owner's policies want beside the mode. The agent reads the reason of the first that blocks.
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
		return d.removes.has(name) && d.isAlways(c, level)
	})
}

// BlocksTurn is the reason for which the owner's policies end a turn, and whether one does.
func (p *Policy) BlocksTurn(c *protocol.Call, level taint.Level) (reason string, blocked bool) {
	for _, d := range p.declared {
		if d.Action.BlockTurn && len(d.tools) == 0 && d.isAlways(c, level) {
			return d.Action.Reason, true
		}
	}
	return "", false
}
