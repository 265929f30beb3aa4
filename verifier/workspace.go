package verifier

import (
	"context"

	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// workspace knows whether a person has seen all that was written into a client's workspace. What can't be looked up was
// not seen.
type workspace struct {
	o    *Options
	hide *hiding
}

// workspaceOf is where it is kept that files were written unseen: with the workspace of a client, which its
// conversations share, as what a conversation of its own has read. Both stores keep that, and the owner's reset forgets
// it.
func workspaceOf(client string) session.Conversation {
	return session.Conversation{Client: client, Key: "(workspace)"}
}

// wrote notes, before the call is allowed, that it may write what no person has seen: a call in a conversation in which
// others than the owner speak, or that brings in what others wrote. Excepted are an install that passes in a clean
// conversation or by a person's word, and a call to which a person has said yes, whose card showed all of it, and which
// brings nothing in.
func (w *workspace) wrote(ctx context.Context, t *evaluation) *denial {
	switch {
	case taint.Worse(t.view.Level, t.plan.Raise) < taint.Shared,
		t.plan.Writes == policy.WritesInstall && (t.person || t.view.Level < taint.Shared),
		t.plan.Writes == policy.WritesShown && t.person && t.visible:
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, w.o.budget(t))
	defer cancel()
	if err := w.o.Store.Expose(ctx, workspaceOf(t.call.Client), "files that were written unseen"); err != nil {
		return w.o.storeFault(ctx, "expose", err)
	}
	return nil
}

// look looks, where that matters, whether all that was written was seen.
func (w *workspace) look(ctx context.Context, t *evaluation) {
	if t.view.Level < taint.Shared {
		return
	}
	switch {
	case w.unseen(ctx, t), t.view.Lost, t.view.Secret == session.Forgotten:
		t.view.Workspace = workspaceOf(t.call.Client).Ref()
	default:
		t.view.Workspace = session.AllSeen
	}
}

// unseen asks the store whether files were written that no person has seen. What can't be told was not seen.
func (w *workspace) unseen(ctx context.Context, t *evaluation) bool {
	ctx, cancel := context.WithTimeout(ctx, w.o.StoreWait)
	defer cancel()
	what, err := w.o.Store.Exposed(ctx, workspaceOf(t.call.Client))
	if err != nil {
		w.o.Log.WarnContext(
			ctx,
			"it could not be looked up what was written into the workspace",
			"request",
			w.hide.request(t.call),
			"err",
			err,
		)
	}
	return err != nil || what != ""
}
