package toolcall

import "strings"

// CanonicalKey is the one spelling of a session key, a session id or an agent id:
// without white space around it, without colons at its end, and in lower case, as
// OpenClaw keeps them. Two spellings of one conversation must not be two
// conversations, or what one has read would not count in the other. Only ASCII is
// folded, as in [Canonical]: see [OddKey] for the rest.
func CanonicalKey(s string) string {
	for s = trimASCII(s); strings.HasSuffix(s, ":"); {
		s = trimASCII(s[:len(s)-1])
	}
	return lowerASCII(s)
}

// OddKey reports whether a canonical key could be mistaken for another one: it
// holds something other than visible ASCII characters (a space, an invisible
// character, a letter that looks like another), or an empty part. A conversation
// with such a key is untrusted.
func OddKey(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] >= 0x7f || s[i] == ':' && i > 0 && s[i-1] == ':' {
			return true
		}
	}
	return strings.HasPrefix(s, ":")
}

// keys are the names of sessions and agents.
func (c *Context) keys() [4]*string {
	return [...]*string{&c.AgentID, &c.SessionKey, &c.SessionID, &c.SpawnedBy}
}

// canonicalKeys gives the names of sessions and agents their one spelling.
func (c *Context) canonicalKeys() {
	for i, key := range c.keys() {
		if canonical := CanonicalKey(*key); canonical != *key {
			c.spelled[i], *key = *key, canonical
		}
	}
}

// HideKeys lets the caller choose the name of each session and agent whose spelling,
// as it was sent, is not its one spelling: a secret in it could no longer be recognised
// in lower case.
func (c *Context) HideKeys(key func(sent string) string) {
	for i, k := range c.keys() {
		if c.spelled[i] != "" {
			*k = key(c.spelled[i])
		}
	}
}

// OddKeys reports whether a name of the conversation, of its agent or of what
// started it could be mistaken for another.
func (c *Context) OddKeys() bool {
	return OddKey(c.SessionKey) || OddKey(c.SessionID) || OddKey(c.SpawnedBy) || OddKey(c.AgentID)
}
