package verifier

import (
	"context"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/crash"
	"github.com/openclaw-verifier/verifier/redact"
)

// held is a call that people are asked about, between what came before the
// question and what comes after the answer. Thousands may be held for minutes: the
// stack of the decision is not kept meanwhile, only what was found out.
type held struct {
	v *Verifier
	t *evaluation
}

// wait waits for people, and goes on with the decision. An answer can lead to
// another question: an identical call may have been faster to take the yes.
func (h *held) wait(ctx context.Context) (d Decision) {
	defer func() {
		if p := recover(); p != nil {
			d = h.v.panicked(ctx, h.t, p)
		}
	}()
	for {
		began := h.v.o.clock()
		ruling, err := h.t.await(ctx)
		h.t.took("people", began, err != nil)
		if d, again := h.v.conclude(ctx, h.t, h.v.people.heard(ctx, h.t, ruling, err)); again == nil {
			return d
		}
	}
}

// await waits for whom the call was put to.
func (t *evaluation) await(ctx context.Context) (approval.Ruling, error) {
	w := t.pending
	t.pending = nil
	return w.Wait(ctx)
}

// conclude settles a call that something lets pass, and releases it; or denies it;
// or has it held where people are asked. It is judged again if the conversation
// moved meanwhile.
func (v *Verifier) conclude(ctx context.Context, t *evaluation, n *denial) (Decision, *held) {
	for n == nil {
		again, refused := v.settle(ctx, t)
		switch {
		case refused != nil:
			n = refused
		case !again:
			return v.release(ctx, t), nil
		default:
			if t.tries++; t.tries == settleTries {
				return v.endings.denyInTime(ctx, t, deny("moved", reasonMoved)), nil
			}
			v.judging.judge(ctx, t)
			n = v.consent(ctx, t)
		}
	}
	if t.pending != nil {
		t.shown = redact.Result{} // as large as the call, and worked out again for the record
		return Decision{}, &held{v, t}
	}
	return v.endings.denyInTime(ctx, t, n), nil
}

// seek decides a call that the level alone does not: it needs a consent, and may be
// held for one.
func (v *Verifier) seek(ctx context.Context, t *evaluation) (d Decision, h *held) {
	defer func() {
		if p := recover(); p != nil {
			d, h = v.panicked(ctx, t, p), nil
		}
	}()
	return v.conclude(ctx, t, v.consent(ctx, t))
}

// panicked denies a call whose decision ended in a panic.
func (v *Verifier) panicked(ctx context.Context, t *evaluation, p any) Decision {
	v.o.Log.ErrorContext(ctx, "a decision ended in a panic and was denied", "panic", crash.Recovered(p))
	return v.recorder.crashed(ctx, t)
}
