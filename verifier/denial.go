package verifier

import (
	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/codes"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

// NotPermitted begins what the agent reads of a call that never passes.
const NotPermitted = "Not permitted here"

// What the agent reads. No code, no syntax, no policy detail: the agent is the
// adversary's mouth.
const (
	reasonFault    = "The verifier could not decide. Nothing was run."
	reasonStore    = "The verifier's store can't be reached. Nothing was run; ask again later."
	reasonRecord   = "The verifier can't write its record. Nothing was run; ask again later."
	reasonConflict = "This request id was already used for another call."
	reasonRepeated = "This request was denied before, and stays so. A new call will be judged again."
	reasonMoved    = "The conversation kept changing while this was decided. Ask again."
	reasonNobody   = "This needs the owner's approval, and the owner can't be asked now. Ask again later."
	reasonStopping = "The verifier is stopping. Nothing was run; ask again later."
	reasonPaused   = "The owner has paused this agent. Only harmless tools run until the pause is lifted."
	reasonTooMany  = "Paused: too many questions this hour. What needs the owner's approval is denied until there is room again; other calls go on."
	reasonFull     = "Too many questions are waiting for the owner. Ask again when some are answered."
	reasonTaken    = "The owner's yes was for one call, and an identical call that was waiting first has it. Ask again if it is needed twice."
	maxReason      = 500

	faultStore  = "store"
	faultRecord = "record"
	callerGone  = "gone"
	crashKind   = "panic"
)

// denial is why a call is denied: a category for the record, a sentence for the
// agent.
type denial struct{ kind, reason string }

func deny(kind, reason string) *denial { return &denial{kind, reason} }

// decision is the answer to a call that is denied.
func (n *denial) decision(t *evaluation) Decision {
	return Decision{Reason: clip(n.reason), Ref: t.ruling.Ref, Ticket: t.ruling.Ticket}
}

func (t *evaluation) restricted() *denial {
	if why := t.verdict.Reason; why != "" { // the owner's own words for the agent
		return deny(t.verdict.Rule, NotPermitted+" (ref "+t.ref()+"): "+why)
	}
	return deny(t.verdict.Rule, NotPermitted+" (ref "+t.ref()+").")
}

// paused is why nothing but what is harmless passes.
func (t *evaluation) paused() *denial {
	t.verdict.Mode, t.verdict.Rule = taint.Restrict, "paused"
	t.verdict.Why = append(t.verdict.Why, policy.Step{Rule: "paused", Text: "The owner has paused the agent: only what is harmless passes.", Mode: taint.Restrict})
	return deny("paused", reasonPaused)
}

func (t *evaluation) waiting() string {
	return "Owner approval required (ref " + t.ref() + "). Ask again after the owner approves."
}

// deniedBy is what the agent reads of a no.
func deniedBy(ref string, r *approval.Ruling) string {
	switch {
	case !r.ByPerson:
		return "Not approved (ref " + ref + "): " + r.Reason + "."
	case r.Reason == "":
		return "Denied by the owner (ref " + ref + ")."
	}
	return "Denied by the owner (ref " + ref + "): " + r.Reason
}

// ref is the short name by which the owner finds this decision in the record.
func (t *evaluation) ref() string {
	if t.ruling.Ref != "" {
		return t.ruling.Ref
	}
	return codes.Ref(t.call.Client + "\n" + t.call.RequestID)
}

// clip keeps a reason within what a client reads, in whole characters.
func clip(s string) string {
	r := []rune(s)
	if len(r) <= maxReason {
		return s
	}
	return string(r[:maxReason-1]) + "…"
}
