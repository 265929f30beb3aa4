package policy

import "github.com/openclaw-verifier/verifier/taint"

// levelAlone reports whether a call waits for a person only because of what came
// into the conversation: it would pass unasked in one that has only read local
// content, and nothing that the owner or the dangerous list says asks about it.
// Such a question may be answered by an auditor; any other is a person's.
func (r *ruling) levelAlone(v *Verdict) bool {
	return v.Mode == confirm && r.gate == (gate{}) && r.ruled(local) == allow &&
		!r.rule.asks[v.Level] && !v.ownerAsks && (v.Rule == "taintPolicy" || v.Rule == "taint-escalation")
}

// asks says at which levels an override or the dangerous list wants a person or
// refuses. What it says of a more trusted level holds for the less trusted ones.
func (t *table) asks() (out [taint.Levels]bool) {
	asks := false
	for _, l := range taint.All() {
		asks = asks || t.raw[l] != allow && t.origin[l] != byPolicy
		out[l] = asks
	}
	return out
}

// LevelAlone lists the levels at which some tool waits for a person only because
// of what came into the conversation.
func (p *Policy) LevelAlone() []taint.Level {
	var out []taint.Level
	for _, l := range taint.All() {
		for _, r := range p.global.rules {
			if r.inScope && !r.wrapper && r.table.modes[l] == confirm && r.table.modes[local] == allow && !r.asks[l] {
				out = append(out, l)
				break
			}
		}
	}
	return out
}
