package verifier

import (
	"context"

	"github.com/openclaw-verifier/verifier/internal/command"
	"github.com/openclaw-verifier/verifier/taint"
)

// judge says what the policy makes of the call in the conversation as it is.
func (j *judging) judge(ctx context.Context, t *evaluation) {
	t.view.Bears = t.bears
	if t.plan.Leaves && (t.view.Secret != "" || t.view.Generation > 0) {
		j.texts.origins(ctx, t)
	}
	t.view.Unread = t.unread
	if t.view.Workspace = ""; t.plan.Effect == command.Local {
		j.workspace.look(ctx, t)
	}
	t.verdict = t.plan.Judge(t.view)
}

// again judges a call with changed params, without counting it once more.
func (j *judging) again(ctx context.Context, t *evaluation) {
	j.plan(t)
	j.runs.limit(t)
	j.judge(ctx, t)
}

// replan judges the call again if the policy changed since it was planned: people
// may have taken minutes to answer. A restrict that is in force now overturns
// every yes, and what only the earlier policy allowed does not pass.
func (j *judging) replan(ctx context.Context, t *evaluation) *denial {
	if j.o.Policy() == t.rules {
		return nil
	}
	j.plan(t)
	j.judge(ctx, t)
	switch {
	case t.verdict.Mode == taint.Restrict:
		return t.restricted()
	case t.verdict.Mode == taint.Allow, t.person, t.grant != nil && t.verdict.Grantable:
		return nil
	}
	return deny("moved", reasonMoved)
}
