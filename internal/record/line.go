package record

import (
	"bytes"
	"crypto/hkdf"
	stdhmac "crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/openclaw-verifier/verifier/hmac"
)

// MaxLine is the longest line, in bytes, that is written or read.
const MaxLine = 4 << 20

// ErrTooLong says that an entry does not fit in a line of [MaxLine] bytes.
var ErrTooLong = errors.New("record: entry is too long for a line")

const (
	macOpen  = `,"mac":"`
	macClose = `"}`
	macLen   = 32 // hex digits: 128 bits, like all seals of ours
	tailLen  = len(macOpen) + macLen + len(macClose)
	headLen  = len(`{"seq":`) + 20 // its number has at most 20 digits
)

// chain makes the MACs of lines: each is over the one before and the line itself, so that no line can be changed,
// taken out, moved or added without the key. Not safe for concurrent use.
type chain struct{ mac hash.Hash }

// newChain derives the key from the server's, so that there is one key to keep.
func newChain(key hmac.Key) (chain, error) {
	if len(key) == 0 {
		return chain{}, errors.New("record: there is no key")
	}
	secret, err := hkdf.Key(sha256.New, key, nil, "verifier-record-v4", sha256.Size)
	if err != nil {
		return chain{}, err
	}
	return chain{stdhmac.New(sha256.New, secret)}, nil
}

// over is the MAC of a line's body behind the line with the MAC prev, "" where it is the first.
func (c chain) over(prev string, body []byte) string {
	c.mac.Reset()
	c.mac.Write(append([]byte(prev), '\n'))
	c.mac.Write(body)
	return hex.EncodeToString(c.mac.Sum(nil)[:macLen/2])
}

// add appends an encoded entry as the next line, and returns its MAC.
func (c chain) add(buf []byte, seq uint64, prev string, text []byte) ([]byte, string) {
	start := len(buf)
	buf = strconv.AppendUint(append(buf, `{"seq":`...), seq, 10)
	buf = append(append(buf, ','), text[1:len(text)-1]...)
	mac := c.over(prev, buf[start:])
	return append(append(append(buf, macOpen...), mac...), macClose+"\n"...), mac
}

// follows reports whether raw, a line without its newline, is one that the key's owner wrote behind the line with the
// MAC prev.
func (c chain) follows(raw []byte, prev string) bool {
	body, mac := cut(raw)
	return mac != "" && stdhmac.Equal([]byte(mac), []byte(c.over(prev, body)))
}

// cut splits a line into what its MAC covers and the MAC, "" where it carries none. Its place is fixed, so no content
// can pose as it.
func cut(raw []byte) (body []byte, mac string) {
	at := len(raw) - tailLen
	if at < 0 || !bytes.HasPrefix(raw[at:], []byte(macOpen)) || !bytes.HasSuffix(raw, []byte(macClose)) {
		return nil, ""
	}
	return raw[:at], string(raw[at+len(macOpen):][:macLen])
}

// encode makes an entry the text of a line. Params stay as they came, without their white space. Where something is
// not UTF-8 it becomes U+FFFD: a record with a mangled name is worth more than no record of the call.
func (e *Entry) encode(now time.Time) ([]byte, error) {
	e.normalise(now)
	text, err := json.Marshal(e, jsontext.PreserveRawStrings(true))
	if err != nil {
		text, err = json.Marshal(e, jsontext.AllowInvalidUTF8(true))
	}
	if err == nil && headLen+len(text)+tailLen >= MaxLine {
		err = ErrTooLong
	}
	if err != nil {
		return nil, fmt.Errorf("record: encode: %w", err)
	}
	return text, nil
}

// line is a line as it is read. The entry's members are beside its own, as in the file.
type line struct {
	Seq uint64 `json:"seq"`
	Entry
	MAC string `json:"mac"`
}

// parse decodes a line. Duplicate members are an error: two readers could take a different one of them.
func parse(raw []byte) (line, error) {
	var l line
	err := json.Unmarshal(raw, &l)
	return l, err
}
