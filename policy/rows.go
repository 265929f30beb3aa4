package policy

import (
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/taint"
)

// origin is which rule gave a tool its mode at a level, before any tightening.
type origin uint8

const (
	byPolicy      origin = iota // the taint policy
	byDangerous                 // the dangerous list
	bySafe                      // the safe list
	byOverrideAny               // the owner's override for "*"
	byOverride                  // the owner's override naming the level
)

// table is a tool's row. From one stage to the next, modes only get stricter.
type table struct {
	origin [taint.Levels]origin
	raw    taint.Row // as the first rule that says anything has it
	stages []stage   // what changed it, so that a verdict can be explained
	modes  taint.Row // after the last
}

// layer is one set of taint policy and overrides: the global one, or the global one with an agent's laid over it.
type layer struct {
	policy    taint.Row
	overrides map[string]override
}

// override is an Override by level.
type override struct {
	any *taint.Mode
	at  [taint.Levels]*taint.Mode
}

func (t *TaintPolicy) byLevel() [taint.Levels]*taint.Mode {
	return [taint.Levels]*taint.Mode{t.System, t.Owner, t.Local, t.Shared, t.External, t.Untrusted}
}

// over lays o on top of under, level by level.
func (o override) over(under override) override {
	if o.any == nil {
		o.any = under.any
	}
	for i, m := range o.at {
		if m == nil {
			o.at[i] = under.at[i]
		}
	}
	return o
}

// first is the first rule that says anything about a tool at a level.
func (l *layer) first(f *facts, lvl taint.Level) (taint.Mode, origin) {
	o := l.overrides[f.name]
	switch {
	case o.at[lvl] != nil:
		return *o.at[lvl], byOverride
	case o.any != nil:
		return *o.any, byOverrideAny
	case f.safe:
		return allow, bySafe
	case f.dangerous:
		return confirm, byDangerous
	default:
		return l.policy[lvl], byPolicy
	}
}

// table works out a tool's row and names the levels that had to be tightened to keep it monotone.
func (l *layer) table(f *facts, from taint.Level, strict bool) (table, []taint.Level) {
	var t table
	for _, lvl := range taint.All() {
		t.raw[lvl], t.origin[lvl] = l.first(f, lvl)
	}
	t.modes = t.raw
	early := t.close()
	escalated := t.modes
	for lvl := from; lvl <= untrusted; lvl++ {
		if t.origin[lvl] != byOverride && (f.sink && !f.safe || strict && f.strictSink) {
			escalated[lvl] = taint.Stricter(escalated[lvl], confirm)
		}
	}
	t.add(escalation, "Outside content could make the agent use "+f.called(), escalated)
	return t, append(early, t.close()...) // a level that an override names may now be freer than a more trusted one
}

// close makes the row never more permissive for less trusted content.
func (t *table) close() []taint.Level {
	closed, tightened := t.modes.Closed()
	t.add("closed", "Your policy is as strict here as in more trusted conversations", closed)
	return tightened
}

func (t *table) add(rule, text string, modes taint.Row) {
	if modes != t.modes {
		t.modes, t.stages = modes, append(slices.Clip(t.stages), stage{rule, text, modes})
	}
}

// set returns row with the levels that p names replaced.
func (t *TaintPolicy) set(row taint.Row) taint.Row {
	for lvl, m := range t.byLevel() {
		if m != nil {
			row[lvl] = *m
		}
	}
	return row
}

// tightened makes a tool's rules those of the stricter of two sets.
func (r *rule) tightened(other *rule, why string) *rule {
	c := *r
	c.inScope = c.inScope || other.inScope
	c.table.add("agent", why, c.table.modes.Stricter(other.table.modes))
	c.sinkModes, c.getting = c.sinkModes.Stricter(other.sinkModes), c.getting.Stricter(other.getting)
	c.looking = c.looking.Stricter(other.looking)
	for l, asks := range other.asks {
		c.asks[l] = c.asks[l] || asks
	}
	if r.reading != nil && other.reading != nil {
		c.reading = r.reading.tightened(other.reading, why)
	}
	return &c
}

func levelNames(levels []taint.Level) string {
	names := make([]string, 0, len(levels))
	for _, l := range slices.Compact(levels) {
		names = append(names, l.String())
	}
	return strings.Join(names, ", ")
}
