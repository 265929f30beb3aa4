package verifier

import (
	"strings"

	"github.com/openclaw-verifier/verifier/internal/command"
	"github.com/openclaw-verifier/verifier/internal/lineage"
	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/redact"
)

// hiding says what of a call may be shown, kept and logged. Each of its readers sees less or more: the record and the
// log never see file bodies, cards may, the auditor does.
type hiding struct{ o *Options }

// texts is what was worked out of a call's params, once that was needed.
type texts struct {
	digest string // of the call
	sum    string // what a yes is bound to, see [evaluation.sum]
	alike  *lineage.Alike
	shown  redact.Result // as they may be shown
	bears  bool          // they hold something that looks like a secret
}

// redactor is the one in force.
func (hd *hiding) redactor() *redact.Redactor { return hd.o.Redactor() }

// plan says whether the call bears a secret, where that matters, and hides what the plan quotes of it: that is kept,
// and shown on cards.
func (hd *hiding) plan(e *evaluation) {
	p := &e.plan
	if p.Source != "" {
		hd.source(e)
	}
	if p.Leaves || p.Effect != command.Anything {
		params, err := e.call.Values()
		e.texts.bears = err != nil || hd.redactor().BearsIn(params) || hd.shown(e).PreRedacted()
	}
	if p.Quotes() {
		hd.redactor().Lines(&p.Secret, &p.Gives)
		if shown := hd.shown(e); shown.Hidden() > 0 {
			p.Unquote(strings.ToLower(string(shown.Params)))
		}
	}
}

// source hides what a source must not be called: it is kept, and shown to people much later. It is made of the tool's
// name and a word of the params. If something in these is hidden, that word must be among what is not.
func (hd *hiding) source(e *evaluation) {
	tool, word, _ := strings.Cut(e.plan.Source, " ")
	shown := hd.shown(e)
	if shown.Hidden() > 0 && !strings.Contains(strings.ToLower(string(shown.Params)), strings.ToLower(word)) {
		e.plan.Source = tool
	}
	names := [2]string{e.plan.Source, e.call.Sent}
	hd.redactor().Lines(&names[0], &names[1])
	if e.plan.Source = names[0]; names[1] != e.call.Sent { // the tool's name is the same in small letters
		e.plan.Source = names[1]
	}
}

// shown is the call's params as they may be shown; worked out once.
func (hd *hiding) shown(e *evaluation) *redact.Result {
	if e.texts.shown.Params == nil {
		e.texts.shown = redacted(hd.redactor(), e.call)
	}
	return &e.texts.shown
}

// card is the call's params as a card shows them: what it writes to files may be shown.
func (hd *hiding) card(e *evaluation) *redact.Result {
	r := hd.o.Cards()
	if r == hd.o.Redactor() {
		return hd.shown(e)
	}
	card := redacted(r, e.call)
	return &card
}

// forAuditor is the call's params as they are put to the auditor: with file bodies, since what is written is what has
// to fit the user's request.
func (hd *hiding) forAuditor(e *evaluation) redact.Result { return redacted(hd.o.Bodies(), e.call) }

// redacted is a call's params as that redactor shows them: nothing of those that can't be read.
func redacted(r *redact.Redactor, c *protocol.Call) redact.Result {
	params, _ := c.Values()
	return r.Walked(c.Tool, c.Params, params)
}

// bears reports whether a text holds a secret by its form.
func (hd *hiding) bears(text string) bool { return text != "" && hd.redactor().Bears(text) }

// toolName is a tool's name as it may be kept. A secret in it is looked for in the name as it was sent: small letters
// may disguise it.
func (hd *hiding) toolName(tool, sent string) string {
	shown := sent
	if hd.redactor().Lines(&shown); shown != sent {
		return shown
	}
	return tool
}

// request is the request's id for the log: the caller chose it, and may have put anything there.
func (hd *hiding) request(c *protocol.Call) string {
	id, _ := hd.o.Redactor().Text(c.RequestID)
	return id
}

// keys gives a conversation whose name holds a secret another name, by which it is still known again.
func (hd *hiding) keys(c *protocol.Call) { c.Context.HideKeys(hd.key) }

// key is the one spelling of a session's or an agent's name. Where the name as it was sent holds a secret, that could
// no longer be recognised in lower case: then it is a name that tells nothing, and whose conversation is untrusted.
func (hd *hiding) key(sent string) string {
	canonical := protocol.CanonicalKey(sent)
	if canonical == sent {
		return canonical
	}
	if shown, _ := hd.redactor().Text(sent); shown == sent {
		return canonical
	}
	return "hidden " + hd.o.Key.Seal("hidden-key", canonical)[:16]
}
