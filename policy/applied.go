package policy

import (
	"slices"

	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// applied is a policy of the owner's that a call falls under, and what it makes of
// the mode from its level on.
type applied struct {
	*declared
	mode taint.Mode
}

// declare lets the owner's policies tighten the plan.
func (pl planner) declare(policies []*declared, c *toolcall.Call) {
	for _, d := range policies {
		if d.concerns(c) {
			pl.tighten(d)
		}
	}
}

func (pl planner) tighten(d *declared) {
	mode := d.mode(pl.rule.name)
	if pl.rule.name == "" {
		mode = d.mode(everyTool)
	}
	for l := d.from; l <= untrusted; l++ {
		pl.Modes[l] = taint.Stricter(pl.Modes[l], mode)
		pl.logs[l] = pl.logs[l] || d.Action.LogFullContext
		pl.draws[l] = pl.draws[l] || d.Action.PersistGraph
	}
	if mode != allow {
		pl.declared = append(pl.declared, applied{d, mode})
	}
}

// explainDeclared adds the policies that made the mode stricter.
func (j *judgement) explainDeclared(l taint.Level, before taint.Mode) {
	for _, a := range j.declared {
		if l < a.from {
			continue
		}
		j.out.ownerAsks = true
		if a.mode > before {
			before = a.mode
			j.said(a.declared, before)
		}
	}
	j.out.Mode = taint.Stricter(j.out.Mode, before)
	j.out.LogContext, j.out.PersistGraph = j.logs[l], j.draws[l]
}

func (j *judgement) said(d *declared, m taint.Mode) {
	j.out.add("policy", d.sentence(m), m)
	j.out.Reason = ""
	if m == restrict && !d.silent(j.rule.name) {
		j.out.Reason = d.Action.Reason
	}
}

// Removes reports whether the model is not to be offered a tool, at a level and an
// iteration. Only what holds for every call of it counts.
func (p *Policy) Removes(c *toolcall.Call, level taint.Level) bool {
	name := p.rulesFor(c.Agent()).find(c.Tool).name
	return slices.ContainsFunc(p.declared, func(d *declared) bool {
		return (d.removes[name] || d.removes[everyTool]) && level >= d.from && len(d.When.Params) == 0 && d.concerns(c)
	})
}

// BlocksTurn is the reason for which the owner's policies end a turn, and whether
// one does.
func (p *Policy) BlocksTurn(c *toolcall.Call, level taint.Level) (reason string, blocked bool) {
	for _, d := range p.declared {
		if d.Action.BlockTurn && level >= d.from && len(d.When.Params) == 0 && len(d.tools) == 0 && d.concerns(c) {
			return d.Action.Reason, true
		}
	}
	return "", false
}
