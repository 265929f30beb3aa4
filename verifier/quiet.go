package verifier

import (
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// quiet knows the reasons for which a call passes without a question although the policy would ask because outside content came in. Each has a type
// and a file of its own. None holds in a conversation that may hold a secret, nor where something else than the level asks.
type quiet struct {
	o        *Options
	exposure *exposure

	sites sites
}

// reason names the first reason that holds, as the record has it; empty: none does.
func (q *quiet) reason(t *evaluation) string {
	switch {
	case q.o.Shared: // what another process has heard is not known here
	case q.sites.lets(t):
		return policy.SiteRule
	}
	return ""
}

// allowing notes, before a call is allowed, where what it brings in is from.
func (q *quiet) allowing(t *evaluation) {
	if level := taint.Worse(t.plan.Brings(&t.view), t.brings); !t.plan.Clean(level) || level >= taint.Shared {
		from := anyOutside
		if t.plan.Page.Host != "" {
			from = pageOf(t.plan.Page.Host)
		}
		q.exposure.brought(t.convID, from)
	}
	if t.plan.Page.Host != "" {
		q.sites.allowed(t)
	}
}

// hear notes what an event changes, and where outside content is from that it reports. The result of a call is noted with the call, where that is known.
func (q *quiet) hear(h *eventEvaluation) {
	if h.report.Raise < taint.Shared || h.heard.Replayed || q.sites.returned(h) {
		return
	}
	q.exposure.brought(h.convID, anyOutside)
}

// unheard reports what keeps every quiet reason from a call besides its own conditions: something else than the level asks, it is not known what the
// conversation holds, it holds secrets, or a person was asked about this very call before.
func (t *evaluation) unheard() bool {
	return !t.verdict.LevelAlone || t.view.Lost || t.view.Secrets != session.HoldsNone || t.view.Waiting != ""
}

// because adds to the verdict for which reason the call passes.
func (t *evaluation) because(rule, text string) {
	t.verdict.Why = append(t.verdict.Why, policy.Step{Rule: rule, Text: text + ": allow.", Mode: taint.Allow})
}
