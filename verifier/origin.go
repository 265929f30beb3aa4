package verifier

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/approval"
	"github.com/openclaw-verifier/verifier/internal/lineage"
	"github.com/openclaw-verifier/verifier/loop"
	"github.com/openclaw-verifier/verifier/session"
	"github.com/openclaw-verifier/verifier/taint"
)

// Bounds of what is remembered of the texts of a conversation: some hundred
// kilobytes at most, for what the user said and for what came in each.
const (
	mostSaid    = 48
	mostBrought = 48
	keepTexts   = 7 * 24 * time.Hour

	mostOwn     = 128 << 10 // bytes of the owner's messages that a call is compared with
	mostOrigins = 32        // told of one call
	longestPath = 200       // characters of an argument's path
)

// texts remembers the texts of conversations as fingerprints, and says where the arguments of a call came from. It keeps no text.
type texts struct {
	o    *Options
	hide *hiding
}

// saidList and broughtList name the lists of a conversation. A tool that brings
// in a lot does not push out what the user said. What the user said before starting
// anew is not asked for any more.
func saidList(t *evaluation) string {
	if id := t.call.Context.SessionID; strings.Contains(id, session.RenewedMark) {
		return t.conv.Hash() + ":said:" + id
	}
	return t.conv.Hash() + ":said"
}

func broughtList(c session.Conversation) string { return c.Hash() + ":brought" }

// remember keeps fingerprints of what an event told of texts. They are evidence:
// where they can't be kept the event counts all the same, and the log says so.
func (x *texts) remember(ctx context.Context, h *eventEvaluation) {
	if h.heard.Replayed {
		return
	}
	var notes []session.Note
	if said := x.packed(ctx, h.said()); len(said) > 0 {
		notes = append(notes, session.SealNote(x.o.Key, saidList(h.evaluation), mostSaid, keepTexts, said...))
	}
	if brought := x.packed(ctx, x.brought(h)); len(brought) > 0 {
		notes = append(notes, session.SealNote(x.o.Key, broughtList(h.conv), mostBrought, keepTexts, brought...))
	}
	if len(notes) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), x.o.StoreWait)
	defer cancel()
	if err := x.o.Store.Note(ctx, notes...); err != nil {
		x.o.Log.WarnContext(ctx, "the fingerprints of a text could not be kept", "request", x.hide.request(h.call), "err", err)
	}
}

// said is what the user wrote, as the runtime attests.
func (h *eventEvaluation) said() (out []lineage.Seen) {
	for i := range h.event.Sources {
		if s := &h.event.Sources[i]; s.ByUser() {
			out = append(out, lineage.Seen{Source: lineage.Source{User: true}, Fingerprints: s.Seen})
		}
	}
	return out
}

// brought is what came from anywhere else.
func (x *texts) brought(h *eventEvaluation) (out []lineage.Seen) {
	for i := range h.event.Sources {
		s := &h.event.Sources[i]
		if s.ByUser() || s.Kind == loop.SystemPrompt {
			continue
		}
		from := lineage.Source{Tool: x.hide.toolName(s.Tool, s.Sent), Level: taint.Worse(h.sourceLevel(s), h.plan.Initiator.Level), Call: int(h.heard.Step)}
		switch {
		case s.Kind == loop.UserMessage:
			from.Tool = "a message of someone else"
		case from.Tool == "":
			from.Tool = "the history"
		}
		out = append(out, lineage.Seen{Source: from, Fingerprints: s.Seen})
	}
	if h.event.Name == loop.AfterToolCall {
		r := &h.event.Returned
		from := lineage.Source{Tool: x.hide.toolName(r.Tool, r.Sent), Origin: r.Origin, Level: h.returned, Call: int(h.heard.Step), Secret: h.secret}
		out = append(out, lineage.Seen{Source: from, Fingerprints: x.extract(h.call.Client, r.Seen, r.Text)})
	}
	return out
}

