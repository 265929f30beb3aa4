package auditor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Options are what an Auditor is made of.
type Options struct {
	Model    Model
	Mode     Mode          // empty means Escalate
	FailMode FailMode      // empty means FailBlock
	Timeout  time.Duration // 0 means DefaultTimeout
	Caution  *Caution      // nil means the shipped table
	Observe  func(Observation)
	Now      func() time.Time // nil means the real clock
	Rand     io.Reader        // nil means crypto/rand
}

// Auditor asks a model. It is safe for concurrent use.
type Auditor struct {
	o       Options
	breaker breaker
	places  chan struct{}
}

// atOnce is how many questions are with the model at the same time.
const atOnce = 32

// New makes an Auditor.
func New(o Options) (*Auditor, error) {
	if o.Model == nil {
		return nil, errors.New("intent: there is no model to ask")
	}
	o.Mode = cmp.Or(o.Mode, Escalate)
	o.FailMode = cmp.Or(o.FailMode, FailBlock)
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	o.Caution = cmp.Or(o.Caution, NewCaution(true, nil))
	if o.Observe == nil {
		o.Observe = func(Observation) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Auditor{o: o, places: make(chan struct{}, atOnce)}, nil
}

// Err says what is wrong with the model, if it keeps failing.
func (a *Auditor) Err() error {
	if n, is := a.breaker.resting(); is {
		return fmt.Errorf("the model failed %d times in a row and is asked only every %s", n, rest)
	}
	return nil
}

// Mode is what an opinion may do.
func (a *Auditor) Mode() Mode { return a.o.Mode }

// FailMode is what no answer means for a call that would pass.
func (a *Auditor) FailMode() FailMode { return a.o.FailMode }

// Caution says which tools' results it looks after.
func (a *Auditor) Caution() *Caution { return a.o.Caution }

// Ask puts a question and waits for the answer, no longer than the timeout. It
// returns no error: what went wrong is no answer.
func (a *Auditor) Ask(ctx context.Context, q Question) Opinion {
	started := a.o.Now()
	opinion, seen := a.ask(ctx, &q)
	seen.Verdict, seen.Took = opinion.Verdict, a.o.Now().Sub(started)
	a.o.Observe(seen)
	return opinion
}

func (a *Auditor) ask(ctx context.Context, q *Question) (Opinion, Observation) {
	if len(q.Messages) == 0 {
		return none(causeSilent, reasonSilent)
	}
	prompt, partly, err := q.Prompt(a.o.Rand)
	if err != nil {
		return none(causeError, reasonError)
	}
	if !a.breaker.enter(a.o.Now()) {
		return none(causeResting, reasonResting)
	}
	reply, err := a.consult(ctx, prompt)
	switch {
	case ctx.Err() != nil && err != nil:
		return none(causeLeft, reasonLeft)
	case errors.Is(err, context.DeadlineExceeded):
		return none(causeTimeout, reasonTimeout)
	case err != nil:
		return none(causeError, reasonError)
	}
	opinion := Parse(reply.Text)
	opinion.Partly = partly
	seen := Observation{Input: reply.Input, Output: reply.Output}
	if opinion.Verdict == NoAnswer {
		seen.Cause = causeUnclear
	}
	return opinion, seen
}

// consult asks the model and tells the breaker how it went, even if it went up in
// a panic.
func (a *Auditor) consult(ctx context.Context, p Prompt) (Reply, error) {
	how := failed
	defer func() { a.breaker.leave(a.o.Now(), how) }()
	reply, err := a.answer(ctx, p)
	how = outcomeOf(ctx, err)
	return reply, err
}

// answer waits for a place and then for the model, both within the timeout.
func (a *Auditor) answer(ctx context.Context, p Prompt) (Reply, error) {
	ctx, cancel := context.WithTimeout(ctx, a.o.Timeout)
	defer cancel()
	select {
	case a.places <- struct{}{}:
		defer func() { <-a.places }()
	case <-ctx.Done():
		return Reply{}, ctx.Err()
	}
	reply, err := a.o.Model.Answer(ctx, p)
	if err != nil && ctx.Err() != nil { // whatever a library makes of it
		return Reply{}, ctx.Err()
	}
	return reply, err
}

func outcomeOf(ctx context.Context, err error) outcome {
	switch {
	case err == nil:
		return answered
	case ctx.Err() != nil: // the caller's, not ours
		return takenBack
	}
	return failed
}

func none(cause, reason string) (Opinion, Observation) {
	return Opinion{Reason: reason}, Observation{Cause: cause}
}
