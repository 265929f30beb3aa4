package verifier

import (
	"strings"

	"github.com/openclaw-verifier/verifier/internal/command"
	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/redact"
)

// request is the request's id for the log: the caller chose it, and may have put anything there.
func (t *Terms) request(c *protocol.Call) string {
	id, _ := t.Redactor.Text(c.RequestID)
	return id
}

// toolName is a tool's name as it may be kept. A secret in it is looked for in the name as it was sent: small letters
// may disguise it. The policy judges the tool by its own name.
func (t *Terms) toolName(tool, sent string) string {
	shown := sent
	if t.Redactor.Lines(&shown); shown != sent {
		return shown
	}
	return tool
}

// key is the one spelling of a session's or an agent's name. Where the name as it was sent holds a secret, that could
// no longer be recognised in lower case: then it is a mask, by which the conversation is still known again, and whose
// conversation is untrusted.
func (v *Verifier) key(t *Terms, sent string) string {
	canonical := protocol.CanonicalKey(sent)
	if canonical == sent {
		return canonical
	}
	if shown, _ := t.Redactor.Text(sent); shown == sent {
		return canonical
	}
	return "[REDACTED] " + v.o.Key.Seal("hidden-key", canonical)[:16]
}

// shown is the call's params as they may be kept; worked out once.
func (e *evaluation) shown() *redact.Result {
	if e.params.Params == nil {
		e.params = e.redacted(e.terms.Redactor)
	}
	return &e.params
}

// redacted is the call's params as a redactor shows them: nothing of those that can't be read. Of file bodies, people
// may see more than the record keeps, and the auditor sees them all, since what is written has to fit the user's
// request.
func (e *evaluation) redacted(r *redact.Redactor) redact.Result {
	values, _ := e.call.Values()
	return r.Walked(e.call.Tool, e.call.Params, values)
}

// hide hides what the plan quotes of the call: that is kept, and shown on cards. It also says whether the call bears a
// secret, where that matters. What is made of clean params and the name of a known tool is clean: most calls need no
// more than that one look.
func (e *evaluation) hide() {
	pl, shown := &e.plan, e.shown()
	found, sent := shown.Hidden() > 0, e.call.Sent
	if e.bears = false; found && (pl.Leaves || pl.Effect != command.Anything) {
		values, err := e.call.Values()
		e.bears = err != nil || shown.PreRedacted() || e.terms.Redactor.BearsIn(values)
	}
	if !found && pl.Secret == "" && pl.Gives == "" && pl.Class() != "unknown" {
		return
	}
	text := strings.ToLower(string(shown.Params))
	if tool, word, _ := strings.Cut(pl.Source, " "); found && !strings.Contains(text, strings.ToLower(word)) {
		pl.Source = tool // the word may be what is hidden
	}
	e.terms.Redactor.Lines(&pl.Source, &pl.Secret, &pl.Gives, &sent)
	if sent != e.call.Sent && pl.Source != "" { // the tool's name is the same in small letters
		pl.Source = sent
	}
	if found {
		pl.Unquote(text)
	}
}
