package record

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// MaxLine is the longest line, in bytes, that is written or read.
const MaxLine = 4 << 20

// ErrTooLong says that an entry does not fit in a line of [MaxLine] bytes.
var ErrTooLong = errors.New("audit: entry is too long for a line")

const (
	macOpen   = `,"mac":"`
	macClose  = `"`
	macLen    = len(macOpen) + len(digest{}) + len(macClose)
	hashOpen  = `,"hash":"`
	hashClose = `"}`
	tailLen   = len(hashOpen) + len(digest{}) + len(hashClose)

	// room is the longest head of a line: its number has at most 20 digits.
	room = len(`{"seq":`) + 20 + len(`,"prev":"`) + len(digest{}) + len(`",`)
)

// digest is a SHA-256 in hex, as the file has it.
type digest [2 * sha256.Size]byte

func digestOf(b []byte) (d digest) {
	sum := sha256.Sum256(b)
	hex.Encode(d[:], sum[:])
	return d
}

// zeros is the prev of the first line.
func zeros() (d digest) {
	copy(d[:], bytes.Repeat([]byte{'0'}, len(d)))
	return d
}

// macWith makes the MACs of lines. Their key is derived from the signing key, so
// that a record needs one key only.
func macWith(key ed25519.PrivateKey) (hash.Hash, error) {
	secret, err := hkdf.Key(sha256.New, key.Seed(), nil, "verifier-record-mac-v1", sha256.Size)
	if err != nil {
		return nil, err
	}
	return hmac.New(sha256.New, secret), nil
}

func macOf(mac hash.Hash, body []byte) (d digest) {
	mac.Reset()
	mac.Write(body)
	hex.Encode(d[:], mac.Sum(nil))
	return d
}

// draft is a line that does not know its place in the chain yet. Everything
// slow is done when it is made, outside the log's lock; the room left in front
// takes the number and prev without moving the rest.
type draft struct {
	made time.Time // by the log's clock
	buf  []byte
}

// hide hides secrets in the entry. Its lists are copied: the caller keeps its own.
func (e *Entry) hide(hide func(texts ...*string)) {
	e.Why, e.Origins = slices.Clone(e.Why), slices.Clone(e.Origins)
	texts := []*string{&e.RequestID, &e.Session, &e.SessionID, &e.Agent, &e.Run, &e.Directory, &e.Tool, &e.Sent, &e.Source, &e.Reason}
	if e.Kind != KindStart { // its note is our own version, which looks like a key
		texts = append(texts, &e.Note)
	}
	for _, list := range [][]string{e.Why, e.Origins} {
		for i := range list {
			texts = append(texts, &list[i])
		}
	}
	sent := e.Sent
	hide(texts...)
	if e.Sent != sent {
		e.Tool = e.Sent // it is the same in small letters
	}
}

// newDraft encodes an entry. Params stay as they came, without their white space.
// Where something is not UTF-8, it becomes U+FFFD, in params too: a record with a
// mangled name is worth more than no record of the call, or one that can't be read.
func newDraft(e *Entry, made time.Time) (*draft, error) {
	text, err := json.Marshal(e, jsontext.PreserveRawStrings(true))
	if err != nil {
		text, err = json.Marshal(e, jsontext.AllowInvalidUTF8(true))
	}
	switch {
	case err != nil:
		return nil, err
	case room+len(text)+macLen+tailLen > MaxLine:
		return nil, ErrTooLong
	}
	buf := make([]byte, room, room+len(text)+macLen+tailLen+1)
	return &draft{made, append(buf, text...)}, nil
}

// seal gives the draft its place and returns the finished line with its
// newline. A draft can be sealed once.
func (d *draft) seal(seq uint64, prev digest, mac hash.Hash) ([]byte, digest) {
	start := d.place(seq, prev)
	d.buf = d.buf[:len(d.buf)-1] // the closing brace
	sum := macOf(mac, d.buf[start:])
	d.buf = append(d.buf, macOpen...)
	d.buf = append(d.buf, sum[:]...)
	d.buf = append(d.buf, macClose...)
	hash := digestOf(d.buf[start:])
	d.buf = append(d.buf, hashOpen...)
	d.buf = append(d.buf, hash[:]...)
	d.buf = append(d.buf, hashClose+"\n"...)
	return d.buf[start:], hash
}

// place writes the head of the line right before the members, its last comma
// over their opening brace, and returns where the line starts.
func (d *draft) place(seq uint64, prev digest) int {
	var head [room]byte
	h := append(head[:0], `{"seq":`...)
	h = strconv.AppendUint(h, seq, 10)
	h = append(h, `,"prev":"`...)
	h = append(h, prev[:]...)
	h = append(h, `",`...)
	start := room + 1 - len(h)
	copy(d.buf[start:], h)
	return start
}

// line is a line as it is read. The embedded entry's members are beside its
// own, as in the file.
type line struct {
	Seq  uint64 `json:"seq"`
	Prev string `json:"prev"`
	Entry
	MAC  string `json:"mac"`
	Hash string `json:"hash"`
}

// intact reports whether raw, without its newline, ends in the hash of the
// bytes before. The place of the hash is fixed, so no content can pose as it.
func intact(raw []byte) bool {
	if len(raw) < tailLen {
		return false
	}
	body, tail := raw[:len(raw)-tailLen], raw[len(raw)-tailLen:]
	hash := digestOf(body)
	return string(tail) == hashOpen+string(hash[:])+hashClose
}

// cutMAC splits an intact line into what its MAC covers and the MAC, which is
// empty where the line carries none. Its place is fixed, like that of the hash.
func cutMAC(raw []byte) (body, sum []byte) {
	at := len(raw) - tailLen - macLen
	if at < 0 {
		return nil, nil
	}
	tail := raw[at : at+macLen]
	if !bytes.HasPrefix(tail, []byte(macOpen)) || !bytes.HasSuffix(tail, []byte(macClose)) {
		return nil, nil
	}
	return raw[:at], tail[len(macOpen) : len(macOpen)+len(digest{})]
}

// genuine reports whether an intact line carries the MAC of this key's owner.
func genuine(raw []byte, mac hash.Hash) bool {
	body, sum := cutMAC(raw)
	if sum == nil {
		return false
	}
	want := macOf(mac, body)
	return hmac.Equal(sum, want[:])
}

// parse decodes a line. Duplicate members are an error: two readers could
// take a different one of them.
func parse(raw []byte) (line, error) {
	var l line
	err := json.Unmarshal(raw, &l)
	return l, err
}
