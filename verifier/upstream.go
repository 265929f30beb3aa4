package verifier

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/toolcall"
)

// Upstream is further verifiers of the same protocol.
type Upstream interface {
	// Ask returns nil if every one of them allows the call. Params and the user's
	// words are those that may be shown. It keeps to a time of its own, and
	// to the context's.
	Ask(ctx context.Context, c *toolcall.Call, params jsontext.Value, said []string) error
}

const reasonElsewhere = "Another verifier that has to agree does not allow this. Nothing was run."

// others reports whether another verifier has to agree. A wrapper's inner call is
// judged on its own; a call that is out of scope needs no agreement.
func (t *evaluation) others() bool {
	return t.upstream != nil && t.plan.InScope && t.plan.Class() != "wrapper"
}

// peers asks the further verifiers.
type peers struct {
	o    *Options
	hide *hiding
}

// agree asks the further verifiers, once for each decision. No answer is a no.
func (p *peers) agree(ctx context.Context, t *evaluation) *denial {
	if !t.others() || t.agreed {
		return nil
	}
	redactor, said := p.hide.redactor(), t.call.OwnerMessages()
	for i := range said {
		said[i], _ = redactor.Text(said[i])
	}
	ctx, done := t.patience(ctx)
	defer done()
	began := p.o.clock()
	err := t.upstream.Ask(ctx, t.call, p.hide.shown(t).Params, said)
	if t.took("upstream", began, err != nil); err != nil {
		p.o.Log.WarnContext(ctx, "a further verifier did not allow a call", "request", p.hide.request(t.call), "err", err)
		return deny("upstream", reasonElsewhere)
	}
	t.agreed = true
	return nil
}
