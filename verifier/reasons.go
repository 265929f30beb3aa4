package verifier

import (
	"github.com/openclaw-verifier/verifier/codes"
	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/taint"
)

// NotPermitted begins what the agent reads of a call that never passes.
const NotPermitted = "Not permitted here"

// What the agent reads. No code, no syntax, no policy detail: the agent is the adversary's mouth.
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
	reasonTooMany  = "Paused: too many questions this hour. What needs the owner's approval is denied until there is " +
		"room again; other calls go on."
	reasonFull  = "Too many questions are waiting for the owner. Ask again when some are answered."
	reasonTaken = "The owner's yes was for one call, and an identical call that was waiting first has it. Ask again " +
		"if it is needed twice."
	reasonIterations = "This turn has used up its iterations."
	maxReason        = 500
)

// Kinds of denials that are told apart: the part that failed, a caller that left, a panic.
const (
	faultStore  = "store"
	faultRecord = "record"
	callerGone  = "gone"
	crashKind   = "panic"
)

// denial is why a call is denied: a category for the record, a sentence for the agent, and perhaps one for the user,
// below the agent's next message.
type denial struct{ kind, reason, footer string }

func deny(kind, reason string) *denial { return &denial{kind: kind, reason: reason} }

// restricted is why the policy never lets a call pass.
func restricted(v *policy.Verdict, ref string) *denial {
	reason := NotPermitted + " (ref " + ref + ")."
	if v.Reason != "" { // the owner's own words for the agent
		reason = NotPermitted + " (ref " + ref + "): " + v.Reason
	}
	return deny(v.Rule, reason)
}

// paused is why nothing but what is harmless passes.
func (e *evaluation) paused() *denial {
	const text = "The owner has paused the agent: only what is harmless passes."
	e.verdict.Mode, e.verdict.Rule = taint.Restrict, "paused"
	e.verdict.Why = append(e.verdict.Why, policy.Step{Rule: "paused", Text: text, Mode: taint.Restrict})
	return deny("paused", reasonPaused)
}

// ruledOut is why people have not let the call pass.
func (e *evaluation) ruledOut() *denial {
	switch r, ref := &e.ruling, "(ref "+e.ref()+")"; {
	case r.Denied && !r.ByPerson:
		return deny("denied", "Not approved "+ref+": "+r.Reason+".")
	case r.Denied && r.Reason == "":
		return deny("denied", "Denied by the owner "+ref+".")
	case r.Denied:
		return deny("denied", "Denied by the owner "+ref+": "+r.Reason)
	case r.Paused:
		return e.paused()
	case r.Stopped:
		return deny("stopping", waitingFor(e.ref()))
	case r.Exhausted:
		return deny("exhausted", reasonTooMany)
	case r.Full:
		return deny("full", reasonFull)
	case r.Late:
		return deny("taken", reasonTaken)
	case r.Silent:
		return deny("unanswered", "The owner did not answer in time "+ref+". Ask again after the user's next message, "+
			"or in ten minutes.")
	}
	return deny("unanswered", waitingFor(e.ref()))
}

func waitingFor(ref string) string {
	return "Owner approval required (ref " + ref + "). Ask again after the owner approves."
}

// ref is the short name by which the owner finds this decision in the record.
func (e *evaluation) ref() string {
	if e.ruling.Ref != "" {
		return e.ruling.Ref
	}
	return codes.Ref(e.call.Client + "\n" + e.call.RequestID)
}

// clip keeps a text within so many characters.
func clip(s string, most int) string {
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}
