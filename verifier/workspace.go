package verifier

import (
	"context"

	"github.com/openclaw-verifier/verifier/policy"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// workspace knows whether a person has seen all that was written into a client's workspace. What can't be looked up was not seen.
type workspace struct {
	o    *Options
	hide *hiding
}

// workspaceOf is where it is kept that files were written unseen: with the workspace of a client, which its conversations
// share, as what a conversation of its own has read. Both stores keep that, and the owner's reset forgets it.
func workspaceOf(client string) session.Conversation {
	return session.Conversation{Client: client, Key: "(workspace)"}
}

// modulesOf is where it is kept that modules were added which builds run and no person has seen.
func modulesOf(client string) session.Conversation {
	return session.Conversation{Client: client, Key: "(modules)"}
}

// wrote notes, before the call is allowed, that it writes files in a conversation in which others than the owner speak, or outside
// content or files of elsewhere into files, unless a person has said yes to this very call and its card shows all of it.
func (w *workspace) wrote(ctx context.Context, t *evaluation) *denial {
	if taint.Worse(t.view.Level, t.plan.Brings(&t.view)) < taint.Shared && !t.plan.Foreign {
		return nil
	}
	if t.plan.Writes == policy.WritesShown && t.person && t.visible {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, w.o.budget(t))
	defer cancel()
	place, what := workspaceOf(t.call.Client), "files that were written unseen"
	if t.plan.Writes == policy.WritesModules {
		place, what = modulesOf(t.call.Client), "modules that were added unseen"
	}
	if err := w.o.Store.Expose(ctx, place, what); err != nil {
		return w.o.storeFault(ctx, "expose", err)
	}
	return nil
}

// look looks, where that matters, whether all that was written was seen.
func (w *workspace) look(ctx context.Context, t *evaluation) {
	if t.view.Secret == "" && t.view.Level < taint.External {
		return
	}
	unseen := w.unseen(ctx, t)
	switch {
	case unseen != nil:
		t.view.Workspace = unseen.Ref()
	case t.view.Lost || t.view.Secret == session.Forgotten:
		t.view.Workspace = workspaceOf(t.call.Client).Ref()
	default:
		t.view.Workspace = session.AllSeen
	}
}

// unseen asks the store what of that which the call runs no person has seen: files of the workspace, or modules where it builds; nil: nothing.
// What can't be told was not seen.
func (w *workspace) unseen(ctx context.Context, t *evaluation) *session.Conversation {
	ctx, cancel := context.WithTimeout(ctx, w.o.StoreWait)
	defer cancel()
	places := []session.Conversation{workspaceOf(t.call.Client), modulesOf(t.call.Client)}
	if !t.plan.RunsModules() {
		places = places[:1]
	}
	for i := range places {
		what, err := w.o.Store.Exposed(ctx, places[i])
		if err != nil {
			w.o.Log.WarnContext(ctx, "it could not be looked up what was written into the workspace", "request", w.hide.request(t.call), "err", err)
		}
		if err != nil || what != "" {
			return &places[i]
		}
	}
	return nil
}

// ranModules forgets that modules were added, where a person said yes to a call that was asked about for nothing else in the workspace, and that runs
// all of them: what their code can do, it has done. Where that fails, builds go on asking.
func (w *workspace) ranModules(ctx context.Context, t *evaluation) {
	place := modulesOf(t.call.Client)
	if !t.plan.TestsAll || t.again() || t.view.Workspace != place.Ref() {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.o.StoreWait)
	defer cancel()
	if _, err := w.o.Store.Reset(ctx, place.Ref()); err != nil {
		w.o.Log.WarnContext(ctx, "it could not be kept that added modules were run", "request", w.hide.request(t.call), "err", err)
	}
}
