package session

import (
	"time"

	"github.com/openclaw-verifier/verifier/taint"
)

// Admission is everything a store needs to let one call enter a conversation in
// one atomic trip: replay, ratchet, grants, run count, and the allow itself
// where the level alone decides.
type Admission struct {
	Conversation Conversation
	ID           [16]byte // the conversation's, where it is known already; see At
	Session      string   // the session id; empty when none was given
	RequestID    string   // one request is admitted once
	Body         [32]byte // of the signed bytes: the same id with another body is a conflict

	Initial taint.Level // what the start of the run brings in, at every call
	Sender  string      // what Initial is called in an explanation
	Birth   taint.Level // what it is worth at least if no call was admitted here before
	Floor   Mark        // what this process has already seen of it

	Modes  taint.Row   // the policy's mode at each level
	Raise  taint.Level // what the call brings in once allowed; System brings in nothing
	Final  bool        // the level alone decides: an allow may be committed at once
	Leaves bool        // it leaves the machine: a conversation that has read secrets, or had before it was reset, holds it, though Final
	Source string      // what Raise is called in an explanation: "web_fetch example.com"
	Note   bool        // keep by whom it is influenced, even if that makes nothing worse: see Influence

	Run    string // counted when RunCap is set
	RunCap int    // calls a run may make; 0 is no cap

	Pauses PauseView // that bind the call; where it is on, every mode is restrict

	Digest string   // of the call, to find a question that waits for it
	Grants []string // fields of the grants that could cover it, see Grant.Field

	Decision string        // kept as the request's decision if this trip allows it
	Keep     time.Duration // how long the request is remembered
}

// At is the conversation's ID.
func (a *Admission) At() [16]byte {
	if a.ID == ([16]byte{}) {
		return a.Conversation.ID()
	}
	return a.ID
}

// Counted is how strict a store must be at least with a call whose run has made
// so many calls, this one included: beyond the cap a person is asked, and a run
// that was halted makes no more calls.
func (a *Admission) Counted(calls int64) taint.Mode {
	switch {
	case a.RunCap <= 0 || a.Run == "":
		return taint.Allow
	case calls >= HaltedCalls:
		return taint.Restrict
	case calls > int64(a.RunCap):
		return taint.Confirm
	}
	return taint.Allow
}

// Mark is a level seen at a reset generation of a conversation.
type Mark struct {
	Level      taint.Level
	Generation int64
}

// Entry is what a store did with an admission. The zero value decides nothing.
type Entry uint8

// The outcomes of Admit.
const (
	Held         Entry = iota // the level does not decide: judge, ask, then settle
	Passed                    // allowed and committed
	Refused                   // restricted and committed
	Conflict                  // the request id was used for another body
	Moved                     // the conversation shares another's state: ask there
	PauseChanged              // the pauses are not what the admission says: nothing was done, see View.Paused
)

// Decided marks for a request's standing decision. An allow's mark carries a
// MAC that only this program can make; it begins with neither of these.
const (
	MarkPending = "P"
	MarkDenied  = "D"
)

// View is a snapshot of a conversation as one call met it.
type View struct {
	Entry         Entry
	Replayed      bool   // the request was admitted before
	PriorDecision string // the decision then, where Replayed and not Held
	Root          Conversation
	Paused        [2]string // where PauseChanged: what the store holds for AllAgents and for the agent

	Level      taint.Level // before the call
	After      taint.Level // with what the call brings in, where Passed
	Mode       taint.Mode  // of the admission's row at Level, or stricter where Capped, see Admission.Counted
	Capped     bool        // the run has used up its calls
	Step       int64       // the conversation's count of calls
	Version    int64       // changes whenever a level or the generation does
	Generation int64       // when it was last reset, in Unix milliseconds; 0: never
	Worst      Source      // what made the level what it is
	Lost       bool        // the store has lost what it knew: the level is a guess, the worst
	Secret     string      // where Held: what was read here that holds secrets; empty: nothing was
	Secrets    Holding     // whether secrets were read here, as far as anyone knows

	Grants  []string // the values found under the admission's grant fields
	Waiting string   // the card that asks about this very call
	Now     time.Time

	// Workspace is [AllSeen] where a person has seen all that was written into the agent's workspace since outside
	// content came in. Otherwise it is the reference of what keeps that, or empty where it is not known. No store sets
	// it: the verifier looks before it judges a call that runs what is in the workspace.
	Workspace string

	// Bears says that the call itself holds something that looks like a secret. No
	// store sets it: the verifier looks before it judges a call that leaves the machine.
	Bears bool

	// Unread says that not all of the call could be compared with what the conversation read where secrets are kept.
	Unread bool

	// Origins say where the call's arguments came from. No store sets them: the
	// verifier looks where the plan asks for them, before it judges.
	Origins Origins
}

// Holding is whether a conversation holds secrets. The zero value is that it is
// not known.
type Holding uint8

// What can be said of a conversation and secrets.
const (
	MayHold Holding = iota // not all that was read in it is known
	Holds                  // something was read that bears secrets
	HoldsNone
)

// AllSeen is said of a workspace, see [View].
const AllSeen = "seen"

// Forgotten is what a conversation has read whose state was lost.
const Forgotten = "something we lost track of"

// AnySession is the key of the secrets of a conversation that any of its session
// ids has read; see [Exposure].
const AnySession = "*"

// Exposure is what was read in a conversation that holds secrets, by session id:
// the first thing for each, under the empty one what holds for all, and under
// AnySession the first of all.
type Exposure map[string]string

// Of is what a session id may know; without one, what anyone knows.
func (e Exposure) Of(sessionID string) string {
	if sessionID == "" {
		return e[AnySession]
	}
	if e[sessionID] != "" {
		return e[sessionID]
	}
	return e[""]
}

// Add notes what was read, and reports whether it is the first for the session id.
func (e Exposure) Add(sessionID, what string) bool {
	isFirst := e[sessionID] == ""
	for _, id := range []string{sessionID, AnySession} {
		if e[id] == "" {
			e[id] = what
		}
	}
	return isFirst
}

// Source is the tool call that last brought in content as bad as the level.
type Source struct {
	Label string
	Level taint.Level
	Step  int64
}

// Settlement commits an allow that a rule over history, a grant or a person gave.
type Settlement struct {
	Conversation Conversation
	Session      string
	RequestID    string
	Body         [32]byte
	Version      int64 // of the view that was judged; the allow holds only for it
	Raise        taint.Level
	Source       string
	Secret       string // what the call reads that holds secrets; empty: nothing
	Decision     string
	Claim        *Claim    // the person's yes this allow uses up
	Pauses       PauseView // as in Admission; the allow holds only where they are so
	Keep         time.Duration
}

// Denial keeps a request as denied.
type Denial struct {
	Conversation Conversation
	RequestID    string
	Body         [32]byte
	Keep         time.Duration
}

// Claim swaps a card for the same card with one yes used.
type Claim struct {
	Card    string
	Version int64
	Blob    []byte
}

// Settling is what a store did with a settlement. The zero value is not done.
type Settling uint8

// The outcomes of Settle.
const (
	Stale           Settling = iota // the conversation moved since: judge again with the view
	Done                            // committed
	Decided                         // the request has a decision already: View.PriorDecision
	Taken                           // the card changed since it was read: read it again
	PausedMeanwhile                 // the pauses are not what the settlement says: nothing was done, see View.Paused
)

// Settled is the answer to a settlement.
type Settled struct {
	State Settling
	View  View // fresh where Stale; Level and After where Done; PriorDecision where Decided
}
