package verifier

import (
	"strings"

	"github.com/openclaw-verifier/verifier/internal/command"
)

// judging says what the policy makes of a call: plan before the conversation is known, judge when it is. It puts no question, and commits to
// nothing.
type judging struct {
	o         *Options
	hide      *hiding
	runs      runs
	texts     *texts
	workspace *workspace
}

// plan asks the policy in force about the call.
func (j *judging) plan(t *evaluation) {
	t.rules = j.o.Policy()
	t.plan = t.planner(t.rules, t.call)
	if t.plan.Leaves { // whether it holds a secret has to be known
		j.hide.await(t.hold())
	}
	if t.plan.Source != "" {
		j.hide.source(t)
	}
	if t.bears = (t.plan.Leaves || t.plan.Effect != command.Anything) && j.hide.bearsIn(t); t.bears {
		t.plan.Final = false
	}
	if t.plan.Quotes() { // what it quotes is kept, and shown on cards
		shown := j.hide.shown(t)
		j.hide.redactor().Lines(&t.plan.Secret, &t.plan.Gives)
		if shown.Hidden() > 0 {
			t.plan.Unquote(strings.ToLower(string(shown.Params)))
		}
	}
}
