package verifier

import (
	"strings"

	"github.com/openclaw-verifier/verifier/internal/command"
	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/redact"
)

// toolName is a tool's name as it may be kept. A secret in it is looked for in the name as it was sent: small letters
// may disguise it.
func (t *Terms) toolName(tool, sent string) string {
	shown := sent
	if t.Redactor.Lines(&shown); shown != sent {
		return shown
	}
	return tool
}

// request is the request's id for the log: the caller chose it, and may have put anything there.
func (t *Terms) request(c *protocol.Call) string {
	id, _ := t.Redactor.Text(c.RequestID)
	return id
}

// key is the one spelling of a session's or an agent's name. Where the name as it was sent holds a secret, that could
// no longer be recognised in lower case: then it is a name that tells nothing, by which the conversation is still known
// again, and whose conversation is untrusted.
func (v *Verifier) key(t *Terms, sent string) string {
	canonical := protocol.CanonicalKey(sent)
	if canonical == sent {
		return canonical
	}
	if shown, _ := t.Redactor.Text(sent); shown == sent {
		return canonical
	}
	return "hidden " + v.o.Key.Seal("hidden-key", canonical)[:16]
}

// shown is the call's params as they may be kept; worked out once.
func (p *planned) shown() *redact.Result {
	if p.params.Params == nil {
		p.params = p.redacted(p.terms.Redactor)
	}
	return &p.params
}

// redacted is the call's params as a redactor shows them: nothing of those that can't be read. Of file bodies, people
// may see more than the record keeps, and the auditor sees them all, since what is written has to fit the user's
// request.
func (p *planned) redacted(r *redact.Redactor) redact.Result {
	values, _ := p.call.Values()
	return r.Walked(p.call.Tool, p.call.Params, values)
}

// hide hides what the plan quotes of the call: that is kept, and shown on cards. It also says whether the call bears a
// secret, where that matters.
func (p *planned) hide() {
	pl := &p.plan
	if pl.Source != "" {
		p.hideSource()
	}
	if pl.Leaves || pl.Effect != command.Anything {
		values, err := p.call.Values()
		p.bears = err != nil || p.terms.Redactor.BearsIn(values) || p.shown().PreRedacted()
	}
	if pl.Line != nil || pl.Secret != "" || pl.Gives != "" {
		p.terms.Redactor.Lines(&pl.Secret, &pl.Gives)
		if shown := p.shown(); shown.Hidden() > 0 {
			pl.Unquote(strings.ToLower(string(shown.Params)))
		}
	}
}

// hideSource hides what a source must not be called: it is made of the tool's name and a word of the params. If
// something in these is hidden, that word must be among what is not.
func (p *planned) hideSource() {
	tool, word, _ := strings.Cut(p.plan.Source, " ")
	shown := p.shown()
	if shown.Hidden() > 0 && !strings.Contains(strings.ToLower(string(shown.Params)), strings.ToLower(word)) {
		p.plan.Source = tool
	}
	sent := p.call.Sent
	p.terms.Redactor.Lines(&p.plan.Source, &sent)
	if sent != p.call.Sent { // the tool's name is the same in small letters
		p.plan.Source = sent
	}
}
