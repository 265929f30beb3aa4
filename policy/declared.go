package policy

import (
	"maps"
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/taint"
)

// declared is one that was checked.
type declared struct {
	Declared
	from  taint.Level     // so from this level on
	tools map[string]bool // whose calls it is about; empty: all

	removes, blocks, confirms map[string]bool // tools
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
