package toolcall

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

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
	text, err := c.canonical()
	if err != nil {
		return c.rawDigest()
	}
	return sha256.Sum256(text)
}

func (c *Call) canonical() ([]byte, error) {
	// Canonicalised alone and before the rest, so that params which are not one
	// JSON value can't reach into the object around them.
	params := jsontext.Value(bytes.Clone(c.Params))
	err := params.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false))
	if err != nil {
		return nil, err
	}
	o := object{text: make([]byte, 0, len(params)+256)}
	o.string(`{"agent":`, c.Agent()) // in the order RFC 8785 wants
	o.string(`,"client":`, c.Client)
	o.text = append(append(o.text, `,"params":`...), params...)
	o.string(`,"sessionId":`, c.Context.SessionID)
	o.string(`,"sessionKey":`, c.Context.SessionKey)
	o.string(`,"tool":`, c.Tool)
	return append(o.text, '}'), o.err
}

// object builds JSON text and keeps the first error.
type object struct {
	text []byte
	err  error
}

func (o *object) string(name, value string) {
	text, err := jsontext.AppendQuote(append(o.text, name...), value)
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
