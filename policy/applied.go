package policy

import (
	"slices"

	"github.com/openclaw-verifier/verifier/session"
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
func (pl *Plan) declare(policies []*declared, c *toolcall.Call) {
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

func (pl *Plan) tighten(d *declared) {
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
func (pl *Plan) explainDeclared(v *Verdict, l taint.Level, view *session.View, before taint.Mode) {
	for _, a := range pl.declared {
		v.ownerAsks = v.ownerAsks || a.row[l] != allow
		if a.row[l] > before {
			before = a.row[l]
			pl.said(v, a.declared, before)
		}
	}
	for _, d := range pl.late {
		mode := d.mode(pl.rule.name)
		if l < d.from || !d.expr.holds(pl.asked, l, view) {
			continue
		}
		v.ownerAsks = v.ownerAsks || mode != allow
		v.LogContext, v.PersistGraph = v.LogContext || d.Action.LogFullContext, v.PersistGraph || d.Action.PersistGraph
		if mode > before {
			before = mode
			pl.said(v, d, mode)
		}
	}
	v.ownerAsks = v.ownerAsks || len(pl.exceeded) > 0
	for i := range pl.exceeded {
		if b := &pl.exceeded[i]; b.then > before {
			before = b.then
			v.add("limit", b.sentence(), before)
		}
	}
	v.Mode = taint.Stricter(v.Mode, before)
	v.LogContext, v.PersistGraph = v.LogContext || pl.logs[l], v.PersistGraph || pl.draws[l]
}

func (pl *Plan) said(v *Verdict, d *declared, m taint.Mode) {
	v.add("policy", d.sentence(m), m)
	v.Reason = ""
	if m == restrict && !d.silent(pl.rule.name) {
		v.Reason = d.Action.Reason
	}
}

// Removes reports whether the model is not to be offered a tool, at a level and an
// iteration. Only what holds for every call of it counts.
func (p *Policy) Removes(c *toolcall.Call, level taint.Level) bool {
	name := p.rulesFor(c.Agent()).find(c.Tool).name
	for _, d := range p.declared {
		if (d.removes[name] || d.removes[everyTool]) && level >= d.from && d.expr == nil && len(d.When.Params) == 0 && d.concerns(c) {
			return true
		}
	}
	return false
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
