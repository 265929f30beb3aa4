package session

import (
	"context"
	"time"

	"github.com/openclaw-verifier/verifier/hmac"
)

// Note adds to a list of what is worth remembering for a while and what no
// decision depends on: a list may be lost, and then it is only shorter.
type Note struct {
	List    string // two lower-case hex digits, then anything
	Entries [][]byte
	Most    int           // how many entries the list has at most; the oldest fall out
	Keep    time.Duration // how long each entry is kept
}

// sealLength is that of a seal before an entry.
const sealLength = 32

// SealNote makes a note of texts, each under our seal: what anyone else writes into
// the store is not read. It holds the last texts that the list has room for.
func SealNote(key hmac.Key, list string, most int, keep time.Duration, texts ...[]byte) Note {
	n := Note{List: list, Most: most, Keep: keep}
	for _, text := range texts[max(0, len(texts)-most):] {
		n.Entries = append(n.Entries, append([]byte(key.Seal("note", list, string(text))), text...))
	}
	return n
}

// Noted reads lists.
type Noted interface {
	Notes(ctx context.Context, list string) ([][]byte, error)
}

// ReadNotes reads those entries of a list that carry our seal.
func ReadNotes(ctx context.Context, from Noted, key hmac.Key, list string) ([][]byte, error) {
	all, err := from.Notes(ctx, list)
	if err != nil {
		return nil, err
	}
	var ours [][]byte
	for _, e := range all {
		if len(e) > sealLength && key.Check(string(e[:sealLength]), "note", list, string(e[sealLength:])) {
			ours = append(ours, e[sealLength:])
		}
	}
	return ours, nil
}
