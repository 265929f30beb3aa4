package protocol

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// Digest is what an approval is bound to.
type Digest [32]byte

// String returns the digest in hex.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// Digest returns the SHA-256 of the canonical JSON of the call: an object with client, sessionKey, sessionId, agent,
// tool and params. Keys and strings are as in RFC 8785; number literals stay as they were sent, since 8785's own
// numbers would make two long ids equal.
func (c *Call) Digest() Digest {
	params := c.Params.Clone()
	err := params.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false))
	text := make([]byte, 0, len(params)+256)
	for _, m := range [...]struct{ name, is string }{ // in the order RFC 8785 wants
		{`{"agent":`, c.Agent()}, {`,"client":`, c.Client}, {`,"params":`, ""},
		{`,"sessionId":`, c.Context.SessionID}, {`,"sessionKey":`, c.Context.SessionKey}, {`,"tool":`, c.Tool},
	} {
		text = append(text, m.name...)
		if m.name == `,"params":` {
			text = append(text, params...)
		} else if err == nil {
			text, err = jsontext.AppendQuote(text, m.is)
		}
	}
	if err != nil {
		return c.rawDigest()
	}
	return sha256.Sum256(append(text, '}'))
}

// rawDigest is for a call that did not come from Decode and has no canonical form, such as one whose params are not
// JSON. Different calls must still have different digests, and none that a decoded call can have.
func (c *Call) rawDigest() Digest {
	parts := []string{c.Client, c.Context.SessionKey, c.Context.SessionID, c.Agent(), c.Tool, string(c.Params)}
	return sha256.Sum256(fmt.Appendf(nil, "not canonical: %q", parts))
}
