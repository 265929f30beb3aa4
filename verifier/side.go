package verifier

import (
	"cmp"
	"context"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/lineage"
	"github.com/openclaw-verifier/verifier/internal/protocol"
	"github.com/openclaw-verifier/verifier/internal/store"
	"github.com/openclaw-verifier/verifier/taint"
)

// A conversation's side document keeps fingerprints of what the user said and of what tools brought in, and no text. It
// is read where a card is put up, or where something may leave the machine after secrets were read.

// side is what was read of it.
type side struct{ seen []lineage.Seen }

// Bounds of what is kept and told.
const (
	mostSaid    = 48
	mostBrought = 48
	mostOwn     = 128 << 10 // bytes of the owner's messages that a call is compared with
	mostOrigins = 32        // told of one call
	longestPath = 200       // characters of an argument's path
)

// readSide reads what was seen in the conversation, and traces the call's arguments to it.
func (v *Verifier) readSide(t *store.Tx, e *evaluation) error {
	if len(v.o.Lineage(e.call.Client)) == 0 {
		return nil
	}
	kept, err := t.Side()
	if err != nil {
		return err
	}
	e.side = &side{}
	for _, list := range [][][]byte{kept.Said, kept.Brought} {
		for _, text := range list {
			var s lineage.Seen
			if json.Unmarshal(text, &s) == nil {
				e.side.seen = append(e.side.seen, s)
			}
		}
	}
	v.trace(e)
	return nil
}

// trace looks where the arguments of the call came from. That stays unknown where no text is: "seen nowhere" of every
// argument would say nothing.
func (v *Verifier) trace(e *evaluation) {
	keys := v.o.Lineage(e.call.Client)
	if len(keys) == 0 || e.side == nil || e.view.Origins != nil {
		return
	}
	seen, left := slices.Clip(e.side.seen), mostOwn
	for _, text := range slices.Backward(e.call.OwnerMessages()) { // the newest first
		if text = text[:min(len(text), left)]; text == "" {
			continue
		}
		left -= len(text)
		user := lineage.Source{User: true}
		seen = append(seen, lineage.Seen{Source: user, Fingerprints: keys[0].Extract(text)})
	}
	params, err := e.call.Values()
	if err != nil || len(seen) == 0 {
		return
	}
	origins, all := lineage.NewIndex(seen, keys...).Trace(params)
	e.view.Origins = origins
	e.view.Unread = !all && slices.ContainsFunc(seen, func(s lineage.Seen) bool { return s.Secret })
}

// originsOf are those that say something, the worst first, as many as anyone would read.
func originsOf(all lineage.Origins) (out []approval.Origin) {
	for path, o := range all {
		if o.From != lineage.FromNothing {
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

// seen is what an event tells of texts: what the user said, as the runtime attests, and what came from anywhere else.
func (v *Verifier) seen(ctx context.Context, h *event) (said, brought [][]byte) {
	for i := range h.event.Sources {
		s := &h.event.Sources[i]
		from := lineage.Source{
			Tool: v.hide.toolName(s.Tool, s.Sent), Level: taint.Worse(h.sourceLevel(s), h.starter.Level),
		}
		switch {
		case s.ByUser():
			said = v.pack(ctx, said, lineage.Source{User: true}, s.Seen)
			continue
		case s.Kind == protocol.KindSystemPrompt:
			continue
		case s.Kind == protocol.KindUserMessage:
			from.Tool = "a message of someone else"
		case from.Tool == "":
			from.Tool = "the history"
		}
		brought = v.pack(ctx, brought, from, s.Seen)
	}
	if r := &h.event.Returned; h.event.Name == protocol.AfterToolCall {
		prints := r.Seen
		if keys := v.o.Lineage(h.call.Client); len(prints) == 0 && r.Text != "" && len(keys) > 0 {
			prints = keys[0].Extract(r.Text)
		}
		from := lineage.Source{
			Tool: v.hide.toolName(r.Tool, r.Sent), Origin: r.Origin, Level: h.returned, Secret: h.holdsSecret,
		}
		brought = v.pack(ctx, brought, from, prints)
	}
	return said, brought
}

// pack writes what was seen, its names without secrets. A text that had nothing to fingerprint is left out.
func (v *Verifier) pack(ctx context.Context, to [][]byte, from lineage.Source, prints lineage.Fingerprints) [][]byte {
	if len(prints) == 0 {
		return to
	}
	v.hide.redactor().Lines(&from.Tool, &from.Origin)
	text, err := json.Marshal(lineage.Seen{Source: from, Fingerprints: prints})
	if err != nil {
		v.o.Log.WarnContext(ctx, "the fingerprints of a text could not be written", "err", err)
		return to
	}
	return append(to, text)
}

// keepSeen adds to the side document. What the user said before starting anew is not asked for any more. A tool that
// brings in a lot doesn't push out what the user said.
func keepSeen(t *store.Tx, said, brought [][]byte, anew bool) error {
	if len(said)+len(brought) == 0 && !anew {
		return nil
	}
	kept, err := t.Side()
	if err != nil {
		return err
	}
	next := *kept
	if anew {
		next.Said = nil
	}
	next.Said = newest(next.Said, said, mostSaid)
	next.Brought = newest(next.Brought, brought, mostBrought)
	t.PutSide(&next)
	return nil
}

// newest is a list with more at its end, without those that are there already, and no longer than most.
func newest(list, more [][]byte, most int) [][]byte {
	list = slices.Clone(list)
	for _, one := range more {
		list = slices.DeleteFunc(list, func(old []byte) bool { return string(old) == string(one) })
		list = append(list, one)
	}
	return list[max(0, len(list)-most):]
}
