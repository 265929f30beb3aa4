package record

import (
	"bytes"
	stdhmac "crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"os"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/openclaw-verifier/verifier/hmac"
)

const (
	macOpen  = `,"mac":"`
	macClose = `"}`
	macLen   = 32 // hex digits: 128 bits, like all seals of ours
	tailLen  = len(macOpen) + macLen + len(macClose)
	headLen  = len(`{"seq":`) + 20 // its number has at most 20 digits
)

// parse decodes a line. Duplicate members are an error: two readers could take a different one of them.
func parse(raw []byte) (l Line, err error) {
	err = json.Unmarshal(raw, &l)
	return l, err
}

// Head names the last line of a chain. Kept apart from the record, it shows that lines were cut off its end.
type Head struct {
	Chain string `json:"chain"`
	Seq   uint64 `json:"seq"`
	MAC   string `json:"mac"`  // of that line
	Seal  string `json:"seal"` // under the server's key
}

// HeadBeside is the head that was kept beside the record at path; nil: there is none.
func HeadBeside(path string) (h *Head, err error) {
	text, err := os.ReadFile(headName(path))
	if errors.Is(err, os.ErrNotExist) || len(text) == 0 && err == nil {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &h)
	}
	return h, err
}

// chain is one of lines, up to its last: each has a MAC over the one before and itself, so that no line can be changed,
// taken out, moved or added without the key.
type chain struct {
	server hmac.Key
	hash   hash.Hash // under a key that is derived from it, so that there is one key to keep
	last   Head      // without its seal
	number int       // the number of its last file
}

func newChain(server hmac.Key) (chain, error) {
	if len(server) == 0 {
		return chain{}, errors.New("there is no key")
	}
	return chain{server: server, hash: stdhmac.New(sha256.New, []byte(server.Seal("record-line")))}, nil
}

// head is the last line's, under the seal of the key.
func (c *chain) head() Head {
	h := c.last
	h.Seal = c.server.Seal("record-head", h.Chain, strconv.FormatUint(h.Seq, 10), h.MAC)
	return h
}

func (c *chain) sealed(h *Head) bool {
	return c.server.Check(h.Seal, "record-head", h.Chain, strconv.FormatUint(h.Seq, 10), h.MAC)
}

// mac is the MAC of a line's body behind the line with the MAC prev, "" where it is the first.
func (c *chain) mac(prev string, body []byte) string {
	var room [sha256.Size]byte
	c.hash.Reset()
	c.hash.Write(append(append(room[:0], prev...), '\n'))
	c.hash.Write(body)
	return hex.EncodeToString(c.hash.Sum(room[:0])[:macLen/2])
}

// wrote reports whether raw, a line without its newline, is one that the key's owner wrote behind the line with the MAC
// prev. The MAC's place is fixed, so no content can pose as it.
func (c *chain) wrote(raw []byte, prev string) bool {
	at := max(0, len(raw)-tailLen)
	return stdhmac.Equal(raw[at:], []byte(macOpen+c.mac(prev, raw[:at])+macClose))
}

// add appends an encoded entry as the next line.
func (c *chain) add(buf, text []byte) []byte {
	c.last.Seq++
	start := len(buf)
	buf = strconv.AppendUint(append(buf, `{"seq":`...), c.last.Seq, 10)
	buf = append(append(buf, ','), text[1:len(text)-1]...)
	c.last.MAC = c.mac(c.last.MAC, buf[start:])
	return append(append(append(buf, macOpen...), c.last.MAC...), macClose+"\n"...)
}

// begin goes to where a file begins, by its first line.
func (c *chain) begin(raw []byte, path string) error {
	_, number := Base(path) // 0: it was renamed by its owner
	l, err := parse(raw)
	b := l.Begin
	switch {
	case err != nil || l.Kind != kindBegin || b == nil:
		return fmt.Errorf("%w: it does not begin as a record", ErrDamaged)
	case b.Format != format:
		return fmt.Errorf("%w: its format is %d, not %d", ErrVersion, b.Format, format)
	case !c.wrote(raw, b.Prev):
		return ErrForged
	case number > 0 && b.File != number:
		return fmt.Errorf("%w: it is file %d by its first line and file %d by its name: files were renamed",
			ErrDamaged, b.File, number)
	}
	c.last, c.number = Head{Chain: b.Chain, Seq: l.Seq - 1, MAC: b.Prev}, b.File
	return nil
}

// follow goes on to a line, if that is the next.
func (c *chain) follow(raw []byte) (Line, error) {
	l, err := parse(raw)
	switch {
	case bytes.IndexByte(raw, 0) >= 0:
		err = errors.New("holds NUL bytes: a write was interrupted by a power cut, or the file was overwritten")
	case err != nil:
		err = fmt.Errorf("is not valid: %w", err)
	case l.Seq != c.last.Seq+1:
		err = fmt.Errorf("is entry %d where %d belongs: lines were removed, moved or repeated", l.Seq, c.last.Seq+1)
	case !c.wrote(raw, c.last.MAC):
		err = errors.New("is not as the server wrote it, or the line before it is not: the MAC is wrong")
	default:
		c.last.Seq, c.last.MAC = l.Seq, l.MAC
	}
	return l, err
}

// lacks returns a sentence if a head that was seen is not in the chain.
func (c *chain) lacks(seen *Head) string {
	switch {
	case seen == nil:
	case !c.sealed(seen):
		return "the head that was kept elsewhere is not under this server's key"
	case seen.Chain != c.last.Chain:
		return fmt.Sprintf("this is not the record seen last, %s, which had %d entries", seen.Chain, seen.Seq)
	case seen.Seq > c.last.Seq:
		return fmt.Sprintf("entries %d to %d, seen before, are missing from the end", c.last.Seq+1, seen.Seq)
	case seen.Seq == c.last.Seq && seen.MAC != c.last.MAC:
		return fmt.Sprintf("entry %d is not the one seen before: it or a line before it was rewritten", seen.Seq)
	}
	return ""
}
