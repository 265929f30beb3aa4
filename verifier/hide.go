package verifier

import (
	"context"
	"strings"
	"time"

	"github.com/openclaw-verifier/verifier/provenance"
	"github.com/openclaw-verifier/verifier/redact"
	"github.com/openclaw-verifier/verifier/toolcall"
)

// hiding says what of a call may be shown, kept and logged. Each of its readers sees less or more: the record and the log never see file
// bodies, cards may, the auditor does. It refuses to show anything before it is known what a secret looks like.
type hiding struct{ o *Options }

const (
	// redactorPatience is how long a question waits, right after the start,
	// until it is known what to hide in it.
	redactorPatience = 2 * time.Second
	recordPatience   = 300 * time.Millisecond
)

// redactor is the one in force. Right after the start it is given a moment to
// know what to hide; if that is not enough, it hides all.
func (hd *hiding) redactor() *redact.Redactor {
	r := hd.o.Redactor()
	if !r.IsReady() {
		ctx, cancel := context.WithTimeout(context.Background(), recordPatience)
		defer cancel()
		_ = r.Wait(ctx)
	}
	return r
}

// await waits, right after the start, until it is known what a secret looks
// like: as long as a person would be waited for. If that is not enough, everything
// looks like one.
func (hd *hiding) await(hold time.Duration) {
	if r := hd.o.Redactor(); !r.IsReady() {
		ctx, cancel := context.WithTimeout(context.Background(), max(hold, redactorPatience))
		defer cancel()
		_ = r.Wait(ctx)
	}
}

// bears reports whether a text holds a secret by its form. Where that is not known in
// time, it does.
func (hd *hiding) bears(text string) bool {
	if text == "" {
		return false
	}
	hd.await(redactorPatience)
	return hd.o.Redactor().Bears(text)
}

// shown is the call's params as they may be shown; worked out once.
func (hd *hiding) shown(t *evaluation) *redact.Result {
	if t.shown.Params != nil {
		return &t.shown
	}
	t.shown = redacted(hd.redactor(), t)
	return &t.shown
}

// bearsIn is the same for the params of a call. What the client had hidden in them is one, too.
func (hd *hiding) bearsIn(t *evaluation) bool {
	hd.await(redactorPatience)
	params, err := t.call.Values()
	return err != nil || hd.o.Redactor().BearsIn(params) || hd.shown(t).PreRedacted()
}

// card is the call's params as a card shows them: what it writes to files may be shown.
func (hd *hiding) card(t *evaluation) *redact.Result {
	r := hd.o.Cards()
	if r == hd.redactor() {
		return hd.shown(t)
	}
	card := redacted(r, t)
	return &card
}

// forAuditor is the call's params as they are put to the auditor: with file
// bodies, since what is written is what has to fit the user's request.
func (hd *hiding) forAuditor(t *evaluation) redact.Result {
	return redacted(hd.o.Bodies(), t)
}

// redacted is the call's params as that redactor shows them: nothing of those that can't be read.
func redacted(r *redact.Redactor, t *evaluation) redact.Result {
	params, _ := t.call.Values()
	return r.Walked(t.call.Tool, t.call.Params, params)
}

// source hides what a source must not be called: it is kept, and shown to
// people much later. It is made of the tool's name and a word of the params. If
// something in these is hidden, that word must be among what is not.
func (hd *hiding) source(t *evaluation) {
	tool, word, _ := strings.Cut(t.plan.Source, " ")
	if shown := hd.shown(t); shown.Hidden() > 0 && !strings.Contains(strings.ToLower(string(shown.Params)), strings.ToLower(word)) {
		t.plan.Source = tool
	}
	names := [2]string{t.plan.Source, t.call.Sent}
	hd.redactor().Lines(&names[0], &names[1])
	t.plan.Source = names[0]
	if names[1] != t.call.Sent { // the tool's name is the same in small letters
		t.plan.Source = names[1]
	}
}

// toolName is a tool's name as it may be kept. A secret in it is looked for in the
// name as it was sent: small letters may disguise it.
func (hd *hiding) toolName(tool, sent string) string {
	shown := sent
	if hd.redactor().Lines(&shown); shown != sent {
		return shown
	}
	return tool
}

// keys gives a conversation whose name holds a secret another name, by which it
// is still known again.
func (hd *hiding) keys(c *toolcall.Call) { c.Context.HideKeys(hd.key) }

// request is the request's id for the log: the caller chose it, and may have put anything
// there.
func (hd *hiding) request(c *toolcall.Call) string {
	id, _ := hd.o.Redactor().Text(c.RequestID)
	return id
}

// fact hides the secrets that someone may have put into a name.
func (hd *hiding) fact(f *provenance.Fact) {
	if f.Sent != "" {
		f.Tool = hd.toolName(f.Tool, f.Sent)
	}
	hd.redactor().Lines(&f.Tool, &f.ID, &f.Session, &f.Agent, &f.Run, &f.Label, &f.Model)
}

// key is the one spelling of a session's or an agent's name. Where the name as it
// was sent holds a secret, that could no longer be recognised in lower case: then it
// is a name that tells nothing, and whose conversation is untrusted.
func (hd *hiding) key(sent string) string {
	canonical := toolcall.CanonicalKey(sent)
	if canonical == sent {
		return canonical
	}
	hd.await(redactorPatience)
	if shown, _ := hd.o.Redactor().Text(sent); shown == sent {
		return canonical
	}
	return "hidden " + hd.o.Key.Seal("hidden-key", canonical)[:16]
}
