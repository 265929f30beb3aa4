package verifier

import (
	"slices"

	"github.com/openclaw-verifier/verifier/lineage"
	"github.com/openclaw-verifier/verifier/redact"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// ByOwnWords is what consented where the call is the owner's own words, ByGrant
// where one that they gave covers it.
const (
	ByOwnWords = "own-words"
	ByGrant    = "grant"
)

// ownWords reports whether a call that is asked about only because outside content
// came in holds nothing of that content: the owner asked for it, said where it
// goes, and said what could do harm in it. Nothing rests on what was not found in
// the outside content: what the owner did not say is not theirs.
func (v *Verifier) ownWords(t *trace) bool {
	own := t.plan.Own
	if own == nil || !t.verdict.Tainted || t.view.Lost || t.plan.Standing.Level > taint.Owner {
		return false
	}
	if t.verdict.Rule != "taint-escalation" && t.verdict.Rule != "taintPolicy" {
		return false
	}
	said := t.call.OwnerMessages()
	if len(said) == 0 {
		return false
	}
	words, before := lineage.NewOwn(said), v.yeses.of(t)
	words.Mention(before.mentioned()...)
	where, reason := words.Wholly(t.call.Params, lineage.Terms{
		Destinations: own.Destinations, Asked: own.Asked, Words: own.Words,
		Allowed: func(where []string) bool { return before.has(t.call.Tool, where) },
	})
	t.where = where
	switch {
	case reason != "":
		return false
	case len(where) > 0 && t.view.Secrets != session.HoldsNone:
		return false // the third part of the trifecta
	}
	return bearsNothing(v.shown(t))
}

// bearsNothing reports whether a call holds no secret. What is written to a file
// is kept from cards and was looked through all the same.
func bearsNothing(shown *redact.Result) bool {
	if shown.Hidden() > len(shown.Findings) {
		return false
	}
	return !slices.ContainsFunc(shown.Findings, func(f redact.Finding) bool { return f.Kind != redact.FileBody })
}

// rememberYes keeps where a person let a call go, for the rest of the turn. What
// they did not see counts for nothing.
func (v *Verifier) rememberYes(t *trace) {
	if t.seen && len(t.where) > 0 && t.call.Context.RunID != "" {
		v.yeses.note(t)
	}
}
