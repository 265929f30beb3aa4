package toolcall

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

	"github.com/go-json-experiment/json"
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
	// The params alone: those which are not one JSON value can't reach into the
	// object around them.
	params := c.Params.Clone()
	if params.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false)) != nil {
		return c.rawDigest()
	}
	text, err := json.Marshal(struct { // in the order RFC 8785 wants
		Agent      string         `json:"agent"`
		Client     string         `json:"client"`
		Params     jsontext.Value `json:"params"`
		SessionID  string         `json:"sessionId"`
		SessionKey string         `json:"sessionKey"`
		Tool       string         `json:"tool"`
	}{c.Agent(), c.Client, params, c.Context.SessionID, c.Context.SessionKey, c.Tool})
	if err != nil {
		return c.rawDigest()
	}
	return sha256.Sum256(text)
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
