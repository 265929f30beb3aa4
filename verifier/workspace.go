package verifier

import (
	"context"
	"strings"

	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// workspaceOf is where it is kept that files were written unseen: with the workspace of a client, which its conversations
// share, as what a conversation of its own has read. Both stores keep that, and the owner's reset forgets it.
func workspaceOf(client string) session.Conversation {
	return session.Conversation{Client: strings.Clone(client), Key: "(workspace)"}
}

// wrote notes, before the call is allowed, that it writes files in a conversation that outside content is in, or outside content
// into files, unless a person has said yes to this very call and its card shows all of it.
func (v *Verifier) wrote(ctx context.Context, t *trace) *no {
	if t.plan.Writes == policy.WritesNothing || taint.Worse(t.view.Level, t.plan.Brings(&t.view)) < taint.External {
		return nil
	}
	if t.plan.Writes == policy.WritesShown && t.person && t.visible {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, t.budget())
	defer cancel()
	if err := v.o.Store.Expose(ctx, workspaceOf(t.call.Client), "files that were written unseen"); err != nil {
		return v.storeFault(ctx, "expose", err)
	}
	return nil
}

// workspaceSeen looks, where that matters, whether all that was written was seen. What can't be told was not.
func (v *Verifier) workspaceSeen(ctx context.Context, t *trace) {
	if !t.plan.Workspace || t.view.Secret == "" && t.view.Level < taint.External {
		return
	}
	where := workspaceOf(t.call.Client)
	t.view.Workspace = where.Ref()
	if t.view.Lost || t.view.Secret == session.Forgotten {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, storeBudget)
	defer cancel()
	unseen, err := v.o.Store.Exposed(ctx, where)
	switch {
	case err != nil:
		v.o.Log.WarnContext(ctx, "it could not be looked up what was written into the workspace", "request", v.named(t.call), "err", err)
	case unseen == "":
		t.view.Workspace = session.AllSeen
	}
}
