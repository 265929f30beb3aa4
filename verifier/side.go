package verifier

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/openclaw-verifier/verifier/internal/approval"
	"github.com/openclaw-verifier/verifier/internal/lineage"
	"github.com/openclaw-verifier/verifier/internal/store"
)

// A conversation's side document keeps fingerprints of what the user said and of what tools brought in, and no text. It
// is read where a card is put up, or where something may leave the machine after secrets were read.

// Bounds of what is kept and told.
const (
	mostSeen    = 48        // texts of the user, and as many of others
	mostOwn     = 128 << 10 // bytes of the owner's messages that a call is compared with
	mostOrigins = 32        // told of one call
	longestPath = 200       // characters of an argument's path
)

// trace looks where the arguments of the call came from, in what the conversation has seen; t is nil where that was
// read. It stays unknown where no text is: "seen nowhere" of every argument would say nothing.
func (e *evaluation) trace(t *store.Tx) {
	keys := e.terms.Lineage(e.call.Client)
	if len(keys) == 0 {
		return
	}
	if t != nil {
		side := t.Side()
		e.seen = append(side.Said, side.Brought...)
	}
	seen, left := slices.Clip(e.seen), mostOwn
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
		out[i].Argument = clip(out[i].Argument, longestPath)
	}
	return out
}

// keepSeen adds to the side document what is not there already. What the user said before starting anew is not asked
// for any more. A tool that brings in a lot doesn't push out what the user said.
func keepSeen(t *store.Tx, seen []lineage.Seen, anew bool) {
	if len(seen) == 0 && !anew {
		return
	}
	side := t.Side()
	if anew {
		side.Said = nil
	}
	for _, one := range seen {
		list := &side.Brought
		if one.User {
			list = &side.Said
		}
		*list = append(slices.DeleteFunc(*list, func(old lineage.Seen) bool {
			return old.Source == one.Source && bytes.Equal(old.Fingerprints, one.Fingerprints)
		}), one)
		*list = (*list)[max(0, len(*list)-mostSeen):]
	}
	t.PutSide(side)
}
