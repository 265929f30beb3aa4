package verifier

import (
	"context"
	"crypto/subtle"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/recent"
	"github.com/openclaw-verifier/verifier/redact"
	"github.com/openclaw-verifier/verifier/taint"
)

// A person may allow a call with other arguments than were asked about. From then on the evaluation is about that call: it is planned and judged
// anew, and what is settled, recorded and answered is that one. A restrict beats the person's yes, as it does for every call.

// edited is what an evaluation was about before a person changed the call's arguments.
type edited struct {
	call string // the call's digest
	sum  string // what the question was bound to
}

// asksAbout is what the question that people answered is bound to.
func (t *evaluation) asksAbout() string {
	if t.wasEdited() {
		return t.asks.sum
	}
	return t.sum()
}

// editor judges a call that is held with other params, without any effect; nil where its runtime can't run them.
func (p *people) editor(t *evaluation) approval.Editor {
	if !t.call.Context.Edits || t.wasEdited() || t.plan.Class() == "wrapper" {
		return nil
	}
	snapshot := *t // the evaluation itself goes on when people answer
	snapshot.shown = redact.Result{}
	return func(ctx context.Context, params jsontext.Value) (*approval.Ask, error) {
		once := snapshot
		once.become(params)
		p.judging.again(ctx, &once)
		switch {
		case once.plan.Class() == "wrapper":
			return nil, &approval.Unfit{Text: "The changed call only names another one, which can't be judged by it."}
		case once.verdict.Mode == taint.Restrict:
			return nil, &approval.Unfit{Text: "Your policy refuses the changed call. " + strings.Join(once.verdict.Sentences(), " ")}
		}
		return p.question(ctx, &once), nil
	}
}

// become makes the evaluation one of the call with other params. What was found out about the params before is forgotten.
func (t *evaluation) become(params jsontext.Value) {
	t.asks = edited{call: t.callDigest(), sum: t.sum()}
	t.call = t.call.With(params)
	t.digest, t.identity, t.shown = "", "", redact.Result{}
	t.bears, t.looked, t.unread = false, false, false
	t.alike, t.opinion, t.grant = nil, nil, nil
	t.view.Origins = nil
}

// heardEdit goes on with the call as a person changed it. It returns why that can't pass.
func (p *people) heardEdit(ctx context.Context, t *evaluation, r *approval.Ruling) *denial {
	if r.Edited == nil {
		return nil
	}
	t.become(r.Edited)
	if !t.call.Context.Edits || subtle.ConstantTimeCompare([]byte(t.sum()), []byte(r.EditedDigest)) != 1 {
		return deny("edit", reasonFault)
	}
	p.judging.plan(t) // as a call that has just come
	p.judging.runs.limit(t)
	p.judging.judge(ctx, t)
	if t.verdict.Mode == taint.Restrict || t.plan.Class() == "wrapper" {
		return t.restricted()
	}
	t.visible = false
	return nil
}

// edits remembers the changed params of requests that were allowed lately, in this process alone, so that the same request gets the same answer.
type edits struct {
	requests recent.Shared[requestKey, jsontext.Value]
}

const mostEdits = 256 // of 32 KiB at most

func (e *edits) note(t *evaluation) {
	e.requests.Put(t.request(), t.call.Params, mostEdits)
}

func (e *edits) of(t *evaluation) jsontext.Value {
	params, _ := e.requests.Get(t.request())
	return params
}
