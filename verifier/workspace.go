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

// wrote notes, before the call is allowed, that it writes files in a conversation in which others than the owner speak, or outside
// content or files of elsewhere into files, unless a person has said yes to this very call and its card shows all of it.
func (v *Verifier) wrote(ctx context.Context, t *evaluation) *denial {
	if t.plan.Writes == policy.WritesNothing || taint.Worse(t.view.Level, t.plan.Brings(&t.view)) < taint.Shared && !t.plan.Foreign {
		return nil
	}
	if t.plan.Writes == policy.WritesShown && t.person && t.visible {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, v.budget(t))
	defer cancel()
	if err := v.o.Store.Expose(ctx, workspaceOf(t.call.Client), "files that were written unseen"); err != nil {
		return v.storeFault(ctx, "expose", err)
	}
	return nil
}

// workspaceSeen looks, where that matters, whether all that was written was seen.
func (v *Verifier) workspaceSeen(ctx context.Context, t *evaluation) {
	if !t.plan.Workspace || t.view.Secret == "" && t.view.Level < taint.External {
		return
	}
	t.view.Workspace = workspaceOf(t.call.Client).Ref()
	if !t.view.Lost && t.view.Secret != session.Forgotten && v.allSeen(ctx, t) {
		t.view.Workspace = session.AllSeen
	}
}

// allSeen asks the store whether all that was written was seen. What can't be told was not.
func (v *Verifier) allSeen(ctx context.Context, t *evaluation) bool {
	ctx, cancel := context.WithTimeout(ctx, v.o.StoreWait)
	defer cancel()
	unseen, err := v.o.Store.Exposed(ctx, workspaceOf(t.call.Client))
	if err != nil {
		v.o.Log.WarnContext(ctx, "it could not be looked up what was written into the workspace", "request", v.named(t.call), "err", err)
	}
	return err == nil && unseen == ""
}

// overtaken reports whether something was written unseen since the call was judged: an auditor or another verifier may have
// taken long to answer. A write notes it before it is allowed, and this looks right before the call is.
func (v *Verifier) overtaken(ctx context.Context, t *evaluation) bool {
	return t.view.Workspace == session.AllSeen && !v.allSeen(ctx, t)
}
