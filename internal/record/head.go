package record

import (
	stdhmac "crypto/hmac"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/go-json-experiment/json"
)

// Head names the last line of a chain, under a seal of the key. Kept apart from the record, it shows that lines were
// cut off its end.
type Head struct {
	Chain string `json:"chain"`
	Seq   uint64 `json:"seq"`
	MAC   string `json:"mac"`  // of that line
	Seal  string `json:"seal"` // under the key of the record
}

// sealed gives the head its seal. No line can be mistaken for the text of it: lines are JSON.
func (h Head) sealed(c chain) Head {
	h.Seal = c.over("head", []byte(h.Chain+"\n"+strconv.FormatUint(h.Seq, 10)+"\n"+h.MAC))
	return h
}

// sealed reports whether the head carries the key's seal.
func (c chain) sealed(h Head) bool { return stdhmac.Equal([]byte(h.Seal), []byte(h.sealed(c).Seal)) }

// lacks returns a sentence if a head that was seen is not in a record that ends so.
func (c chain) lacks(end ending, seen *Head) string {
	switch {
	case seen == nil:
		return ""
	case !c.sealed(*seen):
		return "the head that was kept elsewhere is not under this server's key"
	case seen.Chain != end.chain:
		return fmt.Sprintf("this is not the record seen last, %s, which had %d entries", seen.Chain, seen.Seq)
	case seen.Seq > end.seq:
		return fmt.Sprintf("entries %d to %d, seen before, are missing from the end", end.seq+1, seen.Seq)
	case seen.Seq == end.seq && seen.MAC != end.mac:
		return fmt.Sprintf("entry %d is not the one seen before: the end was rewritten", seen.Seq)
	}
	return ""
}

// write puts the head into its file, over the one before: less than a page, so there is never half of each.
func (h Head) write(f *os.File) error {
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	if _, err := f.WriteAt(append(text, '\n'), 0); err != nil {
		return err
	}
	return f.Truncate(int64(len(text)) + 1)
}

// HeadBeside is the head that was kept beside the record at path; nil: there is none.
func HeadBeside(path string) (*Head, error) {
	text, err := os.ReadFile(headName(path))
	if len(text) == 0 || err != nil {
		if errors.Is(err, os.ErrNotExist) {
			err = nil
		}
		return nil, err
	}
	h := new(Head)
	return h, json.Unmarshal(text, h)
}
