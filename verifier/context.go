package verifier

import (
	"context"
)

// noted is what a call is called in the history that policies look back on; ""
// where none does.
func (t *evaluation) noted() string {
	if t.rules == nil || !t.rules.UsesHistory() {
		return ""
	}
	return t.call.Tool
}

// logContext writes what the owner's policies want to have in the log: what the
// user said and what was called, both without their secrets, and its hash. Tool
// output never comes here, so it can't be logged either.
func (v *Verifier) logContext(ctx context.Context, t *evaluation) {
	if !t.verdict.LogContext {
		return
	}
	redactor := v.redactor()
	said := make([]string, 0, len(t.call.Context.UserMessages))
	for _, m := range t.call.Context.UserMessages {
		text, _ := redactor.Text(m.Text)
		said = append(said, text)
	}
	v.o.Log.InfoContext(ctx, "the full context of a call, as a policy wants it", "request", v.named(t.call), "session", t.conv.Ref(),
		"tool", t.call.Tool, "params", string(v.shown(t).Params), "digest", t.callDigest(), "level", t.view.Level.String(), "user", said)
}
