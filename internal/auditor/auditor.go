// Package auditor asks a second model whether a call fits what the user asked for.
//
// Its strength is what it does not see. A [Question] holds the user's own messages, the names of the tools that brought
// outside content in, and the proposed call with its secrets hidden. It has no field for what a tool returned and none
// for what the agent said: text that an attacker could have written never reaches the model, but for the arguments of
// the call itself, and those are behind a fence ([Question.Prompt]).
//
// It refuses to read meaning into an answer: "allow", or "block" and one line of reason. Anything else, a timeout, an
// error, a question without a user's word in it, is no answer, and what follows from that is the owner's to say. It
// never decides: [Opinion] is what the model thinks, and the verifier does with it what the mode permits. It keeps no
// question and no answer.
package auditor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Mode is what an opinion may do.
type Mode string

// The modes.
const (
	Advise      Mode = "advise"      // it is shown on the card, no more
	Escalate    Mode = "escalate"    // it may stop what the policy would have let pass
	AutoApprove Mode = "autoApprove" // it may also answer in a person's place where only the conversation's level asks
)

// FailMode is what becomes of a call that the policy would let pass when there is no answer.
type FailMode string

// The fail modes.
const (
	FailBlock FailMode = "block"
	FailWarn  FailMode = "warn"
	FailAllow FailMode = "allow"
)

// Verdict is what the model thinks of a call. The zero Verdict is no answer.
type Verdict uint8

// What the model can think.
const (
	NoAnswer Verdict = iota
	Allow            // it fits what the user asked for
	Block            // it does not
)

// String names the verdict.
func (v Verdict) String() string { return [...]string{"none", "allow", "block"}[min(v, Block)] }

// Opinion is what the model thinks, and why. The zero Opinion is no answer.
type Opinion struct {
	Verdict Verdict
	Reason  string // of a block: one line that the model wrote. Of no answer: why there is none, in our words
	Partly  bool   // the question was too long to be put whole
}

// Observation is one question in words that can be counted.
type Observation struct {
	Verdict Verdict
	Cause   string // of no answer, in a word
	Took    time.Duration
	Input   int64 // tokens
	Output  int64
}

// reasons are why there can be no answer, by the word that is counted.
var reasons = map[string]string{
	"no_messages": "no message of the user was passed on",
	"timeout":     "it did not answer in time",
	"error":       "it could not be reached",
	"resting":     "it has failed several times in a row and is left alone for a while",
	"unclear":     "its answer was neither allow nor block",
	"left":        "the caller left",
}

// DefaultTimeout is how long an answer may take.
const DefaultTimeout = 3 * time.Second

const (
	atOnce         = 32 // questions that are with the model at the same time
	failuresInARow = 5  // after so many, it is left alone
	rest           = 30 * time.Second
)

// Options are what an Auditor is made of.
type Options struct {
	Model    Model
	Mode     Mode
	FailMode FailMode      // what becomes without an answer of a call that would pass
	Timeout  time.Duration // of an answer
	Caution  *Caution      // which tools' results it looks after
	Observe  func(Observation)
}

// Auditor asks a model. It is safe for concurrent use.
type Auditor struct {
	Options
	places chan struct{}

	mu     sync.Mutex
	failed int       // in a row
	until  time.Time // when the rest is over; one more failure begins another
}

// New makes an Auditor.
func New(o Options) *Auditor { return &Auditor{Options: o, places: make(chan struct{}, atOnce)} }

// Err says what is wrong with the model, if it keeps failing.
func (a *Auditor) Err() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.failed < failuresInARow {
		return nil
	}
	return fmt.Errorf("the model failed %d times in a row and is asked only every %s", a.failed, rest)
}

// Ask puts a question and waits for the answer, no longer than the timeout. It returns no error: what went wrong is no
// answer.
func (a *Auditor) Ask(ctx context.Context, q Question) Opinion {
	started := time.Now()
	opinion, reply, cause := a.ask(ctx, &q)
	if opinion.Verdict == NoAnswer {
		opinion.Reason = reasons[cause]
	}
	a.Observe(Observation{opinion.Verdict, cause, time.Since(started), reply.Input, reply.Output})
	return opinion
}

func (a *Auditor) ask(ctx context.Context, q *Question) (o Opinion, reply Reply, cause string) {
	if len(q.Messages) == 0 {
		return o, reply, "no_messages"
	}
	prompt, partly := q.Prompt()
	if a.rests() {
		return o, reply, "resting"
	}
	reply, err := a.answer(ctx, prompt)
	switch {
	case err != nil && ctx.Err() != nil:
		return o, reply, "left"
	case errors.Is(err, context.DeadlineExceeded):
		return o, reply, "timeout"
	case err != nil:
		return o, reply, "error"
	}
	if o = Parse(reply.Text); o.Verdict == NoAnswer {
		cause = "unclear"
	}
	o.Partly = partly
	return o, reply, cause
}

// rests reports whether the model is left alone now.
func (a *Auditor) rests() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.failed >= failuresInARow && time.Now().Before(a.until)
}

// answer waits for a place and then for the model, both within the timeout, and notes how it went, even if it went up
// in a panic. A question that its caller took back says nothing of the model.
func (a *Auditor) answer(caller context.Context, p Prompt) (reply Reply, err error) {
	answered := false
	defer func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		switch {
		case answered:
			a.failed = 0
		case caller.Err() == nil || err == nil:
			a.failed++
			a.until = time.Now().Add(rest)
		}
	}()
	ctx, cancel := context.WithTimeout(caller, a.Timeout)
	defer cancel()
	select {
	case a.places <- struct{}{}:
		defer func() { <-a.places }()
	case <-ctx.Done():
		return Reply{}, ctx.Err()
	}
	if reply, err = a.Model.Answer(ctx, p); err != nil && ctx.Err() != nil { // whatever a library makes of it
		err = ctx.Err()
	}
	answered = err == nil
	return reply, err
}
