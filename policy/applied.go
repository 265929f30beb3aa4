package policy

import (
	"slices"

	"github.com/openclaw-verifier/verifier/taint"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// applied is a policy of the owner's that a call falls under, and what it makes of
// the modes.
type applied struct {
	*declared
	row taint.Row // before the store is asked
}

// declare lets the owner's policies tighten the plan. Those that ask for more than
// the level wait for Judge.
func (pl planner) declare(policies []*declared, c *toolcall.Call) {
	if len(policies) == 0 {
		return
	}
	pl.asked = &asked{call: c}
	for _, d := range policies {
		if !d.concerns(c) {
			continue
		}
		switch {
		case d.expr != nil && d.expr.late:
			pl.late = append(pl.late, d)
			pl.Origins = pl.Origins || d.expr.origin
		default:
			pl.tighten(d)
		}
	}
}

func (pl planner) tighten(d *declared) {
	a := applied{declared: d}
	mode := d.mode(pl.rule.name)
	if pl.rule.name == "" {
		mode = d.mode(everyTool)
	}
	so := d.expr == nil || !d.expr.level && d.expr.holds(pl.asked, untrusted, nil)
	for l := d.from; l <= untrusted; l++ {
		if so || d.expr != nil && d.expr.level && d.expr.holds(pl.asked, l, nil) {
			a.row[l] = mode
			pl.logs[l] = pl.logs[l] || d.Action.LogFullContext
			pl.draws[l] = pl.draws[l] || d.Action.PersistGraph
		}
	}
	if a.row != (taint.Row{}) { // it makes some mode stricter
		pl.declared = append(pl.declared, a)
		pl.Modes = pl.Modes.Stricter(a.row)
	}
}

// explainDeclared adds the policies that made the mode stricter, and evaluates
// those that had to wait for the view.
func (j *judgement) explainDeclared(l taint.Level, before taint.Mode) {
	for _, a := range j.declared {
		j.out.ownerAsks = j.out.ownerAsks || a.row[l] != allow
		if a.row[l] > before {
			before = a.row[l]
			j.said(a.declared, before)
		}
	}
	for _, d := range j.late {
		mode := d.mode(j.rule.name)
		if l < d.from || !d.expr.holds(j.asked, l, j.view) {
			continue
		}
		j.out.ownerAsks = j.out.ownerAsks || mode != allow
		j.out.LogContext, j.out.PersistGraph = j.out.LogContext || d.Action.LogFullContext, j.out.PersistGraph || d.Action.PersistGraph
		if mode > before {
			before = mode
			j.said(d, mode)
		}
	}
	j.out.ownerAsks = j.out.ownerAsks || len(j.exceeded) > 0
	for i := range j.exceeded {
		if b := &j.exceeded[i]; b.then > before {
			before = b.then
			j.out.add("limit", b.sentence(), before)
		}
	}
	j.out.Mode = taint.Stricter(j.out.Mode, before)
	j.out.LogContext, j.out.PersistGraph = j.out.LogContext || j.logs[l], j.out.PersistGraph || j.draws[l]
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
		return (d.removes[name] || d.removes[everyTool]) && level >= d.from && d.expr == nil && len(d.When.Params) == 0 && d.concerns(c)
	})
}

// BlocksTurn is the reason for which the owner's policies end a turn, and whether
// one does.
func (p *Policy) BlocksTurn(c *toolcall.Call, level taint.Level) (reason string, blocked bool) {
	for _, d := range p.declared {
		if d.Action.BlockTurn && level >= d.from && d.expr == nil && len(d.When.Params) == 0 && len(d.tools) == 0 && d.concerns(c) {
			return d.Action.Reason, true
		}
	}
	return "", false
}

// UsesHistory reports whether any policy asks what was called before.
func (p *Policy) UsesHistory() bool {
	return slices.ContainsFunc(p.declared, func(d *declared) bool { return d.expr != nil && d.expr.history })
}
