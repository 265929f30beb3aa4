package lineage

import (
	"bytes"
	"encoding/hex"
	"errors"

	"github.com/go-json-experiment/json"
)

// kinds are numbered in what is kept: only ever add to the end.
var kinds = [...]Kind{URL, Email, Host, Path, ID, Phone, Account, Amount, Words}

const (
	hashBytes = 8
	packed    = 1 + hashBytes // bytes of one fingerprint: its kind and its hash
)

// Pack writes what was seen of a text to be kept, a third as long as
// in JSON: the source as one line of JSON, then the fingerprints. One that is
// not valid is left out.
func (s Seen) Pack() ([]byte, error) {
	head, err := json.Marshal(header{s.Source, s.Truncated})
	if err != nil {
		return nil, err
	}
	out := append(head, '\n')
	for _, f := range s.Fingerprints {
		if !f.Valid() {
			continue
		}
		at := len(f) - 2*hashBytes
		hash, _ := hex.DecodeString(string(f[at:])) // it is valid
		out = append(append(out, order[Kind(f[:at-1])]), hash...)
	}
	return out, nil
}

type header struct {
	Source
	Truncated bool `json:"truncated,omitzero"`
}

// errPacked says that bytes were not written by Pack.
var errPacked = errors.New("lineage: this is not what was kept of a text")

// Unpack reads what Pack wrote.
func Unpack(b []byte) (Seen, error) {
	head, prints, ok := bytes.Cut(b, []byte("\n"))
	var h header
	if !ok || len(prints)%packed != 0 || len(prints) > packed*(MaxValues+MaxRuns) || json.Unmarshal(head, &h) != nil {
		return Seen{}, errPacked
	}
	s := Seen{Source: h.Source, Truncated: h.Truncated}
	for ; len(prints) > 0; prints = prints[packed:] {
		if int(prints[0]) >= len(kinds) {
			return Seen{}, errPacked
		}
		s.Fingerprints = append(s.Fingerprints, Fingerprint(string(kinds[prints[0]])+":"+hex.EncodeToString(prints[1:packed])))
	}
	return s, nil
}
