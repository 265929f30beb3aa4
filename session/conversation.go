// Package session holds what is known of a conversation: who it is, how far it
// is still trusted, and which grants cover it.
//
// A conversation is a client and a session key. The session id and the agent id
// are attributes of it, so that leaving one out or changing it sheds nothing.
// The package decides nothing and stores nothing: it names what the stores keep
// ([Admission], [View], [Settlement]), classifies who started a run
// ([Classify]) and remembers what this process has seen ([Floor]). It refuses
// to make a level better: only the owner's reset or word for a source does that,
// in the store.
package session

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Conversation is one line of talk between a client's users and its agent.
type Conversation struct {
	Client string `json:"client"` // whose secret signed the calls
	Key    string `json:"key"`    // the session key; empty when the client gave none
}

// ID is the conversation's 128-bit name.
func (c Conversation) ID() [16]byte {
	text := make([]byte, 0, 256) // on the stack, as long as that is enough
	text = append(append(append(text, c.Client...), 0), c.Key...)
	sum := sha256.Sum256(text)
	return [16]byte(sum[:16])
}

// Hash is its name in the stores, in hex.
func (c Conversation) Hash() string {
	id := c.ID()
	return hex.EncodeToString(id[:])
}

// Ref is the conversation's short name for people: enough of its hash to find
// it again, and nothing of what it is called.
func (c Conversation) Ref() string { return strings.ToUpper(c.Hash()[:8]) }

// Lasting reports whether grants may outlive one call here. Calls without a
// session key share one conversation and can't be told apart.
func (c Conversation) Lasting() bool { return c.Key != "" }

// IsGroup reports whether a session key names a group, channel or room.
// Keys look like agent:<id>:<channel>:group:<peer>[:topic:<t>].
func IsGroup(key string) bool {
	for more := true; more; {
		var part string
		switch part, key, more = strings.Cut(key, ":"); part {
		case "group", "channel", "room":
			return true
		}
	}
	return false
}

// IsHook reports whether a session key belongs to a run that an outside
// webhook started.
func IsHook(key string) bool {
	return strings.HasPrefix(key, "hook:") || strings.Contains(key, ":hook:")
}