// extract takes the fingerprints that were sent, or makes them of the text.
func (x *texts) extract(client string, sent lineage.Fingerprints, text string) lineage.Fingerprints {
	if keys := x.o.Lineage(client); len(sent) == 0 && text != "" && len(keys) > 0 {
		return keys[0].Extract(text)
	}
	return sent
}

// packed writes what was seen, its names without secrets. A text that had
// nothing to fingerprint is left out.
func (x *texts) packed(ctx context.Context, all []lineage.Seen) (out [][]byte) {
	for i := range all {
		s := &all[i]
		if len(s.Fingerprints) == 0 {
			continue
		}
		x.hide.redactor().Lines(&s.Tool, &s.Origin)
		text, err := json.Marshal(s)
		if err != nil {
			x.o.Log.WarnContext(ctx, "the fingerprints of a text could not be written", "err", err)
			continue
		}
		out = append(out, text)
	}
	return out
}

// origins looks once where the arguments of the call came from. They stay nil where
// that is not known.
func (x *texts) origins(ctx context.Context, t *evaluation) {
	keys := x.o.Lineage(t.call.Client)
	if t.looked || len(keys) == 0 || len(t.call.Params) == 0 {
		return
	}
	t.looked = true
	ctx, done := t.patience(ctx)
	defer done()
	origins, err := x.look(ctx, t, keys)
	if err != nil {
		x.o.Log.WarnContext(ctx, "it could not be looked up where arguments came from", "request", x.hide.request(t.call), "err", err)
		t.unread = true
		return
	}
	t.view.Origins = origins
}

// look looks where the arguments of the call came from. It is nil where no text is known: "seen nowhere" of every
// argument would say nothing.
func (x *texts) look(ctx context.Context, t *evaluation, keys []lineage.Key) (session.Origins, error) {
	seen, err := x.seen(ctx, t)
	if err != nil {
		return nil, err
	}
	said, left := t.call.OwnerMessages(), mostOwn
	for i := len(said) - 1; i >= 0 && left > 0; i-- { // the newest first
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		text := said[i][:min(len(said[i]), left)]
		left -= len(text)
		seen = append(seen, lineage.Seen{Source: lineage.Source{User: true}, Fingerprints: keys[0].Extract(text)})
	}
	params, err := t.call.Values()
	if err != nil || len(seen) == 0 {
		return nil, err
	}
	origins, all := lineage.NewIndex(seen, int(t.view.Step), keys...).Trace(params)
	t.unread = !all && slices.ContainsFunc(seen, func(s lineage.Seen) bool { return s.Secret })
	return origins, nil
}

// originsOf are those that say something, the worst first, as many as anyone would
// read.
func originsOf(t *evaluation) (out []approval.Origin) {
	for path, o := range t.view.Origins {
		if o.From != session.FromNothing {
			out = append(out, approval.Origin{Argument: path, Origin: o})
		}
	}
	slices.SortFunc(out, func(a, b approval.Origin) int {
		return cmp.Or(a.Compare(b.Origin), cmp.Compare(a.Argument, b.Argument))
	})
	out = out[:min(len(out), mostOrigins)]
	for i := range out {
		if r := []rune(out[i].Argument); len(r) > longestPath {
			out[i].Argument = string(r[:longestPath]) + "…"
		}
	}
	return out
}

// seen reads what is remembered of a conversation's texts.
func (x *texts) seen(ctx context.Context, t *evaluation) (out []lineage.Seen, _ error) {
	ctx, cancel := context.WithTimeout(ctx, x.o.StoreWait)
	defer cancel()
	for _, list := range []string{saidList(t), broughtList(t.conv)} {
		entries, err := session.ReadNotes(ctx, x.o.Store, x.o.Key, list)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			var s lineage.Seen
			if json.Unmarshal(e, &s) == nil && s.User == (list == saidList(t)) {
				out = append(out, s)
			}
		}
	}
	return out, nil
}
