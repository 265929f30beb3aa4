package policy

import (
	"cmp"
	"slices"
	"strings"

	"github.com/openclaw-verifier/verifier/taint"
)

// profile is what a Config is laid over.
type profile struct {
	name   string
	policy taint.Row
	from   taint.Level
	strict bool
}

const (
	allow    = taint.Allow
	confirm  = taint.Confirm
	restrict = taint.Restrict
)

// profiles are the taint policies of seed 000: its default, its three examples laid over that default, and strict,
// which has the default's modes and none of its leniencies.
var profiles = []profile{
	{"default", taint.Row{allow, allow, allow, confirm, confirm, confirm}, external, false},
	{"paranoid", taint.Row{allow, allow, allow, restrict, restrict, restrict}, external, false},
	{"permissive", taint.Row{allow, allow, allow, allow, allow, confirm}, untrusted, false},
	{"interactive", taint.Row{allow, allow, allow, confirm, confirm, restrict}, external, false},
	{"strict", taint.Row{allow, allow, allow, confirm, confirm, confirm}, external, true},
}

// Profiles lists the names that Config.Profile may have.
func Profiles() (names []string) {
	for _, p := range profiles {
		names = append(names, p.name)
	}
	return names
}

func profileNamed(name string) (profile, bool) {
	i := slices.Index(Profiles(), cmp.Or(name, "default"))
	return profiles[max(i, 0)], i >= 0
}

// row is a mode for each level, with the rules that led to it. It only ever gets stricter.
type row struct {
	Modes taint.Row // the mode at each of the six levels
	why   [taint.Levels][]Step
}

// tighten makes the row at least as strict as another. The text is a sentence, or the beginning of one that ends with
// what happens.
func (r *row) tighten(rule, text string, to taint.Row) {
	for l, mode := range to {
		if mode > r.Modes[l] {
			r.set(taint.Level(l), rule, text, mode)
		}
	}
}

func (r *row) set(l taint.Level, rule, text string, mode taint.Mode) {
	if !strings.HasSuffix(text, ".") {
		text += ", so " + outcomes[mode] + "."
	}
	r.Modes[l], r.why[l] = mode, append(slices.Clip(r.why[l]), Step{rule, text, mode})
}

// close makes the row never more permissive for less trusted content, and names the levels that it had to tighten.
func (r *row) close() []taint.Level {
	closed, tightened := r.Modes.Closed()
	r.tighten("closed", "Your policy is as strict here as in more trusted conversations", closed)
	return tightened
}

// verbs are what a policy does to a call in each mode, before the name of a tool.
var verbs = [...]string{allow: "allows", confirm: "asks before", restrict: "blocks"}

// outcomes are what a mode means for the call, as the end of a sentence.
var outcomes = [...]string{allow: "it may run", confirm: "you are asked", restrict: "it is blocked"}

// layer is one set of taint policy and overrides: the global one, or the global one with an agent's laid over it, whose
// overrides come first.
type layer struct {
	policy    taint.Row
	overrides map[string][]Override
}

func (t *TaintPolicy) byLevel() [taint.Levels]*taint.Mode {
	return [taint.Levels]*taint.Mode{t.System, t.Owner, t.Local, t.Shared, t.External, t.Untrusted}
}

// first is what the first rule says that says anything about a tool at a level, and whether that is an override which
// names the level.
func (l *layer) first(f *facts, lvl taint.Level) (s Step, named bool) {
	tool, at := f.called(), " in "+lvl.String()+" conversations."
	it := strings.Replace(tool, "this tool", "This tool", 1)
	for _, o := range l.overrides[f.name] {
		if m := o.byLevel()[lvl]; m != nil {
			return Step{"override", "Your override " + verbs[*m] + " " + tool + at, *m}, true
		}
	}
	for _, o := range l.overrides[f.name] {
		if m := o.Any; m != nil {
			return Step{"override", "Your override " + verbs[*m] + " " + tool + " at every level.", *m}, false
		}
	}
	switch m := l.policy[lvl]; {
	case f.safe:
		return Step{"safe", it + " is on the safe list: it " + f.reason + ".", allow}, false
	case f.dangerous:
		because := it + " is on the dangerous list (it " + f.reason + "), so you are asked at every level."
		return Step{"dangerous", because, confirm}, false
	case !f.known:
		return Step{"taintPolicy", "We don't know this tool. Your policy " + verbs[m] + " such tools" + at, m}, false
	default:
		return Step{"taintPolicy", "Your policy " + verbs[m] + " " + tool + at, m}, false
	}
}

// row works out a tool's row. asks are the levels at which an override or the dangerous list wants a person or refuses:
// what it says of a more trusted level holds for the less trusted ones. loose are those that had to be tightened to
// keep the row monotone.
func (b *builder) row(l *layer, f *facts) (r row, asks [taint.Levels]bool, loose []taint.Level) {
	var escalated taint.Row
	for _, lvl := range taint.All() {
		s, named := l.first(f, lvl)
		r.Modes[lvl], r.why[lvl] = s.Mode, []Step{s}
		asks[lvl] = s.Mode != allow && s.Rule != "taintPolicy" || lvl > 0 && asks[lvl-1] //nolint:gosec // lvl > 0
		if lvl >= b.from && !named && (f.sink && !f.safe || b.profile.strict && f.strictSink) {
			escalated[lvl] = confirm
		}
	}
	loose = r.close()
	r.tighten(escalation, "Outside content could make the agent use "+f.called(), escalated)
	return r, asks, append(loose, r.close()...) // a level that an override names may now be freer than one above it
}

// rule works out what holds for a tool by one layer and scope.
func (b *builder) rule(path string, l *layer, s *scope, f *facts) *rule {
	r := &rule{facts: *f, inScope: s.holds(f.name)}
	var loose []taint.Level
	if r.row, r.asks, loose = b.row(l, f); len(loose) > 0 {
		b.loosened(path+"toolOverrides."+f.name, f.name, loose)
	}
	as := *f
	as.sink, as.safe = true, false
	acting, _, _ := b.row(l, &as)
	r.acting = acting.Modes
	if f.annotated && !f.destructive {
		as.annotated, as.traits = false, traits{safe: true, strictSink: true, leaves: true}
		as.reason = "only reads, as its server says, which you trust in that"
		r.reading = b.rule(path, l, s, &as)
	}
	return r
}

// tightened is the stricter of two rules for a tool.
func (r *rule) tightened(other *rule, why string) *rule {
	both := *r
	both.inScope = r.inScope || other.inScope
	both.tighten("agent", why, other.Modes)
	both.acting = r.acting.Stricter(other.acting)
	for l, asks := range other.asks {
		both.asks[l] = both.asks[l] || asks
	}
	if r.reading != nil && other.reading != nil {
		both.reading = r.reading.tightened(other.reading, why)
	}
	return &both
}

// tightened are the stricter rules of two sets.
func (s *ruleset) tightened(o *ruleset, why string) *ruleset {
	both := &ruleset{rules: make(map[string]*rule, len(s.rules)), cap: min(s.cap, o.cap)}
	for name, r := range s.rules {
		both.rules[name] = r.tightened(o.rules[name], why)
	}
	return both
}
