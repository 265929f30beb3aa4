package toolcall

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// Digest is what an approval is bound to.
type Digest [32]byte

// String returns the digest in hex.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// Digest returns the SHA-256 of the canonical JSON of the call: an object with
// client, sessionKey, sessionId, agent, tool and params. Keys and strings are
// as in RFC 8785; number literals stay as they were sent, since 8785's own
// numbers would make two long ids equal.
func (c *Call) Digest() Digest {
	o := object{orderer: orderers.Get().(*orderer)} //nolint:errcheck // nothing else is put in
	defer o.release()
	o.write(c)
	if o.err != nil {
		return c.rawDigest()
	}
	return sha256.Sum256(o.text)
}

// orderers keeps the memory of canonical texts for the next call.
var orderers = sync.Pool{New: func() any { return new(orderer) }}

const maxKept = 64 << 10

// object builds the canonical text and keeps the first error.
type object struct {
	*orderer
	err error
}

func (o *object) release() {
	if cap(o.text) <= maxKept && cap(o.moved) <= maxKept && cap(o.members) <= maxKept/16 {
		orderers.Put(o.orderer)
	}
}

func (o *object) write(c *Call) {
	o.text = o.text[:0]
	o.string(`{"agent":`, c.Agent()) // in the order RFC 8785 wants
	o.string(`,"client":`, c.Client)
	o.text = append(o.text, `,"params":`...)
	o.params(c.Params)
	o.string(`,"sessionId":`, c.Context.SessionID)
	o.string(`,"sessionKey":`, c.Context.SessionKey)
	o.string(`,"tool":`, c.Tool)
	o.text = append(o.text, '}')
}

// params canonicalises the params alone, so that params which are not one JSON
// value can't reach into the object around them.
func (o *object) params(params jsontext.Value) {
	start := len(o.text)
	text, err := jsontext.AppendFormat(o.text, params)
	if o.keep(text, err); err != nil {
		return
	}
	o.odd = false
	o.value(start)
	if o.odd {
		all := jsontext.Value(bytes.Clone(params))
		err := all.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false))
		o.keep(append(o.text[:start], all...), err)
	}
}

func (o *object) string(name, value string) {
	o.keep(jsontext.AppendQuote(append(o.text, name...), value))
}

func (o *object) keep(text []byte, err error) {
	o.text = text
	if o.err == nil {
		o.err = err
	}
}

// rawDigest is for a call that did not come from Decode and has no canonical
// form, such as one whose params are not JSON. Different calls must still have
// different digests, and none that a decoded call can have.
func (c *Call) rawDigest() Digest {
	text := []byte("not canonical\n")
	for _, part := range []string{
		c.Client, c.Context.SessionKey, c.Context.SessionID, c.Agent(), c.Tool, string(c.Params),
	} {
		text = binary.BigEndian.AppendUint64(text, uint64(len(part)))
		text = append(text, part...)
	}
	return sha256.Sum256(text)
}
