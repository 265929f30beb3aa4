package verifier

import (
	"context"
	"time"

	"github.com/openclaw-verifier/verifier/session"
)

// sealLength is that of a seal before an entry.
const sealLength = 32

// seals makes a note of texts, each under our seal: what anyone else writes into
// the store tells nobody anything.
func (v *Verifier) seals(list string, most int, keep time.Duration, texts ...[]byte) session.Note {
	n := session.Note{List: list, Most: most, Keep: keep}
	for _, text := range texts[max(0, len(texts)-most):] {
		n.Entries = append(n.Entries, append([]byte(v.o.Key.Seal("note", list, string(text))), text...))
	}
	return n
}

// notes reads those entries of a list that carry our seal.
func (v *Verifier) notes(ctx context.Context, list string) ([][]byte, error) {
	all, err := v.o.Store.Notes(ctx, list)
	if err != nil {
		return nil, err
	}
	var ours [][]byte
	for _, e := range all {
		if len(e) > sealLength && v.o.Key.Check(string(e[:sealLength]), "note", list, string(e[sealLength:])) {
			ours = append(ours, e[sealLength:])
		}
	}
	return ours, nil
}
