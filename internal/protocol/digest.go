package protocol

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Digest is what an approval is bound to: the SHA-256, in hex, of the canonical JSON of the call, an object with
// client, sessionKey, sessionId, agent, tool, params and, where the caller names it, the directory in which it starts.
// Keys and strings are as in RFC 8785; number literals stay as they were sent, since 8785's own numbers would make two
// long ids equal.
func (c *Call) Digest() string {
	agent, x := c.Agent(), &c.Context
	text, err := json.Marshal(struct {
		Agent      string         `json:"agent"`
		Client     string         `json:"client"`
		Directory  string         `json:"directory,omitzero"`
		Params     jsontext.Value `json:"params"`
		SessionID  string         `json:"sessionId"`
		SessionKey string         `json:"sessionKey"`
		Tool       string         `json:"tool"`
	}{agent, c.Client, x.Directory, c.Params, x.SessionID, x.SessionKey, c.Tool})
	if canonical := (*jsontext.Value)(&text); err == nil && len(c.Params) > 0 {
		err = canonical.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false))
	}
	if err != nil || len(c.Params) == 0 {
		// A call that did not come from Decode, such as one whose params are not JSON. Different calls must still have
		// different digests, and none that a decoded call can have.
		parts := []string{c.Client, x.SessionKey, x.SessionID, agent, c.Tool, x.Directory, string(c.Params)}
		text = fmt.Appendf(nil, "not canonical: %q", parts)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
