package policy

import (
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

// table is a tool's row as it passes through the stages, each kept so that a verdict can be explained. From one stage
// to the next, modes only get stricter.
type table struct {
	origin    [taint.Levels]origin
	raw       taint.Row // as the first matching rule says
	closed    taint.Row // never more permissive for less trusted
	escalated taint.Row // sinks in tainted conversations
	reclosed  taint.Row // escalated, and closed again
	modes     taint.Row // with the agent's own rules
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
	var early, late []taint.Level
	t.closed, early = t.raw.Closed()
	t.escalated = t.closed
	for _, lvl := range taint.All() {
		if lvl >= from && t.escalates(f, lvl, strict) {
			t.escalated[lvl] = taint.Stricter(t.escalated[lvl], confirm)
		}
	}
	// A level the owner exempted by name may now stand below a more trusted one that was not.
	t.reclosed, late = t.escalated.Closed()
	t.modes = t.reclosed
	return t, append(early, late...)
}

// escalates reports whether a tool is a sink that nothing exempts at a level: neither the safe list nor an owner's
// word about this very level.
func (t *table) escalates(f *facts, lvl taint.Level, strict bool) bool {
	if t.origin[lvl] == byOverride {
		return false
	}
	return f.sink && !f.safe || strict && f.strictSink
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
func (r *rule) tightened(other *rule) *rule {
	c := *r
	c.inScope = c.inScope || other.inScope
	c.table.modes = c.table.modes.Stricter(other.table.modes)
	c.sinkModes, c.getting = c.sinkModes.Stricter(other.sinkModes), c.getting.Stricter(other.getting)
	c.looking = c.looking.Stricter(other.looking)
	for l, asks := range other.asks {
		c.asks[l] = c.asks[l] || asks
	}
	if r.reading != nil && other.reading != nil {
		c.reading = r.reading.tightened(other.reading)
	}
	return &c
}

func levelNames(levels []taint.Level) string {
	names := make([]string, 0, len(levels))
	for i, l := range levels {
		if i == 0 || levels[i-1] != l {
			names = append(names, l.String())
		}
	}
	return strings.Join(names, ", ")
}
