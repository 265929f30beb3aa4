package policy

import (
	"fmt"

	"github.com/openclaw-verifier/verifier/internal/command"
	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/taint"
)

// Start says what the start of a run brings in, and what a conversation is worth at its first call.
func (p *Policy) Start(c *protocol.Call) (Initiator, taint.Level) {
	s := Classify(c, p.unknown)
	return s, p.birth(s)
}

// Iterations is the iteration from which on a turn of an agent needs a person's yes, after that many of them.
func (p *Policy) Iterations(agent string, yeses int) int { return p.rulesFor(agent).cap << yeses }

// loop is how far the run of a call is, and how far it may go unasked.
type loop struct {
	iteration *int // nil: the runtime does not count them
	cap       int  // of iterations, before any yes
	yeses     int
	over      bool       // the iteration is at the cap
	mode      taint.Mode // at the cap
}

// mostYeses is how often a yes at the cap doubles it.
const mostYeses = 10

// runCap limits the calls of a run that do not tell their iteration: an iteration may make many calls, so the two are
// not the same. It also limits a run that told iterations before and no longer does: the last one would bind for ever
// or never. What only looks, builds or tests does not count.
func (p *Policy) runCap(c *protocol.Call, pl *Plan) int {
	if c.Context.RunID == "" || c.Context.Iteration != nil || pl.Effect != command.Anything ||
		pl.rule.safe && !pl.rule.strictSink && !pl.Leaves {
		return 0
	}
	return p.calls
}

// Counts reports whether the plan depends on what people said of the run at its cap, which [Plan.Loop] takes.
func (pl *Plan) Counts() bool {
	return pl.RunCap > 0 || pl.loop.iteration != nil && *pl.loop.iteration >= pl.loop.cap
}

// Loop holds the call to what its run may use, before the store is asked. Each of a person's yeses at the cap has
// doubled it; stopped says that a person said no, and then nothing more passes there.
func (pl *Plan) Loop(yeses int, stopped bool) {
	if pl.gate != "" {
		return // a gate decides alone
	}
	l := &pl.loop
	if l.yeses, l.mode = yeses, confirm; stopped {
		l.mode = restrict
	}
	pl.RunCap <<= yeses
	if l.over = l.iteration != nil && *l.iteration >= l.cap<<yeses; l.over {
		pl.Modes = pl.Modes.Stricter(taint.Every(l.mode))
	}
}

// GoesOn is the number of yeses that the run has with one for this call: more than one more, where one would leave the
// call itself beyond the cap.
func (pl *Plan) GoesOn() int {
	l := &pl.loop
	n := l.yeses + 1
	for l.over && n < mostYeses && *l.iteration >= l.cap<<n {
		n++
	}
	return min(n, mostYeses)
}

// atCap says that the run is at its cap, if it is.
func (j *judgement) atCap() {
	l, rule, mode := &j.loop, "run-cap", max(j.out.Mode, j.loop.mode)
	var text string
	switch {
	case l.over:
		rule, text = "iterations", fmt.Sprintf("The model was called %d times in this run, and your limit is %d.",
			*l.iteration+1, l.cap<<l.yeses)
	case !j.view.Capped:
		return
	case j.view.Halted:
		mode, text = restrict, "The run has used up its iterations."
	default:
		text = fmt.Sprintf("The run has made more than %d calls, which is your limit.", j.RunCap)
	}
	if mode == confirm {
		text += " If you allow this call, the run may use twice as many; if you deny it, the run makes no more calls."
	}
	j.out.AtCap = true
	j.out.add(rule, text, mode)
}
