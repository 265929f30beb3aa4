package verifier

import (
	"context"

	"github.com/openclaw-verifier/verifier/approval"
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
