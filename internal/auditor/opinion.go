// Package auditor asks a second model whether a call fits what the user asked
// for.
//
// The auditor's strength is what it does not see. A [Question] holds the user's
// own messages, the names of the tools that brought outside content in, and the
// proposed call with its secrets hidden. It has no field for what a tool
// returned and none for what the agent said: text that an attacker
// could have written never reaches the auditor, but for the
// arguments of the call itself, and those stand behind a fence ([Question.Prompt]).
//
// It refuses to read meaning into an answer: "allow", or "block" and one line of
// reason. Anything else, a timeout, an error, a question without a user's word
// in it, is no answer, and what follows from that is the owner's to say. It
// never decides: [Opinion] is what the auditor thinks, and the verifier does with
// it what the mode permits. It keeps no question and no answer.
package auditor

import (
	"context"
	"time"
)

// Mode is what an opinion may do.
type Mode string

// The modes.
const (
	Advise      Mode = "advise"      // it is shown on the card, no more
	Escalate    Mode = "escalate"    // it may stop what the policy would have let pass
	AutoApprove Mode = "autoApprove" // it may also answer in the person's place where only the conversation's level asks
)

// FailMode is what becomes of a call that the policy would let pass when the
// auditor gives no answer.
type FailMode string

// The fail modes.
const (
	FailBlock FailMode = "block"
	FailWarn  FailMode = "warn"
	FailAllow FailMode = "allow"
)

// DefaultTimeout is how long an answer may take.
const DefaultTimeout = 3 * time.Second

// Model is a language model that answers one prompt.
type Model interface {
	// Answer returns the model's whole answer. It keeps to the context's deadline,
	// and never tries a second time.
	Answer(ctx context.Context, p Prompt) (Reply, error)
}

// Prompt is what a model is sent.
type Prompt struct {
	System string
	User   string
}

// Reply is what a model said, and what it cost.
type Reply struct {
	Text   string
	Input  int64 // tokens
	Output int64
}

// Verdict is what the auditor thinks of a call. The zero Verdict is no answer.
type Verdict uint8

// What the auditor can think.
const (
	NoAnswer Verdict = iota
	Allow            // it fits what the user asked for
	Block            // it does not
)

// String names the verdict in one of a few words.
func (v Verdict) String() string {
	switch v {
	case Allow:
		return "allow"
	case Block:
		return "block"
	case NoAnswer:
	}
	return "none"
}

// Opinion is what the auditor thinks, and why. The zero Opinion is no answer.
type Opinion struct {
	Verdict Verdict
	Reason  string // of a block: one line that the model wrote. Of no answer: why there is none, in our words
	Partly  bool   // the question was too long to be put whole
}

// Observation is one question in words that can be counted.
type Observation struct {
	Verdict Verdict
	Cause   string // of no answer: one of the causes below
	Took    time.Duration
	Input   int64 // tokens
	Output  int64
}

// Why there can be no answer.
const (
	causeSilent   = "no_messages"
	causeTimeout  = "timeout"
	causeError    = "error"
	causeResting  = "resting"
	causeUnclear  = "unclear"
	causeLeft     = "left"
	causeNothing  = ""
	reasonSilent  = "no message of the user was passed on"
	reasonTimeout = "it did not answer in time"
	reasonError   = "it could not be reached"
	reasonResting = "it has failed several times in a row and is left alone for a while"
	reasonUnclear = "its answer was neither allow nor block"
	reasonLeft    = "the caller left"
)
